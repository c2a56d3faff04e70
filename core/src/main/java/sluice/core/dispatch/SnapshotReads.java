package sluice.core.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Rule;
import sluice.core.catalog.CatalogImage;
import sluice.core.error.ErrorCode;
import sluice.core.event.EventBody;
import sluice.core.event.StreamEvent;
import sluice.core.event.StreamEvent.Completeness;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.snapshot.SnapshotOutcome.Truncated;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.wal.Lsn;

/// Subscriptions that read their table before they go live. Owned by the engine's thread.
///
/// Life of one: PostgreSQL is asked; its rows are sent once the log has passed the answer, as the stream's queue
/// takes them; then `snapshot_end`; then the commits that the snapshot does not show, from the buffer, in order;
/// then it is live. Nothing is held open in the database while a client is waited for.
///
/// Rows are sent only under the rule they were read under. When that moves before the first row, everything begins
/// again; after it, the subscription ends, and so it does when rows PostgreSQL decided lie too long.
final class SnapshotReads {
    private static final int BEGINNINGS_MAX = 5;

    /// PostgreSQL decided who sees these rows from other tables, which move: past this they are read again.
    private static final Duration PROBED_ROWS_KEPT = Duration.ofSeconds(60);

    /// What it needs of the engine.
    interface Host {
        @Nullable
        TableState table(int relationOid);

        CatalogImage catalog();

        CommitOrder order();

        Instant now();

        Lsn position();

        void endSubscription(Subscription subscription, ErrorCode code, String message);
    }

    /// One question, from its asking to its last row. Room of the stream's queue is promised to the rows asked for.
    private static final class Reading {
        final long id;
        final Subscription subscription;
        final int beginning;
        final int generation;
        final int doubts;
        final long from;
        SnapshotOutcome.@Nullable Read read;
        Instant readAt = Instant.EPOCH;
        long rowsSent;
        boolean taking;
        long promisedFrames;
        long promisedBytes;

        Reading(long id, Subscription subscription, TableState table, int beginning, long from) {
            this.id = id;
            this.subscription = subscription;
            this.beginning = beginning;
            this.generation = subscription.generation();
            this.doubts = table.doubts().raised();
            this.from = from;
        }

        void take(long frames, long bytes) {
            taking = true;
            promisedFrames = frames;
            promisedBytes = bytes;
            subscription.stream().promise(frames, bytes);
        }

        void taken() {
            taking = false;
            subscription.stream().promise(-promisedFrames, -promisedBytes);
            promisedFrames = 0;
            promisedBytes = 0;
        }
    }

    private final Host host;
    private final CatchUp catchUp;
    private final FrameSink sink;
    private final EffectSink effects;
    private final EngineSettings settings;
    private final LongSupplier requestIds;
    private final Map<Long, Reading> readingsById = new LinkedHashMap<>();

    SnapshotReads(Host host, CatchUp catchUp, Feeds.Ports ports, EngineSettings settings) {
        this.host = host;
        this.catchUp = catchUp;
        this.sink = ports.sink();
        this.effects = ports.effects();
        this.requestIds = ports.requestIds();
        this.settings = settings;
    }

    /// The subscription, already apart from its stream, gets its rows first.
    void begin(Subscription subscription) {
        begin(subscription, 1);
    }

    private void begin(Subscription subscription, int beginning) {
        TableState table = host.table(subscription.relationOid());
        if (beginning > BEGINNINGS_MAX || table == null) {
            fail(subscription, "rights or the connection moved too often while the rows were being read");
            return;
        }
        // what was dispatched before this number is visible to every question asked from now on
        long from = host.order().unseen().oldest();
        Reading reading = new Reading(requestIds.getAsLong(), subscription, table, beginning, from);
        readingsById.put(reading.id, reading);
        subscription.undecidableBefore(table.rightsMovedUntil());
        effects.emit(new Effect.ReadSnapshot(
                reading.id,
                subscription.stream().identity(),
                host.catalog(),
                table.relation(),
                subscription.projection(),
                subscription.filter()));
    }

    private void fail(Subscription subscription, String message) {
        host.endSubscription(subscription, ErrorCode.SNAPSHOT_FAILED, message);
    }

    /// An answer to {@link Effect.ReadSnapshot}, or the news that a spool cannot be read any more.
    void read(long id, SnapshotOutcome outcome) {
        Reading reading = readingsById.get(id);
        if (reading == null) {
            if (outcome instanceof SnapshotOutcome.Read read) {
                effects.emit(new Effect.DropSpool(read.spool()));
            }
            return;
        }
        switch (outcome) {
            case SnapshotOutcome.Failed(var _, var message) -> {
                forget(reading);
                fail(reading.subscription, message);
            }
            case SnapshotOutcome.Read read -> {
                reading.read = read;
                reading.readAt = host.now();
                proceed(reading);
            }
        }
    }

    /// An answer to {@link Effect.TakeRows}.
    ///
    /// @param rows none when all have been taken
    void rows(long id, List<EventBody> rows) {
        Reading reading = readingsById.get(id);
        if (reading == null) {
            return;
        }
        reading.taken();
        if (!holds(reading)) {
            return;
        }
        Subscription subscription = reading.subscription;
        StreamState stream = subscription.stream();
        for (EventBody row : rows) {
            stream.given(row.weightBytes());
            sink.change(stream.handle(), subscription.tag(), subscription.nextSeq(), row);
        }
        reading.rowsSent += rows.size();
        if (rows.isEmpty()) {
            end(reading);
        } else {
            proceed(reading);
        }
        sink.endCommit();
    }

    /// Whether the rows may still be sent: the rule is the one they were read under, and was all the while. One
    /// that gave way to another and came back may have shown them by the other.
    private boolean holds(Reading reading) {
        Subscription subscription = reading.subscription;
        TableState table = host.table(subscription.relationOid());
        boolean sameRule = subscription.generation() == reading.generation
                && table != null
                && table.doubts().raised() == reading.doubts;
        boolean fresh = !(subscription.rule().decision() instanceof Rule.Decision.Probed)
                || !host.now().isAfter(reading.readAt.plus(PROBED_ROWS_KEPT));
        if (sameRule && fresh) {
            return true;
        }
        forget(reading);
        if (reading.rowsSent > 0) {
            fail(subscription, "rights moved while the rows were being sent");
        } else {
            begin(subscription, reading.beginning + 1);
        }
        return false;
    }

    private void proceed(Reading reading) {
        SnapshotOutcome.Read read = reading.read;
        StreamState stream = reading.subscription.stream();
        if (read == null
                || reading.taking
                || !host.position().reaches(read.stamp().insertLsn())
                || !holds(reading)) {
            return;
        }
        long frames = Math.max(1, settings.queueEventsMax() / 2) - stream.queuedFrames() - stream.promisedFrames();
        long bytes = settings.queueBytesMax() / 2 - stream.queuedBytes() - stream.promisedBytes();
        if (stream.isBehind() || frames <= 0 || bytes <= 0) {
            // a stream that is behind is looked at again with each tick
            if (stream.queuedFrames() > 0) {
                stream.handle().tellWhenDrained();
            }
            return;
        }
        reading.take(frames, bytes);
        effects.emit(new Effect.TakeRows(reading.id, read.spool(), Math.toIntExact(frames), bytes));
    }

    private void end(Reading reading) {
        SnapshotOutcome.Read read = reading.read;
        if (read == null) {
            throw new IllegalStateException("rows of a snapshot that was not read");
        }
        forget(reading);
        Subscription subscription = reading.subscription;
        Frames.give(
                sink,
                subscription.stream(),
                new StreamEvent.SnapshotEnd(
                        subscription.label(),
                        reading.rowsSent,
                        read.stamp().insertLsn(),
                        read.truncated() == Truncated.TRUNCATED ? Completeness.TRUNCATED : Completeness.WHOLE));
        catchUp.apart(subscription, reading.from, read.stamp().snapshot());
    }

    private void forget(Reading reading) {
        readingsById.remove(reading.id);
        reading.taken();
        if (reading.read != null) {
            effects.emit(new Effect.DropSpool(reading.read.spool()));
        }
    }

    /// The log has been dispatched further.
    void reached() {
        proceedAll();
    }

    /// Time has passed.
    void tick() {
        for (Reading reading : List.copyOf(readingsById.values())) {
            if (reading.read != null && holds(reading)) {
                proceed(reading);
            }
        }
    }

    private void proceedAll() {
        for (Reading reading : List.copyOf(readingsById.values())) {
            proceed(reading);
        }
    }

    /// The stream may have room again.
    void wake(StreamState stream) {
        for (Reading reading : List.copyOf(readingsById.values())) {
            if (reading.subscription.stream().equals(stream)) {
                proceed(reading);
            }
        }
    }

    /// The connection to the log was lost, or another server answers: what was read may be of a state that the log
    /// does not lead to.
    void restart() {
        for (Reading reading : new ArrayList<>(readingsById.values())) {
            forget(reading);
            if (reading.rowsSent > 0) {
                fail(reading.subscription, "the connection to the log was lost while the rows were being sent");
            } else {
                begin(reading.subscription, reading.beginning + 1);
            }
        }
    }

    /// The subscription is gone.
    void forget(Subscription subscription) {
        for (Reading reading : List.copyOf(readingsById.values())) {
            if (reading.subscription.equals(subscription)) {
                forget(reading);
            }
        }
    }

    /// Commits with this number or a later one may be needed by a reading under way.
    long readsFrom() {
        long from = Long.MAX_VALUE;
        for (Reading reading : readingsById.values()) {
            from = Math.min(from, reading.from);
        }
        return from;
    }
}
