package sluice.core.catalog;

import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

/// When an SQL answer was true.
///
/// @param snapshot `pg_current_snapshot()`, the first statement of the answer's REPEATABLE READ transaction
/// @param insertLsn `pg_current_wal_insert_lsn()` read after it: the stream has passed the answer once it is past
///     here
public record Stamp(TransactionSnapshot snapshot, Lsn insertLsn) {
    /// Whether this answer was taken before the other. Snapshots of one server are ordered: a
    /// later one has no lower
    /// xmax and, at the same xmax, fewer transactions in progress.
    public boolean isOlderThan(Stamp other) {
        int byXmax = Long.compareUnsigned(snapshot.xmax(), other.snapshot.xmax());
        return byXmax != 0
                ? byXmax < 0
                : snapshot.inProgress().size() > other.snapshot.inProgress().size();
    }
}
