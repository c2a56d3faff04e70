package sluice.server.postgres.query;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;
import sluice.core.wal.SlotName;
import sluice.server.postgres.query.Pool.Lane;
import sluice.server.postgres.query.Rows.Row;

/// What PostgreSQL says of the slot.
///
/// @param confirmed null for a slot that was never streamed from
/// @param retainedBytes log kept for the slot
/// @param lagBytes log behind the present end that is not confirmed
/// @param safeBytes log that may still be written before the slot is lost; null without a limit
/// @param walStatus `pg_replication_slots.wal_status`, null for a slot that keeps nothing yet
public record SlotStatus(
        @Nullable Lsn confirmed,
        long retainedBytes,
        long lagBytes,
        @Nullable Long safeBytes,
        Activity activity,
        @Nullable String walStatus) {
    /// Whether somebody streams from the slot.
    public enum Activity {
        ACTIVE,
        INACTIVE
    }

    /// @return null when there is no such slot
    /// @throws QueryException when the database does not answer in time
    public static @Nullable SlotStatus read(Pool pool, SlotName slot, Duration timeout) {
        List<Row> rows = pool.ask(
                Lane.RIGHTS,
                "the slot query",
                timeout,
                connection -> Rows.run(
                                connection,
                                ReadTransaction.begin(timeout) + SQL + "WHERE slot_name = "
                                        + SqlText.literal(slot.text()))
                        .getFirst());
        return rows.isEmpty() ? null : of(rows.getFirst());
    }

    private static SlotStatus of(Row row) {
        String confirmed = row.textOrNull(0);
        String safe = row.textOrNull(3);
        return new SlotStatus(
                confirmed == null ? null : Lsn.parse(confirmed),
                Long.parseLong(row.text(1)),
                Long.parseLong(row.text(2)),
                safe == null ? null : Long.valueOf(safe),
                row.flag(4) ? Activity.ACTIVE : Activity.INACTIVE,
                row.textOrNull(5));
    }

    private static final String SQL = """
            SELECT confirmed_flush_lsn,
                   coalesce(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn), 0)::int8,
                   coalesce(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), confirmed_flush_lsn), 0)::int8,
                   safe_wal_size, active, wal_status
            FROM pg_catalog.pg_replication_slots
            """;
}
