package sluice.server.postgres.wal;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.PostgresUrl;

/// Tries the replication URL once, before anything is served, so that a wrong one refuses the start instead of being
/// tried for ever.
public final class ReplicationCheck {
    private static final String SETTING = "SLUICE_DB_REPL_URL: ";

    private ReplicationCheck() {}

    /// @return why nothing could be said just now, null when all is well; the reader will try again
    /// @throws ReplicationException when the URL cannot be used, or leads elsewhere than the pool's
    public static @Nullable String run(PostgresUrl replication, PoolServer pool) {
        try (ReplicationConnection connection = ReplicationConnection.open(replication, ReaderClock.system())) {
            ReplicationConnection.SystemIdentity identity = connection.identify();
            SameServer.require(identity, pool);
            if (connection.isInRecovery()) {
                throw new ReplicationException(SameServer.STANDBY);
            }
            String difference = SameServer.difference(identity, pool);
            if (difference != null) {
                throw new ReplicationException(difference);
            }
            return null;
        } catch (SQLException e) {
            if (mayPass(e)) {
                return reason(e);
            }
            throw new ReplicationException(SETTING + reason(e));
        }
    }

    /// No room for a session, or a server that starts or stops. The pool was answered a moment ago, so everything
    /// else is the URL's own.
    private static boolean mayPass(SQLException failure) {
        String state = String.valueOf(failure.getSQLState());
        return state.equals("53300") || state.startsWith("57P");
    }

    /// What a failure to connect or to ask says of itself. It names users, databases and hosts, never a password.
    static String reason(SQLException failure) {
        String text = failure.getMessage();
        return "the replication connection failed with SQLSTATE " + failure.getSQLState()
                + (text == null ? "" : ": " + text.lines().findFirst().orElse(""));
    }
}
