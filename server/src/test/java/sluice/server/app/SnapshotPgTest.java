package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.server.app.ClientCopy.Strictness;
import sluice.server.app.ItemWriters.Kind;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Subscriptions that begin with the rows there are, while others write. PostgreSQL is the judge: what a client knows
/// at the end is what the role's own query returns.
class SnapshotPgTest {
    private static final String SNAPSHOT = ",\"initial\":\"snapshot\",\"transitions\":true";
    private static final int FENCE = 100_000;

    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("snapshot_joins")
                .withStandardRoles();
        for (String table : List.of("open_items", "own_items", "member_items", "emptied_items", "few_items")) {
            ItemWriters.withTable(database, table);
        }
        database.execute(
                "CREATE TABLE members (item int, user_id uuid, PRIMARY KEY (item, user_id))",
                "INSERT INTO members SELECT i, '" + ALICE + "' FROM generate_series(1, 100000, 2) i",
                "INSERT INTO members VALUES (" + FENCE + ", '" + ALICE + "')",
                "ALTER TABLE own_items ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON own_items FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "ALTER TABLE emptied_items ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON emptied_items FOR SELECT TO authenticated USING (owner_id = auth.uid())",
                "ALTER TABLE member_items ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY members ON member_items FOR SELECT TO authenticated USING (EXISTS (SELECT 1 FROM"
                        + " members m WHERE m.item = member_items.id AND m.user_id = (SELECT auth.uid())))",
                "REVOKE ALL ON few_items FROM anon",
                "GRANT SELECT (id, version) ON few_items TO anon",
                "CREATE PUBLICATION sluice FOR TABLE open_items, own_items, member_items, emptied_items, few_items");
        for (String table : List.of("own_items", "member_items", "few_items")) {
            database.execute("INSERT INTO " + table + " SELECT i, CASE WHEN i % 3 = 0 THEN '" + BOB + "' ELSE '" + ALICE
                    + "' END::uuid, 'body ' || i, i FROM generate_series(1000, 1900) i");
        }
        sluice = RunningSluice.on(
                database,
                Map.of(
                        "SLUICE_STREAM_QUEUE", "64",
                        "SLUICE_RELOAD_TIMEOUT", "20s",
                        "SLUICE_TIER_C_MAX_PROBES_PER_SECOND", "100000"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @Test
    void rows_are_those_the_role_sees_whatever_decides_them_and_what_is_written_next_follows() {
        assertRowsAndThenLive("own_items", "authenticated", ALICE, "B");
        assertRowsAndThenLive("own_items", "authenticated", BOB, "B");
        assertRowsAndThenLive("member_items", "authenticated", ALICE, "C");
        assertRowsAndThenLive("few_items", "authenticated", BOB, "A");
    }

    private static void assertRowsAndThenLive(String table, String role, String subject, String tier) {
        try (SseClient client = open(subject, role, table, SNAPSHOT)) {
            assertThat(client.received().getFirst().data()).contains("\"tier\":\"" + tier + "\"");
            ClientCopy copy = ClientCopy.fromSnapshot("s", Strictness.EXACT);
            copy.untilSnapshotEnd(client);
            assertThat(copy.rows()).isNotEmpty().isEqualTo(ClientCopy.selected(database, role, subject, table, "true"));
            client.await("live");
            fence(table, subject);
            copy.until(client, FENCE, FENCE);
            assertThat(copy.rows()).isEqualTo(ClientCopy.selected(database, role, subject, table, "true"));
        } finally {
            database.execute("DELETE FROM " + table + " WHERE id = " + FENCE);
        }
    }

    @Test
    void columns_that_the_role_may_not_read_are_in_no_row_and_a_filter_and_columns_hold_for_rows_too() {
        try (SseClient anonymous = open(ALICE, "anon", "few_items", SNAPSHOT);
                SseClient some = open(
                        ALICE,
                        "authenticated",
                        "own_items",
                        SNAPSHOT + ",\"filter\":\"id=lt.1100\",\"columns\":[\"version\"]")) {
            ClientCopy copy = ClientCopy.fromSnapshot("s", Strictness.EXACT);
            copy.untilSnapshotEnd(anonymous);
            assertThat(copy.rows()).hasSize(901);
            copy.rows()
                    .values()
                    .forEach(row -> assertThat(row.properties())
                            .extracting(Map.Entry::getKey)
                            .containsExactly("id", "version"));
            ClientCopy narrow = ClientCopy.fromSnapshot("s", Strictness.EXACT);
            narrow.untilSnapshotEnd(some);
            assertThat(narrow.rows().keySet())
                    .isEqualTo(ClientCopy.selected(database, "authenticated", ALICE, "own_items", "id < 1100")
                            .keySet());
            narrow.rows()
                    .values()
                    .forEach(row -> assertThat(row.properties())
                            .extracting(Map.Entry::getKey)
                            .containsExactly("id", "version"));
        }
    }

    @Test
    void a_copy_begun_while_others_write_is_exact_at_every_moment() {
        exactWhileWritten("own_items", List.of(), 11);
        exactWhileWritten("open_items", List.of(), 12);
    }

    /// A commit is visible before it is in the log.
    @Test
    void a_copy_is_exact_when_commits_do_not_wait_for_the_log() {
        exactWhileWritten("own_items", List.of("SET synchronous_commit = off"), 21);
    }

    private static void exactWhileWritten(String table, List<String> settings, long seed) {
        List<SseClient> clients = new ArrayList<>();
        try (ItemWriters writers = new ItemWriters(database, table, Kind.ALL, settings).start(3, seed)) {
            for (int i = 0; i < 12; i++) {
                writers.awaitMore(20);
                clients.add(open(i % 3 == 2 ? BOB : ALICE, "authenticated", table, SNAPSHOT));
            }
            writers.awaitMore(60);
            writers.stop();
            for (int i = 0; i < clients.size(); i++) {
                String subject = i % 3 == 2 ? BOB : ALICE;
                Map<Integer, JsonNode> rows = ClientCopy.selected(database, "authenticated", subject, table, "true");
                int fence = FENCE + i;
                database.execute(
                        "INSERT INTO " + table + " VALUES (" + fence + ", '" + subject + "', 'fence', " + fence + ")");
                ClientCopy copy = ClientCopy.fromSnapshot("s", Strictness.EXACT);
                copy.until(clients.get(i), fence, fence);
                copy.rows().remove(fence);
                assertThat(copy.rows()).isEqualTo(rows);
            }
        } finally {
            clients.forEach(SseClient::close);
            database.execute("DELETE FROM " + table + " WHERE id > 99999");
        }
    }

    @Test
    void rows_that_postgresql_decides_end_as_the_role_sees_them() {
        List<SseClient> clients = new ArrayList<>();
        try (ItemWriters writers =
                new ItemWriters(database, "member_items", Kind.INSERTS_AND_UPDATES, List.of()).start(2, 31)) {
            for (int i = 0; i < 4; i++) {
                writers.awaitMore(20);
                clients.add(open(ALICE, "authenticated", "member_items", SNAPSHOT));
            }
            writers.awaitMore(20);
            writers.stop();
            fence("member_items", ALICE);
            for (SseClient client : clients) {
                ClientCopy copy = ClientCopy.fromSnapshot("s", Strictness.TOLERANT);
                copy.until(client, FENCE, FENCE);
                assertThat(copy.rows())
                        .isEqualTo(ClientCopy.selected(database, "authenticated", ALICE, "member_items", "true"));
            }
        } finally {
            clients.forEach(SseClient::close);
            database.execute("DELETE FROM member_items WHERE id > 99999");
        }
    }

    /// A truncated table is empty for older snapshots too, so a client may be told of changes of rows it never saw.
    /// A catalog read between a TRUNCATE and its place in the log cannot tell it from a change of rights: then
    /// changes are withheld and the client is told.
    @Test
    void a_table_that_is_truncated_meanwhile_ends_as_the_role_sees_it() {
        String shape = SNAPSHOT + ",\"ops\":[\"INSERT\",\"UPDATE\",\"DELETE\",\"TRUNCATE\"]";
        List<SseClient> clients = new ArrayList<>();
        try (ItemWriters writers = new ItemWriters(database, "emptied_items", Kind.ALL, List.of()).start(2, 41)) {
            for (int i = 0; i < 6; i++) {
                writers.awaitMore(20);
                clients.add(open(ALICE, "authenticated", "emptied_items", shape));
                writers.awaitMore(i);
                database.execute("TRUNCATE emptied_items");
            }
            writers.awaitMore(20);
            writers.stop();
            // what the last TRUNCATE left open is settled by then
            sluice.awaitPolls();
            fence("emptied_items", ALICE);
            for (SseClient client : clients) {
                ClientCopy copy = ClientCopy.fromSnapshot("s", Strictness.TOLERANT);
                copy.until(client, FENCE, FENCE);
                if (!copy.wasToldOfWithheld()) {
                    assertThat(copy.rows())
                            .isEqualTo(ClientCopy.selected(database, "authenticated", ALICE, "emptied_items", "true"));
                }
            }
        } finally {
            clients.forEach(SseClient::close);
        }
    }

    private static void fence(String table, String owner) {
        database.execute("INSERT INTO " + table + " VALUES (" + FENCE + ", '" + owner + "', 'fence', " + FENCE + ")");
    }

    private static SseClient open(String subject, String role, String table, String more) {
        SseClient client = sluice.stream(sluice.token(subject, role), shape("s", table, more));
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }
}
