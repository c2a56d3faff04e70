package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// A policy that raises, a claim that cannot be read and a client that does not read hurt those who have them only.
class SharedFatePgTest {
    private static final int ROUNDS = 40;
    private static final int ROWS_A_ROUND = 10;

    private static final String ALL =
            shape("notes", "notes", "") + "," + shape("teams", "teams", "") + "," + shape("fragile", "fragile", "");

    @Test
    void a_streams_events_are_the_same_whoever_else_is_connected() throws Exception {
        List<String> alone;
        try (PostgresDatabase database = database();
                RunningSluice sluice = running(database);
                SseClient bob = open(sluice, bob())) {
            alone = workload(database, bob);
        }

        List<String> together;
        try (PostgresDatabase database = database();
                RunningSluice sluice = running(database);
                SseClient wrongClaim =
                        sluice.stream(sluice.sign(Claims.of("not-a-uuid").with("team", "three")), ALL);
                SseClient raising = open(sluice, Claims.of(ALICE).with("team", 5));
                SseClient stuck = sluice.request(sluice.sign(bob()), ALL)
                        .holdingAtMost(1, 4096)
                        .open();
                SseClient bob = open(sluice, bob())) {
            assertThat(wrongClaim.status()).isEqualTo(200);
            assertThat(stuck.status()).isEqualTo(200);
            stuck.pause();
            together = workload(database, bob);

            // it could not take more than its queue holds, and gets the rest from the buffer
            stuck.resume();
            int last = ROUNDS * ROWS_A_ROUND;
            stuck.await(event -> event.is("change") && label(event).equals("notes") && Notes.id(event) == last);
            assertThat(rows(stuck)).isEqualTo(alone.subList(0, alone.size() - 1));
            assertThat(wrongClaim.await("ready").data())
                    .contains("\"ok\":false")
                    .doesNotContain("three");
            raising.await(event -> event.is("change") && label(event).equals("fragile") && Notes.id(event) == 399);
            assertThat(raising.received().stream()
                            .filter(event -> event.is("change") && label(event).equals("fragile"))
                            .map(Notes::id))
                    .hasSizeGreaterThan(100)
                    .allMatch(id -> id % 2 == 1 && id % 5 != 0);
        }

        assertThat(alone).hasSizeGreaterThan(ROUNDS * ROWS_A_ROUND);
        assertThat(together).isEqualTo(alone);
    }

    private static Claims bob() {
        return Claims.of(BOB).with("team", 3);
    }

    private static PostgresDatabase database() {
        PostgresDatabase database = Notes.database("shared_fate");
        database.execute(
                "CREATE TABLE teams (id int PRIMARY KEY, team int, title text)",
                "ALTER TABLE teams ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY team ON teams FOR SELECT TO authenticated USING (team = (auth.jwt() ->> 'team')::int)",
                "CREATE TABLE fragile (id int PRIMARY KEY, owner_id uuid, title text)",
                "ALTER TABLE fragile ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON fragile FOR SELECT TO authenticated USING (owner_id = auth.uid() AND 1 / (id % 5"
                        + " - (auth.jwt() ->> 'team')::int % 5) IS NOT NULL)",
                "ALTER PUBLICATION sluice ADD TABLE teams, fragile");
        return database;
    }

    private static RunningSluice running(PostgresDatabase database) throws Exception {
        return RunningSluice.on(database, Map.of("SLUICE_STREAM_QUEUE", "100"));
    }

    private static SseClient open(RunningSluice sluice, Claims claims) {
        SseClient client = sluice.stream(sluice.sign(claims), ALL);
        assertThat(client.await("ready").data()).doesNotContain("\"ok\":false");
        return client;
    }

    /// Writes a round, waits until the client has it, and writes the next: a client that reads is never behind.
    private static List<String> workload(PostgresDatabase database, SseClient client) {
        for (int round = 0; round < ROUNDS; round++) {
            int first = round * ROWS_A_ROUND + 1;
            for (int id = first; id < first + ROWS_A_ROUND; id++) {
                database.execute(
                        "INSERT INTO fragile VALUES (" + id + ", '" + (id % 2 == 0 ? BOB : ALICE) + "', 'f')",
                        "INSERT INTO teams VALUES (" + id + ", " + id % 6 + ", 't')",
                        "INSERT INTO notes VALUES (" + id + ", '" + BOB + "', repeat('x', 8000))");
            }
            int last = first + ROWS_A_ROUND - 1;
            client.await(event -> event.is("change") && label(event).equals("notes") && Notes.id(event) == last);
        }
        List<String> seen = rows(client);
        // a warning about a row comes when its question is answered: how many there are is the same, not where
        seen.add(client.received().stream()
                .filter(event -> event.is("warning"))
                .map(event -> label(event) + " " + event.json().path("code").asText())
                .sorted()
                .toList()
                .toString());
        return seen;
    }

    private static List<String> rows(SseClient client) {
        List<String> rows = new ArrayList<>();
        for (SseEvent event : client.received()) {
            if (event.is("change")) {
                rows.add(label(event) + " " + event.json().path("record").path("id"));
            }
        }
        return rows;
    }

    private static String label(SseEvent event) {
        return event.json().path("sub").asText();
    }
}
