package sluice.core.datum;

import java.nio.ByteBuffer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.RangeBound.Edge;
import sluice.core.datum.RangeBound.Side;

/// A built-in range type (`rangetypes.c`).
public final class RangeType extends ValueType<RangeValue> {
    /// As the server prints a range: quotes where an end needs them, no quote or backslash inside of one.
    private static final Pattern TEXT = Pattern.compile(
            "([\\[(])(\"[^\"\\\\]*+\"|[^\"\\\\(),\\[\\]]*+),(\"[^\"\\\\]*+\"|[^\"\\\\(),\\[\\]]*+)([\\])])");

    private static final int EMPTY = 0x01;
    private static final int LOWER_INCLUSIVE = 0x02;
    private static final int UPPER_INCLUSIVE = 0x04;
    private static final int LOWER_INFINITE = 0x08;
    private static final int UPPER_INFINITE = 0x10;

    private final ValueType<?> subtype;
    private final Steps steps;

    /// Whether each value has a next one, so that a range has one canonical form, which includes
    /// its lower end only.
    enum Steps {
        NONE,
        INTEGERS,
        DAYS
    }

    RangeType(int oid, String sqlName, ValueType<?> subtype, Steps steps) {
        // The array type of each range was made right after it; alignment is the subtype's, four at least.
        super(
                oid,
                oid + 1,
                sqlName,
                new Storage(Storage.VARIABLE, Math.max(4, subtype.storage().alignment())));
        this.subtype = subtype;
        this.steps = steps;
    }

    public ValueType<?> subtype() {
        return subtype;
    }

    @Override
    public boolean isRange() {
        return true;
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public RangeValue parse(String text) {
        return read(text, subtype::parse);
    }

    @Override
    public RangeValue input(String text) {
        return read(text, subtype::input);
    }

    private RangeValue read(String text, Function<String, Object> reader) {
        if (text.equals("empty")) {
            return RangeValue.Empty.EMPTY;
        }
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new UndecidableException();
        }
        RangeBound lower = new RangeBound(
                Side.LOWER, end(parts.group(2), reader), parts.group(1).equals("[") ? Edge.INCLUSIVE : Edge.EXCLUSIVE);
        RangeBound upper = new RangeBound(
                Side.UPPER, end(parts.group(3), reader), parts.group(4).equals("]") ? Edge.INCLUSIVE : Edge.EXCLUSIVE);
        return make(lower, upper);
    }

    private static @Nullable Object end(String text, Function<String, Object> reader) {
        if (text.isEmpty()) {
            return null;
        }
        return reader.apply(text.charAt(0) == '"' ? text.substring(1, text.length() - 1) : text);
    }

    @Override
    public String print(RangeValue value) {
        return switch (value) {
            case RangeValue.Empty ignored -> "empty";
            case RangeValue.Span(var lower, var upper) ->
                (lower.isInclusive() ? "[" : "(") + printed(lower) + "," + printed(upper)
                        + (upper.isInclusive() ? "]" : ")");
        };
    }

    /// No subtype here prints anything but a space that needs quotes.
    private String printed(RangeBound bound) {
        if (bound.value() == null) {
            return "";
        }
        String text = subtype.text(bound.value());
        return text.indexOf(' ') >= 0 ? '"' + text + '"' : text;
    }

    /// The range between two ends.
    ///
    /// @throws EvaluationException when the lower one is above the upper one
    public RangeValue make(RangeBound lower, RangeBound upper) {
        RangeValue range = ordered(lower, upper);
        if (steps == Steps.NONE || !(range instanceof RangeValue.Span span)) {
            return range;
        }
        RangeBound from = isStep(span.lower(), Edge.EXCLUSIVE)
                ? new RangeBound(Side.LOWER, next(span.lower()), Edge.INCLUSIVE)
                : span.lower();
        RangeBound to = isStep(span.upper(), Edge.INCLUSIVE)
                ? new RangeBound(Side.UPPER, next(span.upper()), Edge.EXCLUSIVE)
                : span.upper();
        return ordered(from, to);
    }

    private RangeValue ordered(RangeBound lower, RangeBound upper) {
        int order = compareValues(lower, upper);
        if (order > 0) {
            throw new EvaluationException("22000");
        }
        return order == 0 && !(lower.isInclusive() && upper.isInclusive())
                ? RangeValue.Empty.EMPTY
                : new RangeValue.Span(lower, upper);
    }

    /// Whether an end with that edge is written as the next value with the other one.
    private boolean isStep(RangeBound bound, Edge edge) {
        return bound.value() instanceof Long value
                && bound.edge() == edge
                && (steps != Steps.DAYS || TimeTypes.isFiniteDate(value));
    }

    private long next(RangeBound bound) {
        long value = bound.value() instanceof Long number ? number : 0;
        if (steps == Steps.DAYS) {
            if (!TimeTypes.isDate(value + 1)) {
                throw new EvaluationException("22008");
            }
            return value + 1;
        }
        if (value == (subtype.storage().length() == 4 ? Integer.MAX_VALUE : Long.MAX_VALUE)) {
            throw new EvaluationException("22003");
        }
        return value + 1;
    }

    /// The order of two ends by their values alone, whichever sides they are of.
    public int compareValues(RangeBound a, RangeBound b) {
        if (a.value() == null) {
            return b.value() == null && a.side() == b.side() ? 0 : a.side() == Side.LOWER ? -1 : 1;
        }
        if (b.value() == null) {
            return b.side() == Side.LOWER ? 1 : -1;
        }
        return subtype.order(a.value(), b.value());
    }

    /// The order of two ends: where values are equal, by which of them leaves its value out.
    public int compareBounds(RangeBound a, RangeBound b) {
        int order = compareValues(a, b);
        if (order != 0 || a.isInfinite()) {
            return order;
        }
        return Integer.compare(beside(a), beside(b));
    }

    /// An excluded end lies right above a lower end's value, right below an upper one's.
    private static int beside(RangeBound bound) {
        return bound.isInclusive() ? 0 : bound.side() == Side.LOWER ? 1 : -1;
    }

    /// Whether nothing lies between two ranges, one ending at the first end, the other starting at the second.
    public boolean adjacent(RangeBound upper, RangeBound lower) {
        int order = compareValues(upper, lower);
        if (order == 0) {
            return upper.edge() != lower.edge();
        }
        return order < 0 && steps != Steps.NONE && make(upper.opposite(), lower.opposite()) instanceof RangeValue.Empty;
    }

    @Override
    public int compare(RangeValue left, RangeValue right) {
        if (!(left instanceof RangeValue.Span a)) {
            return right instanceof RangeValue.Span ? -1 : 0;
        }
        if (!(right instanceof RangeValue.Span b)) {
            return 1;
        }
        int order = compareBounds(a.lower(), b.lower());
        return order != 0 ? order : compareBounds(a.upper(), b.upper());
    }

    /// The type's oid, the ends that there are, and a byte that tells what they are.
    @Override
    public RangeValue decode(ByteBuffer datum) throws DatumFormatException {
        Datums.need(datum.remaining() >= 5 && datum.getInt(0) == oid());
        int flags = datum.get(datum.limit() - 1);
        if ((flags & EMPTY) != 0) {
            return RangeValue.Empty.EMPTY;
        }
        PackedValues packed = new PackedValues(datum, subtype, 4);
        Object lower = (flags & LOWER_INFINITE) != 0 ? null : packed.next();
        Object upper = (flags & UPPER_INFINITE) != 0 ? null : packed.next();
        return new RangeValue.Span(
                new RangeBound(Side.LOWER, lower, (flags & LOWER_INCLUSIVE) != 0 ? Edge.INCLUSIVE : Edge.EXCLUSIVE),
                new RangeBound(Side.UPPER, upper, (flags & UPPER_INCLUSIVE) != 0 ? Edge.INCLUSIVE : Edge.EXCLUSIVE));
    }

    @Override
    public RangeValue cast(Object value) {
        return (RangeValue) value;
    }
}
