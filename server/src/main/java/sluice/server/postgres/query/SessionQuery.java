package sluice.server.postgres.query;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import sluice.core.session.IdType;
import sluice.core.session.RevocationTables;
import sluice.server.postgres.query.Pool.Lane;
import sluice.server.postgres.query.Rows.Row;

/// Whether a session's row exists, or a user's that is banned now: one look into the index, in one round trip, with
/// no right but SELECT of the `id` and of the column with the end of the ban.
public final class SessionQuery {
    private final Pool pool;
    private final String table;
    private final String condition;
    private final Duration timeout;

    private SessionQuery(Pool pool, RevocationTables.Table table, String condition, Duration timeout) {
        this.pool = pool;
        this.table = SqlText.qualified(table.schema(), table.name());
        this.condition = condition;
        this.timeout = timeout;
    }

    /// Rows of sessions.
    public static SessionQuery ofSessions(Pool pool, RevocationTables.Table sessions, Duration timeout) {
        return new SessionQuery(pool, sessions, "", timeout);
    }

    /// Rows of users whose ban has not ended by PostgreSQL's clock.
    public static SessionQuery ofBans(Pool pool, RevocationTables.Table users, String banColumn, Duration timeout) {
        return new SessionQuery(
                pool, users, " AND s." + SqlText.identifier(banColumn) + " > pg_catalog.now()", timeout);
    }

    /// @param id a text of that type
    /// @throws QueryException when the database does not say, or is a standby, which may not have the end of it yet
    public boolean exists(IdType type, String id) {
        return pool.askWhole(Lane.CALLERS, "the session lookup", timeout, use -> {
            try {
                Row row = use.last(
                                ReadTransaction.begin(timeout) + "SELECT " + ReadTransaction.STAMP
                                        + ", EXISTS (SELECT FROM " + table + " s WHERE s.id = ?::" + type.sqlName()
                                        + condition + ")",
                                List.of(id))
                        .getLast()
                        .getFirst();
                ReadTransaction.stamp(row);
                return row.flag(3);
            } catch (SQLException e) {
                // what the type cannot read is no row's id
                if (QueryException.stateOf(e).startsWith("22")) {
                    return false;
                }
                throw e;
            }
        });
    }
}
