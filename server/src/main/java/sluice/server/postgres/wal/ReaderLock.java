package sluice.server.postgres.wal;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.SlotName;
import sluice.server.postgres.PinnedSettings;
import sluice.server.postgres.PostgresUrl;

/// The right to read a slot: a session advisory lock on a connection of its own.
///
/// The lock is gone with its session, whoever ended it, so a holder asks its session now and then; one that does not
/// answer within {@link #ANSWER_MILLIS} counts as gone. One thread.
final class ReaderLock {
    private static final int ANSWER_MILLIS = 5_000;

    /// The timeline of the write position; the control file lags behind it.
    private static final String SERVER = """
            SELECT pg_catalog.pg_is_in_recovery(), c.system_identifier::text,
                   CASE WHEN NOT pg_catalog.pg_is_in_recovery()
                        THEN pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8)
                   END,
                   pg_catalog.current_database()
              FROM pg_catalog.pg_control_system() c""";

    private final PostgresUrl url;
    private final SlotName slot;
    private @Nullable Connection session;

    ReaderLock(PostgresUrl url, SlotName slot) {
        this.url = url;
        this.slot = slot;
    }

    /// Tries once, without waiting for another holder.
    boolean tryAcquire() throws SQLException {
        release();
        Connection connection = PinnedSettings.connect(url);
        boolean held = false;
        try {
            connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
            held = ask(connection, "SELECT pg_catalog.pg_try_advisory_lock(" + key() + ")");
        } finally {
            if (held) {
                session = connection;
            } else {
                connection.close();
            }
        }
        return held;
    }

    private String key() {
        return "pg_catalog.hashtext('sluice:" + slot.text() + "')";
    }

    /// Whether the session that holds the lock still answers.
    boolean isHeld() {
        Connection connection = session;
        if (connection == null) {
            return false;
        }
        try {
            return ask(connection, "SELECT true");
        } catch (SQLException e) {
            // whatever happened to it, the lock can no longer be relied on
            release();
            return false;
        }
    }

    /// Where the session that holds the lock is, and with it the pool's.
    ///
    /// @throws SQLException also when the lock is not held
    PoolServer server() throws SQLException {
        Connection connection = session;
        if (connection == null) {
            throw new SQLException("the reader lock is not held", "08003");
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SERVER)) {
            if (!row.next()) {
                throw new SQLException("no answer about the server", "08P01");
            }
            boolean standby = row.getBoolean(1);
            return new PoolServer(
                    row.getString(2),
                    standby ? 0 : Integer.parseInt(row.getString(3), 16),
                    row.getString(4),
                    standby ? PoolServer.Role.STANDBY : PoolServer.Role.PRIMARY);
        }
    }

    private static boolean ask(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(sql)) {
            return answer.next() && answer.getBoolean(1);
        }
    }

    void release() {
        Connection connection = session;
        session = null;
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                // the server ends the session, and with it the lock, once it notices
                return;
            }
        }
    }
}
