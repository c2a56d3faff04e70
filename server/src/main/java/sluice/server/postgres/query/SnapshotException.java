package sluice.server.postgres.query;

/// Rows of a shape could not be read. The message tells a client what to do about it, and holds no row value.
public final class SnapshotException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /// What stood in the way.
    public enum Reason {
        /// The database could not be reached, or gave up.
        UNAVAILABLE("unavailable"),
        /// The pool does not lead to the server the log is read from.
        ANOTHER_SERVER("another_server"),
        ROLE_NOT_ASSUMABLE("role_not_assumable"),
        /// Another session holds the table, as ALTER TABLE does.
        LOCKED("locked"),
        TIMEOUT("timeout"),
        /// The caller's role may not read what was asked for any more.
        NOT_PERMITTED("not_permitted"),
        /// Rights moved while rows were read: asked again the answer may be another.
        RIGHTS_MOVED("rights_moved"),
        /// A policy or the filter raised for a row.
        RAISED("raised"),
        /// Rows wait for their clients in all the room there is.
        SPOOL_FULL("spool_full"),
        SPOOL_FAILED("spool_failed");

        private final String word;

        Reason(String word) {
            this.word = word;
        }

        /// As it is logged and counted.
        public String word() {
            return word;
        }
    }

    public SnapshotException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
