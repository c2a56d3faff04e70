package sluice.testkit.seed;

import java.util.stream.LongStream;

/// Runs a test under many seeds and says which one failed and how to run it alone.
public final class Seeds {
    /// How many times more seeds a long run takes.
    public static final int LONG_FACTOR = 50;

    @FunctionalInterface
    public interface Run {
        void under(SeededRandom random) throws Exception;
    }

    private Seeds() {}

    /// Whether this is a long run: `-Dsluice.long=true`.
    public static boolean isLong() {
        return Boolean.getBoolean("sluice.long");
    }

    /// The seeds 1 to count; in a long run as many times more; with `-Dsluice.seed=N` only that one.
    public static void each(int count, Run run) {
        Long only = Long.getLong("sluice.seed");
        LongStream seeds = only != null
                ? LongStream.of(only)
                : LongStream.rangeClosed(1, (long) count * (isLong() ? LONG_FACTOR : 1));
        seeds.forEach(seed -> under(seed, run));
    }

    /// One seed that failed before and is kept.
    public static void under(long seed, Run run) {
        try {
            run.under(new SeededRandom(seed));
        } catch (Exception | AssertionError | StackOverflowError failure) {
            String message = "seed " + seed + " failed; alone: -Dsluice.seed=" + seed + "\n" + failure;
            throw new AssertionError(message, failure);
        }
    }
}
