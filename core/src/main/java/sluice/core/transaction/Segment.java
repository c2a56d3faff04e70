package sluice.core.transaction;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// The time a row that arrived from another key spent at one key.
///
/// Rows that move from key to key leave a chain of segments; the sequence number of each move links the one it ends
/// to the one it starts.
///
/// @param startLink the move that brought the row
/// @param end how it ended
/// @param endSequence the move or delete that ended it, or the last message that touched it
/// @param image the row at its end; what it says is unchanged, the segments before may know
/// @param keyBefore for a row that stays: what was known of another row that held the key before the commit
/// @param keyState for a row that stays: whether there was such a row
/// @param originLink for a row that stays: the move by which the row that held the key before left it, 0 for none
record Segment(
        int epoch,
        long startLink,
        End end,
        long endSequence,
        @Nullable Image image,
        KeyState keyState,
        @Nullable Image keyBefore,
        long originLink) {
    /// What became of the row at this key.
    enum End {
        STAYED,
        LEFT,
        DELETED
    }

    /// Whether a row held the key before the commit.
    enum KeyState {
        FREE,
        HELD
    }

    static final Comparator<Segment> BY_START = Comparator.comparingLong(Segment::startLink);

    /// What is known of a row at the moment of one of its moves.
    ///
    /// @param link the move
    /// @param origin where the row was before the commit
    /// @param before what was known of it there; only kept for {@link Origin#RELEASED}
    /// @param originLink its first move
    record Move(
            long link,
            Origin origin,
            @Nullable Image before,
            long originLink,
            @Nullable Image image) {
        static final Comparator<Move> BY_LINK = Comparator.comparingLong(Move::link);
    }

    /// Where a moving row was before the commit.
    enum Origin {
        /// Nowhere: it was inserted.
        INSERTED,
        /// At a key that another row holds after the commit.
        TAKEN,
        /// At a key that no row holds after the commit.
        RELEASED
    }
}
