package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// What an evaluator that is not PostgreSQL gets wrong, each by name, each with a yes and a no of PostgreSQL.
class NamedSemanticsPgTest {
    private static final String ROLE = "authenticated";
    private static final String ALICE = "00000000-0000-0000-0000-00000000000a";
    private static final String BOB = "00000000-0000-0000-0000-00000000000b";
    static final String CLAIMS = "{\"sub\":\"" + ALICE
            + "\",\"role\":\"authenticated\",\"level\":9007199254740993,\"number\":\"1\",\"mail\":\"ALICE@example.com\",\"user_id\":\""
            + BOB + "\"}";

    private static PolicyTable database;

    @BeforeAll
    static void open() {
        database = new PolicyTable(prepared(PostgresCluster.NEWEST, "semantics"));
        table("numbers", "i8 int8, n numeric", "(9007199254740992, 9007199254740992)", """
            (9007199254740993, 9007199254740993.0), (-9007199254740993, 9007199254740993.1), (NULL, NULL)\
            """);
        table("texts", "tx text, code char(4)", "('01', 'ab'), ('1', 'ab '), ('1e0', 'abc'), ('1 ', ''), (NULL, NULL)");
        table("times", "ts timestamptz, tz timestamp, d date", """
            ('2024-01-01 12:00:00+02', '2024-01-01 10:00:00', '2024-01-01'),
            ('2024-01-01 10:00:00Z', '2024-01-01 10:00:00.000001', '2024-01-02'),
            (now() + interval '1 hour', now() + interval '1 hour', current_date + 1),
            (now() - interval '1 hour', now() - interval '1 hour', current_date - 1),
            ('infinity', 'infinity', 'infinity'), ('-infinity', '-infinity', '-infinity'), (NULL, NULL, NULL)\
            """);
        table("floats", "f4 float4, f8 float8, n numeric", """
            (0.1, 0.1, 0.1), ('NaN', 'NaN', 'NaN'), ('-0', '-0', 0), (0, 0, 0), ('Infinity', 'Infinity', 'Infinity'),
            (16777217, 16777217, 16777217), (1.5, 1.5, 1.50), (NULL, NULL, NULL)\
            """);
        table("intervals", "iv interval", """
            ('1 month'), ('30 days'), ('720 hours'), ('31 days'), ('1 month -1 day'), ('-30 days'), (NULL)\
            """);
        table(
                "integers",
                "i4 int4, tx text",
                "(1, '1'), (0, 'x'), (2, '2'), (5, ''), (NULL, NULL), (-2147483648, '-1')");
    }

    @AfterAll
    static void close() {
        database.close();
    }

    static PostgresDatabase prepared(int major, String name) {
        PostgresDatabase created = PostgresCluster.of(major).createDatabase(name);
        created.withStandardRoles();
        created.execute("CREATE PUBLICATION " + PolicyTable.PUBLICATION + " FOR TABLES IN SCHEMA public");
        return created;
    }

    private static void table(String name, String columns, String... rows) {
        table(database, name, columns, rows);
    }

    static void table(PolicyTable in, String name, String columns, String... rows) {
        in.database()
                .execute(
                        "CREATE TABLE \"" + name + "\" (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, " + columns
                                + ")",
                        "INSERT INTO \"" + name + "\" " + named(columns) + " VALUES " + String.join(", ", rows),
                        "ALTER TABLE \"" + name + "\" ENABLE ROW LEVEL SECURITY");
    }

    /// The plain ones of the columns, for an INSERT.
    private static String named(String columns) {
        StringBuilder names = new StringBuilder("(");
        for (String column : columns.split(", (?=[\"a-z])", -1)) {
            if (!column.contains("GENERATED")) {
                names.append(names.length() == 1 ? "" : ", ").append(column, 0, column.indexOf(' '));
            }
        }
        return names.append(")").toString();
    }

    private static void agree(String table, String... expressions) {
        agree(database, table, expressions);
    }

    /// All are decided in process as PostgreSQL decides them, and each is TRUE for one row and not for another.
    static void agree(PolicyTable in, String table, String... expressions) {
        for (Hearing.Outcome outcome : new Hearing(in, table, ROLE).all(CLAIMS, List.of(expressions))) {
            assertThat(outcome.obstacle()).as(outcome.expression()).isNull();
            assertThat(outcome.ours()).as(outcome.expression()).isEqualTo(outcome.theirs());
            assertThat(outcome.ours()).as(outcome.expression()).contains("t").containsPattern("[fne]");
        }
    }

    static void leftToPostgresql(PolicyTable in, String table, String reason, String... expressions) {
        for (Hearing.Outcome outcome : new Hearing(in, table, ROLE).all(CLAIMS, List.of(expressions))) {
            assertThat(outcome.obstacle()).as(outcome.expression()).isNotNull().contains(reason);
            assertThat(outcome.theirs()).as(outcome.expression()).contains("t").containsPattern("[fn]");
        }
    }

    /// What PostgreSQL makes a part of the expression hides no error behind a NULL.
    @Test
    void a_strict_function_written_in_sql_raises_for_what_its_body_does_though_another_argument_is_null() {
        table("fields", "tx text, d date", """
            (NULL, '5874897-12-31'), (NULL, '2024-01-01'), ('year', '2024-01-01'), ('year', NULL)\
            """);
        agree("fields", "date_part(tx, d) IS NULL", "(date_part(tx, d) > 0) IS NOT FALSE");
    }

    @Test
    void integers_beyond_two_to_the_53_are_told_apart() {
        agree(
                "numbers",
                "i8 = 9007199254740993",
                "i8 < 9007199254740993",
                "i8 IN (9007199254740993, 5)",
                "n = 9007199254740993",
                "n > 9007199254740993",
                "i8 = n",
                "i8 = (auth.jwt() ->> 'level')::int8",
                "n = (auth.jwt() ->> 'level')::numeric",
                "to_jsonb(i8) = auth.jwt() -> 'level'");
    }

    @Test
    void texts_that_look_like_numbers_are_texts() {
        agree(
                "texts",
                "tx = '1'",
                "tx <> '01'",
                "tx IN ('1', '2')",
                "tx = auth.jwt() ->> 'number'",
                "tx = ANY (ARRAY[auth.jwt() ->> 'number', '1e0'])",
                "tx::numeric = 1",
                "tx LIKE '1_'");
    }

    @Test
    void instants_are_compared_as_instants_however_they_are_spelled() {
        agree(
                "times",
                "ts = '2024-01-01T10:00:00Z'",
                "ts = '2024-01-01 05:00:00-05'",
                "ts IN ('2024-01-01T12:00:00+02:00', 'epoch')",
                "ts <= now()",
                "ts > now()",
                "tz = '2024-01-01T10:00:00'",
                "tz > '2024-01-01T10:00:00'",
                "tz < localtimestamp",
                "d = '1 January 2024'",
                "d <= current_date",
                "d < ts",
                "ts = 'infinity'",
                "ts > '2024-01-01' AND ts < 'infinity'");
    }

    @Test
    void padding_of_a_fixed_length_text_does_not_count() {
        agree(
                "texts",
                "code = 'ab'",
                "code = 'ab  '",
                "code <> 'ab'",
                "code::text = 'ab'",
                "length(code) = 2",
                "code IN ('ab', 'x')",
                "code LIKE 'ab%'",
                "code LIKE 'ab  '",
                "code || 'x' = 'abx'",
                "code = ''");
    }

    @Test
    void labels_of_an_enum_are_in_the_order_of_their_type() {
        database.database()
                .execute(
                        "CREATE TYPE mood AS ENUM ('zero', 'low', 'high', 'a')",
                        "ALTER TYPE mood ADD VALUE 'between' BEFORE 'high'");
        table("moods", "m mood", "('zero'), ('low'), ('high'), ('a'), ('between'), (NULL)");
        agree(
                "moods",
                "m = 'low'",
                "m > 'low'",
                "m < 'high'",
                "m >= 'between'",
                "m IN ('a', 'zero')",
                "m NOT IN ('a', 'zero')",
                "m BETWEEN 'low' AND 'between'",
                "m = ANY ('{low,high}'::mood[])",
                "greatest(m, 'high') = 'a'",
                "m::text = 'low'",
                "CASE m WHEN 'low' THEN true WHEN 'a' THEN false END");
    }

    @Test
    void nan_equals_itself_and_is_greater_than_every_number() {
        agree(
                "floats",
                "f8 = 'NaN'",
                "f8 > 1000",
                "f8 > 'Infinity'",
                "f4 = 'NaN'",
                "f4 <> 'NaN'",
                "n = 'NaN'",
                "n > 'Infinity'",
                "NOT f8 < 'NaN'",
                "f8 = n::float8");
    }

    @Test
    void minus_zero_equals_zero_and_prints_its_sign() {
        agree(
                "floats",
                "f8 = 0",
                "f8 = '-0'",
                "f4 = '-0'",
                "f8 IN ('-0', 7)",
                "f8::text = '-0'",
                "f8 >= 0 AND f8 < 0.05");
    }

    @Test
    void intervals_are_equal_when_they_last_as_long_in_months_of_thirty_days() {
        agree(
                "intervals",
                "iv = '1 month'",
                "iv = '720:00:00'",
                "iv > '30 days'",
                "iv < '1 month'",
                "iv IN ('31 days', '1 year')",
                "iv <> '30 days'",
                "iv = '29 days'",
                "iv IS NOT DISTINCT FROM '1 mon'");
    }

    @Test
    void a_real_is_compared_with_a_double_at_the_width_of_a_double() {
        agree(
                "floats",
                "f4 = 0.1::float4",
                "f8 = 0.1",
                "f4 > 0.1",
                "f4 = f8",
                "f4 <> f8",
                "f4 = 16777216",
                "f8 = 16777217",
                "f4 = n::float4");
        Hearing.Outcome never = new Hearing(database, "floats", ROLE).one(CLAIMS, "f4 = 0.1 AND f8 = 0.1");
        assertThat(never.agrees()).isTrue();
        assertThat(never.ours()).doesNotContain("t");
    }

    @Test
    void not_in_a_list_with_a_null_is_never_true() {
        agree("integers", "(i4 NOT IN (1, NULL)) IS UNKNOWN", "NOT (i4 NOT IN (1, NULL))", "i4 IN (1, NULL)");
        Hearing.Outcome never = new Hearing(database, "integers", ROLE).one(CLAIMS, "i4 NOT IN (1, NULL)");
        assertThat(never.agrees()).isTrue();
        assertThat(never.ours()).isEqualTo("fnnnnn");
    }

    @Test
    void a_division_by_zero_hides_its_row_and_no_other() {
        agree("integers", "10 / i4 > 1", "10 % i4 = 0", "10.0 / i4 > 1", "i4 <> 0 AND 10 / i4 > 1");
        assertThat(new Hearing(database, "integers", ROLE)
                        .one(CLAIMS, "10 / i4 > 1")
                        .ours())
                .isEqualTo("tettnf");
    }

    @Test
    void a_bad_cast_hides_its_row_and_no_other() {
        agree("integers", "tx::int = 1", "tx::int > 0", "(tx <> 'x' AND tx <> '') AND tx::int > 1");
        assertThat(new Hearing(database, "integers", ROLE)
                        .one(CLAIMS, "tx::int > 0")
                        .ours())
                .isEqualTo("tetenf");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UNCHANGED", "NOT_SENT"})
    void a_value_that_is_not_known_decides_nothing_and_stops_nothing(Tuple.Kind kind) {
        String name = "hidden_" + kind.name().toLowerCase(java.util.Locale.ROOT);
        table(name, "body text, fl bool", "('x', true), ('x', false), ('y', true), ('y', false)");
        agree(name, "body = 'x'", "body = 'x' OR fl", "body = 'x' AND fl");
        assertThat(hidden(name, "body = 'x'", kind)).isEqualTo("uuuu");
        assertThat(hidden(name, "body = 'x' OR fl", kind)).isEqualTo("tutu");
        assertThat(hidden(name, "fl OR body = 'x'", kind)).isEqualTo("tutu");
        assertThat(hidden(name, "body = 'x' AND fl", kind)).isEqualTo("ufuf");
        assertThat(hidden(name, "body IS NULL", kind)).isEqualTo("uuuu");
        assertThat(hidden(name, "coalesce(body, 'z') = 'z' OR fl", kind)).isEqualTo("tutu");
        assertThat(hidden(name, "CASE WHEN fl THEN true ELSE body = 'x' END", kind))
                .isEqualTo("tutu");
    }

    /// Our letters with the first column after the id hidden.
    private static String hidden(String table, String expression, Tuple.Kind kind) {
        Hearing hearing = new Hearing(database, table, ROLE);
        Predicate predicate = hearing.predicate(CLAIMS, expression);
        StringBuilder letters = new StringBuilder();
        for (RowImage row : hearing.images()) {
            Tuple tuple = kind == Tuple.Kind.NOT_SENT
                    ? PolicyTable.hiding(row.tuple(), 1)
                    : unchanged(PolicyTable.hiding(row.tuple(), 1));
            letters.append(Hearing.letter(predicate, new RowImage(tuple, row.mapping(), row.at())));
        }
        return letters.toString();
    }

    private static Tuple unchanged(Tuple tuple) {
        Tuple.Kind[] kinds = new Tuple.Kind[tuple.columnCount()];
        int[] offsets = new int[kinds.length];
        int[] lengths = new int[kinds.length];
        for (int i = 0; i < kinds.length; i++) {
            kinds[i] = tuple.kind(i) == Tuple.Kind.NOT_SENT ? Tuple.Kind.UNCHANGED : tuple.kind(i);
            offsets[i] = tuple.offset(i);
            lengths[i] = tuple.length(i);
        }
        return new Tuple(tuple.bytes(), kinds, offsets, lengths);
    }

    @Test
    void names_that_differ_in_case_only_are_different_columns() {
        table(
                "Mixed \"\" Case",
                "\"Owner\" uuid, owner uuid, \"select\" text",
                "('" + ALICE + "', '" + BOB + "', 'a'), ('" + BOB + "', '" + ALICE + "', 'b'), (NULL, NULL, NULL)");
        Hearing hearing = new Hearing(database, "Mixed \" Case", ROLE);
        for (String expression : List.of("\"Owner\" = auth.uid()", "owner = auth.uid()", "\"select\" = 'a'")) {
            Hearing.Outcome outcome = hearing.one(CLAIMS, expression);
            assertThat(outcome.agrees()).as(outcome.toString()).isTrue();
            assertThat(outcome.ours()).isEqualTo(expression.startsWith("owner") ? "ftn" : "tfn");
        }
    }

    @Test
    void a_custom_body_of_the_function_that_names_the_caller_is_what_counts() {
        try (PolicyTable own = new PolicyTable(prepared(PostgresCluster.NEWEST, "custom"))) {
            table(own, "docs", "owner uuid", "('" + ALICE + "'), ('" + BOB + "'), (NULL)");
            own.database().execute("""
                CREATE OR REPLACE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS $$
                  SELECT (current_setting('request.jwt.claims', true)::jsonb ->> 'user_id')::uuid $$\
                """);
            agree(own, "docs", "owner = auth.uid()", "owner = (select auth.uid())");
            assertThat(new Hearing(own, "docs", ROLE)
                            .one(CLAIMS, "owner = auth.uid()")
                            .ours())
                    .isEqualTo("ftn");

            own.database().execute("CREATE TABLE people (id uuid)", "INSERT INTO people VALUES ('" + ALICE + "')", """
                CREATE OR REPLACE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS $$
                  SELECT id FROM public.people $$\
                """);
            leftToPostgresql(own, "docs", "auth.uid", "owner = auth.uid()", "owner = (select auth.uid())");
        }
    }

    @Test
    void a_setting_that_is_not_the_callers_is_left_to_postgresql() {
        database.database()
                .execute("ALTER ROLE postgres IN DATABASE \""
                        + database.database().name() + "\" SET app.tenant = '1'");
        database.database().reconnect();
        leftToPostgresql(
                database,
                "texts",
                "current_setting() reads a setting that is not the caller's",
                "tx = current_setting('app.tenant', true)",
                "tx = (select current_setting('app.tenant', true))");
        agree("texts", "tx = current_setting('request.jwt.claims', true)::json ->> 'number'");
    }

    @Test
    void a_policy_on_time_is_decided_at_the_instant_of_the_commit() {
        agree(
                "times",
                "ts > now()",
                "ts > now() - interval '2 hours'",
                "interval '2 hours' + ts > now()",
                "tz > now()");
        Hearing hearing = new Hearing(database, "times", ROLE);
        Predicate predicate = hearing.predicate(CLAIMS, "ts > now()");
        RowImage row = hearing.images().getFirst();
        Instant expiry = Instant.parse("2024-01-01T10:00:00Z");
        assertThat(predicate.test(at(row, expiry.minus(Duration.ofNanos(1_000)))))
                .isEqualTo(Truth.TRUE);
        assertThat(predicate.test(at(row, expiry))).isEqualTo(Truth.FALSE);
        assertThat(predicate.test(at(row, expiry.plusSeconds(1)))).isEqualTo(Truth.FALSE);
    }

    private static RowImage at(RowImage row, Instant at) {
        return new RowImage(row.tuple(), row.mapping(), at);
    }

    @Test
    void a_stored_generated_column_follows_from_the_columns_of_the_log() {
        table(
                "stored",
                "i int, tx text, twice int GENERATED ALWAYS AS (i * 2) STORED,"
                        + " label varchar(3) GENERATED ALWAYS AS (lower(tx)) STORED,"
                        + " price numeric(6,2) GENERATED ALWAYS AS (i / 3.0) STORED",
                "(1, 'AB'), (2, NULL), (NULL, 'x'), (5, 'Xyz')");
        agree("stored", "twice > 3", "label = 'ab'", "price = 0.33", "twice + 1 = 3", "(select twice > 3)");
        Predicate predicate = new Hearing(database, "stored", ROLE).predicate(CLAIMS, "twice > 3");
        RowImage row = new Hearing(database, "stored", ROLE).images().getFirst();
        assertThat(predicate.test(new RowImage(PolicyTable.hiding(row.tuple(), 1), row.mapping(), row.at())))
                .isEqualTo(Truth.UNDECIDABLE);
    }

    @Test
    void a_virtual_generated_column_follows_from_the_columns_of_the_log_and_from_its_newest_definition() {
        table(
                "computed",
                "i int, twice int GENERATED ALWAYS AS (i * 2) VIRTUAL, ratio int GENERATED ALWAYS AS (10 / i) VIRTUAL",
                "(1), (2), (0), (NULL)");
        agree("computed", "twice > 3", "ratio > 5", "twice IS NULL");
        database.database().execute("ALTER TABLE computed ALTER COLUMN twice SET EXPRESSION AS (i * 4)");
        agree("computed", "twice > 7", "twice = 4");
    }

    /// What a partition stores is made by its own expression; what is virtual is made by the root's.
    @Test
    void a_stored_column_that_a_partition_makes_otherwise_does_not_follow_from_the_root() {
        database.database()
                .execute("ALTER PUBLICATION " + PolicyTable.PUBLICATION + " SET (publish_via_partition_root = true)");
        for (String kind : List.of("STORED", "VIRTUAL")) {
            String root = "by_" + kind.toLowerCase(java.util.Locale.ROOT);
            String made = "twice int GENERATED ALWAYS AS (i * 2) " + kind;
            String own = " (twice GENERATED ALWAYS AS (i * 22) " + kind + ")";
            database.database()
                    .execute(
                            "CREATE TABLE " + root + " (id int PRIMARY KEY, i int, " + made
                                    + ") PARTITION BY RANGE (id)",
                            "CREATE TABLE " + root + "_1 PARTITION OF " + root + " FOR VALUES FROM (0) TO (10)",
                            "CREATE TABLE " + root + "_2 (id int PRIMARY KEY, i int,  " + made + ")",
                            "ALTER TABLE " + root + " ATTACH PARTITION " + root + "_2 FOR VALUES FROM (10) TO (20)",
                            "INSERT INTO " + root + " VALUES (1, 10), (2, 30), (11, 10), (12, NULL)",
                            "GRANT SELECT ON " + root + " TO " + ROLE);
            agree(root, "twice < 50", "twice = 60");
            database.database()
                    .execute(
                            "CREATE TABLE " + root + "_3 PARTITION OF " + root + own + " FOR VALUES FROM (20) TO (30)",
                            "INSERT INTO " + root + " VALUES (21, 10)");
            if (kind.equals("VIRTUAL")) {
                agree(root, "twice < 50", "twice = 60");
            } else {
                leftToPostgresql(database, root, "column \"twice\" is generated", "twice < 50", "twice = 220");
            }
        }
    }

    @Test
    void what_makes_a_generated_column_is_left_to_postgresql_when_it_is_not_known() {
        database.database()
                .execute(
                        "CREATE FUNCTION secret(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END'");
        table("opaque", "i int, made int GENERATED ALWAYS AS (secret(i)) STORED", "(1), (2), (NULL)");
        leftToPostgresql(database, "opaque", "column \"made\" is generated: function \"public.secret\"", "made = 1");
    }

    @Test
    void collations_decide_what_is_equal_and_what_is_less() {
        database.database()
                .execute("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        table(
                "collated",
                "c text COLLATE \"C\", icu text COLLATE \"und-x-icu\", nd text COLLATE loose",
                "('a', 'a', 'a'), ('B', 'B', 'A'), ('é', 'é', 'b'), (NULL, NULL, NULL)");
        agree(
                "collated",
                "c = 'a'",
                "c < 'a'",
                "c > 'b'",
                "greatest(c, 'b') = 'b'",
                "icu = 'a'",
                "icu <> 'a'",
                "icu IN ('a', 'B')",
                "nd = 'a' COLLATE \"C\"",
                "icu < 'a' COLLATE \"C\"");
        leftToPostgresql(database, "collated", "collation \"und-x-icu\"", "icu < 'b'", "greatest(icu, 'b') = 'b'");
        leftToPostgresql(database, "collated", "collation \"loose\"", "nd = 'A'", "nd < 'b'", "nd IN ('A', 'x')");
        assertThat(Objects.requireNonNull(new Hearing(database, "collated", ROLE)
                        .one(CLAIMS, "nd = 'A'")
                        .theirs()))
                .isEqualTo("ttfn");
    }

    /// PostgreSQL evaluates every argument, so the error of one is not passed over for the NULL of another.
    @Test
    void an_argument_that_raises_is_not_passed_over_for_one_that_is_null() {
        table(
                "raising",
                "net inet, tx text, grid int[], i4 int, j int",
                "(NULL, 'x', '{{1,2},{3,4}}', NULL, 0)",
                "('10.0.0.1', '1', '{{1,2},{3,4}}', 1, 5)",
                "(NULL, NULL, NULL, NULL, NULL)");
        agree(
                "raising",
                "(tx::int8 + net) IS NULL",
                "(i4 + make_date(2024, j, 1)) IS NULL",
                "grid[i4][10 / j] IS NULL",
                "(i4 IS NOT DISTINCT FROM 10 / j)",
                "(NULLIF(i4, 10 / j)) IS NULL");
        assertThat(new Hearing(database, "raising", ROLE)
                        .one(CLAIMS, "(tx::int8 + net) IS NULL")
                        .ours())
                .isEqualTo("eft");
    }

    /// The planner makes NULL of a strict call of a constant NULL, whatever its other arguments read, and then
    /// evaluates what has become constant: the query raises, though no row needs the part that does.
    @Test
    void a_part_that_becomes_constant_by_a_null_raises_for_every_row() {
        table("folding", "n int4, tz timestamp", "(1, '2024-01-01')", "(7, '2025-01-01')", "(NULL, NULL)");
        Hearing hearing = new Hearing(database, "folding", ROLE);
        for (String expression : List.of(
                "coalesce(int4range(n, 9), int4range(1, n - NULL::int4, 'ok')) @> 5",
                "coalesce(int4range(n, 9), int4range(1, abs(n - NULL::int4), 'ok')) @> 5",
                "coalesce(tsrange(tz, NULL), tsrange('2024-01-01', localtimestamp - NULL::interval, 'ok')) @>"
                        + " '2024-06-01'::timestamp",
                "n = 1 OR int4range(1, (n = NULL::int4)::int4, 'ok') @> 5")) {
            assertThat(hearing.one(CLAIMS, expression).toString()).isEqualTo(expression + ": eee, PostgreSQL eee");
        }
        agree("folding", "coalesce(int4range(n, 9), int4range(1, n - NULL::int4, '[]')) @> 5");
    }

    @Test
    void a_time_rounded_out_of_its_range_shows_nothing() {
        table(
                "edges",
                "tz timestamp, t0 timestamp(0)",
                "('294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999')",
                "('2024-01-01 00:00:00.6', '2024-01-01 00:00:00.6')",
                "(NULL, NULL)");
        Hearing hearing = new Hearing(database, "edges", ROLE);
        for (String expression : List.of(
                "(tz::timestamp(0))::timestamptz IS NOT NULL",
                "(tz::timestamp(0) AT TIME ZONE 'UTC') IS NOT NULL",
                "(tz::timestamp(0))::date > '2000-01-01'",
                "t0::timestamptz IS NOT NULL",
                "(t0 AT TIME ZONE 'UTC') IS NOT NULL",
                "t0::date > '2000-01-01'")) {
            Hearing.Outcome outcome = hearing.one(CLAIMS, expression);
            assertThat(outcome.agreesWhereItKnows() || outcome.ours().startsWith("e"))
                    .as(outcome.toString())
                    .isTrue();
            assertThat(outcome.ours()).as(outcome.toString()).startsWith("ut").doesNotStartWith("t");
        }
    }

    @Test
    void what_only_looks_like_an_error_is_none() {
        table("edgy", "tx text, ar int[]", """
            ('+NaN', '[2147483646:2147483646]={1}'), ('-nan', '{1}'), ('1', '[-2147483648:-2147483648]={1}'), (NULL, NULL)\
            """);
        agree("edgy", "array_lower(array_prepend(5, ar), 1) = 2147483646", "array_prepend(5, ar) = '{5,1}'");
        Hearing.Outcome signed = new Hearing(database, "edgy", ROLE).one(CLAIMS, "tx::float8 = 'NaN'");
        assertThat(signed.ours() + signed.theirs()).isEqualTo("uufnttfn");
    }

    /// What a writer's settings made of a number is stored; the number alone does not tell.
    @Test
    void a_generated_text_is_left_to_postgresql() {
        table("printed", "f float8, label text GENERATED ALWAYS AS (f::text) STORED", "(1), (NULL)");
        database.database()
                .execute("SET extra_float_digits = 0", "INSERT INTO printed (f) VALUES (0.30000000000000004)");
        database.database().reconnect();
        leftToPostgresql(
                database,
                "printed",
                "it is made of a text that depends on the writer's session",
                "label = '0.3'",
                "label <> '0.30000000000000004'");
    }
}
