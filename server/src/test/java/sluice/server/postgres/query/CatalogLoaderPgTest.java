package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sluice.server.postgres.query.Catalogs.database;
import static sluice.server.postgres.query.Catalogs.load;
import static sluice.server.postgres.query.Catalogs.roleOid;
import static sluice.server.postgres.query.Catalogs.table;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Column;
import sluice.core.catalog.Index;
import sluice.core.catalog.Policy;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.testkit.PostgresDatabase;

class CatalogLoaderPgTest {
    private static final String WEIRD = "\"My.Schema\".\"We.Ird \"\"q\"\"\"";

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void columns_are_as_the_catalog_says(int major) {
        try (PostgresDatabase database = database(major)) {
            database.execute(
                    "CREATE SCHEMA \"My.Schema\"",
                    "CREATE TABLE " + WEIRD + " (\"Id\" int PRIMARY KEY, dropped text, n numeric(6,2) NOT NULL,"
                            + " twice int GENERATED ALWAYS AS (\"Id\" * 2) STORED, v varchar(5) COLLATE \"C\")",
                    "ALTER TABLE " + WEIRD + " DROP COLUMN dropped",
                    "CREATE PUBLICATION sluice FOR TABLE " + WEIRD);
            CatalogImage image = load(database);
            assertThat(image.dictionary().serverMajor()).isEqualTo(major);
            Relation weird = Objects.requireNonNull(image.relation("My.Schema", "We.Ird \"q\""));
            Column.Generation none = Column.Generation.NONE;
            Column.Nullability nullable = Column.Nullability.NULLABLE;
            Column.Nullability notNull = Column.Nullability.NOT_NULL;
            String tree = Objects.requireNonNull(
                    Objects.requireNonNull(weird.column("twice")).generationTree());
            assertThat(tree).startsWith("{OPEXPR ").contains("{VAR ");
            assertThat(weird.columns())
                    .containsExactly(
                            new Column(1, "Id", Oid.INT4, -1, notNull, none, 0),
                            new Column(3, "n", Oid.NUMERIC, (6 << 16 | 2) + 4, notNull, none, 0),
                            new Column(4, "twice", Oid.INT4, -1, nullable, Column.Generation.STORED, 0, tree),
                            new Column(5, "v", Oid.VARCHAR, 9, nullable, none, 950));
            assertThat(weird.rowSecurity()).isEqualTo(Relation.RowSecurity.OFF);
            assertThat(weird.kind()).isEqualTo(Relation.Kind.TABLE);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void policies_are_as_the_catalog_says(int major) {
        try (PostgresDatabase database = database(major)) {
            database.execute(
                    "CREATE TABLE notes (id int PRIMARY KEY, owner uuid)",
                    "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                    "ALTER TABLE notes FORCE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON notes FOR SELECT TO authenticated, anon USING (owner = auth.uid())",
                    "CREATE POLICY strict ON notes AS RESTRICTIVE USING (id > 0)",
                    "CREATE POLICY writing ON notes FOR INSERT WITH CHECK (true)",
                    "CREATE PUBLICATION sluice FOR TABLE notes WITH (publish = 'insert, delete')");
            Relation notes = table(load(database), "notes");
            assertThat(notes.rowSecurity()).isEqualTo(Relation.RowSecurity.FORCED);
            assertThat(Objects.requireNonNull(notes.published()).actions())
                    .containsExactlyInAnyOrder(PublishedTable.Action.INSERT, PublishedTable.Action.DELETE);
            assertThat(notes.policies()).extracting(Policy::name).containsExactly("own", "strict", "writing");
            Policy own = notes.policies().getFirst();
            assertThat(own.mode()).isEqualTo(Policy.Mode.PERMISSIVE);
            assertThat(own.command()).isEqualTo(Policy.Command.SELECT);
            assertThat(own.roles())
                    .containsExactlyInAnyOrder(roleOid(database, "authenticated"), roleOid(database, "anon"));
            assertThat(own.text()).isEqualTo("(owner = auth.uid())");
            assertThat(own.tree()).startsWith("{OPEXPR");
            Policy strict = notes.policies().get(1);
            assertThat(strict.mode()).isEqualTo(Policy.Mode.RESTRICTIVE);
            assertThat(strict.command()).isEqualTo(Policy.Command.ALL);
            assertThat(strict.roles()).containsExactly(0);
            assertThat(notes.policies().get(2).tree()).isNull();
            assertThat(notes.policies().get(2).text()).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void identities_are_what_postgresql_writes_to_the_log(int major) {
        try (PostgresDatabase database = database(major)) {
            database.execute(
                    "CREATE TABLE pk (a int, b int, c int, PRIMARY KEY (c, a))",
                    "CREATE TABLE nopk (a int)",
                    "CREATE TABLE latepk (a int PRIMARY KEY DEFERRABLE)",
                    "CREATE TABLE idx (a int NOT NULL, b int NOT NULL, c int)",
                    "CREATE UNIQUE INDEX idx_u ON idx (b, a) INCLUDE (c)",
                    "ALTER TABLE idx REPLICA IDENTITY USING INDEX idx_u",
                    "CREATE TABLE lost (a int NOT NULL)",
                    "CREATE UNIQUE INDEX lost_u ON lost (a)",
                    "ALTER TABLE lost REPLICA IDENTITY USING INDEX lost_u",
                    "DROP INDEX lost_u",
                    "CREATE TABLE whole (a int)",
                    "ALTER TABLE whole REPLICA IDENTITY FULL",
                    "CREATE TABLE nothing (a int PRIMARY KEY)",
                    "ALTER TABLE nothing REPLICA IDENTITY NOTHING",
                    "CREATE INDEX partial ON pk (b) WHERE b > 0",
                    "CREATE INDEX expression ON pk (b, (a + c))",
                    "CREATE UNIQUE INDEX plain ON pk (b)",
                    "CREATE PUBLICATION sluice FOR ALL TABLES");
            CatalogImage image = load(database);
            assertThat(table(image, "pk").identity()).isEqualTo(new ReplicaIdentity.Default(List.of(3, 1)));
            assertThat(table(image, "nopk").identity()).isEqualTo(new ReplicaIdentity.Default(List.of()));
            assertThat(table(image, "latepk").identity()).isEqualTo(new ReplicaIdentity.Default(List.of()));
            assertThat(table(image, "idx").identity())
                    .isEqualTo(new ReplicaIdentity.UsingIndex("idx_u", List.of(2, 1)));
            assertThat(table(image, "lost").identity()).isEqualTo(new ReplicaIdentity.UsingIndex("", List.of()));
            assertThat(table(image, "whole").identity()).isEqualTo(new ReplicaIdentity.Full());
            assertThat(table(image, "nothing").identity()).isEqualTo(new ReplicaIdentity.Nothing());
            Index.Coverage all = Index.Coverage.ALL_ROWS;
            assertThat(table(image, "pk").indexes())
                    .containsExactly(
                            new Index("pk_pkey", List.of(3, 1), Index.Kind.PRIMARY_IMMEDIATE, all),
                            new Index("expression", List.of(2, 0), Index.Kind.PLAIN, all),
                            new Index("partial", List.of(2), Index.Kind.PLAIN, Index.Coverage.PARTIAL),
                            new Index("plain", List.of(2), Index.Kind.UNIQUE_IMMEDIATE, all));
            assertThat(table(image, "latepk").indexes().getFirst().kind()).isEqualTo(Index.Kind.PRIMARY_DEFERRABLE);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void types_are_resolved_down_to_their_text_form(int major) {
        try (PostgresDatabase database = database(major)) {
            database.execute(
                    "CREATE SCHEMA \"T\"",
                    "CREATE TYPE \"T\".\"Mood\" AS ENUM ('sad', 'ok', 'happy')",
                    "ALTER TYPE \"T\".\"Mood\" ADD VALUE 'meh' BEFORE 'ok'",
                    "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
                    "CREATE DOMAIN tiny AS positive CHECK (VALUE < 10)",
                    "CREATE TYPE point3 AS (x tiny, \"Y y\" \"T\".\"Mood\"[], z box[])",
                    "ALTER TYPE point3 DROP ATTRIBUTE z",
                    "CREATE TABLE row_type (a int, b point3)",
                    "CREATE TABLE unreached (a int)",
                    "CREATE TABLE t (id int PRIMARY KEY, p point3[], r row_type, boxes box[], b bit(3), c \"char\","
                            + " s char(4), ov oidvector)",
                    "CREATE PUBLICATION sluice FOR TABLE t");
            CatalogImage image = load(database);
            Relation t = table(image, "t");
            PgType.Array points = (PgType.Array) type(image, t, "p");
            assertThat(points.name()).isEqualTo("public.point3[]");
            PgType.Composite point = (PgType.Composite) points.element();
            assertThat(point.attributes()).extracting(PgType.Attribute::name).containsExactly("x", "Y y");
            PgType tiny = point.attributes().getFirst().type();
            assertThat(tiny.name()).isEqualTo("public.tiny");
            assertThat(tiny.undomained()).isEqualTo(new PgType.Base(Oid.INT4, "integer"));
            PgType.Enumeration mood = (PgType.Enumeration)
                    ((PgType.Array) point.attributes().get(1).type()).element();
            assertThat(mood.name()).isEqualTo("\"T\".\"Mood\"");
            assertThat(mood.labels()).extracting(PgType.Label::text).containsExactly("sad", "meh", "ok", "happy");
            assertThat(((PgType.Composite) type(image, t, "r")).attributes())
                    .extracting(PgType.Attribute::type)
                    .containsExactly(new PgType.Base(Oid.INT4, "integer"), point);
            assertThat(((PgType.Array) type(image, t, "boxes")).delimiter()).isEqualTo(';');
            // names stand for the type itself when written into SQL, without an implied length
            assertThat(type(image, t, "b").name()).isEqualTo("\"bit\"");
            assertThat(type(image, t, "c").name()).isEqualTo("\"char\"");
            assertThat(type(image, t, "s").name()).isEqualTo("bpchar");
            assertThat(type(image, t, "ov")).isInstanceOf(PgType.Base.class);
            assertThat(image.dictionary().typesByOid().values())
                    .extracting(PgType::name)
                    .doesNotContain("public.unreached");
        }
    }

    private static PgType type(CatalogImage image, Relation relation, String column) {
        return image.type(Objects.requireNonNull(relation.column(column)).typeOid());
    }

    @Test
    void a_scope_reads_its_tables_and_a_complete_dictionary() {
        try (PostgresDatabase database = database(18)) {
            database.execute(
                    "CREATE TYPE mood AS ENUM ('a')",
                    "CREATE TABLE one (id int PRIMARY KEY)",
                    "CREATE TABLE two (id int PRIMARY KEY, m mood)",
                    "CREATE TABLE three (id int PRIMARY KEY)",
                    "CREATE PUBLICATION sluice FOR TABLE one, two");
            CatalogImage all = load(database);
            int one = table(all, "one").oid();
            CatalogImage some = load(database, new CatalogScope.Tables(List.of(one, 999_999)));
            assertThat(some.relations()).extracting(Relation::name).containsExactly("one");
            assertThat(some.dictionary()).isEqualTo(all.dictionary());
            database.execute("ALTER PUBLICATION sluice DROP TABLE one");
            assertThat(load(database, new CatalogScope.Tables(List.of(one))).relations())
                    .isEmpty();
        }
    }

    @Test
    void fingerprints_move_when_and_only_when_something_they_cover_moved() {
        try (PostgresDatabase database = database(18);
                Catalogs.Reader reader = new Catalogs.Reader(database)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY, a int)",
                    "CREATE TABLE root (id int, k int) PARTITION BY LIST (k)",
                    "CREATE TABLE leaf PARTITION OF root FOR VALUES IN (1)",
                    "CREATE PUBLICATION sluice FOR TABLE t, root WITH (publish_via_partition_root)");
            assertMoves(database, reader, "t", "SELECT 1", "");
            assertMoves(database, reader, "t", "INSERT INTO t VALUES (1, 1)", "");
            assertMoves(database, reader, "t", "ANALYZE t", "");
            assertMoves(database, reader, "t", "CREATE POLICY p ON t USING (true)", "rights");
            assertMoves(database, reader, "t", "ALTER POLICY p ON t USING (a > 1)", "rights");
            assertMoves(database, reader, "t", "ALTER TABLE t ENABLE ROW LEVEL SECURITY", "rights");
            assertMoves(database, reader, "t", "REVOKE SELECT ON t FROM anon", "rights");
            assertMoves(database, reader, "t", "GRANT SELECT (a) ON t TO anon", "rights");
            assertMoves(database, reader, "t", "ALTER TABLE t OWNER TO service_role", "rights");
            assertMoves(database, reader, "t", "REVOKE USAGE ON SCHEMA public FROM anon", "rights");
            assertMoves(database, reader, "t", "ALTER TABLE t REPLICA IDENTITY FULL", "definition");
            // a grant on the table covers the new column too
            assertMoves(database, reader, "t", "ALTER TABLE t ADD b int", "definitionrights");
            assertMoves(database, reader, "t", "TRUNCATE t", "");
            assertMoves(database, reader, "t", "ALTER PUBLICATION sluice SET (publish = 'insert')", "definition");
            assertMoves(database, reader, "root", "TRUNCATE leaf", "");
        }
    }

    private static void assertMoves(
            PostgresDatabase database, Catalogs.Reader reader, String name, String sql, String expected) {
        Relation before = table(reader.load(), name);
        database.execute(sql);
        Relation after = table(reader.load(), name);
        String moved = (before.fingerprint().equals(after.fingerprint()) ? "" : "definition")
                + (before.rightsFingerprint().equals(after.rightsFingerprint()) ? "" : "rights");
        assertThat(moved).as(sql).isEqualTo(expected);
    }

    /// Values that are as they were hide that they were others in between; the versions do not.
    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_right_that_went_and_came_back_has_another_version_and_statistics_move_none(int major) {
        try (PostgresDatabase database = database(major);
                Catalogs.Reader reader = new Catalogs.Reader(database)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY, a text)",
                    "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY p ON t USING (id > 0)",
                    "GRANT SELECT (a) ON t TO anon",
                    "CREATE PUBLICATION sluice FOR ALL TABLES");
            String policy = "policy" + database.value("SELECT oid FROM pg_policy WHERE polrelid = 't'::regclass");
            assertWritten(
                    database,
                    reader,
                    "ALTER POLICY p ON t USING (false)",
                    "ALTER POLICY p ON t USING (id > 0)",
                    policy);
            assertWritten(
                    database, reader, "REVOKE SELECT (a) ON t FROM anon", "GRANT SELECT (a) ON t TO anon", "column2");
            assertWritten(database, reader, "REVOKE SELECT ON t FROM anon", "GRANT SELECT ON t TO anon", "table");
            assertWritten(
                    database,
                    reader,
                    "ALTER TABLE t DISABLE ROW LEVEL SECURITY",
                    "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                    "table");
            assertWritten(
                    database,
                    reader,
                    "REVOKE USAGE ON SCHEMA public FROM anon",
                    "GRANT USAGE ON SCHEMA public TO anon",
                    "schema");
            assertWritten(
                    database, reader, "INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g", "VACUUM ANALYZE t");
            assertWritten(database, reader, "CREATE INDEX ON t (a)", "ALTER TABLE t ALTER a SET STATISTICS 10");
            assertWritten(database, reader, "CREATE STATISTICS s ON id, a FROM t", "VACUUM (FREEZE) t");
        }
    }

    /// Which rights were written between two readings, each by a transaction that is not the one before.
    private static void assertWritten(
            PostgresDatabase database, Catalogs.Reader reader, String there, String back, String... expected) {
        Relation before = table(reader.load(), "t");
        database.execute(there, back);
        Relation after = table(reader.load(), "t");
        List<String> written = after.rightVersions().entrySet().stream()
                .filter(right -> !right.getValue().equals(before.rightVersions().get(right.getKey())))
                .map(Map.Entry::getKey)
                .toList();
        assertThat(written).as(back).containsExactlyInAnyOrder(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void one_version_of_a_right_after_another_is_known_to_be_and_one_that_came_and_went_between_is_not(int major) {
        try (PostgresDatabase database = database(major);
                Pool pool = Questions.remembering(database)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY, a int)",
                    "CREATE POLICY p ON t USING (id > 0)",
                    "GRANT SELECT ON t TO anon",
                    "CREATE PUBLICATION sluice FOR ALL TABLES");
            CatalogLoader loader = CatalogLoader.start(pool, "sluice", Catalogs.ROLES, Questions.TIMEOUT);
            RightsPoll poll = new RightsPoll(pool, "sluice", Questions.TIMEOUT);
            // the first look has nothing to look back to
            loader.load(new CatalogScope.Everything(), Questions.TIMEOUT);
            for (String one : List.of(
                    "TRUNCATE t",
                    "DO 'BEGIN TRUNCATE t; INSERT INTO t VALUES (1); EXCEPTION WHEN division_by_zero THEN NULL; END'",
                    "ALTER TABLE t ADD COLUMN b int",
                    "CLUSTER t USING t_pkey",
                    "VACUUM FULL t",
                    "BEGIN; REVOKE SELECT ON t FROM anon; GRANT SELECT ON t TO anon; COMMIT",
                    "GRANT INSERT ON t TO anon",
                    "ALTER POLICY p ON t USING (id > 1)",
                    "GRANT USAGE ON SCHEMA public TO anon")) {
                assertThat(connects(database, loader, one)).as(one).isTrue();
            }
            // twice the same, and a poll between the two
            assertThat(connects(
                            database, loader, poll, "ALTER TABLE t ADD COLUMN c int", "ALTER TABLE t DROP COLUMN c"))
                    .isTrue();
            assertThat(connects(database, loader, poll, "TRUNCATE t", "TRUNCATE t"))
                    .isTrue();

            assertThat(connects(database, loader, "REVOKE SELECT ON t FROM anon", "GRANT SELECT ON t TO anon"))
                    .isFalse();
            assertThat(connects(
                            database,
                            loader,
                            "REVOKE SELECT ON t FROM anon",
                            "GRANT SELECT ON t TO anon",
                            "TRUNCATE t"))
                    .isFalse();
            assertThat(connects(database, loader, poll, "REVOKE SELECT ON t FROM anon", "GRANT SELECT ON t TO anon"))
                    .isFalse();
            assertThat(connects(database, loader, "DROP POLICY p ON t", "CREATE POLICY p ON t USING (id > 1)"))
                    .isFalse();
            assertThat(connects(
                            database,
                            loader,
                            "CREATE POLICY r ON t AS RESTRICTIVE USING (false)",
                            "ALTER POLICY r ON t USING (true)"))
                    .isFalse();
        }
    }

    /// Nobody looks between the statements.
    private static boolean connects(PostgresDatabase database, CatalogLoader loader, String... statements) {
        CatalogImage before = loader.load(new CatalogScope.Everything(), Questions.TIMEOUT);
        database.execute(statements);
        return connected(before, loader.load(new CatalogScope.Everything(), Questions.TIMEOUT));
    }

    /// Rights are polled between the two.
    private static boolean connects(
            PostgresDatabase database, CatalogLoader loader, RightsPoll poll, String first, String second) {
        CatalogImage before = loader.load(new CatalogScope.Everything(), Questions.TIMEOUT);
        database.execute(first);
        poll.fingerprint();
        database.execute(second);
        return connected(before, loader.load(new CatalogScope.Everything(), Questions.TIMEOUT));
    }

    private static boolean connected(CatalogImage before, CatalogImage after) {
        assertThat(table(after, "t").rightVersions())
                .isNotEqualTo(table(before, "t").rightVersions());
        return after.succession().connects(table(before, "t"), table(after, "t"));
    }

    /// PostgreSQL prints a policy only after it has opened the table.
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void a_table_that_is_being_altered_keeps_its_policies_but_no_text_that_admits_a_row(int major) throws SQLException {
        try (PostgresDatabase database = database(major);
                Connection other = database.connect();
                Statement altering = other.createStatement()) {
            database.execute(
                    "CREATE TABLE free (id int PRIMARY KEY)",
                    "CREATE POLICY p ON free USING (id > 0)",
                    "CREATE TABLE busy (id int PRIMARY KEY)",
                    "CREATE POLICY p ON busy USING (id > 0)",
                    "CREATE PUBLICATION sluice FOR ALL TABLES");
            Relation before = table(load(database), "busy");
            other.setAutoCommit(false);
            altering.execute("LOCK TABLE busy IN ACCESS EXCLUSIVE MODE");
            CatalogImage image = load(database);
            other.rollback();
            assertThat(table(image, "free").policies().getFirst().text()).isEqualTo("(id > 0)");
            Policy busy = table(image, "busy").policies().getFirst();
            assertThat(busy.tree()).isEqualTo(before.policies().getFirst().tree());
            assertThatThrownBy(() -> database.value("SELECT " + busy.text())).hasMessageStartingWith("22012");
            assertThat(table(image, "busy").rightsFingerprint()).isNotEqualTo(before.rightsFingerprint());
            assertThat(table(load(database), "busy").rightsFingerprint()).isEqualTo(before.rightsFingerprint());
        }
    }

    @Test
    void a_row_filter_and_a_missing_publication_are_seen() {
        try (PostgresDatabase database = database(18)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY)", "CREATE PUBLICATION sluice FOR TABLE t WHERE (id > 1)");
            assertThat(Objects.requireNonNull(table(load(database), "t").published())
                            .rowFilter())
                    .isNotNull();
            database.execute("DROP PUBLICATION sluice");
            assertThatThrownBy(() -> load(database))
                    .isInstanceOf(QueryException.class)
                    .hasMessageContaining("does not exist")
                    .extracting(e -> ((QueryException) e).kind())
                    .isEqualTo(QueryException.Kind.DEFINITE);
        }
    }

    @Test
    void the_stamp_is_the_snapshot_the_rows_were_read_in() {
        try (PostgresDatabase database = database(18)) {
            database.execute("CREATE TABLE t (id int PRIMARY KEY)", "CREATE PUBLICATION sluice FOR TABLE t");
            long before = Long.parseLong(
                    Objects.requireNonNull(database.value("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")));
            database.execute("CREATE POLICY p ON t USING (true)");
            CatalogImage image = load(database);
            assertThat(image.stamp().snapshot().xmax()).isGreaterThan(before);
            assertThat(image.stamp().insertLsn().bits()).isPositive();
        }
    }
}
