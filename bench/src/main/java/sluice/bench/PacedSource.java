package sluice.bench;

import java.util.concurrent.locks.LockSupport;

/// Gives numbered events at a steady rate. One thread's.
///
/// One that takes longer than its turn does not move the next one's turn, so that a slow moment is not hidden by
/// fewer events.
abstract class PacedSource implements AutoCloseable {
    private int given;

    /// Events so far, which is the number of the last one.
    int given() {
        return given;
    }

    /// Blocks until the last of them was taken.
    void give(int count, int perSecond) throws BenchException, InterruptedException {
        long turn = System.nanoTime();
        for (int i = 0; i < count; i++) {
            for (long left = turn - System.nanoTime(); left > 0; left = turn - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            give(given + 1);
            given++;
            turn += 1_000_000_000L / perSecond;
        }
    }

    /// Blocks until it was taken.
    abstract void give(int number) throws BenchException, InterruptedException;

    @Override
    public abstract void close() throws BenchException;
}
