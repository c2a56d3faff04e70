package sluice.core.catalog;

import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

/// When an SQL answer was true.
///
/// @param snapshot `pg_current_snapshot()`, the first statement of the answer's REPEATABLE READ transaction
/// @param insertLsn `pg_current_wal_insert_lsn()` read after it: the stream has passed the answer once it is past
///     here
public record Stamp(TransactionSnapshot snapshot, Lsn insertLsn) {}
