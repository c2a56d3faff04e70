package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.server.app.ClientCopy.Strictness;
import sluice.server.app.ItemWriters.Kind;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.sse.SseClient;

/// Clients that lose their stream and come back with the position they had.
class ResumePgTest {
    private static final int FENCE = 100_000;
    private static final List<String> TABLES = List.of(
            "own_items", "moved_items", "altered_items", "emptied_items", "lent_items", "quiet_items", "fence_items");

    private static final AtomicInteger FENCES = new AtomicInteger();

    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("resumes")
                .withStandardRoles();
        for (String table : TABLES) {
            ItemWriters.withTable(database, table);
            database.execute(
                    "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON " + table + " FOR SELECT TO authenticated"
                            + " USING (owner_id = (SELECT auth.uid()))");
        }
        database.execute("CREATE PUBLICATION sluice FOR TABLE " + String.join(", ", TABLES));
        sluice = RunningSluice.on(
                database,
                Map.of("SLUICE_STREAM_QUEUE", "64", "SLUICE_RELOAD_TIMEOUT", "20s", "SLUICE_RING_MAX_AGE", "10m"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    /// Cut in the middle of a commit as likely as not: the commit it saw last comes again, whole, and all after it.
    @Test
    void clients_whose_connections_are_cut_while_others_write_miss_nothing_and_are_told_so() {
        List<String> subjects = List.of(ALICE, BOB, ALICE);
        List<ClientCopy> copies = new ArrayList<>();
        List<SseClient> clients = new ArrayList<>();
        try (TcpProxy proxy = TcpProxy.to(sluice.server().port());
                ItemWriters writers = new ItemWriters(database, "own_items", Kind.ALL, List.of())) {
            for (String subject : subjects) {
                SseClient client = open(
                        proxy,
                        sluice.token(subject),
                        shape("s", "own_items", ",\"transitions\":true,\"initial\":\"snapshot\""));
                ClientCopy copy = ClientCopy.fromSnapshot("s", Strictness.EXACT);
                copy.untilLive(client);
                clients.add(client);
                copies.add(copy);
            }
            writers.start(3, 61);
            for (int cut = 0; cut < 6; cut++) {
                writers.awaitMore(30);
                proxy.cut();
                for (int i = 0; i < clients.size(); i++) {
                    copies.get(i).untilEnd(clients.get(i));
                    clients.set(i, resume(proxy, subjects.get(i), copies.get(i)));
                }
            }
            writers.awaitMore(30);
            writers.stop();
            for (int i = 0; i < clients.size(); i++) {
                Map<Integer, JsonNode> rows =
                        ClientCopy.selected(database, "authenticated", subjects.get(i), "own_items", "true");
                insert("own_items", FENCE + i, subjects.get(i));
                copies.get(i).until(clients.get(i), FENCE + i, FENCE + i);
                copies.get(i).rows().remove(FENCE + i);
                assertThat(copies.get(i).rows()).isNotEmpty().isEqualTo(rows);
                database.execute("DELETE FROM own_items WHERE id BETWEEN 100000 AND 100009");
            }
        } finally {
            clients.forEach(SseClient::close);
        }
    }

    private static SseClient resume(TcpProxy proxy, String subject, ClientCopy copy) {
        SseClient client = open(
                proxy,
                sluice.token(subject),
                "{\"sub\":\"s\",\"shape\":{\"table\":\"own_items\",\"transitions\":true},\"resume\":" + copy.resume()
                        + "}");
        copy.goOn(client);
        assertThat(client.received().getFirst().data()).contains("\"resumed\":true");
        return client;
    }

    /// The row was nobody's but bob's when it was committed, and no moment showed it to alice.
    @Test
    void rights_that_moved_since_the_position_are_not_resumed_across_and_no_hidden_row_is_sent() {
        String position;
        try (SseClient alice = stream(shape("s", "moved_items", ""))) {
            insert("moved_items", 1, ALICE);
            position = alice.await("change").json().get("commit_lsn").asText();
        }
        insert("moved_items", 2, BOB);
        insert("moved_items", 3, ALICE);
        database.execute(
                "DELETE FROM moved_items WHERE id = 2",
                "DROP POLICY own ON moved_items",
                "CREATE POLICY everyone ON moved_items FOR SELECT TO authenticated USING (true)");
        sluice.awaitPolls();
        try (SseClient alice = stream(at(position, "moved_items"))) {
            assertThat(alice.received().getFirst().data()).contains("\"resumed\":false");
            insert("moved_items", 4, BOB);
            assertThat(Notes.idsUntil(alice, 4)).containsExactly(4);
        }
    }

    @Test
    void a_table_that_was_altered_since_the_position_is_not_resumed() {
        String position;
        try (SseClient alice = stream(shape("s", "altered_items", ""))) {
            insert("altered_items", 1, ALICE);
            position = alice.await("change").json().get("commit_lsn").asText();
        }
        database.execute("ALTER TABLE altered_items ADD COLUMN more text DEFAULT 'new'");
        insert("altered_items", 2, ALICE);
        awaitDispatched();
        try (SseClient alice = stream(at(position, "altered_items"))) {
            assertThat(alice.received().getFirst().data()).contains("\"resumed\":false");
            insert("altered_items", 3, ALICE);
            alice.await("change");
            assertThat(Notes.ids(alice)).containsExactly(3);
        }
    }

    /// TRUNCATE writes the table's entry in the catalog, as a change of rights does that may be gone again by now.
    @Test
    void a_position_before_a_truncate_is_resumed_and_the_truncate_comes_in_its_place() {
        String position;
        String shape = shape("s", "emptied_items", ",\"ops\":[\"INSERT\",\"TRUNCATE\"]");
        try (SseClient alice = stream(shape)) {
            insert("emptied_items", 1, ALICE);
            position = alice.await("change").json().get("commit_lsn").asText();
        }
        database.execute("TRUNCATE emptied_items");
        insert("emptied_items", 2, ALICE);
        awaitDispatched();
        String resume = shape.substring(0, shape.length() - 1) + ",\"resume\":\"" + position + "\"}";
        try (SseClient alice = stream(resume)) {
            assertThat(alice.received().getFirst().data()).contains("\"resumed\":true");
            alice.await("live");
            List<String> changes = alice.received().stream()
                    .filter(event -> event.is("change"))
                    .map(event -> event.json().get("op").asText()
                            + event.json().at("/record/id").asText())
                    .toList();
            assertThat(changes).containsExactly("INSERT1", "TRUNCATE", "INSERT2");
        }
    }

    @Test
    void a_position_before_a_privilege_that_went_and_came_back_is_not_resumed_behind_a_truncate_either() {
        String position;
        try (SseClient alice = stream(shape("s", "lent_items", ""))) {
            insert("lent_items", 1, ALICE);
            position = alice.await("change").json().get("commit_lsn").asText();
        }
        database.execute(
                "REVOKE SELECT ON lent_items FROM authenticated",
                "GRANT SELECT ON lent_items TO authenticated",
                "TRUNCATE lent_items");
        insert("lent_items", 2, ALICE);
        awaitDispatched();
        try (SseClient alice = stream(at(position, "lent_items"))) {
            assertThat(alice.received().getFirst().data()).contains("\"resumed\":false");
        }
    }

    @Test
    void positions_are_taken_for_each_subscription_and_for_each_table() {
        String position;
        String history;
        try (SseClient alice = stream(shape("s", "quiet_items", ""))) {
            history = first(alice).get("history").asText();
            insert("quiet_items", 1, ALICE);
            position = alice.await("change").json().get("commit_lsn").asText();
        }
        insert("quiet_items", 2, BOB);
        database.execute("DELETE FROM quiet_items");
        insert("quiet_items", 3, ALICE);
        awaitDispatched();
        String table = "\"public.quiet_items\":";

        // of a shape: what was committed at the position and after it, in order
        String shape = shape("s", "quiet_items", "");
        assertReplayed(stream(shape.substring(0, shape.length() - 1) + ",\"resume\":\"" + position + "\"}"));
        assertReplayed(stream(shape.substring(0, shape.length() - 1) + ",\"resume\":{\"lsn\":\"" + position
                + "\",\"history\":\"" + history + "\"}}"));
        // of a table, which has one shape
        assertReplayed(resuming(shape, table + "\"" + position + "\""));
        // of a table with two: which of them was complete there is not known, unless the client says both were
        String two = shape + "," + shape("t", "quiet_items", "");
        try (SseClient alice = resuming(two, table + "\"" + position + "\"")) {
            assertThat(first(alice).get("resumed").asBoolean()).isFalse();
        }
        try (SseClient alice = resuming(two, table + "{\"lsn\":\"" + position + "\",\"complete\":true}")) {
            assertThat(first(alice).get("resumed").asBoolean()).isTrue();
            assertThat(alice.next(4))
                    .extracting(event -> event.json().get("sub").asText())
                    .contains("s", "t");
        }
    }

    private static void assertReplayed(SseClient client) {
        try (client) {
            assertThat(first(client).get("resumed").asBoolean()).isTrue();
            client.await(
                    event -> event.is("change") && event.json().at("/record/id").asInt() == 3);
            assertThat(client.received().stream()
                            .filter(event -> event.is("change"))
                            .map(event -> event.json().get("op").asText()
                                    + event.json().at("/record/id").asText()))
                    .containsExactly("INSERT1", "DELETE", "INSERT3");
        }
    }

    @Test
    void positions_that_are_none_or_of_another_history_or_time_are_not_resumed_and_the_shape_is_live() {
        int id = 200_000;
        for (String bad : List.of(
                "\"\"",
                "\"zzz\"",
                "\"1/2/3\"",
                "\"FFFFFFFF/FFFFFFFF\"",
                "\"0/1\"",
                "{\"lsn\":\"" + database.currentLsn() + "\",\"history\":\"another\"}")) {
            try (SseClient alice =
                    stream("{\"sub\":\"s\",\"shape\":{\"table\":\"own_items\"},\"resume\":" + bad + "}")) {
                assertThat(first(alice).get("resumed").asBoolean()).as(bad).isFalse();
                insert("own_items", ++id, ALICE);
                assertThat(Notes.idsUntil(alice, id)).containsExactly(id);
                boolean unreadable = !bad.contains("/") || bad.contains("1/2/3");
                assertThat(alice.received().stream()
                                .filter(event -> event.is("error"))
                                .map(event -> event.json().get("code").asText()))
                        .as(bad)
                        .isEqualTo(unreadable ? List.of("invalid_resume") : List.of());
            }
        }
    }

    @Test
    void a_server_that_was_started_anew_resumes_nobody_from_before() throws Exception {
        try (PostgresDatabase own = Notes.database("restarted")) {
            String resume;
            try (RunningSluice before = RunningSluice.on(own);
                    SseClient alice = Notes.open(before, ALICE)) {
                String history = alice.received()
                        .getFirst()
                        .json()
                        .at("/subscriptions/0/history")
                        .asText();
                Notes.insert(own, 1, ALICE);
                String lsn = alice.await("change").json().get("commit_lsn").asText();
                resume = "{\"lsn\":\"" + lsn + "\",\"history\":\"" + history + "\"}";
                Notes.insert(own, 2, ALICE);
                alice.await("change");
            }
            Notes.insert(own, 3, ALICE);
            try (RunningSluice after = RunningSluice.on(own);
                    SseClient alice = after.stream(
                            after.token(ALICE),
                            "{\"sub\":\"s\",\"shape\":{\"table\":\"notes\"},\"resume\":" + resume + "}")) {
                assertThat(alice.await("ready").data()).contains("\"resumed\":false");
                Notes.insert(own, 4, ALICE);
                // 3 came while nobody was there: whether it is sent depends on when the server began
                assertThat(Notes.idsUntil(alice, 4)).contains(4).doesNotContain(1, 2);
            }
        }
    }

    /// Nothing has come from the log yet: the position is the slot's.
    @Test
    void a_snapshot_right_after_a_restart_on_a_quiet_database_has_a_position_and_goes_on_live() throws Exception {
        try (PostgresDatabase own = Notes.database("quietly_restarted")) {
            RunningSluice.on(own).close();
            Notes.insert(own, 1, ALICE);
            RunningSluice.on(own).close();
            try (RunningSluice after = RunningSluice.on(own);
                    SseClient alice =
                            after.stream(after.token(ALICE), shape("s", "notes", ",\"initial\":\"snapshot\""))) {
                JsonNode end = alice.await("snapshot_end").json();
                assertThat(end.get("rows").asInt()).isEqualTo(1);
                assertThat(end.get("floor_lsn").asText()).isNotEmpty().isNotEqualTo("0/0");
                Notes.insert(own, 2, ALICE);
                assertThat(Notes.idsUntil(alice, 2)).containsExactly(1, 2);
            }
        }
    }

    private static JsonNode first(SseClient client) {
        return client.received().getFirst().json().at("/subscriptions/0");
    }

    private static String at(String position, String table) {
        return "{\"sub\":\"s\",\"shape\":{\"table\":\"" + table + "\"},\"resume\":\"" + position + "\"}";
    }

    private static void insert(String table, int id, String owner) {
        database.execute("INSERT INTO " + table + " (id, owner_id, body, version) VALUES (" + id + ", '" + owner
                + "', 'x', " + id + ")");
    }

    /// Until the server has passed everything that is committed.
    private static void awaitDispatched() {
        try (SseClient fence = stream(shape("f", "fence_items", ""))) {
            int id = FENCES.incrementAndGet();
            insert("fence_items", id, ALICE);
            fence.await(event -> event.is("change") && Notes.id(event) == id);
        }
    }

    /// A stream of alice's whose `ready` was read.
    private static SseClient stream(String subscriptions) {
        SseClient client = sluice.stream(sluice.token(ALICE), subscriptions);
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    private static SseClient resuming(String subscriptions, String positions) {
        SseClient client = SseClient.post(
                        sluice.uri("/sluice/v1/stream"),
                        "{\"subscriptions\":[" + subscriptions + "],\"resume\":{" + positions + "}}")
                .bearer(sluice.token(ALICE))
                .open();
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    private static SseClient open(TcpProxy proxy, String token, String subscriptions) {
        return SseClient.post(
                        URI.create("http://127.0.0.1:" + proxy.port() + "/sluice/v1/stream"),
                        "{\"subscriptions\":[" + subscriptions + "]}")
                .bearer(token)
                .open();
    }
}
