package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// One transaction of many more rows than memory or a queue may hold.
class BigTransactionPgTest {
    private static final String SOMEBODY = "cccccccc-0000-4000-8000-000000000003";

    /// Rows of a table whose policy reads another one, so PostgreSQL is asked about each.
    private static PostgresDatabase database() {
        PostgresDatabase database = Notes.database("big_transaction");
        database.execute(
                "CREATE TABLE allowed (task int PRIMARY KEY, who uuid NOT NULL)",
                "CREATE TABLE tasks (id int PRIMARY KEY, title text)",
                "ALTER TABLE tasks ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY allowed ON tasks FOR SELECT TO authenticated USING (EXISTS (SELECT 1 FROM allowed a"
                        + " WHERE a.task = tasks.id AND a.who = (SELECT auth.uid())))",
                "INSERT INTO allowed SELECT n, '" + ALICE + "' FROM generate_series(2, 2000, 2) n",
                "ALTER PUBLICATION sluice ADD TABLE tasks");
        return database;
    }

    @Test
    void each_stream_gets_its_part_of_it_and_one_that_cannot_hold_its_part_gets_it_from_the_disk() throws Exception {
        try (PostgresDatabase database = database();
                RunningSluice sluice = RunningSluice.on(
                        database,
                        Map.of(
                                "SLUICE_TRANSACTION_MEMORY", "1MiB",
                                "SLUICE_SPILL_MAX_BYTES", "256MiB",
                                "SLUICE_RING_MAX_AGE", "10m",
                                "SLUICE_TIER_C_TIMEOUT", "20s",
                                "SLUICE_STAMP_WAIT", "60s"));
                SseClient alice = Notes.open(sluice, ALICE);
                SseClient bob = Notes.open(sluice, BOB);
                SseClient all = sluice.stream(sluice.token(ALICE, "service_role"), shape("all", "notes", ""));
                SseClient asked = sluice.stream(sluice.token(ALICE), shape("asked", "tasks", ""))) {
            assertThat(all.await("ready").data()).contains("\"ok\":true");
            assertThat(asked.await("ready").data()).contains("\"ok\":true", "\"tier\":\"C\"");

            database.execute("DO $do$ BEGIN INSERT INTO notes SELECT n, CASE WHEN n % 4000 = 17 THEN '" + ALICE
                    + "'::uuid ELSE '" + SOMEBODY + "'::uuid END, repeat('x', 200) FROM generate_series(1, 20000) n;"
                    + " INSERT INTO tasks SELECT n, 'x' FROM generate_series(1, 1200) n; END $do$");
            database.execute("UPDATE tasks SET title = 'y' WHERE id IN (1199, 1200)");
            Notes.insert(database, 30_000, BOB);
            Notes.insert(database, 30_001, ALICE);

            assertThat(Notes.idsUntil(alice, 30_001)).containsExactly(17, 4017, 8017, 12_017, 16_017, 30_001);
            assertThat(Notes.idsUntil(bob, 30_000)).containsExactly(30_000);
            assertThat(Notes.idsUntil(all, 30_001))
                    .isEqualTo(IntStream.concat(IntStream.rangeClosed(1, 20_000), IntStream.of(30_000, 30_001))
                            .boxed()
                            .toList());
            asked.await(event -> event.is("change") && event.data().contains("\"y\""));
            assertThat(asked.received())
                    .noneMatch(event -> event.is("error") || event.data().contains("changes_withheld"));
            assertThat(Notes.ids(asked).stream().distinct())
                    .isEqualTo(IntStream.rangeClosed(1, 600)
                            .map(n -> 2 * n)
                            .boxed()
                            .toList());
            assertThat(sluice.figure("sluice_spilled_transactions_total")).isEqualTo(1);
            Await.until("what is kept is counted", () -> sluice.figure("sluice_kept_commit_bytes") > 1_000_000);
        }
    }
}
