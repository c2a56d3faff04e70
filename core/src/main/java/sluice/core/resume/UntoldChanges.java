package sluice.core.resume;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;

/// Which positions a client may hold without having heard that a change before them was withheld.
///
/// A withheld change is told in its stream, at times a while after the events of its commit. A client that leaves in
/// between holds a position past the change, and resumed from there would never hear of it. So from the change on
/// until it is told no later position is resumed from, and afterwards none of those that were given out meanwhile.
///
/// Kept by table and shape; a shape is what its history is called. Bounded: past so many shapes of one table they
/// count as one, which refuses more than it has to. Owned by the engine's thread.
public final class UntoldChanges {
    static final int SHAPES_MAX = 1_000;

    /// What is kept: whether this position of this table is still of use to anybody.
    @FunctionalInterface
    public interface Covered {
        boolean test(int oid, Lsn position);
    }

    /// Positions after `from` up to the present while there is something untold, and those after `toldFrom` up to
    /// `toldUntil`.
    private static final class Span {
        private int untold;
        private @Nullable Lsn from;
        private @Nullable Lsn toldFrom;
        private Lsn toldUntil = Lsn.ZERO;

        void began(Lsn commit) {
            untold++;
            extend(commit);
        }

        void extend(Lsn commit) {
            Lsn known = from;
            from = known == null ? commit : known.min(commit);
        }

        void told(Lsn commit, Lsn until) {
            untold--;
            if (untold == 0) {
                from = null;
            }
            if (until.isAfter(commit)) {
                Lsn known = toldFrom;
                toldFrom = known == null ? commit : known.min(commit);
                toldUntil = toldUntil.max(until);
            }
        }

        boolean contains(Lsn position) {
            Lsn open = from;
            Lsn closed = toldFrom;
            return (open != null && position.isAfter(open))
                    || (closed != null && position.isAfter(closed) && !position.isAfter(toldUntil));
        }

        /// @return whether nothing is left
        boolean forget(int oid, Covered covered) {
            if (toldFrom != null && !covered.test(oid, toldUntil)) {
                toldFrom = null;
                toldUntil = Lsn.ZERO;
            }
            return untold == 0 && toldFrom == null;
        }
    }

    private static final class Table {
        private final Span all = new Span();
        private final Map<String, Span> byShape = new LinkedHashMap<>(1);
        private boolean full;

        @Nullable
        Span ofShape(String shape) {
            if (full) {
                return null;
            }
            Span known = byShape.get(shape);
            if (known == null && byShape.size() < SHAPES_MAX) {
                known = new Span();
                byShape.put(shape, known);
            } else if (known == null) {
                full = true;
                byShape.clear();
            }
            return known;
        }
    }

    private final Map<Integer, Table> tablesByOid = new LinkedHashMap<>();

    /// The first change of a subscription was withheld since it was last told.
    public void began(int oid, String shape, Lsn commit) {
        Table table = tablesByOid.computeIfAbsent(oid, _ -> new Table());
        table.all.began(commit);
        Span span = table.ofShape(shape);
        if (span != null) {
            span.began(commit);
        }
    }

    /// Another was, of an earlier commit.
    public void extend(int oid, String shape, Lsn commit) {
        Table table = tablesByOid.get(oid);
        if (table == null) {
            return;
        }
        table.all.extend(commit);
        Span span = table.full ? null : table.byShape.get(shape);
        if (span != null) {
            span.extend(commit);
        }
    }

    /// The subscription was told, or is gone.
    ///
    /// @param commit the earliest of which a change was withheld
    /// @param until the last position that it can have been given before
    public void told(int oid, String shape, Lsn commit, Lsn until) {
        Table table = tablesByOid.get(oid);
        if (table == null) {
            return;
        }
        table.all.told(commit, until);
        Span span = table.full ? null : table.byShape.get(shape);
        if (span != null) {
            span.told(commit, until);
        }
    }

    /// Whether a client that was complete at this position may not know of a change withheld before it.
    ///
    /// @param shape null when it does not say which shape the position is of
    public boolean mayBeBefore(int oid, @Nullable String shape, Lsn position) {
        Table table = tablesByOid.get(oid);
        if (table == null) {
            return false;
        }
        if (shape == null || table.full) {
            return table.all.contains(position);
        }
        Span span = table.byShape.get(shape);
        return span != null && span.contains(position);
    }

    /// Forgets positions that nobody can resume from any more.
    public void tick(Covered covered) {
        tablesByOid.entrySet().removeIf(entry -> {
            Table table = entry.getValue();
            int oid = entry.getKey();
            table.byShape.values().removeIf(span -> span.forget(oid, covered));
            return table.all.forget(oid, covered);
        });
    }

    int shapes() {
        return tablesByOid.values().stream()
                .mapToInt(table -> table.byShape.size())
                .sum();
    }
}
