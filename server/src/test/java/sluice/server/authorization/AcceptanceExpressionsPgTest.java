package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// The expressions a replacement must decide, and those it must leave alone, with PostgreSQL as the judge of each
/// row.
class AcceptanceExpressionsPgTest {
    private static final String CLAIMS =
            "{\"sub\":\"00000000-0000-0000-0000-00000000000a\",\"role\":\"authenticated\"}";

    @Test
    void thirty_five_expressions_over_three_rows_are_decided_in_process_without_a_mismatch() {
        List<String> expressions = lines("""
            owner_id = '00000000-0000-0000-0000-00000000000a'
            score > 5
            score >= 5
            score <= 5
            score < 5
            score = 5 OR score = 6 AND title = 'none'
            (score = 5 OR score = 6) AND title = 'none'
            NOT score = 5 AND title = 'x'
            NOT (score = 5 AND title = 'x')
            title = 'Hello World'
            title <> 'Hello World'
            title LIKE 'Hello%'
            title LIKE '%_orld'
            title ILIKE 'hello%'
            title NOT LIKE 'H%'
            title = ''
            title <> ''
            title IS NULL
            title IS NOT NULL
            score IN (1, 5, 9)
            score NOT IN (1, 5, 9)
            visibility IN ('public', 'team')
            visibility NOT IN ('public', 'team')
            score BETWEEN 1 AND 5
            score NOT BETWEEN 1 AND 5
            score + 1 * 2 = 7
            (score + 1) * 2 - 3 > 8
            lower(title) = 'hello world'
            upper(title) = 'HELLO WORLD'
            length(title) = 11
            coalesce(nullif(title, ''), 'none') = 'none'
            (score > 3) IS TRUE
            (score > 3) IS FALSE
            (score > 3) IS NOT TRUE
            score::text = '5' AND title || 'x' = 'Hello Worldx'
            """);
        try (PolicyTable table = documents(18)) {
            List<Hearing.Outcome> outcomes = new Hearing(table, "docs", "authenticated").all(CLAIMS, expressions);

            assertThat(expressions).hasSize(35);
            assertThat(outcomes).allMatch(Hearing.Outcome::agrees);
            assertThat(outcomes).allMatch(outcome -> outcome.ours().length() == 3);
            assertThat(outcomes)
                    .filteredOn(outcome -> outcome.ours().contains("t"))
                    .hasSizeGreaterThan(30);
            assertThat(outcomes)
                    .filteredOn(outcome -> outcome.ours().contains("n"))
                    .hasSizeGreaterThan(20);
        }
    }

    /// A table of documents with a usual, an empty and an extreme row.
    private static PolicyTable documents(int major) {
        PostgresDatabase database = PostgresCluster.of(major).createDatabase("documents");
        database.withStandardRoles();
        database.execute(
                "CREATE TABLE docs (id int PRIMARY KEY, owner_id uuid, visibility text, title text, score int,"
                        + " created_at timestamptz, tags text[], meta jsonb, price numeric)",
                "ALTER TABLE docs ENABLE ROW LEVEL SECURITY",
                "CREATE TABLE teams (id int PRIMARY KEY, owner_id uuid)",
                "CREATE FUNCTION owns(int) RETURNS bool LANGUAGE sql STABLE AS"
                        + " 'SELECT EXISTS (SELECT FROM public.teams t WHERE t.id = $1)'",
                "CREATE PUBLICATION " + PolicyTable.PUBLICATION + " FOR TABLE docs",
                "INSERT INTO docs VALUES (1, '00000000-0000-0000-0000-00000000000a', 'public', 'Hello World', 5, now(),"
                        + " '{a,b}', '{\"a\": {\"b\": \"c\"}}', 1.50)",
                "INSERT INTO docs VALUES (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
                "INSERT INTO docs VALUES (3, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '', '', 2147483640, 'infinity',"
                        + " '{}', '[]', 'NaN')");
        return new PolicyTable(database);
    }

    @Test
    void expressions_that_must_be_decided_in_process_are_and_say_what_postgresql_says() {
        List<String> expressions = lines("""
            owner_id = auth.uid()
            auth.role() = 'authenticated'
            auth.jwt() ->> 'role' = 'authenticated'
            coalesce(auth.jwt() ->> 'team', 'none') = 'none'
            lower(title) = lower(auth.jwt() ->> 'email')
            visibility IN ('public', 'team')
            visibility = ANY (ARRAY['public', 'team'])
            score BETWEEN 1 AND 10
            score NOT BETWEEN 1 AND 10
            title IS NULL
            meta ->> 'a' IS NOT NULL
            meta -> 'a' ->> 'b' = 'c'
            visibility = 'public' OR owner_id = auth.uid()
            score >= 5
            NOT (score > 5 AND title = 'x')
            title LIKE 'Hel%'
            title IS DISTINCT FROM 'x'
            nullif(title, '') IS NOT NULL
            score * 2 - 1 > 8
            title || '!' = 'Hello World!'
            length(title) > 3
            created_at <= now()
            created_at > now() - interval '7 days'
            created_at < current_timestamp + interval '1 hour'
            current_setting('request.jwt.claims', true)::jsonb ->> 'role' = 'authenticated'
            owner_id::text = auth.uid()::text
            trim(title) <> ''
            score % 2 = 1
            CASE WHEN visibility = 'public' THEN true ELSE owner_id = auth.uid() END
            current_user = 'authenticated'
            score = ALL (ARRAY[5, 5])
            title ~ '^Hel+o'
            extract(year FROM created_at) > 2000
            greatest(score, 3) < 6
            'a' = ANY (tags)
            tags @> ARRAY['a']
            price > 1.5
            round(price) = 2
            position('W' IN title) > 0
            title SIMILAR TO 'Hello (World|Moon)'
            created_at AT TIME ZONE 'UTC' > '2020-01-01'
            date_trunc('day', created_at) <= now()
            interval '1 day' + created_at > now()
            created_at::text LIKE '2%'
            created_at::date > '2024-01-01'
            md5(title) = 'b10a8db164e0754105b7a99be72e3fe5'
            concat(title, ' ', score, '!') = 'Hello World 5!'
            meta['a']['b'] = '"c"'
            date_part('year', created_at::date) > 2000
            """);
        try (PolicyTable table = documents(18)) {
            List<Hearing.Outcome> outcomes = new Hearing(table, "docs", "authenticated").all(CLAIMS, expressions);

            report("must be decided", outcomes);
            assertThat(outcomes).allMatch(Hearing.Outcome::agrees);
        }
    }

    @Test
    void a_scalar_select_around_a_call_changes_nothing() {
        List<String> expressions = lines("""
            owner_id = (select auth.uid())
            (select auth.role()) = 'authenticated'
            (select auth.jwt() ->> 'role') = 'authenticated'
            (select auth.jwt()) ->> 'role' = 'authenticated'
            (select auth.uid()) IN (owner_id)
            (select auth.uid()) = ANY (ARRAY[owner_id])
            visibility = 'public' OR owner_id = (select auth.uid())
            (select auth.uid() IS NOT NULL) AND owner_id IS NOT NULL
            """);
        try (PolicyTable table = documents(18)) {
            List<Hearing.Outcome> outcomes = new Hearing(table, "docs", "authenticated").all(CLAIMS, expressions);

            assertThat(outcomes).hasSize(8).allMatch(Hearing.Outcome::agrees);
            assertThat(outcomes).allMatch(outcome -> outcome.ours().contains("t"));
        }
    }

    @Test
    void what_may_answer_differently_without_a_change_of_the_row_is_never_decided_in_process() {
        Map<String, String> obstacles = pairs("""
            EXISTS (SELECT FROM teams t WHERE t.id = score)                    | a sub-select
            score IN (SELECT t.id FROM teams t)                                | a sub-select
            score NOT IN (SELECT t.id FROM teams t)                            | a sub-select
            score = ANY (SELECT t.id FROM teams t)                             | a sub-select
            score > ALL (SELECT t.id FROM teams t)                             | a sub-select
            (SELECT count(*) FROM teams) > 0                                   | a sub-select
            (SELECT t.owner_id FROM teams t WHERE t.id = 1) = owner_id         | a sub-select
            EXISTS (SELECT)                                                    | a sub-select
            owns(score)                                                        | function "public.owns"
            owns(1)                                                            | function "public.owns"
            (select owns(1))                                                   | function "public.owns"
            clock_timestamp() > created_at                                     | function "pg_catalog.clock_timestamp"
            statement_timestamp() > created_at                                 | function "pg_catalog.statement_timestamp"
            timeofday() > title                                                | function "pg_catalog.timeofday"
            random() < 0.5                                                     | function "pg_catalog.random"
            gen_random_uuid() = owner_id                                       | function "pg_catalog.gen_random_uuid"
            current_setting('app.tenant', true) = title                        | not the caller's
            current_setting(title, true) = 'x'                                 | function
            session_user = title                                               | session
            current_schema = title                                             | session
            current_database() = title                                         | function "pg_catalog.current_database"
            pg_has_role('anon', 'member')                                      | function "pg_catalog.pg_has_role"
            has_table_privilege('docs', 'SELECT')                              | function "pg_catalog.has_table_privilege"
            pg_backend_pid() = score                                           | function "pg_catalog.pg_backend_pid"
            inet_client_addr() IS NULL                                         | function "pg_catalog.inet_client_addr"
            version() = title                                                  | function "pg_catalog.version"
            pg_is_in_recovery()                                                | function "pg_catalog.pg_is_in_recovery"
            txid_current() > score                                             | function "pg_catalog.txid_current"
            docs IS NOT NULL                                                   | row
            docs.ctid IS NOT NULL                                              | system column
            docs.xmin IS NOT NULL                                              | system column
            tableoid = 'docs'::regclass                                        | system column
            to_jsonb(docs) ? 'id'                                              | row
            to_char(created_at, 'YYYY') = '2024'                               | function "pg_catalog.to_char"
            format('%s', title) = 'x'                                          | function "pg_catalog.format"
            title < 'b' COLLATE "und-x-icu"                                    | collation "und-x-icu"
            title::regclass = 'docs'::regclass                                 | function "pg_catalog.regclass"
            (SELECT max(x) FROM unnest(tags) x) = 'b'                          | a sub-select
            EXISTS (SELECT FROM unnest(tags) x WHERE x = 'a')                  | a sub-select
            """);
        try (PolicyTable table = documents(18)) {
            List<Hearing.Outcome> outcomes =
                    new Hearing(table, "docs", "authenticated").all(CLAIMS, List.copyOf(obstacles.keySet()));

            report("must not be decided", outcomes);
            for (Hearing.Outcome outcome : outcomes) {
                assertThat(outcome.obstacle())
                        .as(outcome.expression())
                        .isNotNull()
                        .contains(Objects.requireNonNull(obstacles.get(outcome.expression())));
            }
        }
    }

    /// What policies are made of. Those that stay with PostgreSQL read a table.
    @Test
    void every_atom_of_policies_that_reads_no_table_is_decided_in_process() {
        List<String> atoms = atoms();
        try (PolicyTable table = AtomTable.create(PostgresCluster.of(18).createDatabase("atoms"))) {
            List<Hearing.Outcome> outcomes = new Hearing(table, "t", "authenticated").all(AtomTable.CLAIMS, atoms);

            report("atoms", outcomes);
            List<Hearing.Outcome> decided = new ArrayList<>(outcomes);
            decided.removeIf(outcome -> outcome.obstacle() != null);
            assertThat(decided).allMatch(Hearing.Outcome::agreesWhereItKnows);
            assertThat(decided).filteredOn(outcome -> !outcome.agrees()).hasSizeLessThan(2);
            assertThat(decided)
                    .filteredOn(outcome -> outcome.ours().contains("t"))
                    .hasSizeGreaterThan(80);
            assertThat(outcomes)
                    .filteredOn(outcome -> outcome.obstacle() != null && !readsTable(outcome.expression()))
                    .isEmpty();
            assertThat(outcomes)
                    .filteredOn(outcome -> readsTable(outcome.expression()))
                    .allMatch(outcome -> outcome.obstacle() != null);
        }
    }

    private static boolean readsTable(String atom) {
        return atom.contains(" from ") || atom.contains("is_member") || atom.contains("my_projects");
    }

    private static void report(String what, List<Hearing.Outcome> outcomes) {
        long decided =
                outcomes.stream().filter(outcome -> outcome.obstacle() == null).count();
        System.out.println(what + ": " + decided + " of " + outcomes.size() + " in process");
        for (Hearing.Outcome outcome : outcomes) {
            if (!outcome.agrees()) {
                System.out.println("  " + outcome);
            }
        }
    }

    private static List<String> lines(String text) {
        return text.lines().filter(line -> !line.isBlank()).toList();
    }

    private static Map<String, String> pairs(String text) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String line : lines(text)) {
            int bar = line.lastIndexOf('|');
            pairs.put(line.substring(0, bar).strip(), line.substring(bar + 1).strip());
        }
        return pairs;
    }

    private static List<String> atoms() {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(AcceptanceExpressionsPgTest.class.getResourceAsStream("atoms.txt")),
                StandardCharsets.UTF_8))) {
            return reader.lines().filter(line -> !line.isBlank()).toList();
        } catch (IOException unreadable) {
            throw new AssertionError(unreadable);
        }
    }
}
