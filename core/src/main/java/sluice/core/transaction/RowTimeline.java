package sluice.core.transaction;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Follows all rows of one content through a transaction, for relations whose rows nothing else tells apart.
///
/// Rows of the same content are interchangeable: of several, the one that came last goes first, and only when none is
/// left a row of before the commit. A deleted row that is inserted again is an update, as for keys.
///
/// Holds two numbers for each such row: 16 bytes for a duplicate, whatever its size.
final class RowTimeline implements Timeline {
    private static final long FROM_BEFORE = 0;
    private static final long INSERTED = -1;

    private final NetImages out;
    private final int epoch;
    private @Nullable Image content;

    /// Pairs: how the row came (a move, {@link #FROM_BEFORE} or {@link #INSERTED}), and the last message about it.
    private long[] holders = new long[8];

    private int holderCount;
    private long[] deletes = new long[4];
    private int deleteCount;

    RowTimeline(NetImages out, int epoch) {
        this.out = out;
        this.epoch = epoch;
    }

    @Override
    public void apply(Touch touch) {
        if (content == null) {
            content = touch.row() != null ? touch.row() : touch.old();
        }
        long sequence = touch.sequence();
        switch (touch.kind()) {
            case INSERT -> {
                if (deleteCount > 0) {
                    deleteCount--;
                    push(FROM_BEFORE, sequence);
                } else {
                    push(INSERTED, sequence);
                }
            }
            case ARRIVE -> push(sequence, sequence);
            case UPDATE -> push(pop(), sequence);
            case DELETE -> delete(pop(), sequence);
            case LEAVE -> leave(pop(), sequence);
        }
    }

    private void delete(long origin, long sequence) {
        if (origin == FROM_BEFORE) {
            if (deleteCount == deletes.length) {
                deletes = Arrays.copyOf(deletes, deleteCount * 2);
            }
            deletes[deleteCount++] = sequence;
        } else if (origin != INSERTED) {
            out.segment(segment(origin, Segment.End.DELETED, sequence));
        }
    }

    private void leave(long origin, long sequence) {
        if (origin == FROM_BEFORE) {
            out.move(new Segment.Move(sequence, Segment.Origin.RELEASED, content, sequence, content));
        } else if (origin == INSERTED) {
            out.move(new Segment.Move(sequence, Segment.Origin.INSERTED, null, 0, content));
        } else {
            out.segment(segment(origin, Segment.End.LEFT, sequence));
        }
    }

    private Segment segment(long startLink, Segment.End end, long sequence) {
        return new Segment(epoch, startLink, end, sequence, content, Segment.KeyState.FREE, null, 0);
    }

    @Override
    public void finish() {
        for (int i = 0; i < deleteCount; i++) {
            out.result(epoch, NetImage.Kind.DELETE, deletes[i], content, null);
        }
        for (int i = 0; i < holderCount; i++) {
            long origin = holders[2 * i];
            long sequence = holders[2 * i + 1];
            if (origin == FROM_BEFORE) {
                out.result(epoch, NetImage.Kind.UPDATE, sequence, content, content);
            } else if (origin == INSERTED) {
                out.result(epoch, NetImage.Kind.INSERT, sequence, null, content);
            } else {
                out.segment(segment(origin, Segment.End.STAYED, sequence));
            }
        }
    }

    private void push(long origin, long sequence) {
        if (2 * holderCount == holders.length) {
            holders = Arrays.copyOf(holders, 4 * holderCount);
        }
        holders[2 * holderCount] = origin;
        holders[2 * holderCount + 1] = sequence;
        holderCount++;
    }

    private long pop() {
        return holderCount == 0 ? FROM_BEFORE : holders[2 * --holderCount];
    }
}
