package sluice.core.datum;

import java.math.BigDecimal;
import java.util.Objects;

/// A value of PostgreSQL's `numeric`: a decimal number with the digits it is displayed with, or one of three that are
/// no decimal number.
///
/// Equal as Java objects when they print alike; PostgreSQL also calls `1.0` and `1.00` equal, which is what
/// {@link #compareTo} does. Order: `-Infinity`, the decimal numbers, `Infinity`, `NaN`.
public final class Numeric implements Comparable<Numeric> {
    public static final Numeric NAN = new Numeric(Kind.NAN, BigDecimal.ZERO);
    public static final Numeric INFINITY = new Numeric(Kind.INFINITY, BigDecimal.ZERO);
    public static final Numeric MINUS_INFINITY = new Numeric(Kind.MINUS_INFINITY, BigDecimal.ZERO);
    public static final Numeric ZERO = new Numeric(Kind.FINITE, BigDecimal.ZERO);

    /// What a value is; declared in their order.
    public enum Kind {
        MINUS_INFINITY,
        FINITE,
        INFINITY,
        NAN
    }

    /// Most digits before and after the point (`NUMERIC_WEIGHT_MAX`, `NUMERIC_DSCALE_MAX` of `numeric.c`).
    private static final int INTEGER_DIGITS_MAX = 131_072;

    public static final int SCALE_MAX = 16_383;

    private final Kind kind;
    private final BigDecimal value;

    private Numeric(Kind kind, BigDecimal value) {
        this.kind = kind;
        this.value = value;
    }

    /// @param value a negative scale becomes zero, since a numeric displays all its integer digits
    /// @throws EvaluationException `22003` when it has more digits than a numeric can
    public static Numeric of(BigDecimal value) {
        if (integerDigits(value) > INTEGER_DIGITS_MAX || value.scale() > SCALE_MAX) {
            throw new EvaluationException("22003");
        }
        return new Numeric(Kind.FINITE, value.scale() < 0 ? value.setScale(0) : value);
    }

    public static Numeric of(long value) {
        return new Numeric(Kind.FINITE, BigDecimal.valueOf(value));
    }

    /// How many digits stand before the point; not positive when the first digit that counts stands behind it.
    static long integerDigits(BigDecimal value) {
        return value.signum() == 0 ? 0 : (long) value.precision() - value.scale();
    }

    public Kind kind() {
        return kind;
    }

    public boolean isFinite() {
        return kind == Kind.FINITE;
    }

    public boolean isNaN() {
        return kind == Kind.NAN;
    }

    public boolean isInfinite() {
        return kind == Kind.INFINITY || kind == Kind.MINUS_INFINITY;
    }

    /// The decimal number, its scale the number of digits displayed behind the point; zero for the others.
    public BigDecimal decimal() {
        return value;
    }

    /// -1, 0 or 1; 1 for `NaN`.
    public int signum() {
        return switch (kind) {
            case MINUS_INFINITY -> -1;
            case FINITE -> value.signum();
            case INFINITY, NAN -> 1;
        };
    }

    @Override
    public int compareTo(Numeric other) {
        int order = Integer.signum(kind.compareTo(other.kind));
        return order != 0 ? order : value.compareTo(other.value);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Numeric numeric && kind == numeric.kind && value.equals(numeric.value);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, value);
    }

    /// As `numeric_out` prints it.
    @Override
    public String toString() {
        return switch (kind) {
            case NAN -> "NaN";
            case INFINITY -> "Infinity";
            case MINUS_INFINITY -> "-Infinity";
            case FINITE -> value.toPlainString();
        };
    }
}
