package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import com.fasterxml.jackson.databind.JsonNode;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.server.app.ClientCopy.Strictness;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// Snapshots that fail, are cut off, refused, given up or asked for in numbers.
class SnapshotLimitsPgTest {
    private static final String SNAPSHOT = ",\"initial\":\"snapshot\"";
    private static final int FENCE = 100_000;

    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("snapshot_limits")
                .withStandardRoles();
        for (String table : List.of("own_items", "locked_items", "wide_items")) {
            ItemWriters.withTable(database, table);
        }
        database.execute(
                "ALTER TABLE own_items ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON own_items FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "INSERT INTO own_items SELECT i, CASE WHEN i % 3 = 0 THEN '" + BOB + "' ELSE '" + ALICE
                        + "' END::uuid, 'body ' || i, i FROM generate_series(1, 900) i",
                "INSERT INTO wide_items SELECT i, '" + ALICE
                        + "', repeat('x', 60000), i FROM generate_series(1, 100) i",
                "CREATE PUBLICATION sluice FOR TABLE own_items, locked_items, wide_items");
        sluice = RunningSluice.on(database, Map.of("SLUICE_STREAM_QUEUE", "64"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    /// Others of the same stream go on, and the label may be used again at once.
    @Test
    void a_locked_table_fails_the_snapshot_alone_and_it_may_be_asked_for_again() throws Exception {
        try (Connection other = database.connect();
                Statement locker = other.createStatement();
                SseClient client = sluice.stream(
                        sluice.token(ALICE),
                        shape("s", "locked_items", SNAPSHOT) + "," + shape("own", "own_items", ""))) {
            other.setAutoCommit(false);
            String streamId = client.await("ready").json().get("stream_id").asText();
            client.await("live");
            sluice.post("/unsubscribe", sluice.token(ALICE), "{\"stream_id\":\"" + streamId + "\",\"subs\":[\"s\"]}");
            locker.execute("LOCK TABLE locked_items IN ACCESS EXCLUSIVE MODE");
            String again = "{\"stream_id\":\"" + streamId + "\",\"subscriptions\":["
                    + shape("s", "locked_items", SNAPSHOT) + "]}";
            assertThat(sluice.post("/subscribe", sluice.token(ALICE), again).body())
                    .contains("\"ok\":true");
            SseEvent failure = client.await("error");
            assertThat(failure.data())
                    .contains("\"sub\":\"s\"", "\"snapshot_failed\"", "\"retryable\":true", "lock on the table");
            other.rollback();

            fence("own_items", ALICE);
            assertThat(client.await("change").data()).contains("\"sub\":\"own\"");
            assertThat(sluice.post("/subscribe", sluice.token(ALICE), again).body())
                    .contains("\"ok\":true");
            assertThat(client.await("snapshot_end").json().get("rows").asInt()).isZero();
        } finally {
            database.execute("DELETE FROM own_items WHERE id > 99999");
        }
    }

    @Test
    void a_role_that_the_pool_may_not_assume_fails_the_snapshot_and_names_the_grant() {
        try (SseClient client =
                sluice.stream(sluice.token(ALICE, "service_role"), shape("s", "locked_items", SNAPSHOT))) {
            assertThat(client.await("error").data())
                    .contains("snapshot_failed", "GRANT \\\"service_role\\\" TO \\\"sluice_authz\\\"");
        }
    }

    /// Snapshots that were finished, given up with their stream, or with their subscription, hold nothing: each of
    /// these takes more than half of the room.
    @Test
    void room_for_rows_is_given_back_however_a_snapshot_ends() throws Exception {
        try (RunningSluice small = RunningSluice.on(
                database, Map.of("SLUICE_SPILL_MAX_BYTES", "80MiB", "SLUICE_SLOT_NAME", "room_" + database.name()))) {
            for (int i = 0; i < 6; i++) {
                // takes nothing: its rows wait in the spool
                SseClient stuck = small.request(small.token(ALICE), shape("s", "wide_items", SNAPSHOT))
                        .holdingAtMost(1, 2048)
                        .open();
                String streamId = stuck.await("ready").json().get("stream_id").asText();
                assertThat(stuck.await("change").data()).contains("\"snapshot\":true");
                if (i % 2 == 0) {
                    String subs = "{\"stream_id\":\"" + streamId + "\",\"subs\":[\"s\"]}";
                    assertThat(small.post("/unsubscribe", small.token(ALICE), subs)
                                    .body())
                            .contains("\"removed\":1");
                }
                stuck.abort();
                Await.until("its stream is gone", () -> small.figure("sluice_streams") == 0);
                try (SseClient client = small.stream(small.token(ALICE), shape("s", "wide_items", SNAPSHOT))) {
                    assertThat(client.await("ready").data()).contains("\"ok\":true");
                    ClientCopy.fromSnapshot("s", Strictness.EXACT).untilSnapshotEnd(client);
                }
            }
        }
    }

    @Test
    void more_rows_than_a_snapshot_may_hold_are_cut_off_and_the_stream_goes_on() throws Exception {
        try (RunningSluice small = RunningSluice.on(
                        database,
                        Map.of("SLUICE_SNAPSHOT_MAX_ROWS", "100", "SLUICE_SLOT_NAME", "truncated_" + database.name()));
                SseClient client = small.stream(small.token(ALICE), shape("s", "own_items", SNAPSHOT))) {
            JsonNode end = client.await("snapshot_end").json();
            assertThat(end.get("rows").asInt()).isEqualTo(100);
            assertThat(end.get("truncated").asBoolean()).isTrue();
            List<Integer> ids = Notes.ids(client);
            assertThat(ids)
                    .containsExactlyElementsOf(
                            ClientCopy.selected(database, "authenticated", ALICE, "own_items", "true").keySet().stream()
                                    .limit(100)
                                    .toList());
            client.await("live");
        }
    }

    @Test
    void a_server_without_snapshots_says_so_and_the_subscription_is_live() throws Exception {
        try (RunningSluice none = RunningSluice.on(
                        database,
                        Map.of("SLUICE_SNAPSHOT_ENABLED", "false", "SLUICE_SLOT_NAME", "none_" + database.name()));
                SseClient client = none.stream(none.token(ALICE), shape("s", "own_items", SNAPSHOT))) {
            assertThat(client.await("ready").data()).contains("snapshot_disabled");
            fence("own_items", ALICE);
            assertThat(Notes.id(client.await("change"))).isEqualTo(FENCE);
        } finally {
            database.execute("DELETE FROM own_items WHERE id > 99999");
        }
    }

    /// More snapshots at once than may be read at once wait for each other, and all are served.
    @Test
    void as_many_snapshots_as_are_asked_for_at_once_are_served_one_after_the_other() {
        List<SseClient> clients = IntStream.range(0, 24)
                .mapToObj(_ -> sluice.stream(sluice.token(ALICE), shape("s", "own_items", SNAPSHOT)))
                .toList();
        Map<Integer, JsonNode> expected = ClientCopy.selected(database, "authenticated", ALICE, "own_items", "true");
        for (SseClient client : clients) {
            ClientCopy copy = ClientCopy.fromSnapshot("s", Strictness.EXACT);
            copy.untilSnapshotEnd(client);
            assertThat(copy.rows()).isEqualTo(expected);
            client.close();
        }
    }

    private static void fence(String table, String owner) {
        database.execute("INSERT INTO " + table + " VALUES (" + FENCE + ", '" + owner + "', 'fence', " + FENCE + ")");
    }
}
