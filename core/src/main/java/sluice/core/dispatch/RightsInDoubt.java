package sluice.core.dispatch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// Up to where one table's commits were made under rights that nobody knows.
///
/// A reading of the catalog that is ahead of the stream names the transactions that wrote the rights last. When the
/// log brings the last of them, what was read is known to hold from that commit on: the doubt ends there instead of
/// at the reading.
///
/// Bounded: {@value #DOUBTS_MAX} readings the stream has not passed; of further ones only the end is kept. Owned by
/// the engine's thread.
final class RightsInDoubt {
    private static final int DOUBTS_MAX = 64;

    private record Doubt(Lsn until, List<Xid> writers) {}

    private final ArrayDeque<Doubt> doubts = new ArrayDeque<>();
    private Lsn fixed = Lsn.ZERO;
    private int raised;

    /// How often rights were found to have been others for a while, even if they are what they were.
    int raised() {
        return raised;
    }

    /// @param position everything before it has been dispatched
    void add(CommitOrder.RightsKnown known, Lsn position) {
        raised++;
        passed(position);
        if (!known.lsn().isAfter(position)) {
            return;
        }
        if (known.writers().isEmpty() || doubts.size() == DOUBTS_MAX) {
            fixed = fixed.max(known.lsn());
        } else {
            doubts.add(new Doubt(known.lsn(), new ArrayList<>(known.writers())));
        }
    }

    /// What the stream has passed stays in doubt for those who get it later.
    private void passed(Lsn position) {
        for (Iterator<Doubt> all = doubts.iterator(); all.hasNext(); ) {
            Doubt doubt = all.next();
            if (!doubt.until().isAfter(position)) {
                all.remove();
                fixed = fixed.max(doubt.until());
            }
        }
    }

    /// This commit is about to be dispatched.
    ///
    /// @return whether a doubt ends there
    boolean cleared(Xid xid, Lsn commitLsn) {
        passed(commitLsn);
        boolean cleared = false;
        for (Iterator<Doubt> all = doubts.iterator(); all.hasNext(); ) {
            Doubt doubt = all.next();
            if (doubt.writers().remove(xid) && doubt.writers().isEmpty()) {
                all.remove();
                fixed = fixed.max(commitLsn);
                cleared = true;
            }
        }
        return cleared;
    }

    /// Whether a commit to come may end one.
    boolean areOpen() {
        return !doubts.isEmpty();
    }

    /// Commits from here on were made under rights that are known.
    Lsn until() {
        Lsn until = fixed;
        for (Doubt doubt : doubts) {
            until = until.max(doubt.until());
        }
        return until;
    }
}
