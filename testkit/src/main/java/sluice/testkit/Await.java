package sluice.testkit;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/// Waits for a condition instead of for a while: returns as soon as it holds, fails when the deadline passes.
public final class Await {
    /// Long enough for a loaded machine; a test that passes never waits so long.
    public static final Duration LONG = Duration.ofSeconds(30);

    private static final long PAUSE_NANOS = Duration.ofMillis(5).toNanos();

    private Await() {}

    /// @param what is awaited, for the message: "the slot is active"
    /// @throws AssertionError when the condition still does not hold at the deadline
    public static void until(String what, Duration max, Callable<Boolean> condition) {
        long deadline = System.nanoTime() + max.toNanos();
        while (!ask(condition)) {
            if (System.nanoTime() - deadline >= 0) {
                throw new AssertionError("not within " + max + ": " + what);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    public static void until(String what, Callable<Boolean> condition) {
        until(what, LONG, condition);
    }

    private static boolean ask(Callable<Boolean> condition) {
        try {
            return condition.call();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
