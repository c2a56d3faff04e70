package sluice.server.postgres.wal;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/// When the server that is read was last heard, from one connection to the next. The reader's thread reports; any
/// thread asks.
final class Contact {
    private sealed interface State {}

    /// Nothing was ever read: nobody waits for what comes.
    private record None() implements State {}

    private record Made(ReplicationConnection connection) implements State {}

    private record Lost(long heardAt) implements State {}

    private final ReaderClock clock;
    private final long silentNanosMax;
    private final AtomicReference<State> state = new AtomicReference<>(new None());

    /// @param silence of an open connection up to which its server counts as heard
    Contact(ReaderClock clock, Duration silence) {
        this.clock = clock;
        this.silentNanosMax = silence.toNanos();
    }

    void made(ReplicationConnection connection) {
        state.set(new Made(connection));
    }

    /// The connection is over; what was heard over it last still counts.
    void lost() {
        if (state.get() instanceof Made(var connection)) {
            state.set(new Lost(clock.nanos() - connection.silentNanos()));
        }
    }

    boolean isHeard() {
        return state.get() instanceof Made(var connection) && connection.silentNanos() <= silentNanosMax;
    }

    /// How long the server has not been heard; zero while it is, and before it was for the first time.
    Duration unheard() {
        long nanos = switch (state.get()) {
            case None() -> 0;
            case Made(var connection) -> connection.silentNanos() <= silentNanosMax ? 0 : connection.silentNanos();
            case Lost(var heardAt) -> clock.nanos() - heardAt;
        };
        return Duration.ofNanos(nanos);
    }
}
