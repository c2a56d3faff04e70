package sluice.bench.client;

/// What went wrong on all streams together. One thread's.
final class Faults {
    private long duplicated;
    private long outOfOrder;
    private long seqBroken;
    private long unexpected;

    void duplicate() {
        duplicated++;
    }

    void late() {
        outOfOrder++;
    }

    void brokenSeq() {
        seqBroken++;
    }

    void unexpected() {
        unexpected++;
    }

    /// Rows that a stream received a second time.
    long duplicated() {
        return duplicated;
    }

    /// Rows that came after a later one.
    long outOfOrder() {
        return outOfOrder;
    }

    /// Events whose `seq` is not one more than that of the event before.
    long seqBroken() {
        return seqBroken;
    }

    /// Events that nobody wrote: a row number out of range, or an event that cannot be read.
    long unexpectedEvents() {
        return unexpected;
    }
}
