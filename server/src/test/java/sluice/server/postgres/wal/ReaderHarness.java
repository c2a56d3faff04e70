package sluice.server.postgres.wal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.Notice;
import sluice.core.transaction.Change;
import sluice.core.transaction.Transaction;
import sluice.core.transaction.TransactionAssembler;
import sluice.core.transaction.TransactionImages;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.SlotName;
import sluice.server.postgres.PostgresUrl;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;

/// A reader on a thread of its own, and a sink that keeps what it is given.
final class ReaderHarness implements AutoCloseable {
    final List<Transaction> commits = new CopyOnWriteArrayList<>();
    final List<Notice> notices = new CopyOnWriteArrayList<>();
    final WalReader reader;
    private final Thread thread;
    private volatile boolean full;
    private volatile boolean confirming = true;
    private volatile Lsn seen = Lsn.ZERO;
    final AtomicLong refusals = new AtomicLong();

    private final class Sink implements WalSink {
        @Override
        public boolean offer(WalEvent event) {
            if (full) {
                refusals.incrementAndGet();
                return false;
            }
            if (event instanceof WalEvent.Committed(var transaction)) {
                commits.add(transaction);
                seen = transaction.endLsn();
            } else if (event instanceof WalEvent.Idle(var walEnd)) {
                seen = walEnd;
            }
            return true;
        }

        @Override
        public Lsn confirmable() {
            return confirming ? seen : Lsn.ZERO;
        }
    }

    /// How a reader of these tests differs from the usual one.
    record Options(String slot, String urlSuffix, Duration statusInterval, WalReader.LostSlot lostSlot) {
        static Options slot(String name) {
            return new Options(name, "", Duration.ofMillis(200), WalReader.LostSlot.STOP);
        }

        Options url(String suffix) {
            return new Options(slot, suffix, statusInterval, lostSlot);
        }

        Options recreate() {
            return new Options(slot, urlSuffix, statusInterval, WalReader.LostSlot.RECREATE);
        }
    }

    ReaderHarness(PostgresDatabase database, Options options) {
        String suffix = options.urlSuffix().isEmpty() ? "" : "?" + options.urlSuffix();
        WalReader.Source source = new WalReader.Source(
                PostgresUrl.parse(database.url("sluice_repl") + suffix),
                PostgresUrl.parse(database.url("sluice_authz")),
                new SlotName(options.slot()),
                "sluice",
                null,
                WalReader.Messages.DELIVERED,
                options.statusInterval(),
                options.lostSlot());
        reader = new WalReader(
                source,
                new FileSpillStore(folder(), 1 << 30),
                new TransactionAssembler.Bounds(64 << 20, 1 << 20, List.of("sluice:")),
                TransactionImages.NET,
                new Sink(),
                ReaderClock.system(),
                notices::add);
        thread = new Thread(reader, "wal-reader");
        thread.setDaemon(true);
        thread.start();
    }

    private static Path folder() {
        try {
            return Files.createTempDirectory("sluice-spill-test");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ReaderHarness streaming() {
        Await.until("the reader streams", () -> reader.state() == ReaderState.STREAMING);
        return this;
    }

    void fill() {
        full = true;
    }

    void drain() {
        full = false;
    }

    void confirmNothing() {
        confirming = false;
    }

    /// What the rows of all commits so far are, one list of texts a row.
    List<String> rows() {
        List<String> rows = new ArrayList<>();
        for (Transaction commit : commits) {
            for (Change change : commit.changes()) {
                rows.add(print(change));
            }
        }
        return rows;
    }

    private static String print(Change change) {
        return switch (change) {
            case Change.Insert(var relation, var row) -> "INSERT " + row.text(0);
            case Change.Update(var relation, var old, var row) -> "UPDATE " + row.text(0);
            case Change.Delete(var relation, var old) -> "DELETE " + old.text(0);
            case Change.Truncate(var relation) -> "TRUNCATE";
        };
    }

    /// Why the reader gave up, once it has.
    @Nullable
    Throwable stopped() {
        Await.until("the reader has stopped", () -> reader.state() == ReaderState.STOPPED);
        return reader.failure();
    }

    @Override
    public void close() {
        drain();
        reader.stop();
        Await.until("the reader's thread has ended", () -> !thread.isAlive());
    }
}
