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

    @Test
    void each_stream_gets_its_part_of_it_and_one_that_cannot_hold_its_part_gets_it_from_the_disk() throws Exception {
        try (PostgresDatabase database = Notes.database("big_transaction");
                RunningSluice sluice = RunningSluice.on(
                        database,
                        Map.of(
                                "SLUICE_TRANSACTION_MEMORY", "1MiB",
                                "SLUICE_SPILL_MAX_BYTES", "256MiB",
                                "SLUICE_RING_MAX_AGE", "10m"));
                SseClient alice = Notes.open(sluice, ALICE);
                SseClient bob = Notes.open(sluice, BOB);
                SseClient all = sluice.stream(sluice.token(ALICE, "service_role"), shape("all", "notes", ""))) {
            assertThat(all.await("ready").data()).contains("\"ok\":true");

            database.execute("INSERT INTO notes SELECT n, CASE WHEN n % 4000 = 17 THEN '" + ALICE + "'::uuid ELSE '"
                    + SOMEBODY + "'::uuid END, repeat('x', 200) FROM generate_series(1, 20000) n");
            Notes.insert(database, 30_000, BOB);
            Notes.insert(database, 30_001, ALICE);

            assertThat(Notes.idsUntil(alice, 30_001)).containsExactly(17, 4017, 8017, 12_017, 16_017, 30_001);
            assertThat(Notes.idsUntil(bob, 30_000)).containsExactly(30_000);
            assertThat(Notes.idsUntil(all, 30_001))
                    .isEqualTo(IntStream.concat(IntStream.rangeClosed(1, 20_000), IntStream.of(30_000, 30_001))
                            .boxed()
                            .toList());
            assertThat(sluice.figure("sluice_spilled_transactions_total")).isEqualTo(1);
            Await.until("what is kept is counted", () -> sluice.figure("sluice_kept_commit_bytes") > 1_000_000);
        }
    }
}
