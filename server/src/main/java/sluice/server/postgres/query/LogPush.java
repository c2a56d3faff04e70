package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import sluice.core.wal.Lsn;
import sluice.server.postgres.query.Rows.Row;

/// Moves the log past a position on a database where nobody commits. Safe for any thread.
///
/// What an answer rests on may be used once the log is past it, and a query may itself write to the log (it clears
/// away old rows). Without a commit PostgreSQL writes no page to disk before it is full, or for a quarter of a minute,
/// so the walsender stands before the position for as long. A message outside of any transaction moves it: no lock,
/// no transaction id, and no standby is waited for.
final class LogPush {
    /// Of the messages; nobody is told of them.
    static final String PREFIX = "sluice-position";

    /// The first that writes such a message to disk at once; earlier ones leave it to the WAL writer.
    private static final int FLUSHING_MAJOR = 17;

    /// After this another server may have answered.
    private static final long TRUSTED_NANOS = Duration.ofSeconds(1).toNanos();

    private final ReentrantLock lock = new ReentrantLock();
    private Lsn pushedTo = Lsn.ZERO;
    private long pushedAt;

    /// Pushes once.
    ///
    /// @return the end of the message
    static Lsn push(Connection connection, int major) throws SQLException {
        String flush = major >= FLUSHING_MAJOR ? ", true" : "";
        Row row = Rows.run(
                        connection,
                        "SELECT pg_catalog.pg_logical_emit_message(false, " + SqlText.literal(PREFIX) + ", ''" + flush
                                + ")::text")
                .getFirst()
                .getFirst();
        return Lsn.parse(row.text(0));
    }

    /// Pushes unless it was pushed past the position a moment ago: one message serves all who wait for it.
    void past(Lsn position, Connection connection, int major) throws SQLException {
        lock.lock();
        try {
            boolean isFresh = System.nanoTime() - pushedAt < TRUSTED_NANOS;
            if (!isFresh || !pushedTo.reaches(position)) {
                pushedTo = push(connection, major);
                pushedAt = System.nanoTime();
            }
        } finally {
            lock.unlock();
        }
    }
}
