package sluice.server.app;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.stream.Admission;
import sluice.server.http.JvmMemory;
import sluice.server.http.StreamGate.Refusal;
import sluice.server.metrics.Metrics;

/// Keeps streams out while memory is nearly full. Thread-safe.
///
/// What a collection found may be long gone, and a server that refuses everybody makes no garbage that would bring
/// the next one about. So a refusal asks for one, by itself at most every five seconds, and ever less often up to
/// once in two minutes while they free nothing.
final class MemoryGate {
    private static final Duration PAUSE_MIN = Duration.ofSeconds(5);
    private static final Duration PAUSE_MAX = Duration.ofMinutes(2);

    private final JvmMemory memory;
    private final InstantSource clock;
    private final Metrics metrics;
    private final Runnable collection;

    /// Null when memory is not looked at.
    private final @Nullable Admission admission;

    private final AtomicBoolean collecting = new AtomicBoolean();
    private Duration pause = PAUSE_MIN;
    private Instant nextCollection = Instant.MIN;

    /// @param share 0 never refuses
    MemoryGate(double share, JvmMemory memory, Runnable collection, InstantSource clock, Metrics metrics) {
        this.memory = memory;
        this.collection = collection;
        this.clock = clock;
        this.metrics = metrics;
        this.admission = share > 0 ? new Admission(JvmMemory.limits(share)) : null;
    }

    /// Why one more stream may not open, null when it may.
    ///
    /// @param streams open now
    synchronized @Nullable Refusal admit(int streams) {
        if (admission == null) {
            return null;
        }
        Instant now = clock.instant();
        if (admission.admit(memory.read(), streams, now) == Admission.Verdict.ADMITTED) {
            pause = PAUSE_MIN;
            return null;
        }
        askForCollection(now);
        return new Refusal(
                ErrorCode.TOO_MANY_STREAMS,
                Metrics.StreamRefusal.MEMORY,
                "this server's memory is as full as it may be (SLUICE_ADMIT_MEMORY); try again later");
    }

    /// Notes how things are. A timer's.
    synchronized void look(int streams) {
        if (admission != null) {
            Admission.Reading reading = memory.read();
            admission.look(reading, streams, clock.instant());
            metrics.memoryProjected(admission.projected(reading));
        }
    }

    private void askForCollection(Instant now) {
        if (now.isBefore(nextCollection) || !collecting.compareAndSet(false, true)) {
            return;
        }
        nextCollection = now.plus(pause);
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(PAUSE_MAX) < 0 ? longer : PAUSE_MAX;
        Thread.ofPlatform().name("collection").daemon().start(() -> {
            try {
                collection.run();
            } finally {
                collecting.set(false);
            }
        });
    }
}
