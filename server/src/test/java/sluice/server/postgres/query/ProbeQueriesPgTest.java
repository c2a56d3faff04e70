package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.postgres.query.Catalogs.load;
import static sluice.server.postgres.query.Catalogs.table;
import static sluice.server.postgres.query.Questions.ALICE;
import static sluice.server.postgres.query.Questions.BOB;
import static sluice.server.postgres.query.Questions.TIMEOUT;
import static sluice.server.postgres.query.Questions.caller;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.Identity;
import sluice.core.value.Truth;
import sluice.core.wal.Lsn;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

class ProbeQueriesPgTest {
    private static PostgresDatabase database(int major) {
        return PostgresCluster.of(major)
                .createDatabase("probes", DatabaseOptions.unusual())
                .withStandardRoles();
    }

    /// The tuple the log would carry, from the row's text forms; null is NULL.
    private static RowImage image(Relation relation, List<@Nullable String> values) {
        List<RelationDefinition.Column> columns = new ArrayList<>();
        for (Column column : relation.columns()) {
            columns.add(new RelationDefinition.Column(column.name(), column.typeOid(), column.typmod(), false));
        }
        Tuple.Kind[] kinds = new Tuple.Kind[values.size()];
        int[] offsets = new int[values.size()];
        int[] lengths = new int[values.size()];
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < values.size(); i++) {
            String value = values.get(i);
            kinds[i] = value == null
                    ? Tuple.Kind.NULL
                    : value.equals("(unchanged)") ? Tuple.Kind.UNCHANGED : Tuple.Kind.TEXT;
            offsets[i] = text.toString().getBytes(StandardCharsets.UTF_8).length;
            lengths[i] = value == null ? 0 : value.getBytes(StandardCharsets.UTF_8).length;
            text.append(value == null ? "" : value);
        }
        Tuple tuple = new Tuple(text.toString().getBytes(StandardCharsets.UTF_8), kinds, offsets, lengths);
        RelationDefinition definition =
                new RelationDefinition(relation.oid(), relation.schema(), relation.name(), 'd', columns);
        return new RowImage(tuple, ColumnMapping.of(definition, relation), Instant.EPOCH);
    }

    private static ProbeAnswer probe(
            Pool pool, CatalogImage catalog, Relation relation, List<@Nullable String> values, String predicate) {
        return probe(pool, caller("authenticated", ALICE), catalog, relation, values, predicate);
    }

    private static ProbeAnswer probe(
            Pool pool,
            Identity caller,
            CatalogImage catalog,
            Relation relation,
            List<@Nullable String> values,
            String predicate) {
        ProbeQueries queries = new ProbeQueries(pool, TIMEOUT);
        return queries.probe(ProbeQueries.of(caller, catalog, relation, image(relation, values), predicate))
                .value();
    }

    /// For each caller and row, the probe of the policy's own text must say what SELECT says.
    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_probe_says_what_a_select_under_the_role_says(int major) {
        try (PostgresDatabase database = database(major);
                Pool pool = Questions.pool(database)) {
            database.execute(
                    "CREATE TABLE members (project int, who uuid)",
                    "INSERT INTO members VALUES (1, '" + ALICE + "'), (2, '" + BOB + "'), (3, '" + ALICE + "'), (3, '"
                            + BOB + "')",
                    "CREATE FUNCTION sees(project int) RETURNS bool LANGUAGE sql STABLE AS"
                            + " 'SELECT EXISTS (SELECT FROM members m WHERE m.project = $1 AND m.who = auth.uid())'",
                    "CREATE TABLE \"Wei rd\" (id int PRIMARY KEY, project int, tags text[], body jsonb, d int)",
                    "ALTER TABLE \"Wei rd\" ENABLE ROW LEVEL SECURITY",
                    "CREATE PUBLICATION sluice FOR TABLE \"Wei rd\"",
                    "INSERT INTO \"Wei rd\" VALUES (1, 1, '{a,\"b,c\"}', '{\"x\": null}', 1),"
                            + " (2, 2, NULL, 'null', 2), (3, 3, '{}', NULL, NULL), (4, NULL, '{NULL}', '[1]', 4)");
            for (String policy : List.of(
                    "EXISTS (SELECT 1 FROM members m WHERE m.project = \"Wei rd\".project AND m.who = auth.uid())",
                    "sees(project)",
                    "project IN (SELECT m.project FROM members m WHERE m.who = (SELECT auth.uid()))",
                    "'a' = ANY (tags) OR body IS NULL",
                    "body ? 'x' OR body = 'null'",
                    "d > 1 AND (SELECT count(*) FROM members) = 4",
                    "NOT sees(project)")) {
                database.execute(
                        "DROP POLICY IF EXISTS p ON \"Wei rd\"",
                        "CREATE POLICY p ON \"Wei rd\" TO authenticated USING (" + policy + ")");
                CatalogImage catalog = load(database);
                Relation relation = table(catalog, "Wei rd");
                String text =
                        Objects.requireNonNull(relation.policies().getFirst().text());
                for (String subject : List.of(ALICE, BOB)) {
                    Identity caller = caller("authenticated", subject);
                    List<String> visible = new ArrayList<>();
                    for (List<@Nullable String> row :
                            database.rows("SELECT id, project, tags, body, d FROM \"Wei rd\" ORDER BY id")) {
                        ProbeAnswer answer = probe(pool, caller, catalog, relation, row, text);
                        if (answer.equals(new ProbeAnswer.Decided(Truth.TRUE))) {
                            visible.add(String.valueOf(row.getFirst()));
                        }
                    }
                    List<String> selected = database
                            .asRole("authenticated", caller.claims())
                            .rows("SELECT id::text FROM \"Wei rd\" ORDER BY id")
                            .stream()
                            .map(row -> String.valueOf(row.getFirst()))
                            .toList();
                    assertThat(visible).as(policy + " for " + subject).isEqualTo(selected);
                }
            }
        }
    }

    private static final List<String> TYPES = List.of(
            "bool|true",
            "int2|-32768",
            "int8|9223372036854775807",
            "float4|'NaN'",
            "float8|0.1::float8 + 0.2",
            "numeric|1e100::numeric",
            "numeric(10,3)|1.5",
            "money|12.5",
            "text|E'a\"b\\\\c\\nd\\t\\u00e9\\U0001F600,{}'",
            "varchar(5)|'ab'",
            "char(5)|'ab'",
            "\"char\"|'x'",
            "name|'n'",
            "bytea|'\\x00ff5c'",
            "uuid|'11111111-1111-4111-8111-111111111111'",
            "date|'infinity'",
            "time|'23:59:60'",
            "timetz|'10:00+05:30'",
            "timestamp|'0044-03-15 00:00:00 BC'",
            "timestamptz|'1900-01-01 00:00+00'",
            "interval|'1 year -2 days 03:04:05.678'",
            "json|'{\"a\" :  [1, null]}'",
            "json|'null'",
            "jsonb|'null'",
            "jsonb|'\"text\"'",
            "xml|'<a>b</a>'",
            "inet|'10.0.0.1/8'",
            "bit(3)|'101'",
            "varbit|'10101'",
            "int4range|'[1,5)'",
            "int4multirange|'{[1,2),[5,7)}'",
            "tsvector|'a:1 b'",
            "point|'(1,2)'",
            "oid|'4294967295'",
            "regclass|'pg_class'",
            "oidvector|'1 2'",
            "int4[]|'[0:1]={1,NULL}'",
            "text[]|array['', 'NULL', 'a,b', '\"', null]",
            "box[]|array['(1,1),(0,0)'::box]",
            "mood|'so so'",
            "mood[]|'{sad}'",
            "small|7",
            "pair|row(1, 'a,\"b')",
            "pair[]|array[row(null, '')::pair]");

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void an_image_has_the_value_the_row_has_for_every_type(int major) {
        try (PostgresDatabase database = database(major);
                Pool pool = Questions.pool(database)) {
            database.execute(
                    "CREATE TYPE mood AS ENUM ('sad', 'so so')",
                    "CREATE DOMAIN small AS int CHECK (VALUE < 10)",
                    "CREATE TYPE pair AS (a int, b text)");
            StringBuilder columns = new StringBuilder("id int PRIMARY KEY");
            StringBuilder values = new StringBuilder("1");
            for (int i = 0; i < TYPES.size(); i++) {
                String[] type = TYPES.get(i).split("\\|", 2);
                columns.append(", c").append(i).append(' ').append(type[0]);
                values.append(", ").append(type[1]);
            }
            database.execute(
                    "CREATE TABLE t (" + columns + ")",
                    "CREATE PUBLICATION sluice FOR TABLE t",
                    "INSERT INTO t VALUES (" + values + ")",
                    "GRANT USAGE ON SCHEMA public TO authenticated");
            CatalogImage catalog = load(database);
            Relation relation = table(catalog, "t");
            List<@Nullable String> row = database.rows("SELECT * FROM t").getFirst();
            for (int i = 0; i < TYPES.size(); i++) {
                String column = "c" + i;
                String same = "(SELECT pg_catalog.row(a." + column + ")::text = pg_catalog.row(t." + column
                        + ")::text AND pg_typeof(a." + column + ") = pg_typeof(t." + column + ") FROM public.t a)";
                assertThat(probe(pool, catalog, relation, row, same.replace("pg_catalog.row", "ROW")))
                        .as(TYPES.get(i))
                        .isEqualTo(new ProbeAnswer.Decided(Truth.TRUE));
            }
            List<@Nullable String> nulls = new ArrayList<>();
            relation.columns().forEach(column -> nulls.add(null));
            assertThat(probe(pool, catalog, relation, nulls, "num_nonnulls(id, c0, c21, c38) = 0 AND c22 IS NULL"))
                    .isEqualTo(new ProbeAnswer.Decided(Truth.TRUE));
        }
    }

    @Test
    void a_rule_that_reads_what_the_log_did_not_carry_is_never_true() {
        try (PostgresDatabase database = database(18);
                Pool pool = Questions.pool(database)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY, body text, n int)",
                    "CREATE FUNCTION whole(t) RETURNS bool LANGUAGE sql AS 'SELECT true'",
                    "CREATE PUBLICATION sluice FOR TABLE t");
            CatalogImage catalog = load(database);
            Relation relation = table(catalog, "t");
            List<@Nullable String> row = List.of("1", "(unchanged)", "5");
            assertThat(probe(pool, catalog, relation, row, "n = 5")).isEqualTo(new ProbeAnswer.Decided(Truth.TRUE));
            assertThat(probe(pool, catalog, relation, row, "body IS NULL")).isEqualTo(new ProbeAnswer.Raised("42703"));
            assertThat(probe(pool, catalog, relation, row, "t.ctid IS NOT NULL"))
                    .isEqualTo(new ProbeAnswer.Raised("42703"));
            assertThat(probe(pool, catalog, relation, row, "whole(t.*)")).isInstanceOf(ProbeAnswer.Raised.class);
        }
    }

    /// What is in the log but not on disk reaches no reader until somebody commits, or for a quarter of a minute.
    @Test
    void what_an_answer_rests_on_is_on_disk_once_the_log_is_pushed_though_nobody_commits() {
        try (PostgresDatabase database = database(18);
                Pool pool = Questions.pool(database)) {
            database.execute("CREATE TABLE t (id int PRIMARY KEY)", "CREATE PUBLICATION sluice FOR TABLE t");
            CatalogImage catalog = load(database);
            Relation t = table(catalog, "t");
            ProbeQueries queries = new ProbeQueries(pool, TIMEOUT);
            LogPush push = new LogPush(pool, 18, TIMEOUT);
            for (int i = 0; i < 5; i++) {
                // neither a commit nor a full page: it stays where it is
                database.execute("BEGIN; SELECT pg_logical_emit_message(false, 'lies', ''); ROLLBACK");
                Stamped<ProbeAnswer> answer = queries.probe(
                        ProbeQueries.of(caller("authenticated", ALICE), catalog, t, image(t, List.of("1")), "id = 1"));
                push.push();

                assertThat(Lsn.parse(Objects.requireNonNull(database.value("SELECT pg_current_wal_flush_lsn()")))
                                .reaches(answer.stamp().insertLsn()))
                        .isTrue();
            }
        }
    }

    @Test
    void a_condition_holds_or_not_and_errors_and_time_are_answers() {
        try (PostgresDatabase database = database(18);
                Pool pool = Questions.pool(database)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY, n int)",
                    "CREATE FUNCTION secret() RETURNS bool LANGUAGE sql AS 'SELECT true'",
                    "REVOKE EXECUTE ON FUNCTION secret() FROM PUBLIC",
                    "CREATE PUBLICATION sluice FOR TABLE t");
            CatalogImage catalog = load(database);
            Relation relation = table(catalog, "t");
            List<@Nullable String> row = new ArrayList<>(List.of("1"));
            row.add(null);
            assertThat(probe(pool, catalog, relation, row, "n = 1")).isEqualTo(new ProbeAnswer.Decided(Truth.FALSE));
            assertThat(probe(pool, catalog, relation, row, "id = 2")).isEqualTo(new ProbeAnswer.Decided(Truth.FALSE));
            assertThat(probe(pool, catalog, relation, row, "1 / (id - 1) = 1"))
                    .isEqualTo(new ProbeAnswer.Raised("22012"));
            // What fails a query while it is planned fails it for every row.
            assertThat(probe(pool, catalog, relation, row, "id = 1 OR id::text ~ '('"))
                    .isEqualTo(new ProbeAnswer.Raised("2201B"));
            assertThat(probe(pool, catalog, relation, row, "secret()")).isEqualTo(new ProbeAnswer.Raised("42501"));
            // the table was locked when its policies were read: that says nothing of what they are
            String unread = "id = 1 AND COALESCE(" + PolicyTexts.UNREADABLE + ", false)";
            assertThat(probe(pool, catalog, relation, row, unread)).isEqualTo(new ProbeAnswer.Raised("55P03"));
            Stamped<ProbeAnswer> late = new ProbeQueries(pool, Duration.ofMillis(200))
                    .probe(ProbeQueries.of(
                            caller("authenticated", ALICE),
                            catalog,
                            relation,
                            image(relation, row),
                            "(SELECT pg_sleep(10)) IS NULL"));
            assertThat(late.value()).isEqualTo(new ProbeAnswer.Raised("57014"));
            assertThat(late.stamp().insertLsn().bits()).isPositive();
        }
    }

    @Test
    void a_rule_that_raises_puts_no_value_into_the_servers_log() {
        try (PostgresDatabase database = database(18);
                Pool pool = Questions.pool(database)) {
            database.execute("CREATE TABLE t (id int PRIMARY KEY, v text)", "CREATE PUBLICATION sluice FOR TABLE t");
            CatalogImage catalog = load(database);
            Relation relation = table(catalog, "t");
            assertThat(probe(pool, catalog, relation, List.of("1", "geheimnisvoll"), "1 / (id - 1) = 1"))
                    .isEqualTo(new ProbeAnswer.Raised("22012"));
            assertThat(database.cluster().log()).contains("division by zero").doesNotContain("geheimnisvoll");
        }
    }

    /// What a column of the image is compared by is the table's, not the database's.
    @Test
    void an_image_is_compared_under_the_collations_of_its_columns() {
        try (PostgresDatabase database = database(PostgresCluster.NEWEST);
                Pool pool = Questions.pool(database)) {
            database.execute(
                    "CREATE TABLE members (who uuid)",
                    "CREATE COLLATION \"any Case\" (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                    "CREATE DOMAIN word AS text COLLATE \"any Case\"",
                    "CREATE TABLE t (id int PRIMARY KEY, plain text, caseless text COLLATE \"any Case\","
                            + " bytes text COLLATE \"C\", words text[] COLLATE \"any Case\", own word)",
                    "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                    "INSERT INTO t VALUES (1, 'bob', 'bob', 'bob', '{bob}', 'bob')",
                    "CREATE PUBLICATION sluice FOR TABLE t");
            for (String policy : List.of(
                    "plain <> 'BOB'",
                    "caseless <> 'BOB'",
                    "caseless = 'BOB'",
                    "bytes > 'CC'",
                    "bytes < 'CC'",
                    "words <> ARRAY['BOB']",
                    "own <> 'BOB'",
                    "own = 'BOB'")) {
                database.execute(
                        "DROP POLICY IF EXISTS p ON t",
                        "CREATE POLICY p ON t USING (NOT EXISTS (SELECT FROM members) AND " + policy + ")");
                CatalogImage catalog = load(database);
                Relation relation = table(catalog, "t");
                String text =
                        Objects.requireNonNull(relation.policies().getFirst().text());
                boolean shown = !database.asRole("authenticated", "{}")
                        .rows("SELECT id FROM t")
                        .isEmpty();
                assertThat(probe(pool, catalog, relation, List.of("1", "bob", "bob", "bob", "{bob}", "bob"), text))
                        .as(text)
                        .isEqualTo(new ProbeAnswer.Decided(shown ? Truth.TRUE : Truth.FALSE));
            }
        }
    }

    /// A policy keeps the function, operator or cast it was made with, whatever would be taken by its name today.
    @Test
    void what_would_be_taken_by_its_name_today_is_not_asked_in_place_of_what_the_policy_names() {
        try (PostgresDatabase database = database(PostgresCluster.NEWEST);
                Pool pool = Questions.pool(database)) {
            database.execute(
                    "CREATE TABLE members (who uuid)",
                    "CREATE TABLE t (id int PRIMARY KEY, tags text[])",
                    "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                    "INSERT INTO t VALUES (1, '{a}')",
                    "CREATE PUBLICATION sluice FOR TABLE t");
            Map<String, String> shadows = new LinkedHashMap<>();
            shadows.put(
                    "array_length(tags, 1) = 2",
                    "CREATE FUNCTION public.array_length(text[], int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT"
                            + " 2'");
            shadows.put(
                    "tags @> ARRAY['b']",
                    "CREATE FUNCTION public.yes(text[], text[]) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';"
                            + " CREATE OPERATOR public.@> (LEFTARG = text[], RIGHTARG = text[], FUNCTION = public.yes)");
            shadows.put(
                    "cardinality(tags) = 2",
                    "CREATE FUNCTION public.cardinality(text[]) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 2'");
            for (Map.Entry<String, String> shadow : shadows.entrySet()) {
                database.execute(
                        "DROP POLICY IF EXISTS p ON t",
                        "CREATE POLICY p ON t USING (NOT EXISTS (SELECT FROM members) AND " + shadow.getKey() + ")",
                        shadow.getValue());
                CatalogImage catalog = load(database);
                Relation relation = table(catalog, "t");
                String text =
                        Objects.requireNonNull(relation.policies().getFirst().textFor("authenticated"));
                assertThat(database.asRole("authenticated", "{}").rows("SELECT id FROM t"))
                        .isEmpty();
                assertThat(probe(pool, catalog, relation, List.of("1", "{a}"), text))
                        .as(text)
                        .isEqualTo(new ProbeAnswer.Decided(Truth.FALSE));
            }
        }
    }

    /// A function is looked up as it is, rows as the snapshot has them: read together they would say what was never
    /// so.
    @Test
    void a_yes_is_never_of_the_rows_of_one_moment_and_the_rights_of_another() throws Exception {
        try (PostgresDatabase database = database(PostgresCluster.NEWEST);
                Pool pool = Questions.pool(database);
                Connection owner = database.connect();
                Statement statement = owner.createStatement()) {
            database.execute(
                    "CREATE TABLE switch (v int)",
                    "INSERT INTO switch VALUES (0)",
                    "CREATE FUNCTION may() RETURNS bool LANGUAGE sql STABLE AS 'SELECT v = 1 FROM public.switch'",
                    "CREATE TABLE t (id int PRIMARY KEY)",
                    "CREATE PUBLICATION sluice FOR TABLE t");
            CatalogImage catalog = load(database);
            Relation relation = table(catalog, "t");
            ProbeQueries queries = new ProbeQueries(pool, TIMEOUT);
            ProbeQueries.Probe probe = ProbeQueries.of(
                    caller("authenticated", ALICE), catalog, relation, image(relation, List.of("1")), "public.may()");
            AtomicBoolean over = new AtomicBoolean();
            CompletableFuture<Void> moving = CompletableFuture.runAsync(
                    () -> {
                        for (int v = 1; !over.get(); v = 1 - v) {
                            move(statement, v);
                        }
                    },
                    task -> Thread.ofVirtual().name("owner").start(task));
            List<ProbeAnswer> answers = new ArrayList<>();
            try {
                for (int i = 0; i < 1_500; i++) {
                    try {
                        answers.add(queries.probe(probe).value());
                    } catch (QueryException moved) {
                        assertThat(moved.kind()).isEqualTo(QueryException.Kind.TRANSIENT);
                    }
                }
            } finally {
                over.set(true);
                moving.join();
            }
            assertThat(answers).hasSizeGreaterThan(100).doesNotContain(new ProbeAnswer.Decided(Truth.TRUE));
        }
    }

    private static void move(Statement statement, int v) {
        try {
            statement.execute("BEGIN; UPDATE switch SET v = " + v + ";"
                    + " CREATE OR REPLACE FUNCTION public.may() RETURNS bool LANGUAGE sql STABLE AS"
                    + " 'SELECT v = " + (1 - v) + " FROM public.switch'; COMMIT; SELECT pg_sleep(0.005)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
