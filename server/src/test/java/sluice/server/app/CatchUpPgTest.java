package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// Commits that are larger than a stream's queue, and clients that read slowly.
class CatchUpPgTest {
    private static final int ROWS = 10_000;

    @Test
    void a_commit_of_ten_thousand_rows_reaches_every_reader_whole_and_in_order_however_slowly_it_reads()
            throws Exception {
        try (PostgresDatabase database = Notes.database("large_commit");
                RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_STREAM_QUEUE", "256"));
                SseClient alice = Notes.open(sluice, ALICE);
                SseClient bob = Notes.open(sluice, BOB);
                SseClient slow = sluice.request(sluice.token(ALICE), shape("mine", "notes", ""))
                        .holdingAtMost(100, 64 << 10)
                        .open()) {
            assertThat(slow.await("ready").data()).contains("\"ok\":true");
            slow.pause();
            database.execute("INSERT INTO notes SELECT n, CASE WHEN n % 1000 = 0 THEN '" + BOB + "'::uuid ELSE '"
                    + ALICE + "'::uuid END, repeat('x', 300) FROM generate_series(1, " + ROWS + ") n");
            Notes.insert(database, ROWS + 1, BOB);
            Notes.insert(database, ROWS + 2, ALICE);

            // whoever reads does not wait for who does not
            List<Integer> hers = IntStream.rangeClosed(1, ROWS + 2)
                    .filter(id -> id % 1000 != 0 && id != ROWS + 1)
                    .boxed()
                    .toList();
            assertThat(Notes.idsUntil(bob, ROWS + 1)).hasSize(11).isSorted();
            assertThat(Notes.idsUntil(alice, ROWS + 2)).isEqualTo(hers);
            Notes.insert(database, ROWS + 3, ALICE);
            assertThat(Notes.id(alice.await("change"))).isEqualTo(ROWS + 3);

            slow.resume();
            Notes.idsUntil(slow, ROWS + 3);
            assertThat(Notes.ids(slow).subList(0, hers.size())).isEqualTo(hers);
            assertThat(slow.received().stream()
                            .filter(event -> event.is("change"))
                            .map(event -> event.json().get("seq").asInt()))
                    .isEqualTo(IntStream.rangeClosed(1, hers.size() + 1).boxed().toList());
            assertThat(slow.received()).noneMatch(event -> event.is("error"));
        }
    }

    @Test
    void a_client_that_falls_out_of_what_is_kept_is_told_and_has_whole_commits_until_then() throws Exception {
        try (PostgresDatabase database = Notes.database("lagging");
                RunningSluice sluice = RunningSluice.on(
                        database,
                        Map.of(
                                "SLUICE_STREAM_QUEUE",
                                "256",
                                "SLUICE_RING_MEMORY",
                                share(2L << 20),
                                "SLUICE_WRITE_TIMEOUT",
                                "60s"));
                SseClient bob = Notes.open(sluice, BOB);
                SseClient slow = sluice.request(sluice.token(ALICE), shape("mine", "notes", ""))
                        .holdingAtMost(100, 64 << 10)
                        .open()) {
            assertThat(slow.await("ready").data()).contains("\"ok\":true");
            slow.pause();
            int id = 0;
            double closed = 0;
            while (closed == 0 && id < 200_000) {
                database.execute("INSERT INTO notes SELECT n, '" + ALICE + "', repeat('x', 4000) FROM generate_series("
                        + (id + 1) + ", " + (id + 100) + ") n");
                id += 100;
                closed = sluice.figure("sluice_stream_closed_total{reason=\"stream_lagging\"}");
            }
            Notes.insert(database, id + 1, BOB);
            assertThat(Notes.id(bob.await("change"))).isEqualTo(id + 1);

            slow.resume();
            SseEvent error = slow.await("error");
            assertThat(error.data()).contains("\"stream_lagging\"", "\"action\":\"resnapshot\"");
            assertThat(slow.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
            List<Integer> received = Notes.ids(slow);
            assertThat(received)
                    .hasSizeLessThan(id)
                    .isEqualTo(IntStream.rangeClosed(1, received.size()).boxed().toList());
            assertThat(received.size() % 100).isZero();
            Await.until("the stream is gone", () -> sluice.figure("sluice_streams") == 1);
        }
    }

    /// So many bytes, as a share of this JVM's heap.
    private static String share(long bytes) {
        return String.format(
                Locale.ROOT, "%.6f", bytes / (double) Runtime.getRuntime().maxMemory());
    }
}
