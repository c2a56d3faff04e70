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
///
/// Where row-level security may hide rows from the pool role, that none is seen says nothing.
public final class SessionQuery {
    private final Pool pool;
    private final RevocationTables.Table table;
    private final String condition;
    private final Duration timeout;

    private SessionQuery(Pool pool, RevocationTables.Table table, String condition, Duration timeout) {
        this.pool = pool;
        this.table = table;
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

    /// Whether row-level security may hide rows of a table from whoever asks: unless it is off for them, a
    /// policy has to show every row and none may take any away.
    ///
    /// @param oid the table's, an expression
    static String mayHide(String oid) {
        return "(pg_catalog.row_security_active(" + oid + ") AND NOT (EXISTS (" + policies(oid)
                + " AND p.polpermissive AND pg_catalog.pg_get_expr(p.polqual, p.polrelid) = 'true')"
                + " AND NOT EXISTS (" + policies(oid)
                + " AND NOT p.polpermissive AND pg_catalog.pg_get_expr(p.polqual, p.polrelid) <> 'true')))";
    }

    /// Those that apply to SELECT by whoever asks.
    private static String policies(String oid) {
        return "SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = " + oid + " AND p.polcmd IN ('r', '*')"
                + " AND EXISTS (SELECT FROM pg_catalog.unnest(p.polroles) AS role (oid)"
                + " WHERE CASE role.oid WHEN 0 THEN true"
                + " ELSE pg_catalog.pg_has_role(current_user, role.oid, 'USAGE') END)";
    }

    /// @param id a text of that type
    /// @throws QueryException when the database does not say, is a standby, which may not have the end of it
    ///     yet, or may hide the row
    public boolean exists(IdType type, String id) {
        return pool.askWhole(Lane.CALLERS, "the session lookup", timeout, use -> {
            List<List<Row>> answers;
            try {
                answers = use.last(question(type), List.of(id));
            } catch (SQLException e) {
                if (QueryException.stateOf(e).startsWith("22") && isUnreadable(use, type, id)) {
                    // what the type cannot read is no row's id
                    return false;
                }
                throw e;
            }
            Row row = answers.get(answers.size() - 2).getFirst();
            ReadTransaction.stamp(row);
            boolean exists = row.flag(3);
            if (!exists && answers.getLast().getFirst().flag(0)) {
                throw QueryException.transientFailure("row-level security hides rows of "
                        + SqlText.qualified(table.schema(), table.name())
                        + " from the pool role; CREATE POLICY ... FOR SELECT TO the pool role USING (true)");
            }
            return exists;
        });
    }

    /// What may hide the row is looked at once the table is locked by having been read, in a snapshot of its
    /// own: it is what was in force.
    private String question(IdType type) {
        String name = SqlText.qualified(table.schema(), table.name());
        return "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL statement_timeout = "
                + Math.max(1, timeout.toMillis()) + "; SELECT " + ReadTransaction.STAMP + ", EXISTS (SELECT FROM "
                + name + " s WHERE s.id = ?::" + type.sqlName() + condition + "); SELECT "
                + mayHide(SqlText.literal(name) + "::pg_catalog.regclass");
    }

    private static boolean isUnreadable(Pool.Use use, IdType type, String id) throws SQLException {
        try {
            Rows.run(use.connection(), "ROLLBACK; SELECT ?::" + type.sqlName(), List.of(id));
            return false;
        } catch (SQLException e) {
            return QueryException.stateOf(e).startsWith("22");
        }
    }
}
