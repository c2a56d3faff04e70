package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;

import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// A database that writes a lot, and nothing that is published: its log must not pile up.
class IdleSlotPgTest {
    @Test
    void the_slot_moves_past_writes_that_concern_nobody() throws Exception {
        try (PostgresDatabase database = Notes.database("idle_slot")) {
            database.execute("CREATE TABLE private (id int PRIMARY KEY, body text)");
            try (RunningSluice sluice = RunningSluice.on(database);
                    SseClient alice = Notes.open(sluice, ALICE)) {
                for (int round = 0; round < 3; round++) {
                    database.execute("INSERT INTO private SELECT n, repeat('x', 200) FROM generate_series("
                            + round * 1000 + ", " + (round * 1000 + 999) + ") n");
                    String written = database.currentLsn();
                    Await.until(
                            "the slot is confirmed past " + written,
                            () -> "t"
                                    .equals(database.value(
                                            "SELECT confirmed_flush_lsn >= ?::pg_lsn FROM pg_replication_slots"
                                                    + " WHERE slot_name = ?",
                                            written,
                                            Notes.slot(database))));
                }
                Notes.insert(database, 1, ALICE);
                assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
            }
        }
    }
}
