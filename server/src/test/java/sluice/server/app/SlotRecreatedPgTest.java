package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.at;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.sse.SseClient;

/// A slot that can no longer deliver everything: it is replaced only where that was allowed, and never in silence.
class SlotRecreatedPgTest {
    private static final String RECREATED = "sluice_slot_recreated_total";

    private final CapturedLog log = CapturedLog.of("sluice.engine");

    @TempDir
    private Path spill = Path.of("");

    /// Writes log until the server gives up the slot, whose reader is kept from reading.
    private static void invalidate(PostgresDatabase database) {
        database.execute("CREATE TABLE IF NOT EXISTS filler (t text)");
        Await.until("the slot is lost", () -> {
            database.execute(
                    "INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 20000)",
                    "SELECT pg_switch_wal()",
                    "CHECKPOINT");
            return "lost"
                    .equals(database.value(
                            "SELECT wal_status FROM pg_replication_slots WHERE slot_name = ?", Notes.slot(database)));
        });
    }

    @Test
    void an_invalidated_slot_ends_the_server_and_is_replaced_at_the_next_start_only_if_that_is_allowed()
            throws Exception {
        try (PostgresCluster cluster = PostgresCluster.start(
                        PostgresCluster.NEWEST,
                        Map.of("max_slot_wal_keep_size", "1MB", "max_wal_size", "32MB", "min_wal_size", "32MB"));
                PostgresDatabase database = Notes.database(cluster, "slot_lost");
                TcpProxy proxy = TcpProxy.to(cluster.port())) {
            Map<String, String> settings = new HashMap<>(Map.of(
                    "SLUICE_SPILL_DIR",
                    spill.toString(),
                    "SLUICE_DB_REPL_URL",
                    at(database.url("sluice_repl"), proxy.port()) + "?replication=database"));
            try (RunningSluice sluice = RunningSluice.on(database, settings);
                    SseClient alice = Notes.open(sluice, ALICE)) {
                proxy.stall(TcpProxy.Direction.TO_CLIENT);
                proxy.stall(TcpProxy.Direction.TO_SERVER);
                invalidate(database);
                Notes.insert(database, 1, ALICE);
                proxy.cut();
                proxy.pass();

                assertThat(sluice.server().ended().get(30, TimeUnit.SECONDS))
                        .contains(Notes.slot(database), "was invalidated (wal_removed)", "SLUICE_SLOT_RECREATE=true");
                assertThat(sluice.readyStatus()).isEqualTo(503);
                sluice.server().close();
                assertThat(alice.await("error").data()).contains("\"server_shutdown\"");
                assertThat(Notes.ids(alice)).isEmpty();
            }
            assertThatThrownBy(() -> RunningSluice.starting(database, settings).close())
                    .isInstanceOf(StartException.class)
                    .hasMessageContainingAll(
                            "was invalidated", "pg_drop_replication_slot", "SLUICE_SLOT_RECREATE=true");

            settings.put("SLUICE_SLOT_RECREATE", "true");
            try (RunningSluice sluice = RunningSluice.on(database, settings);
                    SseClient alice = Notes.open(sluice, ALICE)) {
                assertThat(sluice.figure(RECREATED)).isEqualTo(1);
                assertThat(log.lines("replication slot recreated"))
                        .singleElement()
                        .asString()
                        .startsWith("WARN")
                        .contains("reason=\"invalidated: wal_removed\"", "confirmed_lsn=", "from_lsn=");
                Notes.insert(database, 2, ALICE);
                assertThat(Notes.idsUntil(alice, 2)).containsExactly(2);
            }
        }
    }

    @Test
    void a_slot_that_was_dropped_meanwhile_is_made_anew_with_a_warning_and_a_first_one_without() throws Exception {
        try (PostgresDatabase database = Notes.database("slot_dropped")) {
            Map<String, String> settings = Map.of("SLUICE_SPILL_DIR", spill.toString());
            try (RunningSluice first = RunningSluice.on(database, settings);
                    SseClient alice = Notes.open(first, ALICE)) {
                Notes.insert(database, 1, ALICE);
                assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
                assertThat(first.figure(RECREATED)).isZero();
            }
            assertThat(log.lines("replication slot recreated")).isEmpty();

            database.dropSlots();
            Notes.insert(database, 2, ALICE);
            try (RunningSluice second = RunningSluice.on(database, settings);
                    SseClient alice = Notes.open(second, ALICE)) {
                assertThat(second.figure(RECREATED)).isEqualTo(1);
                assertThat(log.lines("replication slot recreated"))
                        .singleElement()
                        .asString()
                        .startsWith("WARN")
                        .contains("missing", Notes.slot(database), "confirmed_lsn=", "from_lsn=");
                Notes.insert(database, 3, ALICE);
                assertThat(Notes.idsUntil(alice, 3)).containsExactly(3);
            }
        }
    }
}
