package sluice.server.postgres.wal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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

    final Map<String, Long> decoded = new ConcurrentHashMap<>();
    final AtomicLong discarded = new AtomicLong();
    final AtomicLong slotsRecreated = new AtomicLong();
    final AtomicLong timelinesMoved = new AtomicLong();
    private final AtomicLong aheadNanos = new AtomicLong();

    private final ReaderClock clock = new ReaderClock() {
        @Override
        public long nanos() {
            return System.nanoTime() + aheadNanos.get();
        }

        @Override
        public void park(long nanos) {
            ReaderClock.system().park(nanos);
        }
    };

    private final ReaderObserver observer = new ReaderObserver() {
        @Override
        public void notice(Notice notice) {
            notices.add(notice);
        }

        @Override
        public void decoded(String type, long count) {
            decoded.merge(type, count, Long::sum);
        }

        @Override
        public void discarded(long count) {
            discarded.addAndGet(count);
        }

        @Override
        public void slotRecreated() {
            slotsRecreated.incrementAndGet();
        }

        @Override
        public void timelineMoved() {
            timelinesMoved.incrementAndGet();
        }
    };

    /// Lets so much time pass for the reader at once.
    void advance(Duration time) {
        aheadNanos.addAndGet(time.toNanos());
    }

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
            } else if (event instanceof WalEvent.TimelineLeft(var at)) {
                seen = at;
            }
            return true;
        }

        @Override
        public Lsn confirmable() {
            return confirming ? seen : Lsn.ZERO;
        }
    }

    /// How a reader of these tests differs from the usual one.
    record Options(
            String slot, String urlSuffix, Duration statusInterval, WalReader.LostSlot lostSlot, int replicationPort) {
        static Options slot(String name) {
            return new Options(name, "", Duration.ofMillis(200), WalReader.LostSlot.STOP, 0);
        }

        /// Replication goes through this port, a proxy's.
        Options through(int port) {
            return new Options(slot, urlSuffix, statusInterval, lostSlot, port);
        }

        Options url(String suffix) {
            return new Options(slot, suffix, statusInterval, lostSlot, replicationPort);
        }

        Options recreate() {
            return new Options(slot, urlSuffix, statusInterval, WalReader.LostSlot.RECREATE, replicationPort);
        }
    }

    ReaderHarness(PostgresDatabase database, Options options) {
        String suffix = options.urlSuffix().isEmpty() ? "" : "?" + options.urlSuffix();
        int port = options.replicationPort() == 0 ? database.cluster().port() : options.replicationPort();
        WalReader.Source source = new WalReader.Source(
                PostgresUrl.parse(database.url("sluice_repl").replaceFirst(":[0-9]+/", ":" + port + "/") + suffix),
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
                clock,
                observer);
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

    /// The end of what came in last.
    Lsn seen() {
        return seen;
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
