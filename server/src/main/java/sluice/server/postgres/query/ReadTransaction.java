package sluice.server.postgres.query;

import java.time.Duration;
import sluice.core.catalog.Stamp;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;
import sluice.server.postgres.query.Rows.Row;

/// The first statements of every question that needs a stamp.
final class ReadTransaction {
    /// The columns that {@link #stamp(Row)} reads: the position is read after the snapshot, so a stream past it has
    /// sent all the snapshot shows.
    static final String STAMP = "pg_catalog.pg_current_snapshot()::text, pg_catalog.pg_is_in_recovery(),"
            + " CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL"
            + " ELSE pg_catalog.pg_current_wal_insert_lsn()::text END";

    private ReadTransaction() {}

    /// @param timeout of each statement; also how long a lock is waited for
    static String begin(Duration timeout) {
        long millis = Math.max(1, timeout.toMillis());
        return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = " + millis + "; ";
    }

    /// @throws QueryException on a standby: its snapshots do not list running transactions
    static Stamp stamp(Row row) {
        if (row.flag(1)) {
            throw QueryException.transientFailure("the pool is connected to a standby, whose snapshots cannot be used");
        }
        return new Stamp(TransactionSnapshot.parse(row.text(0)), Lsn.parse(row.text(2)));
    }
}
