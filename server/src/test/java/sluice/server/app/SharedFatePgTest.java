package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.server.hook.HookServer;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// A policy that raises, a claim that cannot be read, a client that does not read, a row of fifty megabytes and an
/// endpoint that never answers hurt those who have them only.
class SharedFatePgTest {
    private static final int ROUNDS = 40;
    private static final int ROWS_A_ROUND = 10;
    private static final int LAST = ROUNDS * ROWS_A_ROUND;
    private static final String OF_NO_RUN =
            "\"(commit_lsn|commit_time|wal_lsn|server_time|stream_id|history|id)\":\"[^\"]*\"";

    private static final String SOUND = shape("notes", "notes", "") + "," + shape("teams", "teams", "");
    private static final String ALL = SOUND + "," + shape("fragile", "fragile", "");

    /// What two streams of bob's saw: one of them has nothing to do with any fault, the other has a policy that
    /// raises for some of his rows.
    private record Seen(List<String> sound, List<String> fragile, List<String> warnings) {}

    @Test
    void a_streams_events_are_the_same_whatever_happens_to_others() throws Exception {
        try (HookServer hook = new HookServer();
                PostgresDatabase database = database();
                RunningSluice sluice = running(database, hook)) {
            hook.hangs();
            Seen alone = run(database, sluice, () -> {});
            emptied(database, sluice);
            Seen together = beside(database, sluice);

            assertThat(alone.sound()).hasSizeGreaterThan(LAST);
            assertThat(together.sound()).containsExactlyElementsOf(alone.sound());
            assertThat(together.fragile()).containsExactlyElementsOf(alone.fragile());
            assertThat(together.warnings()).isEqualTo(alone.warnings());
        }
    }

    /// The same, with every fault there is on the same server.
    private static Seen beside(PostgresDatabase database, RunningSluice sluice) {
        try (SseClient wrongClaim =
                        sluice.stream(sluice.sign(Claims.of("not-a-uuid").with("team", "three")), ALL);
                SseClient raising = open(sluice, Claims.of(ALICE).with("team", 5), ALL);
                SseClient stuck = sluice.request(sluice.sign(bob()), ALL)
                        .holdingAtMost(1, 4096)
                        .open();
                SseClient large = open(sluice, Claims.of(ALICE), shape("large", "large", ""));
                SseClient waiting = sluice.stream(sluice.token(ALICE), "{\"sub\":\"dead\",\"channel\":\"team:1\"}")) {
            assertThat(List.of(wrongClaim.status(), stuck.status(), waiting.status()))
                    .containsOnly(200);
            stuck.pause();
            Seen seen = run(
                    database, sluice, () -> database.execute("INSERT INTO large VALUES (1, repeat('x', 50000000))"));

            // it could not take more than its queue holds, and gets the rest from the buffer
            stuck.resume();
            stuck.await(event -> isRow(event, "notes", LAST));
            assertThat(changes(stuck)).containsExactlyElementsOf(seen.fragile());
            assertThat(wrongClaim.await("ready").data())
                    .contains("\"ok\":false")
                    .doesNotContain("three");
            raising.await(event -> isRow(event, "fragile", LAST - 1));
            assertThat(raising.received().stream()
                            .filter(event -> event.is("change") && label(event).equals("fragile"))
                            .map(Notes::id))
                    .hasSizeGreaterThan(100)
                    .allMatch(id -> id % 2 == 1 && id % 5 != 0);
            SseEvent cut = large.await("change");
            assertThat(cut.data().length()).isLessThan(10_000);
            assertThat(Notes.id(cut)).isOne();
            assertThat(waiting.await("ready").data()).contains("channel_hook_unavailable");
            return seen;
        }
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
                "CREATE TABLE large (id int PRIMARY KEY, body text)",
                "ALTER TABLE large ALTER body SET STORAGE EXTERNAL",
                "ALTER PUBLICATION sluice ADD TABLE teams, fragile, large");
        return database;
    }

    private static RunningSluice running(PostgresDatabase database, HookServer hook) throws Exception {
        return RunningSluice.on(
                database,
                Map.of(
                        "SLUICE_STREAM_QUEUE",
                        "100",
                        // longer than a stuck client is stuck here
                        "SLUICE_WRITE_TIMEOUT",
                        "120s",
                        "SLUICE_CHANNELS",
                        "room:public,team:hook:" + hook.url()));
    }

    private static SseClient open(RunningSluice sluice, Claims claims, String subscriptions) {
        SseClient client = sluice.stream(sluice.sign(claims), subscriptions);
        assertThat(client.await("ready").data()).doesNotContain("\"ok\":false");
        return client;
    }

    /// Nothing of the first run is left to be delivered.
    private static void emptied(PostgresDatabase database, RunningSluice sluice) {
        try (SseClient fence = open(sluice, bob(), SOUND)) {
            database.execute("DELETE FROM notes", "DELETE FROM teams", "DELETE FROM fragile");
            Notes.insert(database, 0, BOB);
            fence.await(event -> isRow(event, "notes", 0));
        }
    }

    /// Writes a round, waits until both streams have it, and writes the next: they are never behind.
    private static Seen run(PostgresDatabase database, RunningSluice sluice, Runnable inTheMiddle) {
        try (SseClient sound = open(sluice, bob(), SOUND);
                SseClient fragile = open(sluice, bob(), ALL)) {
            for (int round = 0; round < ROUNDS; round++) {
                int first = round * ROWS_A_ROUND + 1;
                if (round == ROUNDS / 2) {
                    inTheMiddle.run();
                }
                for (int id = first; id < first + ROWS_A_ROUND; id++) {
                    database.execute(
                            "INSERT INTO fragile VALUES (" + id + ", '" + (id % 2 == 0 ? BOB : ALICE) + "', 'f')",
                            "INSERT INTO teams VALUES (" + id + ", " + id % 6 + ", 't')",
                            "INSERT INTO notes VALUES (" + id + ", '" + BOB + "', repeat('x', 8000))");
                }
                int last = first + ROWS_A_ROUND - 1;
                sound.await(event -> isRow(event, "notes", last));
                fragile.await(event -> isRow(event, "notes", last));
            }
            List<String> events = new ArrayList<>();
            for (SseEvent event : sound.received()) {
                // how late it is, is of the moment
                if (!event.is("delay")) {
                    events.add(event.event() + " " + event.data().replaceAll(OF_NO_RUN, ""));
                }
            }
            // how many warnings tell of what could not be decided depends on the time the run takes
            List<String> warnings = fragile.received().stream()
                    .filter(event -> event.is("warning"))
                    .map(event -> label(event) + " " + event.json().path("code").asText())
                    .distinct()
                    .toList();
            return new Seen(events, changes(fragile), warnings);
        }
    }

    private static List<String> changes(SseClient client) {
        return client.received().stream()
                .filter(event -> event.is("change"))
                .map(event -> event.data().replaceAll(OF_NO_RUN, ""))
                .toList();
    }

    private static boolean isRow(SseEvent event, String label, int id) {
        return event.is("change") && label(event).equals(label) && Notes.id(event) == id;
    }

    private static String label(SseEvent event) {
        return event.json().path("sub").asText();
    }
}
