package sluice.server.postgres.wal;

import org.jspecify.annotations.Nullable;

/// Whether the replication session and the pool's sessions are about one database: rights and answers read over the
/// pool decide about the rows of the log, so both must come from the same primary.
final class SameServer {
    private static final String BOTH = "SLUICE_DB_REPL_URL and SLUICE_DB_AUTHZ_URL";

    /// The slot must be on the primary.
    static final String STANDBY = "SLUICE_DB_REPL_URL leads to a standby;"
            + " name the primary, or several hosts with target_session_attrs=read-write";

    private SameServer() {}

    /// @throws ReplicationException when they never can be, naming both settings
    static void require(ReplicationConnection.SystemIdentity replication, PoolServer pool) {
        if (!replication.systemId().equals(pool.systemIdentifier())) {
            throw new ReplicationException(BOTH + " lead to different database systems ("
                    + replication.systemId() + " and " + pool.systemIdentifier()
                    + "); name the same primary in both");
        }
        if (!replication.database().equals(pool.database())) {
            throw new ReplicationException(BOTH + " name different databases (\"" + replication.database() + "\" and \""
                    + pool.database() + "\"); name the same one in both");
        }
    }

    /// What keeps them apart now and may pass, as while a standby takes over; null when nothing does.
    static @Nullable String difference(ReplicationConnection.SystemIdentity replication, PoolServer pool) {
        if (pool.role() == PoolServer.Role.STANDBY) {
            return "SLUICE_DB_AUTHZ_URL leads to a standby, SLUICE_DB_REPL_URL to its primary;"
                    + " name the primary, or several hosts with target_session_attrs=read-write, in both";
        }
        if (pool.timeline() != replication.timeline()) {
            return BOTH + " lead to different histories of one system (timelines " + replication.timeline() + " and "
                    + pool.timeline() + "); one of the two servers was replaced: name the present primary in both";
        }
        return null;
    }
}
