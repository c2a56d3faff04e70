package sluice.server.app;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import sluice.core.transaction.WalEvent;

/// How late commits are dispatched. The engine's thread reports; any thread asks.
///
/// Late is the age of the commit being dispatched, or of the last one while others wait behind it. Once none waits,
/// the lateness of the last is shown for two seconds more: while old commits trickle in, each found by an engine that
/// had nothing to do, changes are late all the same. It never is the age of a commit that was dispatched on time.
final class Lateness {
    static final Duration SHOWN = Duration.ofSeconds(2);

    private sealed interface State {}

    private record Quiet() implements State {}

    private record Dispatching(Instant commitTime) implements State {}

    private record Drained(Duration last, Instant at) implements State {}

    private final AtomicReference<State> state = new AtomicReference<>(new Quiet());

    /// The engine's own: between the pieces of a commit that came from a file nothing waits, and it is not over.
    private boolean spilled;

    /// This event is dispatched next.
    void begins(WalEvent event) {
        switch (event) {
            case WalEvent.Committed(var transaction) -> state.set(new Dispatching(transaction.commitTime()));
            case WalEvent.SpilledBegin begin -> {
                spilled = true;
                state.set(new Dispatching(begin.commitTime()));
            }
            case WalEvent.SpilledEnd end -> spilled = false;
            case WalEvent.SpilledImages images -> {}
            case WalEvent.SpilledChunk chunk -> {}
            case WalEvent.LoneMessage message -> {}
            case WalEvent.TimelineLeft left -> {}
            case WalEvent.Idle idle -> {}
        }
    }

    /// All that came has been dispatched.
    void drained(Instant now) {
        if (!spilled && state.get() instanceof Dispatching(var commitTime)) {
            state.set(new Drained(age(commitTime, now), now));
        }
    }

    Duration at(Instant now) {
        return switch (state.get()) {
            case Quiet() -> Duration.ZERO;
            case Dispatching(var commitTime) -> age(commitTime, now);
            case Drained(var last, var at) -> now.isBefore(at.plus(SHOWN)) ? last : Duration.ZERO;
        };
    }

    /// A database whose clock is ahead is not late.
    private static Duration age(Instant commitTime, Instant now) {
        Duration age = Duration.between(commitTime, now);
        return age.isNegative() ? Duration.ZERO : age;
    }
}
