package sluice.core.transaction;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.PgOutputMessage.Delete;
import sluice.core.pgoutput.PgOutputMessage.Insert;
import sluice.core.pgoutput.PgOutputMessage.Truncate;
import sluice.core.pgoutput.PgOutputMessage.Update;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;

/// The net effect of one transaction: for each key the first old state and the last new one.
///
/// Life: messages are added in the order of the log; {@link #settle} works out the net images; {@link #next} gives
/// them in the order of delivery; {@link #close} gives disk space back. Memory is bounded whatever the
/// transaction's size: what does not fit is sorted on disk.
///
/// How it works. Each message touches one key or, when it changes the key, two. Touches are sorted by key and,
/// within a key, by their place in the log, so that each key can be followed alone ({@link Timeline}). Only rows
/// that moved from key to key need more: their stays at single keys ({@link Segment}) are walked in the order of
/// the moves that link them, which carries to each stay what the one before it knew. A relation whose key columns
/// change in the middle of the transaction is netted up to there, and what remains is netted again with what
/// follows under the new key.
final class NetImages {
    private final RelationKeys keys;
    private final long bytesMax;
    private final SpillCodecs codecs = new SpillCodecs();
    private final SpillHeap<Touch> touches;
    private final SpillHeap<Segment> segments;
    private final SpillHeap<Segment.Move> moves;
    private final SpillHeap<NetImage> results;

    private final List<Epoch> epochs = new ArrayList<>();
    private final Map<Integer, Integer> epochByOid = new HashMap<>();
    private final Map<Integer, Long> truncatedAtByOid = new HashMap<>();
    private final Map<Integer, RelationDefinition> truncatesByOid = new LinkedHashMap<>();
    private long sequence;
    private int current;
    private boolean spilled;

    /// One relation as long as the same columns tell its rows apart.
    private static final class Epoch {
        private final int oid;
        private final List<String> keyNames;
        private final boolean wholeRow;
        private RelationDefinition definition;
        private int[] positions;
        private int following = -1;

        Epoch(RelationDefinition definition, int[] keyPositions) {
            this.oid = definition.oid();
            this.definition = definition;
            this.wholeRow = keyPositions.length == 0;
            this.positions = wholeRow ? RowKey.allPositions(definition.columns().size()) : keyPositions;
            this.keyNames = names(definition, positions);
        }

        static List<String> names(RelationDefinition definition, int[] positions) {
            List<String> names = new ArrayList<>();
            for (int position : positions) {
                names.add(definition.columns().get(position).name());
            }
            return names;
        }
    }

    NetImages(RelationKeys keys, SpillStore store, long bytesMax) {
        this.keys = keys;
        this.bytesMax = bytesMax;
        this.touches = new SpillHeap<>(Touch.BY_KEY, codecs.touches, store, bytesMax);
        this.segments = new SpillHeap<>(Segment.BY_START, codecs.segments, store, Long.MAX_VALUE);
        this.moves = new SpillHeap<>(Segment.Move.BY_LINK, codecs.moves, store, Long.MAX_VALUE);
        this.results = new SpillHeap<>(NetImage.BY_DELIVERY, codecs.results, store, Long.MAX_VALUE);
    }

    void add(Insert insert) {
        int epoch = epoch(insert.relation());
        touch(epoch, key(epoch, insert.row()), Touch.Kind.INSERT, null, image(insert.relation(), insert.row()));
        sequence++;
    }

    void add(Update update) {
        int epoch = epoch(update.relation());
        int[] positions = epochs.get(epoch).positions;
        Image old = update.old() == null ? null : image(update.relation(), update.old());
        Image row = image(update.relation(), update.row()).filledFrom(old);
        // an old tuple without the whole key cannot tell where the row was; without one the key did not change
        byte[] oldKey = old != null && RowKey.isKnown(old.tuple(), positions)
                ? RowKey.of(old.tuple(), positions)
                : RowKey.of(row.tuple(), positions);
        move(epoch, oldKey, RowKey.of(row.tuple(), positions), old, row);
        sequence++;
    }

    private void move(int epoch, byte[] oldKey, byte[] newKey, @Nullable Image old, Image row) {
        if (java.util.Arrays.equals(oldKey, newKey)) {
            touch(epoch, newKey, Touch.Kind.UPDATE, old, row);
        } else {
            touch(epoch, oldKey, Touch.Kind.LEAVE, old, null);
            touch(epoch, newKey, Touch.Kind.ARRIVE, null, row);
        }
    }

    void add(Delete delete) {
        int epoch = epoch(delete.relation());
        touch(epoch, key(epoch, delete.old()), Touch.Kind.DELETE, image(delete.relation(), delete.old()), null);
        sequence++;
    }

    void add(Truncate truncate) {
        for (RelationDefinition relation : truncate.relations()) {
            truncatedAtByOid.put(relation.oid(), sequence);
            truncatesByOid.remove(relation.oid());
            truncatesByOid.put(relation.oid(), relation);
        }
        sequence++;
    }

    private static Image image(RelationDefinition relation, Tuple tuple) {
        return new Image(relation, tuple);
    }

    private byte[] key(int epoch, Tuple tuple) {
        return RowKey.of(tuple, epochs.get(epoch).positions);
    }

    private void touch(int epoch, byte[] key, Touch.Kind kind, @Nullable Image old, @Nullable Image row) {
        // from 1: 0 and below have meanings of their own as links
        touches.add(new Touch(epoch, key, sequence + 1, kind, old, row));
    }

    private int epoch(RelationDefinition relation) {
        Integer number = epochByOid.get(relation.oid());
        if (number != null && Image.same(epochs.get(number).definition, relation)) {
            return number;
        }
        Epoch fresh = new Epoch(relation, keys.keyPositions(relation));
        if (number != null) {
            Epoch known = epochs.get(number);
            if (known.wholeRow == fresh.wholeRow && known.keyNames.equals(fresh.keyNames)) {
                known.definition = relation;
                known.positions = fresh.positions;
                return number;
            }
            known.following = epochs.size();
        }
        epochs.add(fresh);
        epochByOid.put(relation.oid(), epochs.size() - 1);
        return epochs.size() - 1;
    }

    /// Whether the transaction did not fit in memory.
    boolean hasSpilled() {
        return spilled || touches.hasSpilled();
    }

    long memoryBytes() {
        return touches.memoryBytes();
    }

    /// Tables truncated, in order of their last truncation.
    List<Change> truncates() {
        List<Change> changes = new ArrayList<>();
        for (RelationDefinition relation : truncatesByOid.values()) {
            changes.add(new Change.Truncate(relation));
        }
        return changes;
    }

    /// Works out the net images. Nothing is added afterwards.
    void settle() {
        spilled = touches.hasSpilled();
        if (spilled) {
            long share = Math.max(bytesMax / 4, 1);
            segments.limit(share);
            moves.limit(share);
            results.limit(share);
        }
        for (Touch touch = touches.peek(); touch != null; touch = touches.peek()) {
            settleEpoch(touch.epoch());
        }
        touches.reset();
    }

    private void settleEpoch(int epoch) {
        current = epoch;
        for (Touch first = touches.peek(); first != null && first.epoch() == epoch; first = touches.peek()) {
            Timeline timeline =
                    epochs.get(epoch).wholeRow ? new RowTimeline(this, epoch) : new KeyTimeline(this, epoch);
            long truncatedAt = truncatedAtByOid.getOrDefault(epochs.get(epoch).oid, -1L);
            for (Touch touch = first; touch != null && touch.sameKey(first); touch = touches.peek()) {
                touches.poll();
                if (touch.sequence() > truncatedAt) {
                    timeline.apply(touch);
                }
            }
            timeline.finish();
        }
        for (Segment segment = segments.poll(); segment != null; segment = segments.poll()) {
            Segment.Move move = moves.poll();
            if (move == null || move.link() != segment.startLink()) {
                throw new IllegalStateException("no move leads to link " + segment.startLink());
            }
            connect(segment, move);
        }
        segments.reset();
        moves.reset();
    }

    private void connect(Segment segment, Segment.Move move) {
        Image image = segment.image() == null ? null : segment.image().filledFrom(move.image());
        long at = segment.endSequence();
        boolean released = move.origin() == Segment.Origin.RELEASED;
        switch (segment.end()) {
            case LEFT -> moves.add(new Segment.Move(at, move.origin(), move.before(), move.originLink(), image));
            case DELETED -> {
                if (released) {
                    result(segment.epoch(), NetImage.Kind.DELETE, at, move.before(), null);
                }
            }
            case STAYED -> {
                if (segment.keyState() == Segment.KeyState.FREE) {
                    NetImage.Kind kind = released ? NetImage.Kind.UPDATE : NetImage.Kind.INSERT;
                    result(segment.epoch(), kind, at, released ? move.before() : null, image);
                    return;
                }
                boolean cameBack = move.originLink() != 0 && move.originLink() == segment.originLink();
                Image row = cameBack || image == null ? image : image.standingAlone();
                result(segment.epoch(), NetImage.Kind.UPDATE, at, segment.keyBefore(), row);
                if (released) {
                    result(segment.epoch(), NetImage.Kind.DELETE, at, move.before(), null);
                }
            }
        }
    }

    void segment(Segment segment) {
        segments.add(segment);
    }

    void move(Segment.Move move) {
        moves.add(move);
    }

    void result(int epoch, NetImage.Kind kind, long at, @Nullable Image before, @Nullable Image after) {
        Image row = kind == NetImage.Kind.INSERT && after != null ? after.standingAlone() : after;
        int following = epochs.get(epoch).following;
        if (following < 0) {
            results.add(new NetImage(epoch, kind, at, before, row));
        } else {
            // an update without an old tuple left the identity as it was
            Image old = kind == NetImage.Kind.UPDATE && before == null && row != null ? row.identityOnly() : before;
            carryOver(following, at, old, row);
        }
    }

    /// Makes a net image of one stretch the first message of the next about its row.
    private void carryOver(int epoch, long at, @Nullable Image before, @Nullable Image row) {
        if (epoch <= current) {
            throw new IllegalStateException("stretch " + epoch + " is over");
        }
        Epoch next = epochs.get(epoch);
        byte[] oldKey = keyUnder(next, before, at);
        if (row == null) {
            touches.add(new Touch(epoch, oldKey, at, Touch.Kind.DELETE, before, null));
            return;
        }
        byte[] newKey = keyUnder(next, row, at);
        if (before == null) {
            touches.add(new Touch(epoch, newKey, at, Touch.Kind.INSERT, null, row));
        } else if (java.util.Arrays.equals(oldKey, newKey)) {
            touches.add(new Touch(epoch, newKey, at, Touch.Kind.UPDATE, before, row));
        } else {
            touches.add(new Touch(epoch, oldKey, at, Touch.Kind.LEAVE, before, null));
            touches.add(new Touch(epoch, newKey, at, Touch.Kind.ARRIVE, null, row));
        }
    }

    private static byte[] keyUnder(Epoch epoch, @Nullable Image image, long at) {
        Tuple tuple = image == null ? null : image.forKeyUnder(epoch.definition).tuple();
        return tuple != null && RowKey.isKnown(tuple, epoch.positions)
                ? RowKey.of(tuple, epoch.positions)
                : RowKey.opaque(at);
    }

    /// The next net image in the order of delivery, truncations apart; null after the last.
    @Nullable
    Change next() {
        NetImage image = results.poll();
        return image == null ? null : image.toChange();
    }

    void close() {
        touches.reset();
        segments.reset();
        moves.reset();
        results.reset();
    }
}
