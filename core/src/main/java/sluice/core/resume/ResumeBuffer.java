package sluice.core.resume;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.Tuple;
import sluice.core.transaction.Change;
import sluice.core.transaction.Transaction;
import sluice.core.wal.Lsn;

/// The recent commits of every published table, whoever they were for, as the log brought them.
///
/// Bounded by age and by bytes. Past either the oldest part goes, of whichever table, but a table's newest part stays
/// as long as another can go instead: a client that is up to date on a quiet table can resume. Who reads behind what
/// was let go is told ({@link #reaches}, {@link #covers}), never served with a gap. Owned by the engine's thread.
public final class ResumeBuffer {
    /// What a part costs besides its changes, and a tuple besides its frame, on a heap with
    /// compact headers. Known by
    /// filling heaps: `ResumeBufferWeightTest`.
    private static final long PART_BYTES = 272;

    private static final long FRAME_BYTES = 20;

    private static final long CHANGE_BYTES = 24;
    private static final long TUPLE_BYTES = 56;
    private static final long COLUMN_BYTES = 12;

    /// @param ageMax how long a part is kept; zero for as long as the budget lets it
    /// @param bytesMax the budget of all tables together; zero turns the buffer off
    public record Bounds(Duration ageMax, long bytesMax) {}

    private static final class Table {
        final PartRing parts = new PartRing();

        @Nullable
        Lsn goneUntil;

        long goneBefore;
    }

    private final Bounds bounds;
    private final Map<Integer, Table> tablesByOid = new LinkedHashMap<>();
    private final ArrayDeque<BufferedPart> aging = new ArrayDeque<>();
    private final ArrayDeque<BufferedPart> spared = new ArrayDeque<>();
    private Lsn startsAt = Lsn.ZERO;
    private long startsBefore;
    private long weightBytes;

    public ResumeBuffer(Bounds bounds) {
        this.bounds = bounds;
    }

    public boolean isOff() {
        return bounds.bytesMax() == 0;
    }

    /// The log is read from here on. Only the first start counts: what comes after a reconnect follows what was
    /// there.
    public void startsAt(Lsn position) {
        if (startsAt.equals(Lsn.ZERO)) {
            startsAt = position;
        }
    }

    /// Another history goes on from this position: what was kept is not part of it.
    ///
    /// @param number the number the next commit will have
    public void restart(Lsn position, long number) {
        tablesByOid.clear();
        aging.clear();
        spared.clear();
        weightBytes = 0;
        startsAt = position;
        startsBefore = number;
    }

    public long weightBytes() {
        return weightBytes;
    }

    /// How far back every table is covered; zero while nothing is kept.
    public Duration age(Instant now) {
        BufferedPart oldest = aging.peekFirst();
        return oldest == null ? Duration.ZERO : Duration.between(oldest.keptAt(), now);
    }

    /// Keeps a commit.
    ///
    /// @param published which tables are worth keeping changes of
    public void append(BufferedCommit commit, Transaction transaction, IntPredicate published, Instant now) {
        if (isOff()) {
            return;
        }
        Map<Integer, BufferedPart> partsByOid = new LinkedHashMap<>(2);
        List<Change> changes = transaction.changes();
        for (int i = 0; i < changes.size(); i++) {
            Change change = changes.get(i);
            int oid = change.relation().oid();
            BufferedPart part = partsByOid.get(oid);
            if (part == null && published.test(oid)) {
                part = new BufferedPart(commit, oid, now);
                partsByOid.put(oid, part);
            }
            if (part != null) {
                part.add(change, i);
            }
        }
        partsByOid.values().forEach(part -> keep(part, transaction.everyImage()));
        fit();
    }

    private void keep(BufferedPart part, List<Change> everyImage) {
        long weight = PART_BYTES;
        for (Change change : part.changes()) {
            weight += weight(change);
        }
        for (int i = 0; i < everyImage.size(); i++) {
            Change image = everyImage.get(i);
            if (image.relation().oid() == part.relationOid()) {
                part.addImage(image, i);
                weight += weight(image);
            }
        }
        part.weigh(weight);
        Table table = table(part.relationOid());
        BufferedPart before = table.parts.size() == 0 ? null : table.parts.get(table.parts.size() - 1);
        table.parts.addLast(part);
        aging.addLast(part);
        weightBytes += weight;
        if (before != null && before.isSpared()) {
            spared.remove(before);
            evict(before);
        }
    }

    private Table table(int oid) {
        return tablesByOid.computeIfAbsent(oid, _ -> {
            Table made = new Table();
            made.goneBefore = startsBefore;
            return made;
        });
    }

    private static long weight(Change change) {
        return switch (change) {
            case Change.Insert insert -> CHANGE_BYTES + weight(insert.row()) + frame(insert.row());
            case Change.Update update -> CHANGE_BYTES + weight(update.row()) + frame(update.row()) + ofOld(update);
            case Change.Delete delete -> CHANGE_BYTES + weight(delete.old()) + frame(delete.old());
            case Change.Truncate truncate -> CHANGE_BYTES;
        };
    }

    @SuppressWarnings("ReferenceEquality") // one frame or two is what is asked
    private static long ofOld(Change.Update update) {
        Tuple old = update.old();
        if (old == null) {
            return 0;
        }
        return weight(old) + (old.bytes() == update.row().bytes() ? 0 : frame(old));
    }

    private static long weight(Tuple tuple) {
        return TUPLE_BYTES + COLUMN_BYTES * tuple.columnCount();
    }

    /// A tuple keeps the whole frame it was read from, whatever of it is its own.
    private static long frame(Tuple tuple) {
        return FRAME_BYTES + tuple.bytes().length;
    }

    /// A commit changed the table and is not kept, e.g. because it was too large for memory:
    /// nothing before it is of
    /// use any more.
    public void skip(BufferedCommit commit, int oid) {
        if (isOff()) {
            return;
        }
        Table table = table(oid);
        while (table.parts.size() > 0) {
            BufferedPart first = table.parts.get(0);
            spared.remove(first);
            evict(first);
        }
        aging.removeIf(part -> !part.isInBuffer());
        table.goneUntil = commit.lsn();
        table.goneBefore = commit.number() + 1;
    }

    /// Lets go of what is too old.
    ///
    /// @param pinnedFrom commits with this number or a later one are kept whatever their age, for their readers
    public void tick(Instant now, long pinnedFrom) {
        if (bounds.ageMax().isZero()) {
            return;
        }
        Instant oldest = now.minus(bounds.ageMax());
        for (BufferedPart first = aging.peekFirst(); first != null; first = aging.peekFirst()) {
            if (!first.keptAt().isBefore(oldest) || first.commit().number() >= pinnedFrom) {
                return;
            }
            aging.removeFirst();
            passOver(first);
        }
    }

    private void fit() {
        while (weightBytes > bounds.bytesMax()) {
            BufferedPart first = aging.pollFirst();
            if (first == null) {
                BufferedPart last = spared.pollFirst();
                if (last == null) {
                    return;
                }
                evict(last);
            } else {
                passOver(first);
            }
        }
    }

    private void passOver(BufferedPart part) {
        PartRing parts = table(part.relationOid()).parts;
        if (parts.get(parts.size() - 1).commit().number() == part.commit().number()) {
            part.spare();
            spared.addLast(part);
        } else {
            evict(part);
        }
    }

    private void evict(BufferedPart part) {
        Table table = table(part.relationOid());
        table.parts.removeFirst();
        table.goneUntil = part.commit().lsn();
        table.goneBefore = part.commit().number() + 1;
        part.evicted();
        weightBytes -= part.weightBytes();
    }

    /// Whether every change of the table that was committed at or after this position is here.
    public boolean covers(int oid, Lsn position) {
        if (isOff() || position.isBefore(startsAt)) {
            return false;
        }
        Table table = tablesByOid.get(oid);
        Lsn gone = table == null ? null : table.goneUntil;
        return gone == null || position.isAfter(gone);
    }

    /// Whether every change of the table in commits with this number and later ones is here.
    public boolean reaches(int oid, long number) {
        if (isOff()) {
            return false;
        }
        Table table = tablesByOid.get(oid);
        return number >= (table == null ? startsBefore : table.goneBefore);
    }

    /// The first part of the table in a commit with this number or a later one.
    public @Nullable BufferedPart next(int oid, long number) {
        Table table = tablesByOid.get(oid);
        if (table == null) {
            return null;
        }
        int index = table.parts.indexOf(number);
        return index == table.parts.size() ? null : table.parts.get(index);
    }

    /// The first part of the table in a commit at or after this position.
    public @Nullable BufferedPart next(int oid, Lsn position) {
        Table table = tablesByOid.get(oid);
        if (table == null) {
            return null;
        }
        int index = table.parts.indexOf(position);
        return index == table.parts.size() ? null : table.parts.get(index);
    }
}
