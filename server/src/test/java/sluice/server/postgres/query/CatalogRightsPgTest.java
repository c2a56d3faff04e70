package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.postgres.query.Catalogs.ROLES;
import static sluice.server.postgres.query.Catalogs.database;
import static sluice.server.postgres.query.Catalogs.function;
import static sluice.server.postgres.query.Catalogs.load;
import static sluice.server.postgres.query.Catalogs.published;
import static sluice.server.postgres.query.Catalogs.roleOid;
import static sluice.server.postgres.query.Catalogs.table;
import static sluice.server.postgres.query.Questions.TIMEOUT;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.Function;
import sluice.core.catalog.Grants;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.value.Oid;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

class CatalogRightsPgTest {
    /// The judge is PostgreSQL's own view of the publication.
    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_publication_holds_what_postgresql_says_it_holds(int major) {
        try (PostgresDatabase database = database(major);
                Catalogs.Reader reader = new Catalogs.Reader(database)) {
            database.execute(
                    "CREATE SCHEMA other",
                    "CREATE TABLE plain (id int PRIMARY KEY, a text, b text)",
                    "CREATE TABLE generated (id int PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED)",
                    "CREATE TABLE root (id int, k int, PRIMARY KEY (id, k)) PARTITION BY LIST (k)",
                    "CREATE TABLE root_1 PARTITION OF root FOR VALUES IN (1)",
                    "CREATE TABLE other.root_2 PARTITION OF root FOR VALUES IN (2, 3) PARTITION BY LIST (k)",
                    "CREATE TABLE other.root_2_2 PARTITION OF other.root_2 FOR VALUES IN (2)",
                    "CREATE TABLE parent (id int PRIMARY KEY)",
                    "CREATE TABLE child (extra int) INHERITS (parent)",
                    "CREATE UNLOGGED TABLE fleeting (id int PRIMARY KEY)",
                    "CREATE VIEW looking AS SELECT 1 AS one");
            for (String publication : List.of(
                    "FOR ALL TABLES",
                    "FOR TABLE plain (id, b), generated, root",
                    "FOR TABLE root, root_1",
                    "FOR TABLE parent",
                    "FOR TABLE ONLY parent",
                    "FOR TABLES IN SCHEMA other",
                    "FOR TABLES IN SCHEMA public",
                    "FOR TABLES IN SCHEMA public, other",
                    "FOR TABLES IN SCHEMA other, TABLE root")) {
                for (String via : List.of("false", "true")) {
                    database.execute(
                            "DROP PUBLICATION IF EXISTS sluice",
                            "CREATE PUBLICATION sluice " + publication + " WITH (publish_via_partition_root = " + via
                                    + ")");
                    assertThat(reader.load().relations().stream()
                                    .map(relation -> relation.qualifiedName() + " " + published(relation)))
                            .as(publication + " via root " + via)
                            .containsExactlyInAnyOrderElementsOf(judged(database, major));
                }
            }
        }
    }

    /// Before version 18 the view lists generated columns, which are never sent.
    private static List<String> judged(PostgresDatabase database, int major) {
        List<String> tables = new ArrayList<>();
        for (List<@Nullable String> row :
                database.rows("SELECT p.schemaname || '.' || p.tablename, (SELECT string_agg(n, ', ' ORDER BY a.attnum)"
                        + " FROM unnest(p.attnames) n JOIN pg_attribute a ON a.attname = n AND a.attrelid ="
                        + " format('%I.%I', p.schemaname, p.tablename)::regclass WHERE a.attgenerated = '' OR "
                        + (major >= 18) + ") FROM pg_publication_tables p WHERE p.pubname = 'sluice'")) {
            tables.add(row.get(0) + " [" + row.get(1) + "]");
        }
        return tables;
    }

    @Test
    void generated_columns_are_published_as_the_publication_says() {
        try (PostgresDatabase database = database(18)) {
            database.execute(
                    "CREATE TABLE g (id int PRIMARY KEY, s int GENERATED ALWAYS AS (id * 2) STORED,"
                            + " v int GENERATED ALWAYS AS (id * 3) VIRTUAL)",
                    "CREATE PUBLICATION sluice FOR TABLE g WITH (publish_generated_columns = stored)");
            assertThat(published(table(load(database), "g"))).containsExactly("id", "s");
            database.execute("ALTER PUBLICATION sluice SET (publish_generated_columns = none)");
            assertThat(published(table(load(database), "g"))).containsExactly("id");
            database.execute("ALTER PUBLICATION sluice SET TABLE g (s, id)");
            assertThat(published(table(load(database), "g"))).containsExactly("id", "s");
            assertThat(table(load(database), "g").columns())
                    .extracting(Column::generation)
                    .containsExactly(Column.Generation.NONE, Column.Generation.STORED, Column.Generation.VIRTUAL);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void rights_are_those_postgresql_grants(int major) {
        try (PostgresDatabase database = database(major)) {
            database.execute(
                    "CREATE ROLE catalog_group",
                    "ALTER ROLE anon INHERIT",
                    "GRANT catalog_group TO anon",
                    "CREATE SCHEMA closed",
                    "CREATE TABLE closed.t (id int PRIMARY KEY, a int, b int)",
                    "GRANT SELECT ON closed.t TO anon",
                    "CREATE TABLE t (id int PRIMARY KEY, a int, b int)",
                    "REVOKE ALL ON t FROM anon, authenticated, service_role",
                    "GRANT SELECT (id, b) ON t TO authenticated",
                    "GRANT SELECT (a) ON t TO catalog_group",
                    "GRANT SELECT ON t TO service_role",
                    "CREATE FUNCTION hidden() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                    "REVOKE EXECUTE ON FUNCTION hidden() FROM PUBLIC",
                    "GRANT EXECUTE ON FUNCTION hidden() TO authenticated",
                    "CREATE PUBLICATION sluice FOR ALL TABLES");
            try {
                CatalogImage image = load(database);
                Relation t = table(image, "t");
                Grants.SchemaUsage granted = Grants.SchemaUsage.GRANTED;
                assertThat(t.grants("authenticated")).isEqualTo(new Grants(granted, List.of(1, 3)));
                assertThat(t.grants("anon")).isEqualTo(new Grants(granted, List.of(2)));
                assertThat(t.grants("service_role")).isEqualTo(new Grants(granted, List.of(1, 2, 3)));
                assertThat(t.grants("nobody")).isEqualTo(Grants.NONE);
                assertThat(Objects.requireNonNull(image.relation("closed", "t")).grants("anon"))
                        .isEqualTo(new Grants(Grants.SchemaUsage.MISSING, List.of(1, 2, 3)));
                Role anon = Objects.requireNonNull(image.role("anon"));
                assertThat(anon.bypass()).isEqualTo(Role.Bypass.NONE);
                assertThat(anon.privilegesOf())
                        .containsExactlyInAnyOrder(roleOid(database, "anon"), roleOid(database, "catalog_group"));
                assertThat(Objects.requireNonNull(image.role("service_role")).bypass())
                        .isEqualTo(Role.Bypass.BYPASS_RLS);
                assertThat(function(image, "hidden").executableByRole())
                        .containsExactlyInAnyOrderEntriesOf(
                                Map.of("anon", false, "authenticated", true, "service_role", false));
                database.execute("REVOKE catalog_group FROM anon");
                assertThat(table(load(database), "t").grants("anon").selectColumns())
                        .isEmpty();
            } finally {
                database.execute("ALTER ROLE anon NOINHERIT", "DROP OWNED BY catalog_group", "DROP ROLE catalog_group");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void functions_and_operators_carry_what_deciding_needs(int major) {
        try (PostgresDatabase database = database(major)) {
            database.execute(
                    "CREATE FUNCTION f(a int, b text) RETURNS bool LANGUAGE sql STABLE STRICT SECURITY DEFINER"
                            + " SET search_path = public, pg_temp AS 'SELECT a > length(b)'",
                    "CREATE FUNCTION g(a int) RETURNS int LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT a + 1; END",
                    "CREATE OPERATOR public.=== (LEFTARG = int, RIGHTARG = text, FUNCTION = f)",
                    "CREATE PUBLICATION sluice");
            CatalogImage image = load(database);
            Function f = function(image, "f");
            assertThat(f.language()).isEqualTo("sql");
            assertThat(f.volatility()).isEqualTo(Function.Volatility.STABLE);
            assertThat(f.strictness()).isEqualTo(Function.Strictness.STRICT);
            assertThat(f.security()).isEqualTo(Function.Security.DEFINER);
            assertThat(f.returnType()).isEqualTo(Oid.BOOL);
            assertThat(f.argumentTypes()).containsExactly(Oid.INT4, Oid.TEXT);
            assertThat(f.source()).isEqualTo("SELECT a > length(b)");
            assertThat(f.body()).isNull();
            assertThat(f.searchPath()).isEqualTo("public, pg_temp");
            assertThat(function(image, "g").body()).contains("{QUERY");
            assertThat(image.dictionary().operatorsByOid().values())
                    .anyMatch(operator -> operator.name().equals("===") && operator.functionOid() == f.oid());
            Function equal = Objects.requireNonNull(image.function(65));
            assertThat(equal.source()).isEqualTo("int4eq");
            assertThat(equal.builtIn()).isTrue();
            assertThat(equal.executableByRole()).containsEntry("anon", true);
            assertThat(Objects.requireNonNull(image.operator(96)).functionOid()).isEqualTo(65);
            database.execute("REVOKE EXECUTE ON FUNCTION pg_catalog.int4eq FROM PUBLIC");
            assertThat(Objects.requireNonNull(load(database).function(65)).executableByRole())
                    .containsEntry("anon", false);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void the_default_collation_is_the_databases_own(int major) {
        try (PostgresDatabase plain = database(major);
                PostgresDatabase icu = PostgresCluster.of(major)
                        .createDatabase("catalog_icu", DatabaseOptions.unusual())
                        .withStandardRoles()) {
            plain.execute(
                    "CREATE COLLATION insensitive (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                    "CREATE PUBLICATION sluice");
            icu.execute("CREATE PUBLICATION sluice");
            CatalogImage image = load(plain);
            assertThat(image.collation(Collation.DEFAULT_OID))
                    .isEqualTo(new Collation(100, "default", "libc", "C.UTF-8", Collation.Determinism.DETERMINISTIC));
            assertThat(image.dictionary().collationsByOid().values())
                    .anyMatch(collation -> collation.name().equals("insensitive")
                            && collation.determinism() == Collation.Determinism.NONDETERMINISTIC
                            && collation.provider().equals("icu"));
            Collation other = Objects.requireNonNull(load(icu).collation(Collation.DEFAULT_OID));
            assertThat(other.provider()).isEqualTo("icu");
            assertThat(other.locale()).isEqualTo("en-US");
        }
    }

    /// Each moves a right, or may.
    private static final List<String> MOVING = List.of(
            "CREATE POLICY p ON t USING (true)",
            "ALTER POLICY p ON t USING (false)",
            "DROP POLICY p ON t",
            "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
            "ALTER TABLE t FORCE ROW LEVEL SECURITY",
            "REVOKE SELECT ON t FROM anon",
            "GRANT SELECT (a) ON t TO anon",
            "ALTER TABLE t OWNER TO service_role",
            "REVOKE USAGE ON SCHEMA public FROM anon",
            "CREATE ROLE poll_group",
            "ALTER ROLE poll_group BYPASSRLS",
            "GRANT poll_group TO anon",
            "REVOKE poll_group FROM anon",
            "DROP ROLE poll_group",
            "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'",
            "REVOKE EXECUTE ON FUNCTION f() FROM PUBLIC",
            "REVOKE EXECUTE ON FUNCTION pg_catalog.int4eq FROM PUBLIC",
            "CREATE OR REPLACE FUNCTION pg_catalog.lower(text) RETURNS text LANGUAGE internal IMMUTABLE STRICT"
                    + " AS 'upper'",
            "CREATE OR REPLACE FUNCTION pg_catalog.lower(text) RETURNS text LANGUAGE internal IMMUTABLE STRICT"
                    + " AS 'lower'",
            "CREATE OPERATOR public.->> (LEFTARG = jsonb, RIGHTARG = uuid, FUNCTION = peek)",
            "DROP OPERATOR public.->> (jsonb, uuid)",
            "CREATE CAST (text AS uuid) WITH FUNCTION identify(text)",
            "DROP CAST (text AS uuid)",
            "ALTER TYPE mood ADD VALUE 'ok'",
            "ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'",
            "TRUNCATE leaf",
            "ALTER TABLE root DETACH PARTITION leaf",
            "ALTER PUBLICATION sluice SET (publish = 'insert')",
            "ALTER PUBLICATION sluice ADD TABLE root");

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void the_rights_poll_moves_when_and_only_when_a_right_may_have(int major) {
        try (PostgresDatabase database = database(major);
                Pool pool = Questions.pool(database)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY, a int)",
                    "CREATE TABLE root (id int, k int) PARTITION BY LIST (k)",
                    "CREATE TABLE leaf PARTITION OF root FOR VALUES IN (1)",
                    "CREATE TYPE mood AS ENUM ('sad')",
                    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                    "CREATE FUNCTION peek(jsonb, uuid) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'",
                    "CREATE FUNCTION identify(text) RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'",
                    "CREATE PUBLICATION sluice FOR TABLE t");
            RightsPoll poll = new RightsPoll(pool, "sluice", TIMEOUT);
            for (String still : List.of(
                    "SELECT 1",
                    "INSERT INTO t VALUES (1, 1)",
                    "ANALYZE t",
                    "VACUUM t",
                    "CREATE INDEX ON t (a)",
                    "CREATE TEMPORARY TABLE mine (a int)")) {
                String before = poll.fingerprint().value();
                database.execute(still);
                assertThat(poll.fingerprint().value()).as(still).isEqualTo(before);
            }
            for (String moving : MOVING) {
                String before = poll.fingerprint().value();
                database.execute(moving);
                assertThat(poll.fingerprint().value()).as(moving).isNotEqualTo(before);
            }
        }
    }

    @Test
    void two_hundred_tables_are_read_whole_or_one_of_them_alone_and_never_compiled_just_in_time() {
        try (PostgresDatabase database = database(18);
                Pool pool = Questions.pool(database)) {
            for (int i = 0; i < 200; i++) {
                StringBuilder columns = new StringBuilder();
                for (int c = 0; c < 15; c++) {
                    columns.append(", c").append(c).append(c % 2 == 0 ? " text" : " int");
                }
                database.execute(
                        "CREATE TABLE t" + i + " (id int PRIMARY KEY" + columns + ")",
                        "CREATE POLICY p ON t" + i + " TO authenticated USING (c0 = auth.uid()::text OR c1 > 3)",
                        "CREATE FUNCTION f" + i + "() RETURNS int LANGUAGE sql AS 'SELECT " + i + "'");
            }
            database.execute("CREATE PUBLICATION sluice FOR ALL TABLES");
            long started = System.nanoTime();
            CatalogLoader loader = CatalogLoader.start(pool, "sluice", ROLES, TIMEOUT);
            CatalogImage image = loader.load(new CatalogScope.Everything(), TIMEOUT);
            assertThat(image.relations()).hasSize(200);
            CatalogScope one =
                    new CatalogScope.Tables(List.of(table(image, "t7").oid()));
            RightsPoll poll = new RightsPoll(pool, "sluice", TIMEOUT);
            poll.fingerprint();
            long first = System.nanoTime() - started;
            Duration everything = mean(() -> loader.load(new CatalogScope.Everything(), TIMEOUT));
            Duration table = mean(() -> loader.load(one, TIMEOUT));
            Duration rights = mean(poll::fingerprint);
            System.out.printf(
                    "catalog of 200 tables: first %d ms, then all %d ms, one table %d ms, rights poll %d ms%n",
                    first / 1_000_000, everything.toMillis(), table.toMillis(), rights.toMillis());
            assertThat(loader.load(one, TIMEOUT).relations()).hasSize(1);
            // a server set to compile queries just in time would take seconds for each reading
            database.execute("ALTER ROLE sluice_authz SET jit = on");
            try (Catalogs.Reader reader = new Catalogs.Reader(database)) {
                assertThat(reader.ask("SHOW jit")).isEqualTo("off");
            }
        }
    }

    private static Duration mean(Runnable question) {
        int times = 5;
        long started = System.nanoTime();
        for (int i = 0; i < times; i++) {
            question.run();
        }
        return Duration.ofNanos((System.nanoTime() - started) / times);
    }
}
