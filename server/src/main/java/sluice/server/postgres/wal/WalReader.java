package sluice.server.postgres.wal;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.dispatch.Notice;
import sluice.core.pgoutput.DecodeException;
import sluice.core.transaction.CatalogKeys;
import sluice.core.transaction.SpillException;
import sluice.core.transaction.TransactionAssembler;
import sluice.core.transaction.TransactionImages;
import sluice.core.wal.Lsn;
import sluice.core.wal.SlotName;
import sluice.server.postgres.PostgresUrl;

/// Reads the slot for as long as the process lives, on the thread that runs it.
///
/// Life: waits for the reader lock ({@link ReaderState#STANDBY}), connects, makes the slot when there is none,
/// streams, and after a failure connects again, from the end of the last commit it handed over. It ends when told
/// to, or for a reason that another attempt cannot cure: the slot is lost, another system answers, the stream
/// cannot be decoded, a commit can be held nowhere. Then {@link #failure} says why, and the process must end.
///
/// Other threads may ask for the state, hand over a catalog, and stop it; everything else belongs to its own.
public final class WalReader implements Runnable {
    private static final long LOCK_RETRY_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long FIRST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long GOOD_STREAM_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long PARK_SLICE_NANOS = Duration.ofMillis(50).toNanos();
    private static final Duration SILENCE_MIN = Duration.ofSeconds(5);

    /// Attempts in a row at which pool and replication led to different servers, while one may be taking over from
    /// the other: about half a minute.
    private static final int APART_MAX = 6;

    private final Source source;
    private final ReaderClock clock;
    private final ReaderObserver observer;
    private final FileSpillStore spill;
    private final SlotMark mark;
    private final CatalogKeys keys = new CatalogKeys();
    private final TransactionAssembler assembler;
    private final WalSink sink;
    private final ReaderLock lock;
    private final Attempt attempt = new Attempt();
    private final History history = new History();

    // The few things other threads see.
    private final AtomicReference<ReaderState> state = new AtomicReference<>(ReaderState.RECONNECTING);
    private final AtomicReference<@Nullable CatalogImage> newCatalog = new AtomicReference<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicReference<@Nullable SlotCreation> creation = new AtomicReference<>();
    private final Contact contact;
    private final AtomicReference<@Nullable PoolServer> server = new AtomicReference<>();
    private final AtomicReference<Wish> wish = new AtomicReference<>(Wish.RUN);

    private enum Wish {
        RUN,
        STOP
    }

    /// Whether `pg_logical_emit_message` is delivered.
    public enum Messages {
        DELIVERED,
        IGNORED
    }

    /// What to do with a slot that was invalidated before this process started.
    public enum LostSlot {
        STOP,
        RECREATE
    }

    /// What is read, and how.
    ///
    /// @param replication with or without `replication=database`
    /// @param lock where the reader lock is held; an ordinary session
    /// @param protocol null for the highest the server has
    /// @param statusInterval between acknowledgements, at most
    public record Source(
            PostgresUrl replication,
            PostgresUrl lock,
            SlotName slot,
            String publication,
            @Nullable Integer protocol,
            Messages messages,
            Duration statusInterval,
            LostSlot lostSlot) {}

    /// A slot being created.
    ///
    /// @param sinceNanos of the reader's clock
    /// @param backendPid of the session that waits
    public record SlotCreation(long sinceNanos, int backendPid) {}

    /// What this process has seen of the slot; moves from one connection to the next.
    private static final class Attempt {
        private int failures;
        private int apart;
        private Lsn reported = Lsn.ZERO;
        private boolean streamed;
        private @Nullable ReplicationSlot invalidated;
    }

    /// @param observer called on the reader's thread
    public WalReader(
            Source source,
            FileSpillStore spill,
            TransactionAssembler.Bounds bounds,
            TransactionImages images,
            WalSink sink,
            ReaderClock clock,
            ReaderObserver observer) {
        this.source = source;
        this.spill = spill;
        this.assembler = new TransactionAssembler(keys, spill, bounds, images);
        this.sink = sink;
        this.clock = clock;
        this.contact = new Contact(clock, silenceMax(source));
        this.observer = observer;
        this.mark = new SlotMark(spill.folder(), source.slot());
        this.lock = new ReaderLock(source.lock().withoutReplication(), source.slot());
    }

    private static Duration silenceMax(Source source) {
        Duration answered = source.statusInterval().multipliedBy(2);
        return answered.compareTo(SILENCE_MIN) >= 0 ? answered : SILENCE_MIN;
    }

    /// The server that answered last, whose log is read; null before the first. Any thread.
    public @Nullable PoolServer server() {
        return server.get();
    }

    /// The timeline whose commits are handed over; 0 before the first connection, one that no server has from when
    /// another one answers until the sink has taken {@link sluice.core.transaction.WalEvent.TimelineLeft}. Any
    /// thread.
    public int timeline() {
        return history.timeline();
    }

    public ReaderState state() {
        return state.get();
    }

    /// The slot being created, null while none is: what {@link SlotCreationWatch} looks at.
    public @Nullable SlotCreation creation() {
        return creation.get();
    }

    /// Why the reader gave up, null while it has not or when it was told to stop.
    public @Nullable Throwable failure() {
        return failure.get();
    }

    /// Commits that PostgreSQL sent again and that were dropped. Exact once the reader has stopped, else of late.
    public long discarded() {
        return assembler.discarded();
    }

    /// Whether it streams, and the server is heard: each acknowledgement asks for an answer, so twice the interval
    /// between them (at least five seconds) without any says that something is wrong.
    public boolean isHeard() {
        return contact.isHeard();
    }

    /// How long the server has not been heard, over no connection, so that whatever it committed meanwhile is late.
    /// Zero while it is heard, and before the first time.
    public Duration unheard() {
        return contact.unheard();
    }

    /// Hands over the newest catalog, for the keys of tables with identity FULL.
    public void useCatalog(CatalogImage image) {
        newCatalog.set(image);
    }

    /// Asks the reader to end; it does so within a moment, confirming what may be confirmed.
    public void stop() {
        wish.set(Wish.STOP);
    }

    @Override
    public void run() {
        try {
            while (wish.get() == Wish.RUN) {
                if (acquireLock()) {
                    streamOnce();
                }
            }
        } catch (ReplicationException | DecodeException | SpillException | IllegalStateException e) {
            failure.set(e);
            notice(Notice.Level.ERROR, "replication stopped", "err", String.valueOf(e.getMessage()));
        } finally {
            assembler.abandon();
            lock.release();
            state.set(ReaderState.STOPPED);
        }
    }

    private boolean acquireLock() {
        try {
            if (lock.isHeld()) {
                return true;
            }
            if (lock.tryAcquire()) {
                spill.clean();
                return true;
            }
            if (state.get() != ReaderState.STANDBY) {
                notice(
                        Notice.Level.INFO,
                        "standing by for the reader lock",
                        "slot",
                        source.slot().text());
            }
            state.set(ReaderState.STANDBY);
            pause(LOCK_RETRY_NANOS);
        } catch (SQLException e) {
            failedAttempt("the reader lock cannot be asked for", e);
        }
        return false;
    }

    private void streamOnce() {
        long started = clock.nanos();
        try (ReplicationConnection connection = ReplicationConnection.open(source.replication(), clock)) {
            int protocol = prepare(connection);
            connection.start(source, protocol, startPosition());
            attempt.streamed = true;
            remember();
            contact.made(connection);
            state.set(ReaderState.STREAMING);
            notice(
                    Notice.Level.INFO,
                    "replication started",
                    "slot",
                    source.slot().text());
            Streaming streaming = new Streaming(
                    connection,
                    new Streaming.Ports(assembler, history, sink, lock, clock, observer),
                    source.statusInterval());
            try {
                streaming.run(this::mayGoOn);
            } finally {
                contact.lost();
                attempt.reported = attempt.reported.max(streaming.reported());
                remember();
                assembler.abandon();
                if (clock.nanos() - started > GOOD_STREAM_NANOS) {
                    attempt.failures = 0;
                }
            }
            state.set(ReaderState.RECONNECTING);
        } catch (SQLException e) {
            failedAttempt("the replication connection failed", e);
        }
    }

    private boolean mayGoOn() {
        CatalogImage catalog = newCatalog.getAndSet(null);
        if (catalog != null) {
            keys.use(catalog);
        }
        return wish.get() == Wish.RUN;
    }

    private void failedAttempt(String what, SQLException e) {
        state.set(ReaderState.RECONNECTING);
        long pause = Backoff.nanos(attempt.failures++, FIRST_PAUSE_NANOS, LONGEST_PAUSE_NANOS, clock.nanos());
        notice(
                Notice.Level.WARN,
                what,
                "sql_state",
                String.valueOf(e.getSQLState()),
                "reason",
                reason(e),
                "retry_ms",
                Long.toString(pause / 1_000_000));
        pause(pause);
    }

    /// Of connecting, which names users, databases and hosts; whatever else the server says stays out of the log.
    private static String reason(SQLException failure) {
        String state = String.valueOf(failure.getSQLState());
        boolean plain = state.startsWith("08") || state.startsWith("28") || state.startsWith("3D");
        String text = failure.getMessage();
        return plain && text != null ? text.lines().findFirst().orElse("") : "";
    }

    private void remember() {
        mark.write(new SlotMark.Known(history.systemId(), attempt.reported));
    }

    private void pause(long nanos) {
        long end = clock.nanos() + nanos;
        while (wish.get() == Wish.RUN && end - clock.nanos() > 0) {
            clock.park(Math.min(PARK_SLICE_NANOS, end - clock.nanos()));
        }
    }

    /// Makes sure that this is the system, the database and the slot it was, that the pool leads there too, and
    /// that the slot can deliver everything.
    private int prepare(ReplicationConnection connection) throws SQLException {
        ReplicationConnection.SystemIdentity identity = connection.identify();
        requireSameServer(connection, identity);
        history.meet(connection::switchPoint, identity);
        if (history.leftAt() != null) {
            observer.timelineMoved();
        }
        server.set(
                new PoolServer(identity.systemId(), identity.timeline(), identity.database(), PoolServer.Role.PRIMARY));
        int highest = connection.serverMajor() >= 16 ? 4 : connection.serverMajor() == 15 ? 3 : 2;
        Integer asked = source.protocol();
        if (asked != null && asked > highest) {
            throw new ReplicationException("SLUICE_PROTO_VERSION is " + asked + ", PostgreSQL "
                    + connection.serverMajor() + " has at most " + highest);
        }
        ReplicationSlot slot = ReplicationSlot.read(connection.sql(), source.slot());
        if (slot != null) {
            slot.requireOurs(source.slot(), identity.database());
            slot = requireUnbroken(connection, slot);
        } else if (attempt.streamed) {
            throw new SlotLostException("slot \"" + source.slot() + "\" was dropped");
        }
        if (slot == null) {
            create(connection);
        }
        return asked != null ? asked : highest;
    }

    private void requireSameServer(ReplicationConnection connection, ReplicationConnection.SystemIdentity identity)
            throws SQLException {
        PoolServer pool = lock.server();
        SameServer.require(identity, pool);
        String difference = connection.isInRecovery() ? SameServer.STANDBY : SameServer.difference(identity, pool);
        if (difference == null) {
            attempt.apart = 0;
            return;
        }
        if (++attempt.apart >= APART_MAX) {
            throw new ReplicationException(difference);
        }
        // the next attempt asks for the lock in a session of its own, which may lead to the right server
        lock.release();
        throw new SQLException(difference, "08004");
    }

    /// After the last commit that was handed over, as far as it is part of the history that answers.
    private Lsn startPosition() {
        Lsn left = history.leftAt();
        return left == null ? assembler.lastEnd() : assembler.lastEnd().min(left);
    }

    /// The slot when it can deliver everything since it was last confirmed; null when it was
    /// dropped to be made anew.
    private @Nullable ReplicationSlot requireUnbroken(ReplicationConnection connection, ReplicationSlot slot)
            throws SQLException {
        if (slot.lost() == null) {
            if (attempt.streamed && slot.confirmed().isAfter(attempt.reported)) {
                throw new SlotLostException("slot \"" + source.slot() + "\" is not the one it was: confirmed at "
                        + slot.confirmed() + ", by this process only to " + attempt.reported);
            }
            return slot;
        }
        if (attempt.streamed || source.lostSlot() == LostSlot.STOP) {
            throw new SlotLostException("slot \"" + source.slot() + "\" was invalidated (" + slot.lost()
                    + "); drop it, or set SLUICE_SLOT_RECREATE=true, and have clients read their state again");
        }
        ReplicationSlot.drop(connection.sql(), source.slot());
        attempt.invalidated = slot;
        return null;
    }

    private void create(ReplicationConnection connection) throws SQLException {
        Lsn from;
        state.set(ReaderState.CREATING_SLOT);
        creation.set(new SlotCreation(clock.nanos(), connection.backendPid()));
        try {
            connection.waitWithoutLimit();
            from = ReplicationSlot.create(connection.sql(), source.slot());
        } finally {
            creation.set(null);
        }
        SlotMark.Known known = mark.read();
        ReplicationSlot invalidated = attempt.invalidated;
        if (invalidated != null) {
            recreated("invalidated: " + invalidated.lost(), invalidated.confirmed(), from);
            attempt.invalidated = null;
        } else if (known != null && known.systemId().equals(history.systemId())) {
            recreated("missing: it was dropped, or the database was restored", known.confirmed(), from);
        } else {
            notice(
                    Notice.Level.INFO,
                    "replication slot created",
                    "slot",
                    source.slot().text(),
                    "from_lsn",
                    from.toString());
        }
    }

    private void recreated(String reason, Lsn confirmed, Lsn from) {
        observer.slotRecreated();
        notice(
                Notice.Level.WARN,
                "replication slot recreated; changes made while it was unusable are not delivered",
                "slot",
                source.slot().text(),
                "reason",
                reason,
                "confirmed_lsn",
                confirmed.toString(),
                "from_lsn",
                from.toString());
    }

    private void notice(Notice.Level level, String message, String... fields) {
        observer.notice(new Notice(level, message, List.of(fields)));
    }
}
