package sluice.server.postgres.wal;

import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.PgOutputDecoder;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.transaction.TransactionAssembler;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

/// One connection's stream, from START until it breaks, the lock is lost or the reader is told to stop.
///
/// The same thread reads and acknowledges. While the sink is full nothing is read, and acknowledgements go on, so
/// that neither the server nor the memory notices how long the engine takes.
final class Streaming {
    /// Between two looks at an idle connection; the look itself waits a millisecond for data.
    private static final long IDLE_PARK_NANOS = Duration.ofMillis(2).toNanos();

    /// Lets data gather after a burst: fewer wake-ups on both sides, and no less throughput.
    private static final long BUSY_PARK_NANOS = Duration.ofNanos(200_000).toNanos();

    private static final long FULL_PARK_NANOS = Duration.ofMillis(1).toNanos();
    private static final long FULL_ACKNOWLEDGE_NANOS = Duration.ofMillis(250).toNanos();
    private static final long IDLE_EVENT_NANOS = Duration.ofMillis(20).toNanos();
    private static final long LOCK_CHECK_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long BUSY_NANOS = Duration.ofMillis(50).toNanos();

    /// Messages read before feedback and the lock are thought of again.
    private static final int BATCH = 1_000;

    /// Intervals without any sign of the server after which the connection counts as dead.
    /// Each acknowledgement asks for an answer, so a server that is there is heard once an interval.
    private static final int SILENT_INTERVALS = 3;

    private static final long SILENT_NANOS_MIN = Duration.ofSeconds(20).toNanos();

    private final ReplicationConnection connection;
    private final Ports ports;
    private final long intervalNanos;
    private final long silentNanosMax;
    private final PgOutputDecoder decoder = new PgOutputDecoder();
    private final MessageCounts counts = new MessageCounts();
    private long discardedBefore;

    private Lsn handedOver = Lsn.ZERO;
    private Lsn confirmed = Lsn.ZERO;
    private Lsn idleOffered = Lsn.ZERO;
    private long acknowledgedAt;
    private long idleAt;
    private long lockCheckedAt;
    private boolean lockLost;
    private long dataAt;

    /// What the stream works with; all used on the reader's thread.
    record Ports(
            TransactionAssembler assembler,
            History history,
            WalSink sink,
            ReaderLock lock,
            ReaderClock clock,
            ReaderObserver observer) {}

    Streaming(ReplicationConnection connection, Ports ports, Duration statusInterval) {
        this.connection = connection;
        this.ports = ports;
        this.intervalNanos = statusInterval.toNanos();
        this.discardedBefore = ports.assembler().discarded();
        this.silentNanosMax = Math.max(SILENT_INTERVALS * intervalNanos, SILENT_NANOS_MIN);
    }

    /// The furthest position this connection has confirmed.
    Lsn reported() {
        return confirmed;
    }

    /// @param mayGoOn asked often; false ends the stream after a last acknowledgement
    /// @throws SQLException when the connection is broken or silent for too long
    void run(BooleanSupplier mayGoOn) throws SQLException {
        long now = ports.clock().nanos();
        handedOver = ports.assembler().lastEnd();
        acknowledgedAt = now - intervalNanos;
        idleAt = now - IDLE_EVENT_NANOS;
        lockCheckedAt = now;
        connection.limitSilence(silentNanosMax);
        dataAt = now;
        if (!handOverAll(mayGoOn) || !leaveTimeline(mayGoOn)) {
            return;
        }
        while (mayGoOn.getAsBoolean()) {
            if (!holdsLock()) {
                return;
            }
            boolean read;
            try {
                read = readBatch(mayGoOn);
            } finally {
                count();
            }
            if (!read) {
                offerIdle(mayGoOn);
            }
            feedback();
            if (!read) {
                boolean busy = ports.clock().nanos() - dataAt < BUSY_NANOS;
                ports.clock().park(busy ? BUSY_PARK_NANOS : IDLE_PARK_NANOS);
            }
        }
        acknowledge();
    }

    /// Tells the sink first when another timeline is followed from here on. False when the reader was told to stop
    /// meanwhile; then, as when the connection breaks, the next one does it.
    private boolean leaveTimeline(BooleanSupplier mayGoOn) throws SQLException {
        Lsn at = ports.history().leftAt();
        if (at == null) {
            return true;
        }
        if (!handOver(new WalEvent.TimelineLeft(at), mayGoOn)) {
            return false;
        }
        ports.assembler().rewind(at);
        ports.history().adopt();
        handedOver = handedOver.min(at);
        return true;
    }

    private boolean readBatch(BooleanSupplier mayGoOn) throws SQLException {
        for (int i = 0; i < BATCH; i++) {
            ByteBuffer frame = connection.readPending();
            if (frame == null) {
                if (connection.isBroken()) {
                    throw new SQLException("the server ended the stream", "08006");
                }
                return i > 0;
            }
            dataAt = ports.clock().nanos();
            PgOutputMessage message =
                    decoder.decode(frame.array(), frame.arrayOffset() + frame.position(), frame.remaining());
            counts.count(message);
            ports.assembler().accept(message);
            if (!handOverAll(mayGoOn)) {
                return true;
            }
        }
        return true;
    }

    private void count() {
        counts.tell(ports.observer());
        long discarded = ports.assembler().discarded();
        if (discarded != discardedBefore) {
            ports.observer().discarded(discarded - discardedBefore);
            discardedBefore = discarded;
        }
    }

    /// Hands over what the assembler holds. What finds no room before the connection ends is
    /// there for the next one,
    /// which begins after the commit it belongs to. False when the reader was told to stop meanwhile.
    private boolean handOverAll(BooleanSupplier mayGoOn) throws SQLException {
        for (WalEvent event = ports.assembler().next();
                event != null;
                event = ports.assembler().next()) {
            boolean taken = false;
            try {
                taken = handOver(event, mayGoOn);
            } finally {
                if (!taken) {
                    ports.assembler().giveBack(event);
                }
            }
            if (!taken) {
                return false;
            }
        }
        return true;
    }

    /// Offers until there is room. False when the reader was told to stop meanwhile.
    private boolean handOver(WalEvent event, BooleanSupplier mayGoOn) throws SQLException {
        while (!ports.sink().offer(event)) {
            if (!mayGoOn.getAsBoolean() || !holdsLock()) {
                return false;
            }
            long now = ports.clock().nanos();
            if (now - acknowledgedAt >= Math.min(intervalNanos, FULL_ACKNOWLEDGE_NANOS)) {
                acknowledge();
            }
            // nothing is read while the sink is full, so silence says nothing about the server
            connection.listenAnew();
            ports.clock().park(FULL_PARK_NANOS);
        }
        Lsn end = endOf(event);
        if (end != null) {
            handedOver = handedOver.max(end);
        }
        return true;
    }

    private @Nullable Lsn endOf(WalEvent event) {
        return switch (event) {
            case WalEvent.Committed(var transaction) -> transaction.endLsn();
            case WalEvent.SpilledBegin head -> null;
            case WalEvent.SpilledImages images -> null;
            case WalEvent.SpilledChunk chunk -> null;
            case WalEvent.SpilledEnd end -> ports.assembler().lastEnd();
            case WalEvent.LoneMessage message -> null;
            case WalEvent.TimelineLeft left -> null;
            case WalEvent.Idle(var walEnd) -> walEnd;
        };
    }

    /// Tells the sink how far the log is empty. Only between transactions does the position
    /// received stand for that.
    private void offerIdle(BooleanSupplier mayGoOn) throws SQLException {
        long now = ports.clock().nanos();
        Lsn received = connection.received();
        if (!ports.assembler().isIdle() || !received.isAfter(idleOffered) || now - idleAt < IDLE_EVENT_NANOS) {
            return;
        }
        idleAt = now;
        idleOffered = received;
        if (received.isAfter(handedOver)) {
            handOver(new WalEvent.Idle(received), mayGoOn);
        }
    }

    private void feedback() throws SQLException {
        Lsn safe = safe();
        if (safe.isAfter(confirmed)) {
            // what the driver answers when the server asks
            connection.confirm(safe);
            confirmed = safe;
        }
        if (ports.clock().nanos() - acknowledgedAt >= intervalNanos) {
            acknowledge();
        }
    }

    /// What the sink says, but never past what it was given.
    private Lsn safe() {
        Lsn confirmable = ports.sink().confirmable();
        return confirmable.isAfter(handedOver) ? handedOver : confirmable;
    }

    private void acknowledge() throws SQLException {
        Lsn safe = safe();
        if (safe.isAfter(confirmed)) {
            connection.confirm(safe);
            confirmed = safe;
        }
        connection.acknowledge();
        acknowledgedAt = ports.clock().nanos();
    }

    private boolean holdsLock() {
        long now = ports.clock().nanos();
        if (!lockLost && now - lockCheckedAt >= LOCK_CHECK_NANOS) {
            lockCheckedAt = now;
            lockLost = !ports.lock().isHeld();
        }
        return !lockLost;
    }
}
