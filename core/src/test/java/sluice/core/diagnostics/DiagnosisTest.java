package sluice.core.diagnostics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.Function;
import sluice.core.catalog.Grants;
import sluice.core.catalog.Index;
import sluice.core.catalog.Policy;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Role;
import sluice.core.catalog.Stamp;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

/// One table `public.t(id int4, owner int4, open bool, body text)` with an index on its key alone. Each test changes
/// one thing; every finding has a neighbour in which it is absent.
class DiagnosisTest {
    private static final int STABLE_FUNCTION = 20_001;
    private static final int VOLATILE_FUNCTION = 20_002;
    private static final int IMMUTABLE_FUNCTION = 20_003;

    private static final String OPEN = variable(3, Oid.BOOL);
    private static final String TRUE =
            "{CONST :consttype 16 :consttypmod -1 :constcollid 0 :constlen 1 :constbyval true"
                    + " :constisnull false :location -1 :constvalue 1 [ 1 0 0 0 0 0 0 0 ]}";

    private final List<Policy> policies = new ArrayList<>();
    private final List<Index> indexes = new ArrayList<>();
    private Relation.Kind kind = Relation.Kind.TABLE;
    private Relation.RowSecurity security = Relation.RowSecurity.ON;
    private ReplicaIdentity identity = new ReplicaIdentity.Default(List.of(1));
    private EnumSet<PublishedTable.Action> actions = EnumSet.allOf(PublishedTable.Action.class);
    private Grants grants = new Grants(Grants.SchemaUsage.GRANTED, List.of(1, 2, 3, 4));
    private Role.Bypass bypass = Role.Bypass.NONE;
    private int ownerType = Oid.INT4;

    @BeforeEach
    void key() {
        indexes.add(index("t_pkey", Index.Kind.PRIMARY_IMMEDIATE, Index.Coverage.ALL_ROWS, 1));
    }

    private static Index index(String name, Index.Kind kind, Index.Coverage coverage, Integer... columns) {
        return new Index(name, List.of(columns), kind, coverage);
    }

    private static String variable(int attnum, int type) {
        return "{VAR :varno 1 :varattno " + attnum + " :vartype " + type + " :vartypmod -1 :varcollid 0"
                + " :varnullingrels (b) :varlevelsup 0 :varnosyn 1 :varattnosyn " + attnum + " :location -1}";
    }

    private static String call(int function, String argument) {
        return "{FUNCEXPR :funcid " + function + " :funcresulttype 16 :funcretset false :funcvariadic false"
                + " :funcformat 0 :funccollid 0 :inputcollid 0 :args " + argument + " :location -1}";
    }

    private static String and(String... arguments) {
        return "{BOOLEXPR :boolop and :args (" + String.join(" ", arguments) + ") :location -1}";
    }

    private static String or(String... arguments) {
        return "{BOOLEXPR :boolop or :args (" + String.join(" ", arguments) + ") :location -1}";
    }

    /// `id` is null or not.
    private static String test(int attnum, int type) {
        return "{NULLTEST :arg " + variable(attnum, type) + " :nulltesttype 0 :argisrow false :location -1}";
    }

    /// A sub-select over another table: nothing in process can know its answer.
    private static String asksAnotherTable(String inside) {
        return "{SUBLINK :subLinkType 0 :subLinkId 0 :testexpr <> :operName <> :subselect {QUERY :commandType 1"
                + " :rtable ({RANGETBLENTRY :relid 99}) :targetList (" + inside + ")} :location -1}";
    }

    private void policy(String name, Policy.Mode mode, List<Integer> roles, String tree, String text) {
        policies.add(new Policy(1, name, mode, Policy.Command.SELECT, roles, tree, text));
    }

    private void policy(String tree) {
        policy("p", Policy.Mode.PERMISSIVE, List.of(20), tree, "(" + tree.length() + " > 0)");
    }

    private static Column column(int attnum, String name, int type) {
        return new Column(attnum, name, type, -1, Column.Nullability.NULLABLE, Column.Generation.NONE, 0);
    }

    private Relation relation() {
        Map<String, Grants> byRole = new LinkedHashMap<>();
        byRole.put("reader", grants);
        return new Relation(
                16_400,
                "public",
                "t",
                kind,
                10,
                security,
                identity,
                List.of(
                        column(1, "id", Oid.INT4),
                        column(2, "owner", ownerType),
                        column(3, "open", Oid.BOOL),
                        column(4, "body", Oid.TEXT)),
                indexes,
                policies,
                byRole,
                new PublishedTable(null, actions, null),
                "v1",
                "r1",
                new Relation.Feed("", "", Map.of()));
    }

    private static void function(Map<Integer, Function> functions, int oid, Function.Volatility volatility) {
        Map<String, Boolean> executable = new LinkedHashMap<>();
        executable.put("reader", true);
        functions.put(
                oid,
                new Function(
                        oid,
                        "app",
                        "f" + oid,
                        "plpgsql",
                        volatility,
                        Function.Strictness.CALLED_ON_NULL,
                        Function.Security.INVOKER,
                        Oid.BOOL,
                        List.of(),
                        "",
                        null,
                        null,
                        executable,
                        "1"));
    }

    private Diagnosis diagnosis() {
        Map<Integer, PgType> types = new LinkedHashMap<>();
        types.put(Oid.INT4, new PgType.Base(Oid.INT4, "integer"));
        types.put(Oid.BOOL, new PgType.Base(Oid.BOOL, "boolean"));
        types.put(Oid.TEXT, new PgType.Base(Oid.TEXT, "text"));
        types.put(Oid.JSON, new PgType.Base(Oid.JSON, "json"));
        Map<String, Role> roles = new LinkedHashMap<>();
        roles.put("reader", new Role(20, "reader", bypass, List.of(20)));
        Map<Integer, Function> functions = new LinkedHashMap<>();
        function(functions, STABLE_FUNCTION, Function.Volatility.STABLE);
        function(functions, VOLATILE_FUNCTION, Function.Volatility.VOLATILE);
        function(functions, IMMUTABLE_FUNCTION, Function.Volatility.IMMUTABLE);
        Map<Integer, Collation> collations = new LinkedHashMap<>();
        CatalogImage catalog = new CatalogImage(
                new Stamp(new TransactionSnapshot(1, 1, List.of()), Lsn.ZERO),
                List.of(relation()),
                new CatalogImage.Dictionary(18, types, roles, functions, new LinkedHashMap<>(), collations));
        return Diagnosis.of(catalog, List.of("reader", "absent"));
    }

    private List<String> codes() {
        return diagnosis().findings().stream().map(Finding::code).toList();
    }

    private String remedy(String code) {
        return diagnosis().findings().stream()
                .filter(finding -> finding.code().equals(code))
                .map(Finding::remedy)
                .reduce("", String::concat);
    }

    private Outlook outlook() {
        assertThat(diagnosis().tables()).hasSize(1);
        return diagnosis().tables().getFirst();
    }

    @Test
    void a_policy_on_a_column_of_the_row_is_tier_b_and_clean() {
        policy(OPEN);
        assertThat(codes()).isEmpty();
        assertThat(outlook().tier()).isEqualTo(Tier.B);
        assertThat(outlook().policies()).hasSize(1);
        assertThat(outlook().policies().getFirst().forecast().tier()).isEqualTo(Tier.B);
    }

    @Test
    void a_policy_that_asks_another_table_is_tier_c_and_a_finding_of_severity_high() {
        policy(asksAnotherTable(""));
        assertThat(codes()).containsExactly("tier_c_policy");
        assertThat(diagnosis().findings().getFirst().severity()).isEqualTo(Finding.Severity.HIGH);
        assertThat(outlook().tier()).isEqualTo(Tier.C);
        assertThat(outlook().reason()).contains("\"p\"", "a sub-select");
    }

    @Test
    void one_that_no_longer_matters_is_no_finding() {
        policy("asks", Policy.Mode.PERMISSIVE, List.of(20), asksAnotherTable(""), "(true)");
        policy("open", Policy.Mode.PERMISSIVE, List.of(20), TRUE, "true");
        assertThat(codes()).isEmpty();
        assertThat(outlook().tier()).isEqualTo(Tier.A);
        assertThat(outlook().policies())
                .extracting(one -> one.forecast().tier())
                .containsExactly(Tier.C, Tier.A);
    }

    @Test
    void the_cheap_policy_beside_a_slow_one_is_no_finding() {
        policy("cheap", Policy.Mode.PERMISSIVE, List.of(20), OPEN, "open");
        policy("slow", Policy.Mode.PERMISSIVE, List.of(20), asksAnotherTable(""), "(x)");
        assertThat(diagnosis().findings()).extracting(Finding::policy).containsExactly("slow");
    }

    @Test
    void a_tree_that_is_none_is_unparseable_and_not_also_tier_c() {
        policy("{BOOLEXPR :boolop and :args (");
        assertThat(codes()).containsExactly("policy_unparseable");
        assertThat(outlook().tier()).isEqualTo(Tier.C);
    }

    @Test
    void a_permissive_policy_for_everybody_gets_a_list_of_the_roles_looked_at() {
        policy("p\"q", Policy.Mode.PERMISSIVE, List.of(0), OPEN, "open");
        assertThat(codes()).containsExactly("policy_applies_to_public");
        assertThat(remedy("policy_applies_to_public"))
                .startsWith("ALTER POLICY \"p\"\"q\" ON \"public\".\"t\" TO \"reader\";");
    }

    @Test
    void a_restrictive_policy_for_everybody_is_as_it_should_be() {
        policy(OPEN);
        policy("strict", Policy.Mode.RESTRICTIVE, List.of(0), OPEN, "open");
        assertThat(codes()).isEmpty();
    }

    @Test
    void a_stable_function_outside_a_sub_select_is_to_be_wrapped() {
        policy(
                "p",
                Policy.Mode.PERMISSIVE,
                List.of(20),
                and(OPEN, call(STABLE_FUNCTION, "<>")),
                "(open AND app.f20001())");
        assertThat(remedy("policy_function_not_wrapped"))
                .isEqualTo("ALTER POLICY \"p\" ON \"public\".\"t\" USING ((open AND (SELECT app.f20001())));");
    }

    @Test
    void a_text_without_the_call_is_not_made_up() {
        // what is printed while somebody alters the table
        policy(
                "p",
                Policy.Mode.PERMISSIVE,
                List.of(20),
                call(STABLE_FUNCTION, "<>"),
                "((1 OPERATOR(pg_catalog./) 0) IS NULL)");
        assertThat(remedy("policy_function_not_wrapped"))
                .contains("USING (...)")
                .doesNotContain("/");
    }

    @Test
    void wrapping_is_not_advised_for_what_it_would_change_or_not_help() {
        policy(
                "wrapped",
                Policy.Mode.PERMISSIVE,
                List.of(20),
                or(OPEN, asksAnotherTable(call(STABLE_FUNCTION, "<>"))),
                "");
        policy("of_the_row", Policy.Mode.PERMISSIVE, List.of(20), call(STABLE_FUNCTION, "(" + OPEN + ")"), "");
        policy("volatile", Policy.Mode.PERMISSIVE, List.of(20), call(VOLATILE_FUNCTION, "<>"), "");
        policy("constant", Policy.Mode.PERMISSIVE, List.of(20), call(IMMUTABLE_FUNCTION, "<>"), "");
        assertThat(codes()).doesNotContain("policy_function_not_wrapped");
    }

    @Test
    void a_column_that_leads_no_index_is_to_be_indexed() {
        indexes.add(index("second", Index.Kind.PLAIN, Index.Coverage.ALL_ROWS, 1, 2));
        indexes.add(index("partial", Index.Kind.PLAIN, Index.Coverage.PARTIAL, 2));
        policy(test(2, Oid.INT4));
        assertThat(remedy("unindexed_policy_column"))
                .isEqualTo("CREATE INDEX CONCURRENTLY ON \"public\".\"t\" (\"owner\");");
        kind = Relation.Kind.PARTITIONED_TABLE;
        assertThat(remedy("unindexed_policy_column")).isEqualTo("CREATE INDEX ON \"public\".\"t\" (\"owner\");");
    }

    @Test
    void a_column_that_leads_an_index_or_that_none_helps_is_left_alone() {
        policy(test(2, Oid.INT4));
        indexes.add(index("owner", Index.Kind.PLAIN, Index.Coverage.ALL_ROWS, 2, 1));
        assertThat(codes()).isEmpty();
        indexes.removeLast();
        ownerType = Oid.JSON;
        assertThat(codes()).doesNotContain("unindexed_policy_column");
    }

    @Test
    void an_identity_under_which_writes_fail_is_told_with_one_that_works() {
        security = Relation.RowSecurity.OFF;
        identity = new ReplicaIdentity.UsingIndex("", List.of());
        assertThat(remedy("replica_identity_broken"))
                .isEqualTo("ALTER TABLE \"public\".\"t\" REPLICA IDENTITY DEFAULT;");
        indexes.clear();
        assertThat(remedy("replica_identity_broken")).startsWith("ALTER TABLE \"public\".\"t\" REPLICA IDENTITY FULL;");
        identity = new ReplicaIdentity.Default(List.of());
        assertThat(codes()).containsExactly("replica_identity_broken");
        identity = new ReplicaIdentity.Nothing();
        assertThat(codes()).containsExactly("replica_identity_broken");
        assertThat(outlook().tier()).isNull();
    }

    @Test
    void an_identity_that_nothing_needs_is_not_broken() {
        security = Relation.RowSecurity.OFF;
        identity = new ReplicaIdentity.Nothing();
        actions = EnumSet.of(PublishedTable.Action.INSERT);
        assertThat(codes()).isEmpty();
        assertThat(outlook().tier()).isNull();
        actions = EnumSet.allOf(PublishedTable.Action.class);
        kind = Relation.Kind.PARTITIONED_TABLE;
        assertThat(codes()).isEmpty();
    }

    @Test
    void full_with_long_values_is_told_with_an_identity_of_what_policies_read() {
        identity = new ReplicaIdentity.Full();
        policy(OPEN);
        assertThat(remedy("replica_identity_full_with_toast"))
                .isEqualTo(
                        "ALTER TABLE \"public\".\"t\" ALTER COLUMN \"open\" SET NOT NULL; ALTER TABLE \"public\".\"t\""
                                + " ALTER COLUMN \"id\" SET NOT NULL; CREATE UNIQUE INDEX \"t_ri\" ON \"public\".\"t\""
                                + " (\"open\", \"id\"); ALTER TABLE \"public\".\"t\" REPLICA IDENTITY USING INDEX \"t_ri\";");
        security = Relation.RowSecurity.OFF;
        assertThat(remedy("replica_identity_full_with_toast"))
                .isEqualTo("ALTER TABLE \"public\".\"t\" REPLICA IDENTITY DEFAULT;");
    }

    @Test
    void full_is_needed_by_a_policy_on_the_whole_row() {
        identity = new ReplicaIdentity.Full();
        policy(and(OPEN, call(IMMUTABLE_FUNCTION, "(" + variable(0, Oid.INT4) + ")")));
        assertThat(codes()).doesNotContain("replica_identity_full_with_toast");
    }

    @Test
    void a_role_that_may_not_ask_has_no_tier_and_its_reason() {
        policy(OPEN);
        grants = new Grants(Grants.SchemaUsage.MISSING, List.of(1));
        assertThat(outlook().tier()).isNull();
        assertThat(outlook().reason()).contains("USAGE");
        grants = new Grants(Grants.SchemaUsage.GRANTED, List.of());
        assertThat(outlook().reason()).contains("may read no column");
        grants = new Grants(Grants.SchemaUsage.GRANTED, List.of(1));
        policies.clear();
        assertThat(outlook().tier()).isNull();
        assertThat(outlook().reason()).contains("no policy lets");
    }

    @Test
    void where_row_security_does_not_apply_policies_are_not_judged() {
        policy("p", Policy.Mode.PERMISSIVE, List.of(0), asksAnotherTable(""), "");
        bypass = Role.Bypass.BYPASS_RLS;
        assertThat(outlook().tier()).isEqualTo(Tier.A);
        assertThat(codes()).isEmpty();
        bypass = Role.Bypass.NONE;
        security = Relation.RowSecurity.OFF;
        assertThat(outlook().tier()).isEqualTo(Tier.A);
        assertThat(codes()).isEmpty();
    }

    @Test
    void findings_come_worst_first() {
        identity = new ReplicaIdentity.Full();
        policy("p", Policy.Mode.PERMISSIVE, List.of(0), asksAnotherTable(""), "");
        assertThat(codes())
                .containsExactly("tier_c_policy", "replica_identity_full_with_toast", "policy_applies_to_public");
    }
}
