package sluice.server.app;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.Input;
import sluice.core.transaction.Change;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.server.metrics.Metrics;
import sluice.server.postgres.query.SlotStatus;
import sluice.server.postgres.wal.ReaderState;
import sluice.server.postgres.wal.WalReader;
import sluice.server.runtime.EngineThread;
import sluice.server.runtime.WalInbox;

/// What this process knows of its reader: whether streams may open, how late changes are, and when it is over.
///
/// {@link #watch} and {@link #watchLag} are called by timers; everything else may be asked from any thread.
final class Replication implements EngineThread.Observer {
    private static final Duration LAG_TOLD_EVERY = Duration.ofSeconds(1);
    private static final Duration CATCH_UP_MAX = Duration.ofSeconds(2);

    private final AtomicBoolean serving = new AtomicBoolean();
    private final AtomicBoolean late = new AtomicBoolean();
    private final Lateness lateness = new Lateness();
    private final CompletableFuture<String> ended = new CompletableFuture<>();
    private final InstantSource clock;
    private final Metrics metrics;
    private final Lsn catalogAt;

    /// The lag timer's own.
    private Instant lagToldAt = Instant.EPOCH;

    /// The timer's own.
    private @Nullable Instant streamingSince;

    /// The timer's own.
    private final String incarnation;
    private ReaderState lastSeen = ReaderState.RECONNECTING;

    /// @param catalogAt where the log stood when the engine's first catalog was read
    /// @param incarnation names this process's reading of the slot, as no other was ever named
    Replication(InstantSource clock, Metrics metrics, Lsn catalogAt, String incarnation) {
        this.incarnation = incarnation;
        this.catalogAt = catalogAt;
        this.clock = clock;
        this.metrics = metrics;
    }

    /// Whether every later commit reaches the engine, so that a stream opened now misses nothing.
    boolean isServing() {
        return serving.get();
    }

    /// Completed with the reason when this process can no longer serve what it promised.
    CompletableFuture<String> ended() {
        return ended;
    }

    /// How late changes are: the age of the commit being dispatched, or how long PostgreSQL has not been heard,
    /// where that is longer. Zero when it is heard and the engine has caught up.
    ///
    /// @param unheard what {@link WalReader#unheard} says
    Duration lag(Duration unheard) {
        Duration late = lateness.at(clock.instant());
        return late.compareTo(unheard) >= 0 ? late : unheard;
    }

    /// Whether changes arrive late, as {@link #watchLag} saw it last.
    boolean isLate() {
        return late.get();
    }

    /// Looks at the lag: changes are late from the moment it reaches this much until it has fallen below half
    /// of it. Tells the engine when that changes, and once a second while they are late. A timer's.
    ///
    /// @param lag as of now
    /// @param degraded zero never reports it
    void watchLag(Duration lag, Consumer<Input> engine, Duration degraded) {
        if (degraded.isZero()) {
            return;
        }
        boolean before = late.get();
        if (lag.compareTo(degraded) >= 0) {
            late.set(true);
        } else if (lag.multipliedBy(2).compareTo(degraded) < 0) {
            late.set(false);
        }
        Instant now = clock.instant();
        if (late.get() && (!before || !now.isBefore(lagToldAt.plus(LAG_TOLD_EVERY)))) {
            lagToldAt = now;
            engine.accept(new Input.Lagging(lag));
        } else if (before && !late.get()) {
            engine.accept(new Input.Lagging(Duration.ZERO));
        }
    }

    @Override
    public void begins(WalEvent event) {
        lateness.begins(event);
    }

    @Override
    public void drained() {
        lateness.drained(clock.instant());
    }

    @Override
    public void dispatched(WalEvent event, long nanos) {
        switch (event) {
            case WalEvent.Committed(var transaction) -> count(transaction.changes(), nanos);
            case WalEvent.SpilledBegin begin -> metrics.transactionSpilled();
            // its changes are counted once, by their net images
            case WalEvent.SpilledImages images -> {}
            case WalEvent.SpilledChunk chunk -> count(chunk.changes(), nanos);
            case WalEvent.SpilledEnd end -> {}
            case WalEvent.LoneMessage message -> {}
            case WalEvent.TimelineLeft left -> {}
            case WalEvent.Idle idle -> {}
        }
    }

    /// The time of a commit is shared out evenly among its changes.
    private void count(List<Change> changes, long nanos) {
        for (Change change : changes) {
            metrics.dispatchTook(change.relation().schema(), change.relation().name(), nanos / 1e9 / changes.size());
        }
    }

    /// Looks at the reader's state, and lets streams in once it streams.
    ///
    /// @param status null when the slot could not be read just now
    void watch(WalReader reader, EngineThread engine, WalInbox inbox, @Nullable SlotStatus status) {
        ReaderState state = reader.state();
        ReaderState seen = lastSeen;
        lastSeen = state;
        switch (state) {
            case STREAMING -> {
                metrics.readerLeads();
                Lsn confirmed = status == null ? null : status.confirmed();
                if (!serving.get() && confirmed != null && isCaughtUp(inbox)) {
                    engine.submit(new Input.Replicating(confirmed, incarnation));
                    serving.set(true);
                }
            }
            case STANDBY -> {
                metrics.readerStandsBy();
                if (serving.get()) {
                    end("the reader lock was lost to another process");
                }
            }
            case STOPPED -> {
                Throwable failure = reader.failure();
                end(failure == null ? "the reader stopped" : String.valueOf(failure.getMessage()));
            }
            case RECONNECTING -> {
                if (seen == ReaderState.STREAMING) {
                    engine.submit(new Input.Interrupted());
                    metrics.readerReconnected();
                }
            }
            case CREATING_SLOT -> {}
        }
    }

    /// Whether the engine has dispatched what was committed before its catalog was read: of that it cannot say who
    /// might see it. A log that stays silent does not keep streams out for long.
    private boolean isCaughtUp(WalInbox inbox) {
        Instant since = streamingSince;
        if (since == null) {
            since = clock.instant();
            streamingSince = since;
        }
        return inbox.confirmable().reaches(catalogAt)
                || (clock.instant().isAfter(since.plus(CATCH_UP_MAX)) && inbox.weightBytes() == 0);
    }

    /// Whether the reader's state has to be looked at closely: streams wait to be let in.
    boolean isStarting(WalReader reader) {
        return !serving.get() && reader.state() == ReaderState.STREAMING;
    }

    void end(String reason) {
        serving.set(false);
        ended.complete(reason);
    }
}
