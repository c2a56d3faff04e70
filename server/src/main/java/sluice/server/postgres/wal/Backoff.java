package sluice.server.postgres.wal;

/// Pauses between attempts: doubling to a limit, each shortened by up to a quarter so that processes that lost the
/// same server do not come back together.
final class Backoff {
    private static final int DOUBLINGS_MAX = 30;

    private Backoff() {}

    /// @param failures attempts that failed before, from 0
    /// @param spread any number that differs from process to process
    static long nanos(int failures, long first, long longest, long spread) {
        long full = Math.min(longest, first << Math.min(failures, DOUBLINGS_MAX - 10));
        long mixed = (spread * 0x9E37_79B9_7F4A_7C15L) >>> 40;
        return full - full / 4 * (mixed % 1000) / 1000;
    }
}
