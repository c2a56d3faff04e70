package sluice.server.snapshot;

/// A spool could not take or give rows.
final class SpoolException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Kind kind;

    /// What went wrong.
    enum Kind {
        /// All spools together hold as much as they may.
        FULL,
        /// The folder failed.
        BROKEN,
        /// Nobody wants the rows any more.
        DROPPED
    }

    SpoolException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }
}
