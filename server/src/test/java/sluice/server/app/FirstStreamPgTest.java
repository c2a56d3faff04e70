package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// From an INSERT to the right screen and no other, through every stage.
class FirstStreamPgTest {
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("first_stream")
                .withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner_id uuid NOT NULL, title text)",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON notes FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "CREATE UNIQUE INDEX notes_ri ON notes (owner_id, id)",
                "ALTER TABLE notes REPLICA IDENTITY USING INDEX notes_ri",
                "CREATE TABLE kinds (id int PRIMARY KEY, b bool, s int2, i int4, l int8, t text, v varchar(9), u uuid)",
                "CREATE PUBLICATION sluice FOR TABLE notes, kinds");
        sluice = RunningSluice.on(database);
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @Test
    void alice_sees_her_rows_and_bob_sees_his() {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), shape("mine", "notes", ""));
                SseClient bob = sluice.stream(sluice.token(BOB), shape("mine", "notes", ""))) {
            assertThat(alice.await("ready").data()).contains("\"ok\":true", "\"tier\":\"B\"");
            assertThat(bob.await("ready").data()).contains("\"ok\":true");

            database.execute(
                    "INSERT INTO notes VALUES (1, '" + ALICE + "', 'hers')",
                    "INSERT INTO notes VALUES (2, '" + BOB + "', 'his')",
                    "UPDATE notes SET title = 'still hers' WHERE id = 1",
                    "DELETE FROM notes WHERE id = 1",
                    "INSERT INTO notes VALUES (3, '" + ALICE + "', 'fence')",
                    "INSERT INTO notes VALUES (4, '" + BOB + "', 'fence')");

            assertThat(changes(alice)).containsExactly("INSERT 1", "UPDATE 1", "DELETE 1");
            assertThat(changes(bob)).containsExactly("INSERT 2");
        }
    }

    @Test
    void a_delete_that_cannot_be_decided_comes_with_its_key_and_no_more_where_that_is_wanted() throws Exception {
        try (PostgresDatabase own = Notes.database("degraded_deletes");
                RunningSluice server = RunningSluice.on(own, Map.of("SLUICE_DEGRADED_DELETES", "deliver"));
                SseClient alice = Notes.open(server, ALICE)) {
            own.execute("INSERT INTO notes VALUES (1, '" + BOB + "', 'secret')", "DELETE FROM notes WHERE id = 1");

            SseEvent gone = alice.await("change");
            assertThat(gone.json().get("op").asText()).isEqualTo("DELETE");
            assertThat(gone.json().get("old").toString()).isEqualTo("{\"id\":1}");
            assertThat(gone.json().get("degraded").asText()).isEqualTo("delete_authz_unavailable");
            assertThat(gone.data()).doesNotContain("secret", BOB);
        }
    }

    /// The log spells every type in its own way; a filter must find its rows by it.
    @Test
    void a_condition_on_each_type_finds_its_rows_and_only_those() {
        String[] filters = {
            "b=eq.true",
            "s=eq.+7",
            "i=eq. 7",
            "l=eq.007",
            "t=eq.it's",
            "v=eq.\\\"a,b\\\"",
            "u=eq." + ALICE.toUpperCase(java.util.Locale.ROOT),
            "i=in.(6,7)",
            "b=in.(yes)",
            "i=gt.6,l=lte.7,s=neq.8",
            "b=is.true,t=not.is.null",
            "or(i=eq.7,and(t=eq.its,i=gt.100))",
            "u=eq." + ALICE + ",not.or(v=eq.a,t=in.(\\\"its\\\"))",
            "i=not.in.(1,8)"
        };
        java.util.StringJoiner shapes = new java.util.StringJoiner(",");
        for (int i = 0; i < filters.length; i++) {
            shapes.add(shape("f" + i, "kinds", ",\"filter\":\"" + filters[i] + "\""));
        }
        try (SseClient alice = sluice.stream(sluice.token(ALICE), shapes.toString())) {
            assertThat(alice.await("ready").data()).doesNotContain("\"ok\":false");

            database.execute(
                    "INSERT INTO kinds VALUES (2, false, 8, 8, 8, 'its', 'a', '" + BOB + "')",
                    "INSERT INTO kinds VALUES (1, true, 7, 7, 7, 'it''s', 'a,b', '" + ALICE + "')");

            List<SseEvent> events = new java.util.ArrayList<>();
            while (events.size() < filters.length) {
                SseEvent event = alice.next();
                if (event.is("change")) {
                    events.add(event);
                }
            }
            assertThat(events)
                    .allMatch(event -> event.json().get("record").get("id").asInt() == 1);
            assertThat(events.stream().map(event -> event.json().get("sub").asText()))
                    .doesNotHaveDuplicates()
                    .hasSize(filters.length);
        }
    }

    /// Every change before the one whose title is `fence`.
    private static List<String> changes(SseClient client) {
        return client.eventsUntil(event -> event.is("change") && event.data().contains("fence")).stream()
                .filter(event -> event.is("change"))
                .map(FirstStreamPgTest::described)
                .toList();
    }

    private static String described(SseEvent event) {
        var json = event.json();
        String operation = json.get("op").asText();
        return operation + " "
                + json.get(operation.equals("DELETE") ? "old" : "record").get("id");
    }
}
