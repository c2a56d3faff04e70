package sluice.server.postgres.query;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.query.Pool.Lane;
import sluice.server.postgres.query.Rows.Row;

/// The transaction that has written and been open for longest: while it is, a slot keeps the log from its beginning
/// on, whatever has been confirmed.
///
/// @param name `session PID` or `prepared transaction GID`
/// @param remedy SQL that ends it
public record OldestTransaction(String name, String remedy) {
    private static final String SQL = """
        SELECT open.pid, open.gid FROM (
          SELECT pid::text AS pid, NULL AS gid, pg_catalog.age(backend_xid) AS age
            FROM pg_catalog.pg_stat_activity WHERE backend_xid IS NOT NULL
           UNION ALL
          SELECT NULL, gid, pg_catalog.age(transaction) FROM pg_catalog.pg_prepared_xacts) open
         ORDER BY open.age DESC LIMIT 1
        """;

    /// @return null when there is none
    /// @throws QueryException when the database does not answer in time
    public static @Nullable OldestTransaction read(Pool pool, Duration timeout) {
        List<Row> rows = pool.ask(
                Lane.RIGHTS,
                "the question for the oldest transaction",
                timeout,
                connection -> Rows.run(connection, ReadTransaction.begin(timeout) + SQL)
                        .getFirst());
        if (rows.isEmpty()) {
            return null;
        }
        String pid = rows.getFirst().textOrNull(0);
        String gid = String.valueOf(rows.getFirst().textOrNull(1));
        return pid != null
                ? new OldestTransaction("session " + pid, "SELECT pg_catalog.pg_terminate_backend(" + pid + ");")
                : new OldestTransaction(
                        "prepared transaction " + gid, "ROLLBACK PREPARED " + SqlText.literal(gid) + ";");
    }
}
