package sluice.core.snapshot;

import sluice.core.catalog.Stamp;

/// What came of reading the rows of a shape.
public sealed interface SnapshotOutcome {
    /// Every row of the shape that the caller saw at the stamp, in the order of the key.
    ///
    /// @param stamp its snapshot decides which transactions come after the rows; no row may be sent before the log
    ///     has been passed up to its position
    /// @param rows how many the spool holds
    record Read(Stamp stamp, long rows, Truncated truncated, SnapshotSpool spool) implements SnapshotOutcome {}

    /// Nothing was read, or not all of it: no row may be sent.
    ///
    /// @param reason a constant word, for counting
    /// @param message what to do about it; without row values
    record Failed(String reason, String message) implements SnapshotOutcome {}

    /// Whether rows are missing because there were more than a snapshot may hold.
    enum Truncated {
        COMPLETE,
        TRUNCATED
    }
}
