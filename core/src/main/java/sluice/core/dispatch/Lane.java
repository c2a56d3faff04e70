package sluice.core.dispatch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Rule;
import sluice.core.dispatch.NewestImages.Newer;
import sluice.core.resume.BufferedBroadcast;
import sluice.core.resume.BufferedCommit;
import sluice.core.resume.BufferedFile;
import sluice.core.resume.BufferedPart;
import sluice.core.resume.ResumeBuffer;
import sluice.core.stream.ChannelSubscription;
import sluice.core.stream.HeldCommit;
import sluice.core.stream.HeldEvent;
import sluice.core.stream.Recipient;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptCommit;
import sluice.core.wal.TransactionSnapshot;

/// A reader of the buffer: a stream that fell behind, or one subscription that catches up apart from its stream.
///
/// Goes from commit to commit in their order, and through a commit in as many pieces as its stream's queue asks for.
/// Owned by the engine's thread.
final class Lane {
    /// Which images of a commit its reader gets.
    enum Images {
        NET,
        EVERY
    }

    private static final KeptCommit.Span NO_PIECES = new KeptCommit.Span(0, 0);

    private record Placed(int place, Change change) {}

    /// What the commit under way says to one member of a channel.
    record Broadcast(ChannelSubscription to, BufferedBroadcast said) {}

    private final StreamState stream;
    private final @Nullable Subscription only;
    private final @Nullable TransactionSnapshot seen;
    private final Map<Integer, NewestImages> newestByOid = new LinkedHashMap<>(0);
    private long next;
    private @Nullable BufferedCommit commit;
    private List<Change> changes = List.of();
    private List<Broadcast> broadcasts = List.of();

    /// Whom the commit under way is for, by table: as they are when it is begun.
    private final Map<Integer, List<Subscription>> readersByOid = new LinkedHashMap<>(1);

    private long eventsMax;
    private long bytesEstimate;
    private int done;
    private int broadcastsDone;

    /// Where the changes of the commit under way lie when it was spilled; they come piece by piece.
    private @Nullable BufferedFile file;

    private int piece;
    private boolean hasPiece;
    private KeptCommit.Span pieces = NO_PIECES;
    private boolean givenOfCommit;

    /// A row was passed over, because nobody knows any more whether a later commit changed it.
    private boolean lostSight;

    /// Who has still to be given the next change; null before anybody was.
    private @Nullable ArrayDeque<Subscription> readersLeft;

    /// @param only null for all subscriptions of the stream that are not apart from it
    /// @param seen the snapshot whose rows the subscription has; null when it has none
    /// @param next the number of the first commit to read
    Lane(StreamState stream, @Nullable Subscription only, @Nullable TransactionSnapshot seen, long next) {
        this.stream = stream;
        this.only = only;
        this.seen = seen;
        this.next = next;
    }

    StreamState stream() {
        return stream;
    }

    @Nullable
    Subscription only() {
        return only;
    }

    /// Whom it reads for.
    Recipient recipient() {
        return only == null ? stream : only;
    }

    /// Commits with a lower number are done.
    long next() {
        return next;
    }

    /// The commit under way.
    @Nullable
    BufferedCommit commit() {
        return commit;
    }

    /// The next change of the commit under way; null when there is none left.
    @Nullable
    Change peek() {
        return done < changes.size() ? changes.get(done) : null;
    }

    /// What is next to be said, once the commit under way has no changes left; null when there is nothing left.
    @Nullable
    Broadcast peekBroadcast() {
        return changesDone() && broadcastsDone < broadcasts.size() ? broadcasts.get(broadcastsDone) : null;
    }

    void broadcastDone() {
        broadcastsDone++;
        givenOfCommit = true;
        endIfDone();
    }

    /// Whether nothing of the commit under way, if there is one, has been given.
    boolean isAtStart() {
        return !givenOfCommit;
    }

    /// The next readers of the next change, at most so many. With the last of them the change is done.
    List<Subscription> takeReaders(long most) {
        Change change = changes.get(done);
        givenOfCommit = true;
        ArrayDeque<Subscription> left = readersLeft;
        if (left == null) {
            left = new ArrayDeque<>(readers(change));
            readersLeft = left;
        }
        List<Subscription> taken = new ArrayList<>();
        while (taken.size() < most && !left.isEmpty()) {
            taken.add(left.removeFirst());
        }
        if (left.isEmpty()) {
            readersLeft = null;
            changeDone();
        }
        return taken;
    }

    /// At most so many events the commit under way brings its reader.
    long eventsMax() {
        return eventsMax;
    }

    /// About so many bytes the commit under way brings its reader.
    long bytesEstimate() {
        return bytesEstimate;
    }

    private void changeDone() {
        done++;
        endIfDone();
    }

    private boolean changesDone() {
        return done == changes.size() && (file == null || piece == pieces.to());
    }

    private void endIfDone() {
        if (hasPiece && done == changes.size()) {
            toPiece(piece + 1);
        }
        if (commit != null && changesDone() && broadcastsDone == broadcasts.size()) {
            next = commit.number() + 1;
            commit = null;
            changes = List.of();
            broadcasts = List.of();
            done = 0;
            broadcastsDone = 0;
            givenOfCommit = false;
        }
    }

    // ---- a commit in pieces

    /// Goes to the first piece from here on that has something for its readers.
    private void toPiece(int from) {
        KeptCommit kept = file().kept();
        piece = from;
        while (piece < pieces.to() && !isForReaders(kept)) {
            piece++;
        }
        changes = List.of();
        done = 0;
        hasPiece = false;
    }

    private boolean isForReaders(KeptCommit kept) {
        for (int oid : readersByOid.keySet()) {
            if (kept.touches(piece, oid)) {
                return true;
            }
        }
        return false;
    }

    /// Whether it cannot go on without its next piece.
    boolean needsPiece() {
        return file != null && !hasPiece && piece < pieces.to();
    }

    boolean hasPiece() {
        return hasPiece;
    }

    BufferedFile file() {
        if (file == null) {
            throw new IllegalStateException("no commit in pieces is under way");
        }
        return file;
    }

    /// The piece it is at.
    int piece() {
        return piece;
    }

    /// Takes the changes of its piece and goes on where it was in it.
    void take(List<Change> read) {
        changes = read.stream().filter(change -> !readers(change).isEmpty()).toList();
        hasPiece = true;
        endIfDone();
    }

    /// Gives its piece back for now.
    void putBack() {
        changes = List.of();
        hasPiece = false;
    }

    /// The file it is done with, or will not go on with; null when there is none.
    @Nullable
    BufferedFile takeFile() {
        BufferedFile left = file;
        file = null;
        return left;
    }

    private List<Subscription> readers(Change change) {
        return readersByOid.getOrDefault(change.relation().oid(), List.of());
    }

    private List<Subscription> subscriptions() {
        if (only != null) {
            return List.of(only);
        }
        List<Subscription> attending = new ArrayList<>();
        for (Subscription subscription : stream.subscriptions()) {
            if (!subscription.isApart()) {
                attending.add(subscription);
            }
        }
        return attending;
    }

    /// What is apart hears nothing: its stream hears it.
    private Collection<ChannelSubscription> channels() {
        return only == null ? stream.channels() : List.of();
    }

    /// Whether the buffer still has all that this reader has to read.
    boolean isWithin(ResumeBuffer buffer) {
        for (Subscription subscription : subscriptions()) {
            long from = Math.max(next, subscription.firstCommit());
            if (!buffer.reaches(subscription.relationOid(), from)) {
                return false;
            }
        }
        for (ChannelSubscription joined : channels()) {
            if (!buffer.reaches(joined.channel(), Math.max(next, joined.firstCommit()))) {
                return false;
            }
        }
        return true;
    }

    /// The first commit from {@link #next} on that changed one of its tables or said something in one of its
    /// channels; null when it has read all there are.
    @Nullable
    BufferedCommit upcoming(ResumeBuffer buffer) {
        BufferedCommit first = null;
        for (Subscription subscription : subscriptions()) {
            BufferedPart part = buffer.next(subscription.relationOid(), Math.max(next, subscription.firstCommit()));
            while (part != null && seen != null && seen.sees(part.commit().xid())) {
                part = buffer.next(subscription.relationOid(), part.commit().number() + 1);
            }
            if (part != null && (first == null || part.commit().number() < first.number())) {
                first = part.commit();
            }
        }
        for (ChannelSubscription joined : channels()) {
            List<BufferedBroadcast> said = buffer.said(joined.channel(), Math.max(next, joined.firstCommit()));
            if (!said.isEmpty() && (first == null || said.getFirst().commit().number() < first.number())) {
                first = said.getFirst().commit();
            }
        }
        return first;
    }

    /// Begins the upcoming commit.
    void begin(BufferedCommit upcoming, ResumeBuffer buffer, Images images) {
        readersByOid.clear();
        for (Subscription subscription : subscriptions()) {
            if (subscription.firstCommit() <= upcoming.number()) {
                readersByOid
                        .computeIfAbsent(subscription.relationOid(), _ -> new ArrayList<>(1))
                        .add(subscription);
            }
        }
        givenOfCommit = false;
        List<Placed> placed = new ArrayList<>();
        for (int oid : List.copyOf(readersByOid.keySet())) {
            BufferedPart part = buffer.next(oid, upcoming.number());
            if (part != null && part.commit().number() == upcoming.number()) {
                file = part.file();
                place(part, images, placed);
            } else {
                readersByOid.remove(oid);
            }
        }
        if (readersByOid.size() > 1) {
            placed.sort(Comparator.comparingInt(Placed::place));
        }
        broadcasts = broadcasts(upcoming, buffer);
        if (placed.isEmpty() && broadcasts.isEmpty() && file == null) {
            throw new IllegalStateException("commit " + upcoming.number() + " is not in the buffer");
        }
        commit = upcoming;
        done = 0;
        changes = placed.stream().map(Placed::change).toList();
        eventsMax = broadcasts.size();
        bytesEstimate = 0;
        for (Broadcast broadcast : broadcasts) {
            bytesEstimate += broadcast.said().event().weightBytes();
        }
        for (Change change : changes) {
            int readers = readers(change).size();
            eventsMax += readers;
            bytesEstimate += readers * HeldCommit.encodedBytesEstimate(HeldEvent.weightBytes(change), 1);
        }
        if (file != null) {
            file.retain();
            pieces = images == Images.EVERY
                    ? file.kept().everyImage()
                    : file.kept().net();
            toPiece(pieces.from());
            // nobody knows before it is read, so it has the queue to itself
            eventsMax = Integer.MAX_VALUE;
            endIfDone();
        }
    }

    private List<Broadcast> broadcasts(BufferedCommit upcoming, ResumeBuffer buffer) {
        List<Broadcast> of = new ArrayList<>(0);
        for (ChannelSubscription joined : channels()) {
            if (joined.firstCommit() <= upcoming.number()) {
                for (BufferedBroadcast said : buffer.said(joined.channel(), upcoming.number())) {
                    if (said.commit().number() == upcoming.number()) {
                        of.add(new Broadcast(joined, said));
                    }
                }
            }
        }
        of.sort(Comparator.comparingInt(broadcast -> broadcast.said().place()));
        return of;
    }

    private static void place(BufferedPart part, Images images, List<Placed> placed) {
        boolean every = images == Images.EVERY && !part.everyImage().isEmpty();
        List<Change> changes = every ? part.everyImage() : part.changes();
        for (int i = 0; i < changes.size(); i++) {
            placed.add(new Placed(every ? part.imagePlace(i) : part.place(i), changes.get(i)));
        }
    }

    /// The tables of the commit under way of whose rows some are PostgreSQL's to decide.
    List<Integer> probedOids() {
        List<Integer> probed = new ArrayList<>(0);
        readersByOid.forEach((oid, readers) -> {
            if (readers.stream().anyMatch(Lane::isProbed)) {
                probed.add(oid);
            }
        });
        return probed;
    }

    /// Whether PostgreSQL decides the next change for somebody.
    boolean isNextProbed() {
        return readers(changes.get(done)).stream().anyMatch(Lane::isProbed);
    }

    private static boolean isProbed(Subscription subscription) {
        return subscription.rule().decision() instanceof Rule.Decision.Probed;
    }

    /// Whether a later commit changed the row again.
    ///
    /// @param commit that the change is of
    Newer newer(Change change, BufferedCommit commit, TableState table, ResumeBuffer buffer) {
        Newer newer = newestByOid
                .computeIfAbsent(table.relation().oid(), _ -> new NewestImages(table, commit.number()))
                .after(change, commit, buffer);
        lostSight |= newer == Newer.UNKNOWN;
        return newer;
    }

    /// Whether a row was passed over, because nobody knows any more whether a later commit changed it.
    boolean hasLostSight() {
        return lostSight;
    }
}
