package sluice.bench.client;

import java.time.Instant;

/// The clock that PostgreSQL's commit times are of, since all processes run on one machine.
public final class WallClock {
    private WallClock() {}

    /// Since the epoch.
    public static long micros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }
}
