package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.error.ErrorCode;
import sluice.core.expression.RowImage;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// The tier each named shape gets from the real planner over the real catalog, and that the rule shows the rows
/// PostgreSQL shows.
class AcceptanceTiersPgTest {
    private static final String ALICE = "00000000-0000-0000-0000-00000000000a";
    private static final String BOB = "00000000-0000-0000-0000-00000000000b";
    private static final String CLAIMS =
            "{\"sub\":\"" + ALICE + "\",\"role\":\"authenticated\",\"email\":\"Alice@Example.com\",\"team\":\"red\"}";
    private static final String OWNER = "owner_id = " + ALICE;

    private static final List<Shape> SHAPES = List.of(
            Shape.of("a_owner", "A", OWNER, "owner_id = auth.uid()"),
            Shape.of("a_role", "A", "", "auth.role() = 'authenticated'"),
            Shape.of("a_jwt_claim", "A", "", "auth.jwt() ->> 'team' = 'red'"),
            Shape.of("a_coalesce", "A", "", "coalesce(auth.jwt() ->> 'plan', 'free') = 'free'"),
            Shape.of("a_email_lower", "A", "email = alice@example.com", "lower(email) = lower(auth.jwt() ->> 'email')"),
            Shape.of("a_norls", "A", "", ""),
            Shape.of("a_in_list", "A", "status = open", "status IN ('open', 'closed')"),
            Shape.of("a_any_array", "A", "visibility = public", "visibility = ANY (ARRAY['public', 'team'])"),
            Shape.of("a_between", "A", "score = 50", "score BETWEEN 1 AND 100"),
            Shape.of("e_composite_pk", "A", OWNER, "owner_id = auth.uid()"),
            Shape.of("e_generated", "A", OWNER, "owner_id = auth.uid()"),
            Shape.of("e_toast", "A", OWNER, "owner_id = auth.uid()"),
            Shape.of("e_no_pk", "A", OWNER, "owner_id = auth.uid()"),
            Shape.of("w_owner", "A", OWNER, "owner_id = (select auth.uid())"),
            Shape.of("w_role", "A", "", "(select auth.role()) = 'authenticated'"),
            Shape.of("w_jwt", "A", "", "(select auth.jwt()) ->> 'team' = 'red'"),
            Shape.of("w_in_scalar", "A", OWNER, "(select auth.uid()) IN (owner_id)"),
            Shape.of("w_any_scalar", "A", OWNER, "owner_id = ANY (ARRAY[(select auth.uid())])"),
            Shape.of("w_bad_practice", "A", OWNER, "(select auth.uid() = owner_id)"),
            Shape.of("a_is_null", "B", "", "deleted_at IS NULL"),
            Shape.of("a_jsonb_path", "B", "", "meta ->> 'kind' = 'note'"),
            Shape.of("b_or_public", "B", "", "visibility = 'public' OR owner_id = auth.uid()"),
            Shape.of("b_threshold", "B", "", "score >= 50"),
            Shape.of("b_not_and", "B", "", "NOT (score > 50 AND visibility = 'private')"),
            Shape.of("b_like", "B", "", "title LIKE 'He%o'"),
            Shape.of("b_is_distinct", "B", "", "status IS DISTINCT FROM 'closed'"),
            Shape.of("b_nullif", "B", "", "nullif(status, 'closed') IS NOT NULL"),
            Shape.of("b_arith", "B", "", "score * 2 + 1 > 100"),
            Shape.of("b_concat", "B", "", "title || '/' || status = 'Hello/open'"),
            Shape.of("b_length", "B", "", "length(title) > 3"),
            Shape.of("b_volatile_now", "B", "", "created_at <= now()"),
            Shape.of("w_or_public", "B", "", "visibility = 'public' OR owner_id = (select auth.uid())"),
            Shape.of(
                    "c_exists",
                    "C",
                    "",
                    "EXISTS (SELECT FROM members m WHERE m.team = {t}.team AND m.user_id = auth.uid())"),
            Shape.of("c_in_select", "C", "", "team IN (SELECT m.team FROM members m WHERE m.user_id = auth.uid())"),
            Shape.of("c_any_select", "C", "", "team = ANY (SELECT m.team FROM members m WHERE m.user_id = auth.uid())"),
            Shape.of("c_udf", "C", "", "in_team(team)"),
            Shape.of("c_case", "B", "", "CASE visibility WHEN 'public' THEN true ELSE owner_id = auth.uid() END"),
            Shape.of("c_current_user", "A", "", "current_user = 'authenticated'"),
            Shape.of("c_has_priv", "C", "", "has_table_privilege('members', 'SELECT')"),
            Shape.of(
                    "c_scalar_subq",
                    "C",
                    "",
                    "team = (SELECT min(m.team) FROM members m WHERE m.user_id = auth.uid())"),
            Shape.of("c_all_array", "B", "", "score <> ALL (ARRAY[49, 51])"),
            Shape.of("c_regexp", "B", "", "title ~ '^He(l|r)+o$'"),
            Shape.of("c_extract", "B", "", "extract(year FROM created_at) = 2024"),
            Shape.of("c_greatest", "B", "", "greatest(score, 50) = 50"),
            Shape.of(
                    "c_restrictive_combo",
                    "C",
                    "",
                    "owner_id = auth.uid()",
                    "RESTRICTIVE EXISTS (SELECT FROM members m WHERE m.team = {t}.team)"),
            Shape.of(
                    "c_multi_perm",
                    "C",
                    "",
                    "owner_id = auth.uid()",
                    "EXISTS (SELECT FROM members m WHERE m.team = {t}.team AND m.user_id = auth.uid())"),
            Shape.of("c_restrictive_row", "B", "", "owner_id = auth.uid()", "RESTRICTIVE score > 40"),
            Shape.of("c_multi_row", "B", "", "owner_id = auth.uid()", "title ~ '^x'", "visibility = 'public'"));

    /// A table and its policies.
    ///
    /// The policies are USING expressions in which `{t}` is the table, permissive unless they say so. An empty one
    /// is a table without row-level security.
    ///
    /// @param pinned `column = value` that the shape's filter says, or nothing
    private record Shape(String name, String tier, String pinned, List<String> policies) {
        static Shape of(String name, String tier, String pinned, String... policies) {
            return new Shape(name, tier, pinned, List.of(policies));
        }
    }

    private static PolicyTable table;
    private static CatalogImage catalog;

    @BeforeAll
    static void open() {
        PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("tiers");
        database.withStandardRoles();
        database.execute(
                "CREATE TABLE members (team int, user_id uuid)",
                "INSERT INTO members VALUES (1, '" + ALICE + "'), (2, '" + BOB + "')",
                "CREATE FUNCTION in_team(int) RETURNS bool LANGUAGE sql STABLE AS 'SELECT EXISTS (SELECT FROM"
                        + " public.members m WHERE m.team = $1 AND m.user_id = auth.uid())'",
                "CREATE PUBLICATION " + PolicyTable.PUBLICATION + " FOR TABLES IN SCHEMA public");
        for (Shape shape : SHAPES) {
            create(database, shape);
        }
        database.execute("CREATE TABLE closed (id int PRIMARY KEY)", "ALTER TABLE closed ENABLE ROW LEVEL SECURITY");
        database.execute("INSERT INTO closed VALUES (1)");
        table = new PolicyTable(database);
        catalog = table.catalog(List.of("authenticated"));
    }

    @AfterAll
    static void close() {
        table.close();
    }

    private static void create(PostgresDatabase database, Shape shape) {
        String name = shape.name();
        String key = name.equals("e_composite_pk")
                ? "PRIMARY KEY (owner_id, id)"
                : name.equals("e_no_pk") ? "CHECK (id > 0)" : "PRIMARY KEY (id)";
        database.execute(
                "CREATE TABLE " + name
                        + " (id int NOT NULL, owner_id uuid NOT NULL, email text, status text, visibility text, score"
                        + " int, title text, deleted_at timestamptz, created_at timestamptz, meta jsonb, team int"
                        + (name.equals("e_generated") ? ", twice int GENERATED ALWAYS AS (score * 2) STORED" : "")
                        + (name.equals("e_toast") ? ", body text DEFAULT repeat('x', 20000)" : "")
                        + ", " + key + ")",
                """
                INSERT INTO %s (id, owner_id, email, status, visibility, score, title, deleted_at, created_at, meta, team)
                VALUES
                (1, '%2$s', 'alice@example.com', 'open', 'public', 50, 'Hello', NULL, '2024-05-05', '{"kind": "note"}', 1),
                (2, '%2$s', 'ALICE@example.com', 'closed', 'private', 51, 'x', now(), now(), '{"kind": "x"}', 2),
                (3, '%3$s', 'bob@example.com', NULL, 'team', 49, NULL, NULL, now() + interval '1 day', NULL, 3),
                (4, '%3$s', 'alice@example.com', 'open', 'public', NULL, 'Herro', NULL, NULL, '{"kind": 1}', 1),
                (5, '%3$s', NULL, 'archived', 'private', 120, '', NULL, '-infinity', '[]', NULL)\
                """.formatted(name, ALICE, BOB));
        if (!shape.policies().getFirst().isEmpty()) {
            database.execute("ALTER TABLE " + name + " ENABLE ROW LEVEL SECURITY");
            int number = 0;
            for (String policy : shape.policies()) {
                boolean restrictive = policy.startsWith("RESTRICTIVE ");
                String using = (restrictive ? policy.substring("RESTRICTIVE ".length()) : policy).replace("{t}", name);
                database.execute("CREATE POLICY p" + number++ + " ON " + name + (restrictive ? " AS RESTRICTIVE" : "")
                        + " FOR SELECT USING (" + using + ")");
            }
        }
    }

    @Test
    void every_named_shape_has_its_tier_and_those_that_stay_with_postgresql_say_why() {
        Map<String, String> expected = new LinkedHashMap<>();
        Map<String, String> found = new LinkedHashMap<>();
        for (Shape shape : SHAPES) {
            RulePlan.Verdict verdict = new Hearing(table, shape.name(), "authenticated").verdict(CLAIMS, pinned(shape));
            assertThat(verdict).as(shape.name()).isInstanceOf(RulePlan.Verdict.Granted.class);
            Rule rule = ((RulePlan.Verdict.Granted) verdict).rule();
            expected.put(shape.name(), shape.tier());
            found.put(shape.name(), rule.tier().name());
            if (rule.tier() == Tier.C) {
                System.out.println("tier C: " + shape.name() + ": " + rule.reason());
                assertThat(rule.reason())
                        .containsPattern("a sub-select|function \"(public.in_team|pg_catalog.has_table_privilege)\"");
            }
        }

        assertThat(found).isEqualTo(expected);
        assertThat(SHAPES).hasSizeGreaterThan(45);
    }

    @Test
    void every_rule_decided_in_process_shows_the_rows_postgresql_shows() {
        int shown = 0;
        int hidden = 0;
        for (Shape shape : SHAPES) {
            Hearing hearing = new Hearing(table, shape.name(), "authenticated");
            Rule rule = ((RulePlan.Verdict.Granted) hearing.verdict(CLAIMS, pinned(shape))).rule();
            if (rule.tier() == Tier.C) {
                continue;
            }
            List<String> ours = new ArrayList<>();
            int id = 0;
            for (RowImage row : table.rows(relation(shape.name()), java.time.Instant.now())) {
                id++;
                if (inShape(shape, id)
                        && (rule.tier() == Tier.A
                                || Hearing.letter(Objects.requireNonNull(rule.predicate()), row) == 't')) {
                    ours.add(String.valueOf(id));
                }
            }
            List<String> theirs = new ArrayList<>(hearing.visible(CLAIMS));
            theirs.removeIf(each -> !inShape(shape, Integer.parseInt(each)));
            assertThat(ours).as(shape.name()).isEqualTo(theirs).isNotEmpty();
            shown += ours.size();
            hidden += 5 - ours.size();
        }
        assertThat(shown).isGreaterThan(60);
        assertThat(hidden).isGreaterThan(60);
    }

    /// Whether the shape's filter holds for the row.
    private static boolean inShape(Shape shape, int id) {
        if (shape.pinned().isEmpty()) {
            return true;
        }
        String[] pin = shape.pinned().split(" = ", -1);
        return !table.database()
                .rows("SELECT FROM " + shape.name() + " WHERE id = " + id + " AND " + pin[0] + "::text = '" + pin[1]
                        + "'")
                .isEmpty();
    }

    private static PinnedColumns pinned(Shape shape) {
        if (shape.pinned().isEmpty()) {
            return PinnedColumns.NONE;
        }
        String[] pin = shape.pinned().split(" = ", -1);
        Column column = Objects.requireNonNull(relation(shape.name()).column(pin[0]));
        Map<Integer, String> values = new HashMap<>();
        values.put(column.attnum(), pin[1]);
        return new PinnedColumns(values);
    }

    private static Relation relation(String name) {
        return Objects.requireNonNull(catalog.relation("public", name));
    }

    @Test
    void a_role_that_bypasses_row_level_security_is_tier_a_and_is_told_why() {
        RulePlan.Verdict verdict = new Hearing(table, "closed", "service_role").verdict(CLAIMS, PinnedColumns.NONE);

        assertThat(verdict).isInstanceOfSatisfying(RulePlan.Verdict.Granted.class, granted -> {
            assertThat(granted.rule().tier()).isEqualTo(Tier.A);
            assertThat(granted.rule().reason()).contains("service_role").contains("bypasses row-level security");
        });
        assertThat(new Hearing(table, "closed", "service_role").visible(CLAIMS)).containsExactly("1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"authenticated", "anon"})
    void the_same_shape_for_a_role_without_a_policy_is_refused(String role) {
        RulePlan.Verdict verdict = new Hearing(table, "closed", role).verdict(CLAIMS, PinnedColumns.NONE);

        assertThat(verdict)
                .isInstanceOfSatisfying(
                        RulePlan.Verdict.Refused.class,
                        refused -> assertThat(refused.code()).isEqualTo(ErrorCode.SHAPE_NOT_AUTHORIZED));
        assertThat(new Hearing(table, "closed", role).visible(CLAIMS)).isEmpty();
    }
}
