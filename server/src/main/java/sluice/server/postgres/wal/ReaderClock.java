package sluice.server.postgres.wal;

/// Time as the reader sees it, so that tests need not wait.
public interface ReaderClock {
    /// Nanoseconds from some fixed point.
    long nanos();

    /// Gives up the processor for about so long; may return early.
    void park(long nanos);

    /// The real one.
    static ReaderClock system() {
        return new ReaderClock() {
            @Override
            public long nanos() {
                return System.nanoTime();
            }

            @Override
            public void park(long nanos) {
                java.util.concurrent.locks.LockSupport.parkNanos(nanos);
            }
        };
    }
}
