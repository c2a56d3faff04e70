package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.wal.Lsn;

/// Which columns of one table may have had another's name and place, and up to where in the log: rows of commits
/// before are not read there. As many as the table has columns. Owned by the engine's thread.
final class RenewedColumns {
    private final Map<Integer, Lsn> untilByAttnum = new LinkedHashMap<>();
    private Lsn until = Lsn.ZERO;

    /// Of commits before the position these columns are not known.
    void add(List<Integer> attnums, Lsn known) {
        attnums.forEach(attnum -> untilByAttnum.merge(attnum, known, Lsn::max));
        until = until.max(known);
    }

    /// Whether every column is known of a commit there.
    boolean areKnown(Lsn commitLsn) {
        return !commitLsn.isBefore(until);
    }

    /// The mapping of a row of the commit there.
    ColumnMapping known(ColumnMapping mapping, Lsn commitLsn) {
        if (areKnown(commitLsn)) {
            return mapping;
        }
        List<Integer> unknown = new ArrayList<>();
        untilByAttnum.forEach((attnum, known) -> {
            if (commitLsn.isBefore(known)) {
                unknown.add(attnum);
            }
        });
        return mapping.without(unknown);
    }
}
