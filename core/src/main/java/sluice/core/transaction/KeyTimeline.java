package sluice.core.transaction;

import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.RelationDefinition;

/// Follows one key through a transaction and says what remains of it.
///
/// Keys are unique at every moment, so at most one row holds the key. Should a key chosen from another moment's
/// catalog not be unique, each row is reported on its own rather than lost.
final class KeyTimeline implements Timeline {
    private final NetImages out;
    private final int epoch;
    private boolean touched;
    private boolean heldBefore;
    private @Nullable Image firstOld;

    /// Of the first message about the row of before, when it carried nothing of it.
    private @Nullable RelationDefinition silent;

    private Start start = Start.NONE;
    private long startLink;
    private @Nullable Image image;
    private long lastSequence;
    private @Nullable Image strayOld;

    private Segment.@Nullable End originEnd;
    private long originEndSequence;
    private @Nullable Image originImage;

    /// How the row that holds the key now came to it.
    private enum Start {
        /// No row holds the key.
        NONE,
        BEFORE,
        INSERTED,
        ARRIVED,
        /// It must have been there, although the key seemed free.
        STRAY
    }

    KeyTimeline(NetImages out, int epoch) {
        this.out = out;
        this.epoch = epoch;
    }

    @Override
    public void apply(Touch touch) {
        switch (touch.kind()) {
            case INSERT -> begin(Start.INSERTED, touch);
            case ARRIVE -> begin(Start.ARRIVED, touch);
            case UPDATE -> {
                find(touch);
                Image row = touch.row();
                image = row == null ? null : row.filledFrom(image);
                lastSequence = touch.sequence();
            }
            case DELETE -> {
                find(touch);
                end(Segment.End.DELETED, touch.sequence());
            }
            case LEAVE -> {
                find(touch);
                end(Segment.End.LEFT, touch.sequence());
            }
        }
        touched = true;
    }

    private void begin(Start how, Touch touch) {
        if (start != Start.NONE) {
            standAlone();
        }
        start = how;
        startLink = touch.sequence();
        image = touch.row();
        lastSequence = touch.sequence();
    }

    /// Makes sure that a row holds the key, learning what the log carries of it.
    private void find(Touch touch) {
        Image old = touch.old();
        if (start == Start.NONE && !touched) {
            heldBefore = true;
            firstOld = old;
            silent = touch.row() == null ? null : touch.row().relation();
            start = Start.BEFORE;
            image = old;
        } else if (start == Start.NONE) {
            start = Start.STRAY;
            strayOld = old;
            image = old;
        } else if (start == Start.BEFORE && firstOld == null && old != null) {
            // messages before this one carried nothing because the identity, as it was then, had not changed
            firstOld = silent == null ? old.identityOnly() : old.identityOnly(silent);
        }
    }

    private void end(Segment.End how, long sequence) {
        switch (start) {
            case NONE -> throw new IllegalStateException("no row holds the key at sequence " + sequence);
            case BEFORE -> {
                originEnd = how;
                originEndSequence = sequence;
                originImage = image;
            }
            case INSERTED -> {
                if (how == Segment.End.LEFT) {
                    out.move(new Segment.Move(sequence, Segment.Origin.INSERTED, null, 0, image));
                }
            }
            case ARRIVED ->
                out.segment(new Segment(epoch, startLink, how, sequence, image, Segment.KeyState.FREE, null, 0));
            case STRAY -> {
                if (how == Segment.End.LEFT) {
                    out.move(new Segment.Move(sequence, Segment.Origin.RELEASED, strayOld, sequence, image));
                } else {
                    out.result(epoch, NetImage.Kind.DELETE, sequence, strayOld, null);
                }
            }
        }
        start = Start.NONE;
        image = null;
    }

    /// Reports the row that holds the key as if the key were its own alone.
    private void standAlone() {
        switch (start) {
            case NONE -> {}
            case BEFORE -> {
                out.result(epoch, NetImage.Kind.UPDATE, lastSequence, firstOld, image);
                firstOld = null;
                heldBefore = false;
            }
            case INSERTED -> out.result(epoch, NetImage.Kind.INSERT, lastSequence, null, image);
            case ARRIVED ->
                out.segment(new Segment(
                        epoch, startLink, Segment.End.STAYED, lastSequence, image, Segment.KeyState.FREE, null, 0));
            case STRAY -> out.result(epoch, NetImage.Kind.UPDATE, lastSequence, strayOld, image);
        }
    }

    @Override
    public void finish() {
        boolean heldAfter = start != Start.NONE;
        long originLink = originEnd == Segment.End.LEFT ? originEndSequence : 0;
        switch (start) {
            case NONE -> {}
            case BEFORE, STRAY -> standAlone();
            case INSERTED -> {
                if (heldBefore) {
                    Image row = image == null ? null : image.standingAlone();
                    out.result(epoch, NetImage.Kind.UPDATE, lastSequence, firstOld, row);
                } else {
                    out.result(epoch, NetImage.Kind.INSERT, lastSequence, null, image);
                }
            }
            case ARRIVED ->
                out.segment(new Segment(
                        epoch,
                        startLink,
                        Segment.End.STAYED,
                        lastSequence,
                        image,
                        heldBefore ? Segment.KeyState.HELD : Segment.KeyState.FREE,
                        firstOld,
                        originLink));
        }
        if (originEnd == Segment.End.LEFT) {
            out.move(new Segment.Move(
                    originEndSequence,
                    heldAfter ? Segment.Origin.TAKEN : Segment.Origin.RELEASED,
                    heldAfter ? null : firstOld,
                    originLink,
                    originImage));
        } else if (originEnd == Segment.End.DELETED && !heldAfter) {
            out.result(epoch, NetImage.Kind.DELETE, originEndSequence, firstOld, null);
        }
    }
}
