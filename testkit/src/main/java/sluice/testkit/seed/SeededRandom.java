package sluice.testkit.seed;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// A stream of numbers that depends on its seed and on nothing else (SplitMix64, so it does not change with the JDK).
///
/// Components that draw independently get a [#fork] each: then one more draw here does not change what is drawn
/// there, and a failing seed still fails after an unrelated change. One thread at a time.
public final class SeededRandom {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final long seed;
    private long state;

    public SeededRandom(long seed) {
        this.seed = seed;
        this.state = mixed(seed + GOLDEN);
    }

    public long seed() {
        return seed;
    }

    /// A stream of its own, which depends on this one's seed and the name, not on what was drawn.
    public SeededRandom fork(String name) {
        long hash = seed;
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            hash = mixed(hash ^ b) + GOLDEN;
        }
        return new SeededRandom(hash);
    }

    public long nextLong() {
        state += GOLDEN;
        return mixed(state);
    }

    /// From 0 up to but without the bound.
    public int below(int bound) {
        if (bound <= 0) {
            throw new IllegalArgumentException("bound " + bound + " is not positive");
        }
        return (int) (((nextLong() >>> 32) * bound) >>> 32);
    }

    /// Both ends included.
    public int between(int least, int greatest) {
        return (int) between((long) least, (long) greatest);
    }

    /// Both ends included.
    public long between(long least, long greatest) {
        if (least > greatest) {
            throw new IllegalArgumentException(least + " is greater than " + greatest);
        }
        long span = greatest - least + 1;
        if (span == 0) {
            return nextLong(); // all there are
        }
        return least + Long.remainderUnsigned(nextLong(), span);
    }

    /// @param probability from 0, never, to 1, always
    public boolean chance(double probability) {
        return (nextLong() >>> 11) * 0x1.0p-53 < probability;
    }

    public boolean flip() {
        return nextLong() < 0;
    }

    public <T> T pick(List<T> choices) {
        return choices.get(below(choices.size()));
    }

    @SafeVarargs
    public final <T> T pick(T... choices) {
        return choices[below(choices.length)];
    }

    /// The index of one of the weights, each as likely as it is heavy.
    public int weighted(int... weights) {
        int sum = 0;
        for (int weight : weights) {
            sum += weight;
        }
        int draw = below(sum);
        for (int i = 0; i < weights.length; i++) {
            draw -= weights[i];
            if (draw < 0) {
                return i;
            }
        }
        throw new IllegalStateException("drew beyond the sum of the weights");
    }

    public <T> List<T> shuffled(List<T> items) {
        List<T> shuffled = new ArrayList<>(items);
        for (int i = shuffled.size() - 1; i > 0; i--) {
            int j = below(i + 1);
            T held = shuffled.get(i);
            shuffled.set(i, shuffled.get(j));
            shuffled.set(j, held);
        }
        return shuffled;
    }

    /// Each item or not, in their order; perhaps none.
    public <T> List<T> some(List<T> items) {
        List<T> chosen = new ArrayList<>();
        for (T item : items) {
            if (flip()) {
                chosen.add(item);
            }
        }
        return chosen;
    }

    private static long mixed(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    @Override
    public String toString() {
        return "seed " + seed;
    }
}
