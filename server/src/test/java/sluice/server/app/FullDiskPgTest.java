package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static sluice.server.app.RunningSluice.ALICE;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// The disk for transactions that do not fit in memory is full: no part of such a one may be sent or confirmed.
class FullDiskPgTest {
    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    private Path spill = Path.of("");

    @Test
    void a_disk_without_room_ends_the_server_and_a_start_with_room_meets_the_commit_again() throws Exception {
        assumeTrue(Files.exists(FULL), "a device that is always full");
        Map<String, String> settings =
                Map.of("SLUICE_SPILL_DIR", spill.toString(), "SLUICE_TRANSACTION_MEMORY", "1MiB");
        try (PostgresDatabase database = Notes.database("full_disk")) {
            String written;
            try (RunningSluice sluice = RunningSluice.on(database, settings);
                    SseClient alice = Notes.open(sluice, ALICE)) {
                Notes.insert(database, 1, ALICE);
                assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
                for (int run = 0; run < 8; run++) {
                    Files.createSymbolicLink(spill.resolve("sluice-spill-" + run), FULL);
                }
                database.execute("INSERT INTO notes SELECT n, '" + ALICE
                        + "', repeat('x', 500) FROM generate_series(10, 10000) n");
                written = database.currentLsn();

                assertThat(sluice.server().ended().get(30, TimeUnit.SECONDS))
                        .contains("SLUICE_SPILL_DIR", "cannot be written", "No space left");
                assertThat(sluice.readyStatus()).isEqualTo(503);
                sluice.server().close();
                assertThat(alice.await("error").data()).contains("\"server_shutdown\"");
                assertThat(Notes.ids(alice)).containsExactly(1);
            }
            assertThat(confirmedPast(database, written)).isEqualTo("f");

            try (RunningSluice sluice = RunningSluice.on(database, settings);
                    SseClient alice = Notes.open(sluice, ALICE)) {
                assertThat(sluice.figure("sluice_spilled_transactions_total")).isEqualTo(1);
                Notes.insert(database, 2, ALICE);
                assertThat(Notes.idsUntil(alice, 2)).containsExactly(2);
                Await.until("the commit is confirmed", () -> "t".equals(confirmedPast(database, written)));
            }
        }
    }

    private static String confirmedPast(PostgresDatabase database, String lsn) {
        return String.valueOf(database.value(
                "SELECT confirmed_flush_lsn >= ?::pg_lsn FROM pg_replication_slots WHERE slot_name = ?",
                lsn,
                Notes.slot(database)));
    }
}
