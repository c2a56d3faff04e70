package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.error.ErrorCode;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;
import sluice.testkit.PostgresCluster;

/// Which tier a rule gets and why, on trees and catalogs as PostgreSQL stores them.
class RlsResolverPgTest {
    private static final String ALICE = "00000000-0000-0000-0000-00000000000a";
    private static final String CLAIMS = "{\"sub\":\"" + ALICE + "\",\"role\":\"authenticated\",\"team\":\"a\"}";
    private static final String ROLE = "authenticated";

    private static PolicyTable table;

    @BeforeAll
    static void open() {
        table = PolicyTable.create(PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("resolver"));
        table.fill(new Random(1), 30);
        table.database()
                .execute(
                        "CREATE FUNCTION make(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2'",
                        "ALTER TABLE t ADD COLUMN made int GENERATED ALWAYS AS (make(i4)) STORED",
                        "CREATE FUNCTION by_plpgsql() RETURNS bool LANGUAGE plpgsql STABLE AS 'BEGIN RETURN true; END'",
                        "CREATE FUNCTION by_clock() RETURNS bool LANGUAGE sql STABLE AS 'SELECT now() >"
                                + " ''2020-01-01'''",
                        """
                        CREATE FUNCTION by_table() RETURNS bool LANGUAGE sql STABLE
                          BEGIN ATOMIC SELECT EXISTS (SELECT FROM members); END\
                        """,
                        """
                        CREATE FUNCTION by_claimed_time() RETURNS bool LANGUAGE sql STABLE
                          BEGIN ATOMIC SELECT (auth.jwt() ->> 'until')::timestamptz > '2020-01-01'::timestamptz; END\
                        """,
                        "CREATE FUNCTION by_call() RETURNS bool LANGUAGE sql AS 'SELECT public.is_admin()'",
                        "CREATE FUNCTION forbidden() RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'",
                        "REVOKE EXECUTE ON FUNCTION forbidden() FROM PUBLIC");
    }

    @AfterAll
    static void close() {
        table.close();
    }

    @AfterEach
    void drop_policies() {
        for (List<@Nullable String> name :
                table.database().rows("SELECT polname FROM pg_policy WHERE polrelid = 't'::regclass")) {
            table.database().execute("DROP POLICY " + name.getFirst() + " ON t");
        }
    }

    private static void policy(String name, String using) {
        table.database().execute("CREATE POLICY " + name + " ON t FOR SELECT TO " + ROLE + " USING (" + using + ")");
    }

    private static RulePlan plan(ProbePermission probes, PinnedColumns pinned) {
        return plan(table.catalog(List.of(ROLE)), probes, pinned);
    }

    private static RulePlan plan(CatalogImage catalog, ProbePermission probes, PinnedColumns pinned) {
        Role role = Objects.requireNonNull(catalog.role(ROLE));
        return new RlsResolver(probes).plan(catalog, relation(catalog), role, pinned);
    }

    private static RulePlan.Verdict verdict(ProbePermission probes, PinnedColumns pinned, String claims) {
        RulePlan plan = plan(probes, pinned);
        return plan.complete(table.fold(ROLE, claims, plan.folds()));
    }

    private static Rule rule() {
        return granted(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS));
    }

    private static Rule granted(RulePlan.Verdict verdict) {
        assertThat(verdict).isInstanceOf(RulePlan.Verdict.Granted.class);
        return ((RulePlan.Verdict.Granted) verdict).rule();
    }

    private static ErrorCode refusal(RulePlan.Verdict verdict) {
        assertThat(verdict).isInstanceOf(RulePlan.Verdict.Refused.class);
        return ((RulePlan.Verdict.Refused) verdict).code();
    }

    private static PinnedColumns pinned(String column, String text) {
        Column found =
                Objects.requireNonNull(relation(table.catalog(List.of(ROLE))).column(column));
        Map<Integer, String> values = new HashMap<>();
        values.put(found.attnum(), text);
        return new PinnedColumns(values);
    }

    private static List<List<@Nullable String>> read(String sql) {
        return table.database().asRole(ROLE, CLAIMS).rows(sql);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        nd = 'a'                                      | collation "loose"
        public.is_admin()                             | function "public.is_admin"
        (SELECT public.is_admin())                    | function "public.is_admin"
        tx = 'a' AND by_plpgsql()                     | function "public.by_plpgsql" is written in plpgsql
        by_clock()                                    | function "public.by_clock"
        by_table()                                    | function "public.by_table"
        by_call()                                     | function "public.is_admin"
        clock_timestamp() > '2020-01-01'              | function "pg_catalog.clock_timestamp"
        by_claimed_time()                             | function "public.by_claimed_time" may read a text as the clock
        random() < 2                                  | function "pg_catalog.random"
        current_setting('app.open', true) = 'yes'     | not the caller's
        session_user = 'x'                            | session
        EXISTS (SELECT FROM members m WHERE m.id = t.id) | sub-select
        to_char(i4, '9') = '1'                        | function "pg_catalog.to_char"
        made = 1                                      | column "made" is generated
        t IS NOT NULL                                 | row
        t.xmin IS NOT NULL                            | system column
        """)
    void what_cannot_be_proven_is_left_to_postgresql_with_a_reason(String using, String reason) {
        policy("narrow", using);

        Rule rule = rule();

        assertThat(rule.tier()).isEqualTo(Tier.C);
        assertThat(rule.reason()).contains("policy \"narrow\"").contains(reason);
        assertThat(refusal(verdict(ProbePermission.DENY, PinnedColumns.NONE, CLAIMS)))
                .isEqualTo(ErrorCode.POLICY_REQUIRES_IMPERSONATION);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "u1 = auth.uid()",
                "u1 = (SELECT auth.uid())",
                "auth.uid()::text = u1::text",
                "tx = (auth.jwt() ->> 'team')",
                "vc = public.tenant() AND fl",
                "i4 = ANY (ARRAY[1, 2]) OR tx = auth.role()"
            })
    void usual_policies_are_decided_in_process(String using) {
        policy("own", using);

        assertThat(rule().tier()).isEqualTo(Tier.B);
    }

    @Test
    void a_rule_names_the_columns_it_reads() {
        policy("own", "u1 = auth.uid() AND (fl OR i4 = 1)");
        policy("more", "EXISTS (SELECT FROM members m WHERE m.id = t.i2)");

        Rule probed = rule();
        table.database().execute("DROP POLICY more ON t");

        assertThat(probed.readsColumns()).containsExactly(2, 3, 11, 14);
        assertThat(rule().readsColumns()).containsExactly(3, 11, 14);
    }

    @Test
    void a_permissive_policy_that_is_simply_true_decides_over_one_that_is_not_understood() {
        policy("admins", "public.is_admin()");
        policy("everybody", "true");

        assertThat(rule().tier()).isEqualTo(Tier.A);
    }

    @Test
    void a_restrictive_policy_still_binds_when_a_permissive_one_is_simply_true() {
        policy("everybody", "true");
        table.database().execute("CREATE POLICY narrowing ON t AS RESTRICTIVE USING (fl)");

        Rule rule = rule();

        assertThat(rule.tier()).isEqualTo(Tier.B);
        assertThat(rule.readsColumns()).containsExactly(14);
    }

    @Test
    void a_restrictive_policy_that_is_not_true_for_the_caller_refuses() {
        policy("everybody", "true");
        table.database().execute("CREATE POLICY narrowing ON t AS RESTRICTIVE USING (auth.role() = 'staff')");

        assertThat(refusal(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS)))
                .isEqualTo(ErrorCode.SHAPE_NOT_AUTHORIZED);
        assertThat(read("SELECT 1 FROM t")).isEmpty();
    }

    @Test
    void a_null_answer_refuses_as_false_does() {
        policy("team", "auth.jwt() ->> 'nobody has this' = 'x'");

        assertThat(refusal(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS)))
                .isEqualTo(ErrorCode.SHAPE_NOT_AUTHORIZED);
    }

    @Test
    void pinning_the_policys_column_makes_it_a_constant() {
        policy("own", "u1 = auth.uid()");

        assertThat(granted(verdict(ProbePermission.ALLOW, pinned("u1", ALICE), CLAIMS))
                        .tier())
                .isEqualTo(Tier.A);
        assertThat(refusal(verdict(ProbePermission.ALLOW, pinned("u1", ALICE.replace('a', 'b')), CLAIMS)))
                .isEqualTo(ErrorCode.SHAPE_NOT_AUTHORIZED);
        assertThat(granted(verdict(ProbePermission.ALLOW, pinned("u2", ALICE), CLAIMS))
                        .tier())
                .isEqualTo(Tier.B);
    }

    @Test
    void a_part_over_pinned_columns_only_is_evaluated_by_postgresql_once() {
        policy("folded", "lower(tx) = 'it''s' || '\\' AND coalesce(fl, fm)");
        Map<Integer, String> both = new HashMap<>(pinned("tx", "IT'S\\").textByAttnum());
        both.putAll(pinned("fl", "t").textByAttnum());
        both.putAll(pinned("fm", "f").textByAttnum());

        assertThat(granted(verdict(ProbePermission.DENY, new PinnedColumns(both), CLAIMS))
                        .tier())
                .isEqualTo(Tier.A);
    }

    @Test
    void a_policy_that_raises_for_the_caller_refuses_that_caller_only() {
        policy("own", "u1 = auth.uid() OR fl");
        String broken = "{\"sub\":\"nobody\"}";

        assertThat(refusal(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, broken)))
                .isEqualTo(ErrorCode.SHAPE_NOT_AUTHORIZED);
        assertThatThrownBy(() -> table.database().asRole(ROLE, broken).rows("SELECT 1 FROM t"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("22P02");
        assertThat(rule().tier()).isEqualTo(Tier.B);
    }

    @Test
    void an_error_that_may_pass_can_be_retried() {
        policy("own", "u1 = auth.uid()");

        assertThat(refusal(plan(ProbePermission.ALLOW, PinnedColumns.NONE)
                        .complete(List.of(new FoldAnswer.Raised("57014")))))
                .isEqualTo(ErrorCode.CATALOG_UNAVAILABLE);
    }

    @Test
    void a_function_the_role_may_not_execute_refuses_as_postgresql_does() {
        policy("own", "fl OR public.forbidden()");

        assertThat(refusal(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS)))
                .isEqualTo(ErrorCode.SHAPE_NOT_AUTHORIZED);
        assertThatThrownBy(() -> read("SELECT 1 FROM t")).hasMessageContaining("42501");
    }

    @Test
    void a_function_the_role_may_not_execute_refuses_also_where_it_would_be_probed() {
        policy("own", "fl AND public.forbidden() IS NOT DISTINCT FROM EXISTS (SELECT FROM members)");

        assertThat(refusal(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS)))
                .isEqualTo(ErrorCode.SHAPE_NOT_AUTHORIZED);
    }

    @Test
    void a_policys_own_columns_need_no_grant() {
        policy("own", "fl");
        table.database().execute("REVOKE SELECT ON t FROM " + ROLE, "GRANT SELECT (id) ON t TO " + ROLE);

        List<List<@Nullable String>> theirs = read("SELECT id FROM t ORDER BY id");
        Tier ours = rule().tier();
        table.database().execute("GRANT SELECT ON t TO " + ROLE);

        assertThat(theirs).isNotEmpty();
        assertThat(ours).isEqualTo(Tier.B);
    }

    @Test
    void a_policy_nested_five_hundred_deep_is_left_to_postgresql() {
        policy("deep", "(NOT ".repeat(500) + "fl" + ")".repeat(500));

        Rule rule = rule();

        assertThat(rule.tier()).isEqualTo(Tier.C);
        assertThat(rule.reason()).contains("nests too deep");
        assertThat(rule.readsColumns()).containsExactly(0);
    }

    @Test
    void on_an_unknown_major_nothing_is_decided_in_process() {
        policy("own", "fl");
        CatalogImage known = table.catalog(List.of(ROLE));
        CatalogImage.Dictionary d = known.dictionary();
        for (int major : new int[] {14, 19}) {
            CatalogImage unknown = new CatalogImage(
                    known.stamp(),
                    known.relations(),
                    new CatalogImage.Dictionary(
                            major,
                            d.typesByOid(),
                            d.rolesByName(),
                            d.functionsByOid(),
                            d.operatorsByOid(),
                            d.collationsByOid()));
            RulePlan.Verdict verdict =
                    plan(unknown, ProbePermission.ALLOW, PinnedColumns.NONE).complete(List.of());
            assertThat(granted(verdict).tier()).isEqualTo(Tier.C);
        }
    }

    /// The policy goes on casting by text; a question by the policy's text would take the cast.
    @Test
    void a_policy_that_casts_by_text_is_refused_once_a_cast_was_made_that_its_text_would_mean() {
        table.database()
                .execute(
                        "CREATE TYPE lamp AS ENUM ('on', 'off')",
                        "CREATE FUNCTION always_on(lamp) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'on'$$",
                        "ALTER TABLE t ADD COLUMN lamp lamp DEFAULT 'off'");
        policy("lit", "lamp::text = 'on' AND i4 IS NOT NULL");
        granted(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS));

        table.database().execute("CREATE CAST (lamp AS text) WITH FUNCTION always_on(lamp)");
        assertThat(table.database().asRole(ROLE, CLAIMS).rows("SELECT id FROM t"))
                .as("PostgreSQL goes on")
                .isEmpty();
        assertThat(refusal(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS)))
                .isEqualTo(ErrorCode.SHAPE_NOT_AUTHORIZED);

        table.database().execute("DROP POLICY lit ON t");
        policy("lit", "lamp::text = 'on' AND i4 IS NOT NULL");
        granted(verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS));
        table.database().execute("DROP POLICY lit ON t", "DROP CAST (lamp AS text)");
    }

    @Test
    void a_users_operator_for_built_in_types_takes_the_proof_from_string_bodies() {
        policy("own", "u1 = auth.uid()");
        table.database()
                .execute(
                        "CREATE FUNCTION peek(jsonb, uuid) RETURNS text LANGUAGE sql AS 'SELECT max(id)::text FROM"
                                + " public.members'",
                        "CREATE OPERATOR public.->> (LEFTARG = jsonb, RIGHTARG = uuid, FUNCTION = peek)");

        Tier with = rule().tier();
        table.database().execute("DROP OPERATOR public.->> (jsonb, uuid)");

        assertThat(with).isEqualTo(Tier.C);
        assertThat(rule().tier()).isEqualTo(Tier.B);
    }

    @Test
    void the_probes_sql_says_what_the_policies_say() {
        policy("a", "lower(tx) = 'a' OR u1 = auth.uid()");
        policy("b", "EXISTS (SELECT FROM public.members m WHERE m.id = t.i4)");
        table.database().execute("CREATE POLICY r ON t AS RESTRICTIVE USING (fl)");
        List<List<@Nullable String>> theirs = read("SELECT id FROM t ORDER BY id");
        assertThat(rule().decision()).isInstanceOfSatisfying(Rule.Decision.Probed.class, probed -> {
            table.database().execute("ALTER TABLE t DISABLE ROW LEVEL SECURITY");
            assertThat(read("SELECT id FROM t WHERE " + probed.sql() + " ORDER BY id"))
                    .isEqualTo(theirs);
            table.database().execute("ALTER TABLE t ENABLE ROW LEVEL SECURITY");
        });
        assertThat(theirs).isNotEmpty();
    }

    @Test
    void a_value_that_was_not_sent_never_changes_a_clear_answer() {
        Random random = new Random(99);
        RandomExpression expressions = new RandomExpression(random, RandomExpression.Undecided.LEFT_OUT);
        List<RowImage> rows = rows();
        int clear = 0;
        int undecidable = 0;
        for (int i = 0; i < 60; i++) {
            policy("p" + i, expressions.next());
            RulePlan.Verdict verdict = verdict(ProbePermission.ALLOW, PinnedColumns.NONE, CLAIMS);
            table.database().execute("DROP POLICY p" + i + " ON t");
            if (!(verdict instanceof RulePlan.Verdict.Granted(var rule))
                    || !(rule.decision() instanceof Rule.Decision.Compiled(var predicate))) {
                continue;
            }
            for (int hidden : rule.readsColumns()) {
                for (RowImage row : rows) {
                    Truth partial = predicate.test(without(row, hidden));
                    if (partial == Truth.UNDECIDABLE) {
                        undecidable++;
                        continue;
                    }
                    clear++;
                    for (RowImage completed : completions(rows, row, hidden)) {
                        assertThat(predicate.test(completed)).isEqualTo(partial);
                    }
                }
            }
        }
        System.out.println("hidden columns: " + clear + " clear answers held, " + undecidable + " undecidable");
        assertThat(clear).isGreaterThan(100);
        assertThat(undecidable).isGreaterThan(100);
    }

    private static List<RowImage> rows() {
        return table.rows(relation(table.catalog(List.of(ROLE))));
    }

    private static Relation relation(CatalogImage catalog) {
        return Objects.requireNonNull(catalog.relation("public", "t"));
    }

    private static RowImage without(RowImage row, int attnum) {
        int position = row.mapping().position(attnum);
        return new RowImage(with(row.tuple(), position, Tuple.Kind.NOT_SENT, null), row.mapping(), row.at());
    }

    /// The row with the column NULL, and with the value it has in every other row.
    private static List<RowImage> completions(List<RowImage> rows, RowImage row, int attnum) {
        int position = row.mapping().position(attnum);
        List<RowImage> completions = new ArrayList<>();
        completions.add(new RowImage(with(row.tuple(), position, Tuple.Kind.NULL, null), row.mapping(), row.at()));
        for (RowImage other : rows) {
            if (other.kind(attnum) == Tuple.Kind.TEXT) {
                Tuple tuple = with(
                        row.tuple(), position, Tuple.Kind.TEXT, other.tuple().text(position));
                completions.add(new RowImage(tuple, row.mapping(), row.at()));
            }
        }
        return completions;
    }

    private static Tuple with(Tuple tuple, int position, Tuple.Kind kind, @Nullable String text) {
        List<@Nullable String> texts = new ArrayList<>();
        for (int i = 0; i < tuple.columnCount(); i++) {
            texts.add(i == position ? text : tuple.kind(i) == Tuple.Kind.TEXT ? tuple.text(i) : null);
        }
        Tuple rebuilt = PolicyTable.tuple(texts);
        return kind == Tuple.Kind.NOT_SENT ? PolicyTable.hiding(rebuilt, position) : rebuilt;
    }
}
