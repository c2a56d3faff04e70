package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// The replication connection is lost while rows are written: clients notice nothing but a delay.
class ReconnectPgTest {
    private static final int CUTS = 2;
    private static final int AHEAD_MAX = 500;

    @Test
    void rows_written_across_a_lost_connection_arrive_once_each_and_in_order() throws Exception {
        try (PostgresDatabase database = Notes.database("reconnect");
                RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_STREAM_QUEUE", "10000"));
                SseClient alice = Notes.open(sluice, ALICE)) {
            AtomicInteger written = new AtomicInteger();
            AtomicInteger last = new AtomicInteger(Integer.MAX_VALUE);
            Semaphore ahead = new Semaphore(AHEAD_MAX);
            CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> write(database, written, last, ahead));

            receive(alice, 1, ahead);
            for (int cut = 0; cut < CUTS; cut++) {
                String before = walsender(database);
                Notes.cutReplication(database);
                Await.until("another session streams", () -> {
                    String now = walsender(database);
                    return !now.isEmpty() && !now.equals(before);
                });
                receive(alice, written.get() + 1, ahead);
            }
            last.set(written.get() + 50);
            receive(alice, last.get(), ahead);
            writer.join();

            // the writer may have been past its last row already: nothing may follow that
            int fence = written.get() + 1;
            Notes.insert(database, fence, ALICE);
            assertThat(Notes.idsUntil(alice, fence))
                    .containsExactlyElementsOf(
                            IntStream.rangeClosed(1, fence).boxed().toList());
            assertThat(alice.received()).noneMatch(event -> event.is("error"));
        }
    }

    /// The engine is kept waiting for a catalog until the rows fill all the room there is between
    /// it and the reader.
    @Test
    void a_connection_lost_while_the_engine_has_no_room_costs_no_row() throws Exception {
        try (PostgresDatabase database = Notes.database("reconnect_full");
                TcpProxy proxy = TcpProxy.to(database.cluster().port());
                RunningSluice sluice = RunningSluice.on(
                        database,
                        Map.of(
                                "SLUICE_RELOAD_TIMEOUT",
                                "60s",
                                "SLUICE_CATALOG_REFRESH",
                                "1h",
                                "SLUICE_DB_REPL_URL",
                                database.url("sluice_repl")
                                                .replace(
                                                        ":" + database.cluster().port(), ":" + proxy.port())
                                        + "?replication=database"));
                SseClient alice = Notes.open(sluice, ALICE);
                Connection other = database.connect();
                Statement locker = other.createStatement()) {
            other.setAutoCommit(false);
            Notes.insert(database, 1, ALICE);
            alice.await("change");
            // of the catalogs that are loaded, one that no new session opens when it starts
            locker.execute("LOCK TABLE pg_catalog.pg_attrdef IN ACCESS EXCLUSIVE MODE");
            database.execute("ALTER TABLE notes ALTER title SET STATISTICS 100");
            for (int id = 2; id <= 9; id++) {
                database.execute("INSERT INTO notes VALUES (" + id + ", '" + ALICE + "', repeat('x', 9000000))");
            }
            String written = database.currentLsn();
            Await.until("the reader has no room left", () -> sluice.server().waitingBytes() > 25_000_000);
            String before = walsender(database);

            proxy.cut();
            Await.until("another session streams", () -> {
                String now = walsender(database);
                return !now.isEmpty() && !now.equals(before);
            });
            assertThat(database.value(
                            "SELECT confirmed_flush_lsn < ?::pg_lsn FROM pg_replication_slots WHERE slot_name = ?",
                            written,
                            Notes.slot(database)))
                    .isEqualTo("t");
            other.rollback();

            assertThat(Notes.idsUntil(alice, 9)).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9);
            assertThat(sluice.server().isServing()).isTrue();
        }
    }

    private static String walsender(PostgresDatabase database) {
        return String.valueOf(database.value(
                "SELECT coalesce(max(active_pid)::text, '') FROM pg_replication_slots WHERE slot_name = ?",
                Notes.slot(database)));
    }

    /// Takes changes up to an id, and lets the writer write as many more.
    private static void receive(SseClient client, int id, Semaphore ahead) {
        boolean there = false;
        while (!there) {
            SseEvent change = client.await("change");
            ahead.release();
            there = Notes.id(change) >= id;
        }
    }

    /// Never further ahead of the reader than the permits allow, so that no queue is full.
    private static void write(PostgresDatabase database, AtomicInteger written, AtomicInteger last, Semaphore ahead) {
        try (Connection connection = database.connect();
                PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO notes VALUES (?, '" + ALICE + "', 'x')")) {
            while (written.get() < last.get()) {
                ahead.acquireUninterruptibly();
                insert.setInt(1, written.get() + 1);
                insert.executeUpdate();
                written.incrementAndGet();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
