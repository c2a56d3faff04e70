package sluice.server.runtime;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The system's time, which never goes back: everything that is due after a while, such as a look at rights, would
/// wait for as long as the clock was set back.
///
/// While the system's clock is behind what was told, time goes on from there at its own pace. That ends tokens
/// early by as much, so it is done for a short way only. One thread.
public final class SteadyClock implements InstantSource {
    /// A clock that was set back further ends the process, which begins anew with the time there is.
    static final Duration BACK_MAX = Duration.ofMinutes(1);

    /// For so long the system's clock is waited for.
    static final Duration WAITED_FOR = Duration.ofMillis(100);

    private final InstantSource system;
    private final LongSupplier nanos;
    private @Nullable Instant told;
    private long toldNanos;

    /// @param nanos monotonic, as `System.nanoTime`
    public SteadyClock(InstantSource system, LongSupplier nanos) {
        this.system = system;
        this.nanos = nanos;
    }

    /// @throws IllegalStateException when the system's clock was set back too far
    @Override
    public Instant instant() {
        Instant now = system.instant();
        long nanosNow = nanos.getAsLong();
        Instant before = told;
        if (before != null && now.isBefore(before)) {
            Duration behind = Duration.between(now, before);
            if (behind.compareTo(BACK_MAX) > 0) {
                throw new IllegalStateException("the system's clock was set back by " + behind.toSeconds() + " s");
            }
            now = behind.compareTo(WAITED_FOR) <= 0 ? before : before.plusNanos(nanosNow - toldNanos);
        }
        told = now;
        toldNanos = nanosNow;
        return now;
    }
}
