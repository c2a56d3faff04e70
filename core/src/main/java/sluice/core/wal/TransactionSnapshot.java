package sluice.core.wal;

import java.util.ArrayList;
import java.util.List;

/// What `pg_current_snapshot()` said: the stamp of an SQL answer.
///
/// @param xmin lowest 64-bit transaction id still in progress
/// @param xmax one past the highest completed 64-bit transaction id
/// @param inProgress ids in [xmin, xmax) that had not completed
public record TransactionSnapshot(long xmin, long xmax, List<Long> inProgress) {
    public TransactionSnapshot {
        inProgress = List.copyOf(inProgress);
    }

    /// Reads PostgreSQL's text form `xmin:xmax:xip,xip`.
    ///
    /// @throws IllegalArgumentException when the text has another form
    public static TransactionSnapshot parse(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException("not a snapshot: \"" + text + "\"");
        }
        List<Long> inProgress = new ArrayList<>();
        if (!parts[2].isEmpty()) {
            for (String xid : parts[2].split(",", -1)) {
                inProgress.add(Long.parseUnsignedLong(xid));
            }
        }
        return new TransactionSnapshot(Long.parseUnsignedLong(parts[0]), Long.parseUnsignedLong(parts[1]), inProgress);
    }

    /// Whether the effects of the transaction are visible in this snapshot, for a transaction known to have
    /// committed.
    ///
    /// The 32-bit id of the log is widened by its signed distance to xmax.
    public boolean sees(Xid xid) {
        int distance = xid.bits() - (int) xmax;
        if (distance >= 0) {
            return false;
        }
        return !inProgress.contains(xmax + distance);
    }
}
