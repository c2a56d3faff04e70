package sluice.core.datum;

import org.jspecify.annotations.Nullable;

/// One end of a range.
///
/// @param value in the Java form of the range's subtype, null where the range has no end on this side
/// @param edge {@link Edge#EXCLUSIVE} where there is no value
public record RangeBound(Side side, @Nullable Object value, Edge edge) {
    public enum Side {
        LOWER,
        UPPER
    }

    /// Whether the value is in the range.
    public enum Edge {
        INCLUSIVE,
        EXCLUSIVE
    }

    public RangeBound {
        edge = value == null ? Edge.EXCLUSIVE : edge;
    }

    public boolean isInfinite() {
        return value == null;
    }

    public boolean isInclusive() {
        return edge == Edge.INCLUSIVE;
    }

    /// The end, on the other side, of what lies next to the range here.
    public RangeBound opposite() {
        return new RangeBound(
                side == Side.LOWER ? Side.UPPER : Side.LOWER, value, isInclusive() ? Edge.EXCLUSIVE : Edge.INCLUSIVE);
    }
}
