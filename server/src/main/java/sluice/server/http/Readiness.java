package sluice.server.http;

import sluice.core.wal.Lsn;

/// What `/readyz` reports. `streams` and `draining` are the HTTP side's own.
///
/// @param verdict whether the answer is 200 or 503
public record Readiness(
        Verdict verdict, Catalog catalog, Reader reader, Lsn confirmedLsn, double readerLagSeconds, Lag lag) {
    /// The status.
    public enum Verdict {
        READY,
        NOT_READY
    }

    /// Whether the catalog has been read.
    public enum Catalog {
        LOADED,
        MISSING
    }

    /// Whether this process streams from the slot.
    public enum Reader {
        REPLICATING,
        WAITING
    }

    /// Whether changes arrive late.
    public enum Lag {
        NORMAL,
        DEGRADED
    }
}
