package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.http.JwksServer;
import sluice.testkit.http.TokenSigner;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// A server that dies without a word while rows are written.
class KillUnderLoadIT {
    private static final int AHEAD_MAX = 300;
    private static final int HELD_ROWS = 200;

    @TempDir
    private Path scratch;

    private final TokenSigner signer = TokenSigner.es256("test");

    /// The check that the slot was never confirmed past what was dispatched: the server is kept from dispatching,
    /// by a lock on a catalog it has to read before it may judge the changed table's rows, while it goes on
    /// receiving and acknowledging. Then it is killed, and PostgreSQL is asked what it would send
    /// again. A server that
    /// acknowledged what it had merely received would have let the rows go that no client ever saw.
    @Test
    void a_killed_server_has_confirmed_nothing_it_had_not_dispatched_and_its_successor_misses_nothing()
            throws Exception {
        try (PostgresDatabase database = Notes.database("kill_under_load");
                JwksServer jwks = JwksServer.publishing(signer);
                Connection other = database.connect();
                Statement locker = other.createStatement();
                Writer writer = Writer.start(database)) {
            other.setAutoCommit(false);
            Map<String, String> settings = RunningSluice.environment(database, jwks, scratch.resolve("spill"));
            settings.put("SLUICE_RELOAD_TIMEOUT", "60s");
            settings.put("SLUICE_STREAM_QUEUE", "10000");
            List<Integer> received;
            String resume;
            try (ServerProcess server = ServerProcess.start(scratch, settings);
                    SseClient alice = open(server)) {
                writer.permit(AHEAD_MAX);
                int first = Notes.id(writer.receive(alice));
                writer.receiveUntil(alice, first + 500);

                // of the catalogs that are loaded, one that no new session opens when it starts
                locker.execute("LOCK TABLE pg_catalog.pg_attrdef IN ACCESS EXCLUSIVE MODE");
                writer.next("ALTER TABLE notes ALTER title SET STATISTICS 100");
                writer.permit(HELD_ROWS);
                Await.until("the writer is stopped by what nobody receives", writer::isWaiting);
                awaitAcknowledgements(database, database.currentLsn());

                server.kill();
                alice.awaitEnd();
                received = Notes.ids(alice);
                resume = resume(alice);
            }
            assertThat(received)
                    .containsExactlyElementsOf(
                            IntStream.range(received.getFirst(), received.getFirst() + received.size())
                                    .boxed()
                                    .toList());
            Set<String> missed = new HashSet<>(
                    writer.xids().tailMap(received.getLast(), false).values());
            assertThat(missed).hasSizeGreaterThanOrEqualTo(HELD_ROWS);
            assertThat(sentAgain(database)).containsAll(missed);

            other.rollback();
            goesOn(settings, writer, resume);
        }
    }

    /// The successor misses nothing, and says what its client has to read again.
    private void goesOn(Map<String, String> settings, Writer writer, String resume) throws Exception {
        try (ServerProcess server = ServerProcess.start(scratch, settings);
                SseClient alice = open(server, resume)) {
            // what it had kept is gone, and she is told to read her rows again
            assertThat(alice.received().getFirst().data()).contains("\"resumed\":false");
            int committedBefore = writer.xids().lastKey();
            writer.permit(AHEAD_MAX);
            writer.receiveUntil(alice, committedBefore + 500);
            writer.close();
            int last = writer.xids().lastKey();
            writer.receiveUntil(alice, last);

            // those before the first are older than this stream; from there on each row once, in order
            List<Integer> after = Notes.ids(alice);
            assertThat(after.getFirst()).isLessThanOrEqualTo(committedBefore + 1);
            assertThat(after)
                    .containsExactlyElementsOf(IntStream.rangeClosed(after.getFirst(), last)
                            .boxed()
                            .toList());
        }
    }

    /// Where the client would go on.
    private static String resume(SseClient client) {
        List<SseEvent> changes =
                client.received().stream().filter(event -> event.is("change")).toList();
        String history = client.received()
                .getFirst()
                .json()
                .at("/subscriptions/0/history")
                .asText();
        return ",\"resume\":{\"lsn\":\""
                + changes.getLast().json().get("commit_lsn").asText() + "\",\"history\":\"" + history + "\"}";
    }

    private SseClient open(ServerProcess server) {
        return open(server, "");
    }

    private SseClient open(ServerProcess server, String resume) {
        SseClient client = SseClient.post(
                        server.uri("/sluice/v1/stream"),
                        "{\"subscriptions\":[{\"sub\":\"mine\",\"shape\":{\"table\":\"notes\"}" + resume + "}]}")
                .bearer(signer.sign(Claims.of(ALICE)))
                .open();
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    /// Until the server has said that it received everything up to the position, and has spoken again after that.
    private static void awaitAcknowledgements(PostgresDatabase database, String position) {
        AtomicReference<@Nullable String> first = new AtomicReference<>();
        Await.until("the server acknowledges more than once", () -> {
            List<List<@Nullable String>> replies = database.rows(
                    "SELECT r.reply_time::text FROM pg_stat_replication r JOIN pg_replication_slots s"
                            + " ON s.active_pid = r.pid WHERE s.slot_name = ? AND r.write_lsn >= ?::pg_lsn",
                    Notes.slot(database),
                    position);
            String reply = replies.isEmpty() ? null : replies.getFirst().getFirst();
            return reply != null && !first.compareAndSet(null, reply) && !reply.equals(first.get());
        });
    }

    /// The transactions the slot still holds.
    private static Set<String> sentAgain(PostgresDatabase database) {
        Await.until(
                "the slot is free",
                () -> "f"
                        .equals(database.value(
                                "SELECT active FROM pg_replication_slots WHERE slot_name = ?", Notes.slot(database))));
        Set<String> xids = new HashSet<>();
        for (List<@Nullable String> row : database.rows(
                "SELECT DISTINCT xid::text FROM pg_logical_slot_peek_binary_changes(?, NULL, NULL,"
                        + " 'proto_version', '1', 'publication_names', 'sluice')",
                Notes.slot(database))) {
            xids.add(String.valueOf(row.getFirst()));
        }
        return xids;
    }

    /// Inserts rows, one a commit, as fast as it is permitted to: each change received permits one more.
    private static final class Writer implements AutoCloseable {
        private final PostgresDatabase database;
        private final NavigableMap<Integer, String> xids = new ConcurrentSkipListMap<>();
        private final Semaphore permits = new Semaphore(0);
        private final AtomicReference<@Nullable String> extra = new AtomicReference<>();
        private volatile boolean stopped;
        private CompletableFuture<Void> done = new CompletableFuture<>();

        private Writer(PostgresDatabase database) {
            this.database = database;
        }

        static Writer start(PostgresDatabase database) {
            Writer writer = new Writer(database);
            writer.done = CompletableFuture.runAsync(
                    writer::run, task -> Thread.ofVirtual().name("writer").start(task));
            return writer;
        }

        /// By id, the transaction of every row committed.
        NavigableMap<Integer, String> xids() {
            return xids;
        }

        SseEvent receive(SseClient client) {
            SseEvent change = client.await("change");
            permits.release();
            return change;
        }

        void receiveUntil(SseClient client, int id) {
            boolean there = false;
            while (!there) {
                there = Notes.id(receive(client)) >= id;
            }
        }

        /// Runs a statement between two rows and returns once it has.
        void next(String statement) {
            extra.set(statement);
            permits.release();
            Await.until("the writer ran it", () -> extra.get() == null);
        }

        void permit(int rows) {
            permits.release(rows);
        }

        boolean isWaiting() {
            return permits.availablePermits() == 0 && permits.hasQueuedThreads();
        }

        private void run() {
            try (Connection connection = database.connect();
                    PreparedStatement insert = connection.prepareStatement("INSERT INTO notes VALUES (?, '" + ALICE
                            + "', 'x') RETURNING pg_current_xact_id()::xid::text");
                    Statement other = connection.createStatement()) {
                for (int id = 1; !stopped; id++) {
                    permits.acquireUninterruptibly();
                    String statement = extra.get();
                    if (statement != null) {
                        other.execute(statement);
                        extra.set(null);
                    }
                    insert.setInt(1, id);
                    try (ResultSet row = insert.executeQuery()) {
                        row.next();
                        xids.put(id, row.getString(1));
                    }
                }
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() {
            stopped = true;
            permits.release();
            done.join();
        }
    }
}
