package sluice.core.catalog;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Xid;

/// Which versions of a right came directly one after another, as far as PostgreSQL can still be asked.
///
/// Two readings of the catalog that agree do not say that nothing was in between. This does: a version that was
/// replaced by the next one, which was replaced by the one that was read, leaves no room for another. Immutable.
public final class Succession {
    /// Nothing is known of what lay between two readings.
    public static final Succession UNKNOWN = new Succession(Collections.emptyMap());

    private final Map<Integer, Map<String, List<Xid>>> runs;

    /// @param runs by table and right, as {@link Relation#rightVersions} names them: versions, oldest first, each
    ///     replaced by the next and all but the last with one value
    public Succession(Map<Integer, Map<String, List<Xid>>> runs) {
        this.runs = Collections.unmodifiableMap(runs);
    }

    /// Whether at every moment between the two readings the rights of the table were those of the one or those of
    /// the other.
    ///
    /// Where several rights moved they may have done so one after the other, so then all values have to agree.
    public boolean connects(Relation earlier, Relation later) {
        if (!earlier.rightVersions().keySet().equals(later.rightVersions().keySet())) {
            return false;
        }
        int moved = 0;
        for (Map.Entry<String, Xid> right : later.rightVersions().entrySet()) {
            Xid from = earlier.rightVersions().get(right.getKey());
            if (!right.getValue().equals(from)) {
                moved++;
                if (from == null || !isUnbroken(run(later.oid(), right.getKey()), from, right.getValue())) {
                    return false;
                }
            }
        }
        return moved <= 1 || earlier.rightsFingerprint().equals(later.rightsFingerprint());
    }

    private @Nullable List<Xid> run(int oid, String right) {
        Map<String, List<Xid>> ofTable = runs.get(oid);
        return ofTable == null ? null : ofTable.get(right);
    }

    private static boolean isUnbroken(@Nullable List<Xid> run, Xid from, Xid to) {
        return run != null && run.contains(from) && run.indexOf(to) > run.indexOf(from);
    }
}
