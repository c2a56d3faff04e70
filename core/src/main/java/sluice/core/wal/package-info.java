/// PostgreSQL's own coordinates: log sequence numbers, transaction ids, snapshots and slot names.
@NullMarked
package sluice.core.wal;

import org.jspecify.annotations.NullMarked;
