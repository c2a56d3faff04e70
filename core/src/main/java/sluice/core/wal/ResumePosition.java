package sluice.core.wal;

import org.jspecify.annotations.Nullable;

/// Where a client says it was: it has everything before this position, and maybe what is at it.
///
/// @param lsn a commit LSN; null when what the client sent is none
/// @param history the `history` it was told beside the position; null when it sent none
public record ResumePosition(@Nullable Lsn lsn, @Nullable String history, Scope scope) {
    /// What the position is said of.
    public enum Scope {
        /// One shape, which was complete there.
        SHAPE,
        /// A table of which the request has several shapes: which of them was complete there is not known.
        TABLE_OF_SEVERAL
    }
}
