package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Requests about an open stream, through every stage.
class ControlPgTest {
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("control")
                .withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner_id uuid NOT NULL, title text)",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON notes FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "CREATE PUBLICATION sluice FOR TABLE notes");
        sluice = RunningSluice.on(database);
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @Test
    void a_shape_subscribed_later_receives_every_commit_after_the_answer_and_no_foreign_row() throws Exception {
        String token = sluice.token(ALICE);
        try (SseClient alice = sluice.stream(token, "")) {
            String streamId = alice.await("ready").json().get("stream_id").asText();

            var answer = sluice.post(
                    "/subscribe",
                    token,
                    "{\"stream_id\":\"" + streamId + "\",\"subscriptions\":[" + shape("mine", "notes", "") + ","
                            + shape("none", "missing", "") + "]}");
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body())
                    .contains("{\"results\":[{\"sub\":\"mine\",\"ok\":true", "\"sub\":\"none\",\"ok\":false")
                    .containsPattern("\"wal_lsn\":\"[0-9A-F]+/[0-9A-F]+\"");

            database.execute(
                    "INSERT INTO notes VALUES (1, '" + BOB + "', 'his')",
                    "INSERT INTO notes VALUES (2, '" + ALICE + "', 'hers')");
            assertThat(alice.await("change").data()).contains("\"sub\":\"mine\"", "\"id\":2");
        }
    }
}
