package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Rows that move under open streams without a row in the log. The tick is an hour away: the rights poll sees it.
class FeedInMotionPgTest {
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("feed_in_motion")
                .withStandardRoles();
        for (String table : new String[] {"republished", "rewritten", "emptied"}) {
            database.execute(
                    "CREATE TABLE " + table + " (id int PRIMARY KEY, owner_id uuid NOT NULL, size int)",
                    "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON " + table + " FOR SELECT TO authenticated USING (owner_id = auth.uid())");
        }
        for (String root : new String[] {"truncated", "detached", "attached", "mixed", "narrowed"}) {
            database.execute(
                    "CREATE TABLE " + root + " (id int PRIMARY KEY, owner_id uuid) PARTITION BY RANGE (id)",
                    "CREATE TABLE " + root + "_1 PARTITION OF " + root + " FOR VALUES FROM (0) TO (1000)",
                    "ALTER TABLE " + root + " ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON " + root + " FOR SELECT TO authenticated"
                            + " USING (owner_id = auth.uid() OR owner_id IS NULL)");
        }
        database.execute(
                "CREATE TABLE attached_2 (id int PRIMARY KEY, owner_id uuid)",
                "INSERT INTO attached_2 VALUES (1001, '" + ALICE + "')",
                "ALTER TABLE mixed REPLICA IDENTITY FULL",
                "ALTER TABLE narrowed REPLICA IDENTITY FULL",
                "ALTER TABLE narrowed_1 REPLICA IDENTITY FULL",
                "CREATE PUBLICATION sluice FOR TABLE republished, rewritten, emptied, truncated, detached, attached,"
                        + " mixed, narrowed WITH (publish_via_partition_root = true)");
        sluice = RunningSluice.on(database, Map.of("SLUICE_CATALOG_REFRESH", "1h"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @Test
    void a_table_that_left_the_publication_and_came_back_ends_its_shapes() {
        try (SseClient alice = open("republished")) {
            inOneTransaction(
                    "ALTER PUBLICATION sluice DROP TABLE republished",
                    "INSERT INTO republished VALUES (1, '" + ALICE + "')",
                    "ALTER PUBLICATION sluice ADD TABLE republished");

            assertEnds(alice);
        }
    }

    @Test
    void a_table_whose_rows_were_rewritten_ends_its_shapes() {
        database.execute("INSERT INTO rewritten VALUES (1, '" + ALICE + "', 1)");
        try (SseClient alice = open("rewritten")) {
            database.execute("ALTER TABLE rewritten ALTER size TYPE int USING size * 100");

            assertEnds(alice);
        }
    }

    @Test
    void a_table_that_was_emptied_or_packed_keeps_its_shapes() {
        try (SseClient alice = open("emptied")) {
            database.execute("TRUNCATE emptied", "VACUUM FULL emptied");
            sluice.awaitPolls();

            database.execute("INSERT INTO emptied VALUES (1, '" + ALICE + "')");

            assertThat(alice.await("change").data()).contains("\"id\":1");
        }
    }

    @Test
    void a_truncated_leaf_ends_the_shapes_of_its_root() {
        try (SseClient alice = open("truncated")) {
            insert("truncated", 1);
            alice.await("change");
            database.execute("TRUNCATE truncated_1");

            assertEnds(alice);
        }
    }

    @Test
    void a_leaf_that_was_detached_and_attached_again_ends_the_shapes_of_its_root() {
        try (SseClient alice = open("detached")) {
            inOneTransaction(
                    "ALTER TABLE detached DETACH PARTITION detached_1",
                    "INSERT INTO detached_1 VALUES (7, '" + ALICE + "')",
                    "ALTER TABLE detached ATTACH PARTITION detached_1 FOR VALUES FROM (0) TO (1000)");

            assertEnds(alice);
        }
    }

    @Test
    void a_leaf_that_is_attached_with_rows_ends_the_shapes_of_its_root() {
        try (SseClient alice = open("attached")) {
            database.execute("ALTER TABLE attached ATTACH PARTITION attached_2 FOR VALUES FROM (1000) TO (2000)");

            assertEnds(alice);
        }
    }

    /// The log would say that `owner_id` of a deleted row was NULL, which everybody may see.
    @Test
    void a_root_whose_leaf_writes_less_than_the_root_says_is_refused() {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), shape("s", "mixed", ""))) {
            assertThat(alice.await("ready").data())
                    .contains("replica_identity_insufficient", "ALTER TABLE public.mixed_1 REPLICA IDENTITY FULL");
        }
    }

    @Test
    void a_leaf_that_begins_to_write_less_ends_the_shapes_before_its_next_row() {
        try (SseClient alice = open("narrowed")) {
            database.execute("INSERT INTO narrowed VALUES (1, '" + RunningSluice.BOB + "')");
            inOneTransaction("ALTER TABLE narrowed_1 REPLICA IDENTITY DEFAULT", "DELETE FROM narrowed WHERE id = 1");

            assertThat(alice.await("error").data()).contains("replica_identity_insufficient");
            assertThat(alice.received()).noneMatch(event -> event.is("change"));
        }
    }

    private static void assertEnds(SseClient client) {
        assertThat(client.await("error").data()).contains("schema_changed", "resnapshot");
    }

    private static SseClient open(String table) {
        SseClient client = sluice.stream(sluice.token(ALICE), shape("s", table, ""));
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    private static void insert(String table, int id) {
        database.execute("INSERT INTO " + table + " VALUES (" + id + ", '" + ALICE + "')");
    }

    /// No reading of the catalog falls between.
    private static void inOneTransaction(String... statements) {
        database.execute("DO $do$ BEGIN " + String.join("; ", statements) + "; END $do$");
    }
}
