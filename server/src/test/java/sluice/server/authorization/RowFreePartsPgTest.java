package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.authorization.Tier;
import sluice.core.expression.RowImage;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// Parts of a policy that no row touches are asked once for a caller: only where nothing but the claims can change
/// the answer, and where the text that is asked means what the policy means. PostgreSQL shows each time that it
/// would not.
class RowFreePartsPgTest {
    private static final String ROLE = "authenticated";
    private static final String ALICE = "00000000-0000-0000-0000-00000000000a";
    private static final String BOB = "00000000-0000-0000-0000-00000000000b";
    private static final String CLAIMS =
            "{\"sub\":\"" + ALICE + "\",\"role\":\"authenticated\",\"team\":\"a\",\"mood\":\"low\"}";

    private static PolicyTable table;

    @BeforeAll
    static void open() {
        PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("row_free");
        database.withStandardRoles();
        database.execute(
                "CREATE TYPE mood AS ENUM ('low', 'high')",
                "CREATE TABLE docs (id int PRIMARY KEY, tx text, icu text COLLATE \"und-x-icu\", u uuid, m mood, fl"
                        + " bool, ts timestamptz)",
                "INSERT INTO docs VALUES (1, 'a', 'C', '" + ALICE + "', 'low', false, 'infinity'), (2, 'b', 'a', '"
                        + BOB + "', 'high', false, '-infinity'), (3, NULL, NULL, NULL, NULL, NULL, NULL)",
                "ALTER TABLE docs ENABLE ROW LEVEL SECURITY",
                "CREATE TABLE settings (name text, open bool, who uuid)",
                "GRANT SELECT ON settings TO PUBLIC",
                "CREATE FUNCTION peek() RETURNS text LANGUAGE sql STABLE AS 'SELECT name FROM public.settings'",
                "CREATE FUNCTION opened() RETURNS bool LANGUAGE sql STABLE AS 'SELECT open FROM public.settings'",
                "CREATE FUNCTION defaulted(text DEFAULT public.peek()) RETURNS text LANGUAGE sql STABLE AS"
                        + " 'SELECT $1'",
                "CREATE FUNCTION calls_defaulted() RETURNS text LANGUAGE sql STABLE"
                        + " BEGIN ATOMIC SELECT public.defaulted(); END",
                "CREATE DOMAIN guarded AS text CHECK (public.opened())",
                "CREATE TYPE guards AS (one guarded)",
                "CREATE FUNCTION guarded_team() RETURNS guarded LANGUAGE sql STABLE AS"
                        + " $$ SELECT auth.jwt() ->> 'team' $$",
                "CREATE FUNCTION guarded_teams() RETURNS guarded[] LANGUAGE sql STABLE"
                        + " BEGIN ATOMIC SELECT ARRAY[auth.jwt() ->> 'team']; END",
                "CREATE FUNCTION takes_guarded(guarded) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1'",
                "CREATE SCHEMA app",
                "GRANT USAGE ON SCHEMA app TO PUBLIC",
                "CREATE FUNCTION app.upper(text) RETURNS text LANGUAGE sql STABLE AS 'SELECT public.peek()'",
                "CREATE FUNCTION path_team() RETURNS text LANGUAGE sql STABLE SET search_path = app, pg_catalog AS"
                        + " $$ SELECT upper(auth.jwt() ->> 'team') $$",
                "CREATE FUNCTION public.lower(jsonb) RETURNS text LANGUAGE sql STABLE AS 'SELECT public.peek()'",
                "CREATE FUNCTION overloaded() RETURNS text LANGUAGE sql STABLE AS"
                        + " $$ SELECT lower(auth.jwt() -> 'team') $$",
                "CREATE FUNCTION claimed_mood() RETURNS mood LANGUAGE sql STABLE"
                        + " BEGIN ATOMIC SELECT (auth.jwt() ->> 'mood')::mood; END",
                "CREATE FUNCTION is_mood(mood, text) RETURNS bool LANGUAGE sql STABLE AS 'SELECT public.opened()'",
                "CREATE OPERATOR public.= (LEFTARG = mood, RIGHTARG = text, FUNCTION = is_mood)",
                "CREATE FUNCTION low() RETURNS bool LANGUAGE sql STABLE AS"
                        + " $$ SELECT public.claimed_mood() = 'low'::text $$",
                "CREATE PUBLICATION " + PolicyTable.PUBLICATION + " FOR TABLE docs");
        table = new PolicyTable(database);
    }

    @AfterAll
    static void close() {
        table.close();
    }

    @AfterEach
    void forget() {
        table.database().execute("DROP POLICY IF EXISTS p ON docs", "DELETE FROM settings");
    }

    private static void policy(String using) {
        table.database().execute("CREATE POLICY p ON docs USING (" + using + ")");
    }

    private static void settings(String name, String open, String who) {
        table.database()
                .execute(
                        "DELETE FROM settings",
                        "INSERT INTO settings VALUES ('" + name + "', " + open + ", '" + who + "')");
    }

    private static Rule rule(PinnedColumns pinned) {
        RulePlan.Verdict verdict = new Hearing(table, "docs", ROLE).verdict(CLAIMS, pinned);
        assertThat(verdict).isInstanceOf(RulePlan.Verdict.Granted.class);
        return ((RulePlan.Verdict.Granted) verdict).rule();
    }

    private static List<String> theirs() {
        return new Hearing(table, "docs", ROLE).visible(CLAIMS);
    }

    private static List<String> ours(Rule rule) {
        List<String> ids = new ArrayList<>();
        int id = 0;
        for (RowImage row : table.rows(
                Objects.requireNonNull(table.catalog(List.of(ROLE)).relation("public", "docs")), Instant.EPOCH)) {
            id++;
            if (rule.tier() == Tier.A || Hearing.letter(Objects.requireNonNull(rule.predicate()), row) == 't') {
                ids.add(String.valueOf(id));
            }
        }
        return ids;
    }

    /// What PostgreSQL shows changes with a table while the caller's claims stay.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        tx = defaulted()                  | is called with defaults
        tx = calls_defaulted()            | function "public.defaulted" is called with defaults
        tx = upper(defaulted()) OR tx = defaulted() | is called with defaults
        tx = path_team()                  | names its own search path first
        tx = overloaded()                 | function "public.overloaded" may read tables or the clock
        tx = 'a' AND low()                | function "public.low" may read tables or the clock
        """)
    void a_part_whose_answer_a_table_can_change_is_not_asked_once(String using, String reason) {
        policy(using);
        settings("a", "true", ALICE);
        List<String> before = theirs();
        Rule rule = rule(PinnedColumns.NONE);
        settings("c", "false", ALICE);

        assertThat(before).containsExactly("1");
        assertThat(theirs()).isEmpty();
        assertThat(rule.tier()).isEqualTo(Tier.C);
        assertThat(rule.reason()).contains(reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tx = guarded_team()", "tx = ANY (guarded_teams())", "tx = takes_guarded('a')"})
    void a_function_over_a_domain_may_be_refused_by_the_domains_check_tomorrow(String using) {
        settings("a", "true", ALICE);
        policy(using);
        List<String> before = theirs();
        Rule rule = rule(PinnedColumns.NONE);
        settings("a", "false", ALICE);

        assertThat(before).containsExactly("1");
        assertThatThrownBy(RowFreePartsPgTest::theirs).hasMessageContaining("23514");
        assertThat(rule.tier()).isEqualTo(Tier.C);
        assertThat(rule.reason()).containsPattern("takes or returns a domain|a cast that is not supported yet");
    }

    /// Read as the type whose literal is under the default collation, `'C' < 'a'` holds.
    @Test
    void a_pinned_column_keeps_its_collation() {
        policy("icu < 'a'");
        Map<Integer, String> pinned = new HashMap<>();
        pinned.put(3, "C");

        Rule rule = rule(new PinnedColumns(pinned));

        assertThat(theirs()).doesNotContain("1");
        assertThat(table.database().rows("SELECT 'C' < 'a'").getFirst().getFirst())
                .isEqualTo("t");
        assertThat(rule.tier()).isEqualTo(Tier.C);
    }

    /// A policy keeps the cast it was stored with; a text that says `::mood` would take the new one, and a function
    /// written as a text does.
    @Test
    void a_cast_that_a_user_made_since_is_not_taken_for_the_one_a_policy_was_stored_with() {
        table.database()
                .execute(
                        "CREATE FUNCTION other(text) RETURNS mood LANGUAGE sql IMMUTABLE AS"
                                + " $$ SELECT 'high'::public.mood $$",
                        "CREATE FUNCTION someone(text) RETURNS uuid LANGUAGE sql STABLE AS"
                                + " 'SELECT who FROM public.settings'");
        settings("a", "true", BOB);
        for (String using : List.of("m = (auth.jwt() ->> 'mood')::mood", "u = (auth.jwt() ->> 'sub')::uuid")) {
            policy(using);
            table.database()
                    .execute(
                            "CREATE CAST (text AS mood) WITH FUNCTION other(text)",
                            "CREATE CAST (text AS uuid) WITH FUNCTION someone(text)");

            assertThat(theirs()).as(using).containsExactly("1");
            assertThat(table.database().rows("SELECT 'a'::text::uuid").getFirst())
                    .containsExactly(BOB);
            // asked by the policy's text, PostgreSQL would take the new cast
            assertThat(new Hearing(table, "docs", ROLE).verdict(CLAIMS, PinnedColumns.NONE))
                    .as(using)
                    .isInstanceOfSatisfying(
                            RulePlan.Verdict.Refused.class,
                            refused -> assertThat(refused.message())
                                    .contains("policy \"p\" casts by text where a cast was made since"));
            table.database().execute("DROP POLICY p ON docs", "DROP CAST (text AS mood)", "DROP CAST (text AS uuid)");
        }
    }

    @Test
    void a_cast_that_a_user_made_since_is_in_every_function_written_as_a_text() {
        table.database()
                .execute("CREATE FUNCTION somebody(text) RETURNS uuid LANGUAGE sql STABLE AS 'SELECT who FROM"
                        + " public.settings'");
        settings("a", "true", BOB);
        policy("u = auth.uid()");
        assertThat(ours(rule(PinnedColumns.NONE))).isEqualTo(theirs()).containsExactly("1");

        table.database().execute("CREATE CAST (text AS uuid) WITH FUNCTION somebody(text)");
        table.database().reconnect();
        List<String> theirs = theirs();
        Rule rule = rule(PinnedColumns.NONE);
        table.database().execute("DROP CAST (text AS uuid)");

        assertThat(theirs).containsExactly("2");
        assertThat(rule.tier()).isEqualTo(Tier.C);
        assertThat(rule.reason()).contains("function \"auth.uid\" may read tables or the clock");
    }

    /// PostgreSQL evaluates what is constant while it plans, reached or not.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "CASE WHEN fl THEN (ARRAY[1, 2])[1] / 0 = 1 ELSE true END",
                "CASE WHEN fl THEN ('{1,2}'::int[])[1] / 0 = 1 ELSE true END",
                "tx = 'a' OR fl AND ((ARRAY['x'])[1] COLLATE \"C\")::int = 1",
                "CASE WHEN fl THEN 1 / 0 = 1 ELSE true END",
                "tx = 'a' OR fl AND 'x'::text::int = 1",
                "('{1,2}'::int[])[1] / 0 = 1 OR true",
                "(ARRAY[1, 2])[1] / 0 = 1 OR true",
                "tx = 'a' OR fl AND NULLIF((ARRAY[1, 2])[1] / 0, 1) = 2",
            })
    void a_constant_part_that_raises_shows_nothing_in_process(String using) {
        policy(using);

        assertThatThrownBy(RowFreePartsPgTest::theirs).hasMessageContaining("22");
        RulePlan.Verdict verdict = new Hearing(table, "docs", ROLE).verdict(CLAIMS, PinnedColumns.NONE);
        if (verdict instanceof RulePlan.Verdict.Granted(var rule)) {
            assertThat(rule.tier()).isEqualTo(Tier.C);
        }
    }

    /// PostgreSQL compiles patterns and computes times of the clock to estimate how many rows there are, and fails
    /// where that raises: also for the rows that do not reach it.
    @Test
    void what_raises_for_an_estimate_raises_for_every_row() {
        Hearing hearing = new Hearing(table, "docs", ROLE);
        for (String pattern : List.of(
                "id = 1 OR tx ~ '('",
                "id = 1 OR tx !~* 'a{2,1}'",
                "id = 1 OR tx SIMILAR TO 'a(('",
                "id = 1 OR tx ~ ANY (ARRAY['a', '('])",
                "(auth.jwt() ->> 'sub') IS NOT NULL OR tx ~ '('",
                "id = 1 OR tx ~ ('(' || (auth.jwt() ->> 'sub'))")) {
            Hearing.Outcome outcome = hearing.one(CLAIMS, pattern);
            assertThat(outcome.obstacle()).as(pattern).isNotNull().contains("a pattern before any row");
            assertThat(outcome.theirs()).as(pattern).isEqualTo("eee");
        }
        for (String clock : List.of(
                "id = 1 OR id > 1 / (extract(year from now())::int - extract(year from now())::int)",
                "id = 1 OR ts < now() + interval '178000000 years'")) {
            assertThat(hearing.one(CLAIMS, clock).toString()).isEqualTo(clock + ": eee, PostgreSQL eee");
        }
        assertThat(hearing.one(CLAIMS, "id = 1 OR tx ~ '^x'").ours()).isEqualTo("tfn");
        assertThat(hearing.one(CLAIMS, "id = 3 OR ts < now() - interval '1 day'")
                        .ours())
                .isEqualTo("ftt");
    }
}
