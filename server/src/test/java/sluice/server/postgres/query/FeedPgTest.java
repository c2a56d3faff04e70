package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.postgres.query.Catalogs.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.pgoutput.PgOutputDecoder;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.pgoutput.Tuple;
import sluice.testkit.PostgresDatabase;

/// What moves rows without a row in the stream, as PostgreSQL has it.
class FeedPgTest {
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void the_feed_of_a_table_breaks_when_and_only_when_rows_may_have_moved_unseen(int major) {
        try (Watched database = new Watched(major)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY, a int, b text)",
                    "INSERT INTO t VALUES (1, 1, 'x')",
                    "CREATE TABLE other (id int PRIMARY KEY)",
                    "CREATE PUBLICATION sluice FOR TABLE t");
            database.assertHolds("t", "ALTER PUBLICATION sluice ADD TABLE other");
            database.assertHolds("t", "ALTER PUBLICATION sluice DROP TABLE other");
            database.assertHolds("t", "ALTER TABLE t ENABLE ROW LEVEL SECURITY");
            database.assertHolds("t", "GRANT SELECT (a) ON t TO anon");
            database.assertHolds("t", "ALTER TABLE t ALTER COLUMN a SET DEFAULT 7");
            database.assertHolds("t", "ANALYZE t");
            database.assertHolds("t", "VACUUM FULL t");
            database.assertHolds("t", "CLUSTER t USING t_pkey");
            database.assertHolds("t", "ALTER TABLE t ADD c text DEFAULT 'c'");
            database.assertHolds("t", "ALTER TABLE t ADD d float DEFAULT random(), DROP c");
            database.assertHolds("t", "ALTER TABLE t ALTER b TYPE varchar");
            database.assertHolds("t", "TRUNCATE t");
            database.assertBreaks("t", "ALTER TABLE t ALTER a TYPE int USING a + 1");
            database.assertBreaks("t", "ALTER TABLE t ALTER a TYPE bigint");
            database.assertBreaks("t", "ALTER PUBLICATION sluice DROP TABLE t", "ALTER PUBLICATION sluice ADD TABLE t");
            database.assertBreaks(
                    "t",
                    "ALTER PUBLICATION sluice SET (publish = 'insert')",
                    "ALTER PUBLICATION sluice SET (publish = 'insert, update, delete, truncate')");
            database.assertBreaks("t", "DROP PUBLICATION sluice", "CREATE PUBLICATION sluice FOR TABLE t");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void the_feed_of_a_partition_root_breaks_with_each_of_its_leaves(int major) {
        try (Watched database = new Watched(major)) {
            database.execute(
                    "CREATE TABLE root (id int, k int) PARTITION BY LIST (k)",
                    "CREATE TABLE leaf PARTITION OF root FOR VALUES IN (1)",
                    "CREATE TABLE branch PARTITION OF root FOR VALUES IN (2, 3) PARTITION BY LIST (k)",
                    "CREATE TABLE twig PARTITION OF branch FOR VALUES IN (2)",
                    "CREATE TABLE free (id int, k int)",
                    "CREATE PUBLICATION sluice FOR TABLE root WITH (publish_via_partition_root)");
            database.assertHolds("root", "INSERT INTO root VALUES (1, 1), (2, 2)");
            database.assertHolds("root", "VACUUM ANALYZE leaf");
            database.assertBreaks("root", "TRUNCATE leaf");
            database.assertBreaks("root", "TRUNCATE twig");
            database.assertBreaks("root", "ALTER TABLE root ATTACH PARTITION free FOR VALUES IN (4)");
            database.assertBreaks("root", "ALTER TABLE root DETACH PARTITION free");
            database.assertBreaks(
                    "root",
                    "ALTER TABLE root DETACH PARTITION leaf",
                    "ALTER TABLE root ATTACH PARTITION leaf FOR VALUES IN (1)");
        }
    }

    @Test
    void a_leaf_published_by_itself_breaks_when_it_left_its_root_and_came_back() {
        try (Watched database = new Watched(18)) {
            database.execute(
                    "CREATE TABLE root (id int, k int) PARTITION BY LIST (k)",
                    "CREATE TABLE leaf PARTITION OF root FOR VALUES IN (1)",
                    "CREATE PUBLICATION sluice FOR TABLE root");
            database.assertHolds("leaf", "TRUNCATE leaf");
            database.assertBreaks(
                    "leaf",
                    "ALTER TABLE root DETACH PARTITION leaf",
                    "ALTER TABLE root ATTACH PARTITION leaf FOR VALUES IN (1)");
        }
    }

    @Test
    void the_rights_poll_sees_a_leaf_that_was_detached_and_attached() {
        try (Watched database = new Watched(18)) {
            database.execute(
                    "CREATE TABLE root (id int, k int) PARTITION BY LIST (k)",
                    "CREATE TABLE leaf PARTITION OF root FOR VALUES IN (1)",
                    "CREATE PUBLICATION sluice FOR TABLE root WITH (publish_via_partition_root)");
            RightsPoll poll = new RightsPoll(database.pool, "sluice", Questions.TIMEOUT);
            String before = poll.fingerprint().value();
            assertThat(poll.fingerprint().value()).isEqualTo(before);

            database.execute(
                    "ALTER TABLE root DETACH PARTITION leaf",
                    "ALTER TABLE root ATTACH PARTITION leaf FOR VALUES IN (1)");

            assertThat(poll.fingerprint().value()).isNotEqualTo(before);
        }
    }

    /// The reason for both rules: what the log of a published root carries.
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void the_log_of_a_root_says_nothing_of_a_truncated_leaf_and_describes_old_rows_by_the_roots_identity(int major)
            throws Exception {
        try (Watched database = new Watched(major)) {
            database.execute(
                    "CREATE TABLE root (id int PRIMARY KEY, note text) PARTITION BY RANGE (id)",
                    "CREATE TABLE leaf PARTITION OF root FOR VALUES FROM (0) TO (10)",
                    "CREATE TABLE other PARTITION OF root FOR VALUES FROM (10) TO (20)",
                    "ALTER TABLE root REPLICA IDENTITY FULL",
                    "CREATE PUBLICATION sluice FOR TABLE root WITH (publish_via_partition_root)");
            String slot = "feed_" + database.database.name();
            database.execute("SELECT pg_create_logical_replication_slot('" + slot + "', 'pgoutput')");
            database.execute(
                    "INSERT INTO root VALUES (1, 'one'), (11, 'eleven')",
                    "DELETE FROM root WHERE id = 1",
                    "TRUNCATE other",
                    "TRUNCATE root");
            List<PgOutputMessage> log = log(database.database, slot);
            database.database.dropSlots();

            List<PgOutputMessage.Truncate> truncates = log.stream()
                    .filter(PgOutputMessage.Truncate.class::isInstance)
                    .map(PgOutputMessage.Truncate.class::cast)
                    .toList();
            assertThat(truncates).hasSize(1);
            assertThat(truncates.getFirst().relations()).hasSize(1);
            assertThat(truncates.getFirst().relations().getFirst().name()).isEqualTo("root");
            PgOutputMessage.Delete delete = log.stream()
                    .filter(PgOutputMessage.Delete.class::isInstance)
                    .map(PgOutputMessage.Delete.class::cast)
                    .findFirst()
                    .orElseThrow();
            assertThat(delete.relation().name()).isEqualTo("root");
            // the leaf wrote its key alone, and the message claims that the note was NULL
            assertThat(delete.relation().identity()).isEqualTo('f');
            assertThat(delete.old().kind(0)).isEqualTo(Tuple.Kind.TEXT);
            assertThat(delete.old().kind(1)).isEqualTo(Tuple.Kind.NULL);
            assertThat(database.table("root").identity()).isEqualTo(new ReplicaIdentity.Uneven("public.leaf"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void a_root_is_uneven_when_a_leaf_at_any_depth_writes_less_than_the_root_says(int major) {
        try (Watched database = new Watched(major)) {
            database.execute(
                    "CREATE TABLE root (id int, k int NOT NULL, PRIMARY KEY (id, k)) PARTITION BY LIST (k)",
                    "CREATE TABLE branch PARTITION OF root FOR VALUES IN (2, 3) PARTITION BY LIST (k)",
                    "CREATE TABLE twig PARTITION OF branch FOR VALUES IN (2)",
                    "CREATE TABLE \"Leaf\" PARTITION OF root FOR VALUES IN (1)",
                    "CREATE UNIQUE INDEX by_k ON twig (k) INCLUDE (id)",
                    "CREATE PUBLICATION sluice FOR TABLE root WITH (publish_via_partition_root)");
            ReplicaIdentity byKey = new ReplicaIdentity.Default(List.of(1, 2));
            assertThat(database.table("root").identity()).isEqualTo(byKey);
            database.execute("ALTER TABLE twig REPLICA IDENTITY FULL");
            assertThat(database.table("root").identity()).isEqualTo(byKey);
            database.execute("ALTER TABLE twig REPLICA IDENTITY USING INDEX by_k");
            assertThat(database.table("root").identity()).isEqualTo(new ReplicaIdentity.Uneven("public.twig"));
            database.execute("ALTER TABLE twig REPLICA IDENTITY NOTHING");
            assertThat(database.table("root").identity()).isEqualTo(new ReplicaIdentity.Uneven("public.twig"));
            database.execute("ALTER TABLE twig REPLICA IDENTITY DEFAULT", "ALTER TABLE root REPLICA IDENTITY FULL");
            assertThat(database.table("root").identity()).isEqualTo(new ReplicaIdentity.Uneven("public.\"Leaf\""));
            database.execute("ALTER TABLE twig REPLICA IDENTITY FULL", "ALTER TABLE \"Leaf\" REPLICA IDENTITY FULL");
            assertThat(database.table("root").identity()).isEqualTo(new ReplicaIdentity.Full());
        }
    }

    private static List<PgOutputMessage> log(PostgresDatabase database, String slot) throws Exception {
        PgOutputDecoder decoder = new PgOutputDecoder();
        List<PgOutputMessage> messages = new ArrayList<>();
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT data FROM pg_logical_slot_get_binary_changes('" + slot
                        + "', NULL, NULL, 'proto_version', '1', 'publication_names', 'sluice')")) {
            while (rows.next()) {
                byte[] frame = rows.getBytes(1);
                messages.add(decoder.decode(frame, 0, frame.length));
            }
        }
        return messages;
    }

    /// A database whose catalog is read again and again.
    private static final class Watched implements AutoCloseable {
        private final PostgresDatabase database;
        private final Pool pool;
        private final CatalogLoader loader;

        Watched(int major) {
            database = database(major);
            pool = Questions.pool(database);
            loader = CatalogLoader.start(pool, "sluice", Catalogs.ROLES, Questions.TIMEOUT);
        }

        void execute(String... sql) {
            database.execute(sql);
        }

        Relation table(String name) {
            return Catalogs.table(loader.load(new CatalogScope.Everything(), Questions.TIMEOUT), name);
        }

        void assertHolds(String name, String... sql) {
            assertThat(reaches(name, sql)).as(String.join("; ", sql)).isTrue();
        }

        void assertBreaks(String name, String... sql) {
            assertThat(reaches(name, sql)).as(String.join("; ", sql)).isFalse();
        }

        private boolean reaches(String name, String... sql) {
            Relation before = table(name);
            execute(sql);
            return before.feed().reaches(table(name).feed());
        }

        @Override
        public void close() {
            pool.close();
            database.close();
        }
    }
}
