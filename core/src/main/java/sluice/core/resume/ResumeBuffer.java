package sluice.core.resume;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.Tuple;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptCommit;
import sluice.core.transaction.KeptKeys;
import sluice.core.transaction.Transaction;
import sluice.core.wal.Lsn;

/// The recent commits of every published table, whoever they were for, as the log brought them, and what they said in
/// channels.
///
/// Bounded by age and by bytes. Past either the oldest part goes, of whichever table, but a table's newest part stays
/// as long as another can go instead: a client that is up to date on a quiet table can resume. Who reads behind what
/// was let go is told ({@link #reaches}, {@link #covers}), never served with a gap. What was said is for streams
/// that are behind only: nobody resumes it. Owned by the engine's thread.
public final class ResumeBuffer {
    /// What a part costs besides its changes, and a tuple besides its frame, on a heap with compact headers.
    /// Known by filling heaps: `ResumeBufferWeightTest`.
    private static final long PART_BYTES = 272;

    private static final long FRAME_BYTES = 20;

    private static final long CHANGE_BYTES = 24;
    private static final long TUPLE_BYTES = 56;
    private static final long COLUMN_BYTES = 12;

    /// What is known of a piece of a file.
    private static final long PIECE_BYTES = 200;

    /// What something said costs besides its text.
    private static final long BROADCAST_BYTES = 160;

    /// @param ageMax how long a part is kept; zero for as long as the budget lets it
    /// @param bytesMax the budget of all tables together; zero turns the buffer off
    /// @param fileBytesMax what commits in files may take on disk when another has been kept: past it the oldest of
    ///     them go, but never the newest
    public record Bounds(Duration ageMax, long bytesMax, long fileBytesMax) {
        /// However much disk they take.
        public Bounds(Duration ageMax, long bytesMax) {
            this(ageMax, bytesMax, Long.MAX_VALUE);
        }
    }

    /// Of a table or a channel.
    private static final class Track<E extends BufferedEntry> {
        final EntryRing<E> entries = new EntryRing<>();

        @Nullable
        Lsn goneUntil;

        long goneBefore;

        /// Those that lie in files, oldest first.
        final ArrayDeque<BufferedPart> inFiles = new ArrayDeque<>(0);
    }

    private final Bounds bounds;
    private final Consumer<KeptCommit> dropped;
    private final Map<Integer, Track<BufferedPart>> tablesByOid = new LinkedHashMap<>();
    private final Map<String, Track<BufferedBroadcast>> channelsByName = new LinkedHashMap<>();
    private final ArrayDeque<BufferedEntry> aging = new ArrayDeque<>();
    private final ArrayDeque<BufferedPart> spared = new ArrayDeque<>();
    private Lsn startsAt = Lsn.ZERO;
    private long startsBefore;
    private long weightBytes;
    private final ArrayDeque<BufferedFile> files = new ArrayDeque<>(0);
    private long fileBytes;

    /// One that keeps nothing in files.
    public ResumeBuffer(Bounds bounds) {
        this(bounds, _ -> {});
    }

    /// @param dropped takes spilled commits that nobody needs any more
    public ResumeBuffer(Bounds bounds, Consumer<KeptCommit> dropped) {
        this.bounds = bounds;
        this.dropped = dropped;
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
        for (Track<BufferedPart> table : tablesByOid.values()) {
            while (table.entries.size() > 0) {
                BufferedPart first = table.entries.removeFirst();
                first.evicted();
                letGo(first);
            }
        }
        tablesByOid.clear();
        channelsByName.clear();
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
        BufferedEntry oldest = aging.peekFirst();
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
        add(part);
    }

    /// Keeps a spilled commit, whose changes lie in a file.
    ///
    /// @param relationOids the tables it changed that are worth it
    public void append(BufferedCommit commit, KeptCommit kept, Collection<Integer> relationOids, Instant now) {
        if (isOff() || relationOids.isEmpty()) {
            dropped.accept(kept);
            return;
        }
        BufferedFile file = new BufferedFile(kept);
        List<BufferedPart> parts = new ArrayList<>();
        for (int oid : relationOids) {
            BufferedPart part = new BufferedPart(commit, oid, now);
            part.liesIn(file);
            part.weigh(PART_BYTES + (parts.isEmpty() ? PIECE_BYTES * kept.pieces() : 0));
            parts.add(part);
        }
        for (BufferedPart part : parts) {
            add(part);
            table(part.relationOid()).inFiles.addLast(part);
        }
        files.addLast(file);
        fileBytes += kept.bytes();
        fitFiles();
        fit();
    }

    /// The next commit in a file finds room: the oldest go first, and with each what its tables have of before.
    private void fitFiles() {
        boolean gone = false;
        while (fileBytes > bounds.fileBytesMax() && files.size() > 1) {
            for (BufferedPart part : List.copyOf(files.getFirst().parts())) {
                EntryRing<BufferedPart> entries = table(part.relationOid()).entries;
                while (part.isInBuffer()) {
                    BufferedPart first = entries.get(0);
                    spared.remove(first);
                    evict(first);
                }
            }
            gone = true;
        }
        if (gone) {
            aging.removeIf(entry -> !entry.isInBuffer());
        }
    }

    /// Of a part that lies in a file it is known now which rows it changed. That takes its room.
    public void know(BufferedPart part, KeptKeys keys) {
        if (!part.isInBuffer()) {
            return;
        }
        KeptKeys before = part.keys();
        long more = keys.weightBytes() - (before == null ? 0 : before.weightBytes());
        part.know(keys);
        part.weigh(part.weightBytes() + more);
        weightBytes += more;
        fit();
    }

    /// As many rows of one part as this may be known: a quarter of the budget.
    public int keysMax() {
        return (int) Math.min(Integer.MAX_VALUE / 2, bounds.bytesMax() / 32);
    }

    /// Somebody does not need the file any more.
    public void release(BufferedFile file) {
        if (file.release()) {
            dropped.accept(file.kept());
        }
    }

    private void letGo(BufferedEntry entry) {
        if (entry instanceof BufferedPart part && part.file() != null) {
            BufferedFile file = part.file();
            table(part.relationOid()).inFiles.remove(part);
            file.parts().remove(part);
            if (file.parts().isEmpty()) {
                files.remove(file);
                fileBytes -= file.kept().bytes();
            }
            release(file);
        }
    }

    private void add(BufferedPart part) {
        EntryRing<BufferedPart> parts = table(part.relationOid()).entries;
        BufferedPart before = parts.size() == 0 ? null : parts.get(parts.size() - 1);
        parts.addLast(part);
        aging.addLast(part);
        weightBytes += part.weightBytes();
        if (before != null && before.isSpared()) {
            spared.remove(before);
            evict(before);
        }
    }

    /// Keeps what a commit says, after the commit.
    ///
    /// @param said in channels that somebody has joined: nobody else could be owed it
    public void append(BufferedCommit commit, List<BufferedBroadcast.Said> said, Instant now) {
        if (isOff()) {
            return;
        }
        for (int i = 0; i < said.size(); i++) {
            BufferedBroadcast broadcast = new BufferedBroadcast(commit, said.get(i), i, now);
            broadcast.weigh(BROADCAST_BYTES + broadcast.event().tail().length);
            channelsByName
                    .computeIfAbsent(broadcast.channel(), _ -> startingTrack())
                    .entries
                    .addLast(broadcast);
            aging.addLast(broadcast);
            weightBytes += broadcast.weightBytes();
        }
        fit();
    }

    private Track<BufferedPart> table(int oid) {
        return tablesByOid.computeIfAbsent(oid, _ -> startingTrack());
    }

    private <E extends BufferedEntry> Track<E> startingTrack() {
        Track<E> made = new Track<>();
        made.goneBefore = startsBefore;
        return made;
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

    /// A commit changed the table and is not kept, e.g. because it was too large for memory: nothing before it
    /// is of use any more.
    public void skip(BufferedCommit commit, int oid) {
        if (isOff()) {
            return;
        }
        Track<BufferedPart> table = table(oid);
        while (table.entries.size() > 0) {
            BufferedPart first = table.entries.get(0);
            spared.remove(first);
            evict(first);
        }
        aging.removeIf(entry -> !entry.isInBuffer());
        table.goneUntil = commit.lsn();
        table.goneBefore = commit.number() + 1;
    }

    /// Lets go of what is too old.
    ///
    /// @param pinnedFrom commits with this number or a later one are kept whatever their age, for their readers
    public void tick(Instant now, long pinnedFrom) {
        forgetChannels(pinnedFrom);
        if (bounds.ageMax().isZero()) {
            return;
        }
        Instant oldest = now.minus(bounds.ageMax());
        for (BufferedEntry first = aging.peekFirst(); first != null; first = aging.peekFirst()) {
            if (!first.keptAt().isBefore(oldest) || first.commit().number() >= pinnedFrom) {
                return;
            }
            aging.removeFirst();
            passOver(first);
        }
    }

    private void fit() {
        while (weightBytes > bounds.bytesMax()) {
            BufferedEntry first = aging.pollFirst();
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

    private void passOver(BufferedEntry entry) {
        // a file is no small thing to keep for nobody in particular
        if (entry instanceof BufferedPart part && part.file() == null && isNewest(part)) {
            part.spare();
            spared.addLast(part);
        } else {
            evict(entry);
        }
    }

    private boolean isNewest(BufferedPart part) {
        EntryRing<BufferedPart> parts = table(part.relationOid()).entries;
        return parts.get(parts.size() - 1).commit().number() == part.commit().number();
    }

    private void evict(BufferedEntry entry) {
        Track<? extends BufferedEntry> track = track(entry);
        track.entries.removeFirst();
        track.goneUntil = entry.commit().lsn();
        track.goneBefore = entry.commit().number() + 1;
        entry.evicted();
        letGo(entry);
        weightBytes -= entry.weightBytes();
    }

    private Track<? extends BufferedEntry> track(BufferedEntry entry) {
        return switch (entry) {
            case BufferedPart part -> table(part.relationOid());
            case BufferedBroadcast broadcast -> {
                Track<BufferedBroadcast> channel = channelsByName.get(broadcast.channel());
                if (channel == null) {
                    throw new IllegalStateException("what was said in a channel outlived it");
                }
                yield channel;
            }
        };
    }

    /// Names of channels are made up by whoever writes to the database, so none is kept longer than somebody could
    /// ask.
    private void forgetChannels(long pinnedFrom) {
        channelsByName.values().removeIf(channel -> channel.entries.size() == 0 && channel.goneBefore <= pinnedFrom);
    }

    /// Whether every change of the table that was committed at or after this position is here.
    public boolean covers(int oid, Lsn position) {
        if (isOff() || position.isBefore(startsAt)) {
            return false;
        }
        Track<BufferedPart> table = tablesByOid.get(oid);
        Lsn gone = table == null ? null : table.goneUntil;
        return gone == null || position.isAfter(gone);
    }

    /// Whether every change of the table in commits with this number and later ones is here.
    public boolean reaches(int oid, long number) {
        if (isOff()) {
            return false;
        }
        Track<BufferedPart> table = tablesByOid.get(oid);
        return number >= (table == null ? startsBefore : table.goneBefore);
    }

    /// The parts of the table in commits with this number and later ones that lie in files.
    public List<BufferedPart> inFiles(int oid, long number) {
        Track<BufferedPart> table = tablesByOid.get(oid);
        if (table == null || table.inFiles.isEmpty()) {
            return List.of();
        }
        List<BufferedPart> parts = new ArrayList<>(1);
        for (BufferedPart part : table.inFiles) {
            if (part.commit().number() >= number) {
                parts.add(part);
            }
        }
        return parts;
    }

    /// The first part of the table in a commit with this number or a later one.
    public @Nullable BufferedPart next(int oid, long number) {
        Track<BufferedPart> table = tablesByOid.get(oid);
        if (table == null) {
            return null;
        }
        int index = table.entries.indexOf(number);
        return index == table.entries.size() ? null : table.entries.get(index);
    }

    /// The first part of the table in a commit at or after this position.
    public @Nullable BufferedPart next(int oid, Lsn position) {
        Track<BufferedPart> table = tablesByOid.get(oid);
        if (table == null) {
            return null;
        }
        int index = table.entries.indexOf(position);
        return index == table.entries.size() ? null : table.entries.get(index);
    }

    /// Whether everything that commits with this number and later ones said in the channel is here. Only of a
    /// number that somebody had pinned since ({@link #tick}), or that no commit has yet.
    public boolean reaches(String channel, long number) {
        if (isOff()) {
            return false;
        }
        Track<BufferedBroadcast> track = channelsByName.get(channel);
        return number >= (track == null ? startsBefore : track.goneBefore);
    }

    /// What the first commit with this number or a later one that said anything in the channel said there, in its
    /// order; empty when there is none.
    public List<BufferedBroadcast> said(String channel, long number) {
        Track<BufferedBroadcast> track = channelsByName.get(channel);
        if (track == null) {
            return List.of();
        }
        List<BufferedBroadcast> ofCommit = new ArrayList<>(1);
        for (int i = track.entries.indexOf(number); i < track.entries.size(); i++) {
            BufferedBroadcast broadcast = track.entries.get(i);
            if (!ofCommit.isEmpty()
                    && broadcast.commit().number()
                            != ofCommit.getFirst().commit().number()) {
                break;
            }
            ofCommit.add(broadcast);
        }
        return ofCommit;
    }
}
