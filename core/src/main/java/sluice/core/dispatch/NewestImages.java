package sluice.core.dispatch;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.Tuple;
import sluice.core.resume.BufferedCommit;
import sluice.core.resume.BufferedPart;
import sluice.core.resume.ResumeBuffer;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptKeys;
import sluice.core.wal.Lsn;

/// Which commit in the buffer changed each row of a table last, for readers whose questions are answered about the
/// present. As many keys as the buffer has changes of the table in memory; of what lies in files {@link KeyReads}
/// knows. Owned by the engine's thread.
final class NewestImages {
    /// What is known of a row of a commit; of two of them the later here counts.
    enum Newer {
        NO,
        /// A later commit changed a row without saying which, or this one has no key to know it by.
        MAYBE,
        /// A later commit is not in the buffer any more, or nobody knows which rows it changed.
        UNKNOWN,
        /// A later commit changed it again.
        YES
    }

    private final TableState table;
    private final Map<String, Long> lastByKey = new HashMap<>();
    private long scannedBefore;

    /// The last commits that changed every row, a row that they do not name, and any row at all.
    private long truncated = -1;

    private long unnamed = -1;
    private long latest = -1;

    /// @param from commits before this one are of no interest
    NewestImages(TableState table, long from) {
        this.table = table;
        this.scannedBefore = from;
    }

    /// Whether a commit after this one changed the row.
    Newer after(Change change, BufferedCommit commit, ResumeBuffer buffer) {
        long number = commit.number();
        int oid = table.relation().oid();
        if (!buffer.reaches(oid, number + 1)) {
            return Newer.UNKNOWN;
        }
        Newer newer = inMemory(change, commit, buffer);
        for (BufferedPart part : buffer.inFiles(oid, number + 1)) {
            Newer inFile = inFile(part, change, commit.lsn());
            newer = inFile.compareTo(newer) > 0 ? inFile : newer;
        }
        return newer;
    }

    private Newer inFile(BufferedPart part, Change change, Lsn commitLsn) {
        KeptKeys keys = part.keys();
        Tuple row = ChangedRow.newTuple(change);
        boolean wereReadRight = keys != null
                && keys.areOf(table.relation())
                && table.renewed().areKnown(part.commit().lsn());
        if (keys == null || !wereReadRight || row == null) {
            return Newer.UNKNOWN;
        }
        return switch (keys.holds(table.mapping(change.relation(), commitLsn), row)) {
            case NO -> Newer.NO;
            case YES -> Newer.YES;
            case MAYBE -> Newer.MAYBE;
        };
    }

    private Newer inMemory(Change change, BufferedCommit commit, ResumeBuffer buffer) {
        long number = commit.number();
        scan(buffer);
        Tuple row = ChangedRow.newTuple(change);
        if (truncated > number || row == null) {
            return truncated > number ? Newer.YES : Newer.NO;
        }
        String key = key(change, row, commit.lsn());
        if (key.isEmpty()) {
            return latest > number ? Newer.MAYBE : Newer.NO;
        }
        Long last = lastByKey.get(key);
        if (last != null && last > number) {
            return Newer.YES;
        }
        return unnamed > number ? Newer.MAYBE : Newer.NO;
    }

    private void scan(ResumeBuffer buffer) {
        int oid = table.relation().oid();
        for (BufferedPart part = buffer.next(oid, scannedBefore);
                part != null;
                part = buffer.next(oid, scannedBefore)) {
            long number = part.commit().number();
            for (Change change : part.changes()) {
                note(change, ChangedRow.newTuple(change), part.commit());
                note(change, ChangedRow.oldTuple(change), part.commit());
                if (change instanceof Change.Truncate) {
                    truncated = number;
                }
            }
            latest = number;
            scannedBefore = number + 1;
        }
    }

    private void note(Change change, @Nullable Tuple tuple, BufferedCommit commit) {
        if (tuple == null) {
            return;
        }
        String key = key(change, tuple, commit.lsn());
        if (key.isEmpty()) {
            unnamed = commit.number();
        } else {
            lastByKey.put(key, commit.number());
        }
    }

    private String key(Change change, Tuple tuple, Lsn commitLsn) {
        ColumnMapping mapping = table.mapping(change.relation(), commitLsn);
        return Probes.rowKey(table.relation(), mapping, tuple);
    }
}
