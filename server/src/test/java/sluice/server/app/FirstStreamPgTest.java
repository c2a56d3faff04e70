package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.List;
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
                "CREATE PUBLICATION sluice FOR TABLE notes");
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
