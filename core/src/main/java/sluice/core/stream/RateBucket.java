package sluice.core.stream;

import java.time.Duration;
import java.time.Instant;

/// How much of one kind a stream may ask for: a bucket that holds as many as may come at once, filled evenly over
/// time.
///
/// More than a bucket holds may be asked for in one go, by whoever has let it fill up; what was taken beyond it has
/// to be filled up first, so that over time nobody takes more than the limit however the requests are cut. Owned by
/// the engine's thread.
public final class RateBucket {
    /// So many in each window.
    ///
    /// @param count 0 for no limit
    public record Limit(int count, Duration window) {}

    private final Limit limit;

    /// Time that has been filled in and not taken out; below zero after more was taken than the bucket holds.
    private long creditNanos;

    private Instant filledAt;

    /// A full bucket.
    public RateBucket(Limit limit, Instant now) {
        this.limit = limit;
        this.creditNanos = limit.window().toNanos();
        this.filledAt = now;
    }

    /// Takes so many, or none.
    ///
    /// @param wanted at least 1
    ///
    /// @return 0 when they were taken, else the milliseconds after which they could be
    public long take(int wanted, Instant now) {
        if (limit.count() <= 0) {
            return 0;
        }
        long windowNanos = limit.window().toNanos();
        if (now.isAfter(filledAt)) {
            creditNanos = Math.min(
                    windowNanos, creditNanos + Duration.between(filledAt, now).toNanos());
            filledAt = now;
        }
        long each = windowNanos / limit.count();
        long needed = Math.min(wanted, limit.count()) * each;
        if (creditNanos < needed) {
            return Math.max(1, Math.ceilDiv(needed - creditNanos, 1_000_000L));
        }
        creditNanos -= wanted * each;
        return 0;
    }
}
