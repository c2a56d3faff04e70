package sluice.server.postgres.query;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import sluice.core.session.IdType;
import sluice.core.session.RevocationTables;
import sluice.server.postgres.query.Pool.Lane;

/// Whether a session's row exists: one look into the index, in one round trip, with no right but SELECT of its `id`.
public final class SessionQuery {
    private final Pool pool;
    private final String table;
    private final Duration timeout;

    public SessionQuery(Pool pool, RevocationTables.Table table, Duration timeout) {
        this.pool = pool;
        this.table = SqlText.qualified(table.schema(), table.name());
        this.timeout = timeout;
    }

    /// @param id a text of that type
    /// @throws QueryException when the database does not say
    public boolean exists(IdType type, String id) {
        return pool.askWhole(Lane.CALLERS, "the session lookup", timeout, use -> {
            try {
                return use.last(
                                ReadTransaction.begin(timeout) + "SELECT EXISTS (SELECT FROM " + table
                                        + " s WHERE s.id = ?::" + type.sqlName() + ")",
                                List.of(id))
                        .getLast()
                        .getFirst()
                        .flag(0);
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
