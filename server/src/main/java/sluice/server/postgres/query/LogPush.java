package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import sluice.server.postgres.query.Pool.Lane;

/// Moves the log on a database where nobody commits. Safe for any thread.
///
/// What an answer rests on may be used once the log is past it, and a query may itself write to the log (it clears
/// away old rows). Without a commit PostgreSQL writes no page to disk before it is full, or for a quarter of a minute,
/// so the walsender stands before the position for as long. A message outside of any transaction moves it: no lock,
/// no transaction id, and no standby is waited for.
public final class LogPush {
    /// Of the messages; nobody is told of them.
    private static final String PREFIX = "sluice-position";

    /// The first that writes such a message to disk at once; earlier ones leave it to the WAL
    /// writer, a moment later.
    private static final int FLUSHING_MAJOR = 17;

    private final Pool pool;
    private final int major;
    private final Duration timeout;

    /// @param major of the server
    /// @param timeout of one push
    public LogPush(Pool pool, int major, Duration timeout) {
        this.pool = pool;
        this.major = major;
        this.timeout = timeout;
    }

    /// @throws QueryException when the database does not answer
    public void push() {
        var _ = pool.ask(Lane.CALLERS, "the push of the log", timeout, connection -> {
            push(connection, major);
            return true;
        });
    }

    static void push(Connection connection, int major) throws SQLException {
        String flush = major >= FLUSHING_MAJOR ? ", true" : "";
        Rows.run(
                connection,
                "SELECT pg_catalog.pg_logical_emit_message(false, " + SqlText.literal(PREFIX) + ", ''" + flush + ")");
    }
}
