package sluice.core.datum;

/// A value of a range type, in its canonical form.
public sealed interface RangeValue {
    /// The range that contains nothing.
    enum Empty implements RangeValue {
        EMPTY
    }

    /// What lies between two ends; the lower one is not above the upper one, and it is not empty.
    record Span(RangeBound lower, RangeBound upper) implements RangeValue {}
}
