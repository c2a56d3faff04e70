package sluice.core.function;

import static sluice.core.datum.NumberTypes.NUMERIC;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.INT8;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Numeric;
import sluice.core.datum.UndecidableException;

/// `numeric` (`numeric.c`): exact decimal arithmetic with PostgreSQL's choice of displayed digits.
final class NumericFunctions {
    private static final String OUT_OF_RANGE = "22003";
    private static final String DIVISION_BY_ZERO = "22012";

    /// Beyond it rounding to a number of digits differs between majors.
    private static final int ROUNDING_MAX = 2000;

    /// Most digits of numbers whose common divisors are searched here: the work grows with their square.
    private static final int DIVISOR_DIGITS_MAX = 2000;

    private static final int FACTORIAL_MAX = 500;

    private NumericFunctions() {}

    static void register(FunctionTable table) {
        for (ComparisonKind kind : ComparisonKind.values()) {
            table.comparison("numeric_" + kind.suffix(), NUMERIC, NUMERIC, kind, BuiltIn.CollationUse.NONE);
        }
        table.binary("numeric_cmp", NUMERIC, NUMERIC, INT4, (a, b) -> (long) a.compareTo(b))
                .neverRaises();
        table.binary("numeric_larger", NUMERIC, NUMERIC, NUMERIC, (a, b) -> a.compareTo(b) > 0 ? a : b)
                .neverRaises();
        table.binary("numeric_smaller", NUMERIC, NUMERIC, NUMERIC, (a, b) -> a.compareTo(b) < 0 ? a : b)
                .neverRaises();
        table.binary("numeric_add", NUMERIC, NUMERIC, NUMERIC, NumericFunctions::sum);
        table.binary("numeric_sub", NUMERIC, NUMERIC, NUMERIC, (a, b) -> sum(a, negated(b)));
        table.binary("numeric_mul", NUMERIC, NUMERIC, NUMERIC, NumericFunctions::product);
        table.binary("numeric_div", NUMERIC, NUMERIC, NUMERIC, NumericFunctions::quotient);
        table.binary("numeric_div_trunc", NUMERIC, NUMERIC, NUMERIC, NumericFunctions::wholeQuotient);
        table.binary("numeric_mod", NUMERIC, NUMERIC, NUMERIC, NumericFunctions::remainder);
        table.unary("numeric_inc", NUMERIC, NUMERIC, a -> sum(a, Numeric.of(1)));
        table.unary("numeric_uminus", NUMERIC, NUMERIC, NumericFunctions::negated)
                .neverRaises();
        table.unary("numeric_uplus", NUMERIC, NUMERIC, a -> a).neverRaises();
        table.unary("numeric_abs", NUMERIC, NUMERIC, a -> a.signum() < 0 ? negated(a) : a)
                .neverRaises();
        table.unary("numeric_sign", NUMERIC, NUMERIC, a -> a.isNaN() ? a : Numeric.of(a.signum()))
                .neverRaises();
        table.unary("numeric_ceil", NUMERIC, NUMERIC, a -> rounded(a, 0, RoundingMode.CEILING));
        table.unary("numeric_floor", NUMERIC, NUMERIC, a -> rounded(a, 0, RoundingMode.FLOOR));
        table.binary("numeric_round", NUMERIC, INT4, NUMERIC, (a, n) -> rounded(a, n, RoundingMode.HALF_UP));
        table.binary("numeric_trunc", NUMERIC, INT4, NUMERIC, (a, n) -> rounded(a, n, RoundingMode.DOWN));
        table.unary(
                        "numeric_scale",
                        NUMERIC,
                        INT4,
                        a -> a.isFinite() ? (long) a.decimal().scale() : null)
                .neverRaises();
        table.unary(
                        "numeric_min_scale",
                        NUMERIC,
                        INT4,
                        a -> a.isFinite() ? (long) trimmed(a).scale() : null)
                .neverRaises();
        table.unary("numeric_trim_scale", NUMERIC, NUMERIC, a -> a.isFinite() ? Numeric.of(trimmed(a)) : a)
                .neverRaises();
        table.binary("numeric_gcd", NUMERIC, NUMERIC, NUMERIC, NumericFunctions::divisor);
        table.binary("numeric_lcm", NUMERIC, NUMERIC, NUMERIC, NumericFunctions::multiple);
        table.unary("numeric_fac", INT8, NUMERIC, NumericFunctions::factorial);
    }

    static Numeric negated(Numeric a) {
        return switch (a.kind()) {
            case NAN -> a;
            case INFINITY -> Numeric.MINUS_INFINITY;
            case MINUS_INFINITY -> Numeric.INFINITY;
            case FINITE -> Numeric.of(a.decimal().negate());
        };
    }

    static Numeric sum(Numeric a, Numeric b) {
        if (a.isFinite() && b.isFinite()) {
            return Numeric.of(a.decimal().add(b.decimal()));
        }
        if (a.isNaN() || b.isNaN() || (a.isInfinite() && b.isInfinite() && a.kind() != b.kind())) {
            return Numeric.NAN;
        }
        return a.isInfinite() ? a : b;
    }

    private static Numeric product(Numeric a, Numeric b) {
        if (a.isFinite() && b.isFinite()) {
            BigDecimal product = a.decimal().multiply(b.decimal());
            return Numeric.of(
                    product.scale() > Numeric.SCALE_MAX
                            ? product.setScale(Numeric.SCALE_MAX, RoundingMode.HALF_UP)
                            : product);
        }
        return a.isNaN() || b.isNaN() ? Numeric.NAN : infinite(a.signum() * b.signum());
    }

    /// An infinity of that sign; infinitely many nothings are not a number.
    private static Numeric infinite(int sign) {
        return sign == 0 ? Numeric.NAN : sign > 0 ? Numeric.INFINITY : Numeric.MINUS_INFINITY;
    }

    /// The quotient when one of the two is no decimal number, null when both are.
    private static @Nullable Numeric unusualQuotient(Numeric a, Numeric b) {
        if (a.isNaN() || b.isNaN()) {
            return Numeric.NAN;
        }
        if (b.signum() == 0) {
            throw new EvaluationException(DIVISION_BY_ZERO);
        }
        if (a.isInfinite()) {
            return b.isInfinite() ? Numeric.NAN : infinite(a.signum() * b.signum());
        }
        return b.isInfinite() ? Numeric.ZERO : null;
    }

    static Numeric quotient(Numeric a, Numeric b) {
        Numeric unusual = unusualQuotient(a, b);
        if (unusual != null) {
            return unusual;
        }
        return Numeric.of(
                a.decimal().divide(b.decimal(), quotientScale(a.decimal(), b.decimal()), RoundingMode.HALF_UP));
    }

    /// `select_div_scale`: sixteen digits that count, estimated from the leading digits to the
    /// base of ten thousand,
    /// and never fewer than either argument displays.
    private static int quotientScale(BigDecimal a, BigDecimal b) {
        int weight = weight(a) - weight(b);
        if (leading(a) <= leading(b)) {
            weight--;
        }
        int scale = 16 - weight * 4;
        return Math.min(Math.max(scale, Math.max(a.scale(), b.scale())), 1000);
    }

    /// The power of ten thousand of the first digit that counts.
    private static int weight(BigDecimal value) {
        return value.signum() == 0 ? 0 : Math.floorDiv(value.precision() - value.scale() - 1, 4);
    }

    /// The first digit to the base of ten thousand.
    private static int leading(BigDecimal value) {
        return value.signum() == 0
                ? 0
                : value.abs().scaleByPowerOfTen(-4 * weight(value)).intValue();
    }

    private static Numeric wholeQuotient(Numeric a, Numeric b) {
        Numeric unusual = unusualQuotient(a, b);
        return unusual != null ? unusual : Numeric.of(a.decimal().divide(b.decimal(), 0, RoundingMode.DOWN));
    }

    private static Numeric remainder(Numeric a, Numeric b) {
        if (a.isNaN() || b.isNaN()) {
            return Numeric.NAN;
        }
        if (b.signum() == 0) {
            throw new EvaluationException(DIVISION_BY_ZERO);
        }
        if (a.isInfinite()) {
            return Numeric.NAN;
        }
        if (b.isInfinite()) {
            return a;
        }
        int scale = Math.max(a.decimal().scale(), b.decimal().scale());
        BigDecimal whole = a.decimal().divide(b.decimal(), 0, RoundingMode.DOWN);
        return Numeric.of(a.decimal().subtract(whole.multiply(b.decimal())).setScale(scale, RoundingMode.UNNECESSARY));
    }

    /// @param digits behind the point, before it when negative; then those are zero
    static Numeric rounded(Numeric a, long digits, RoundingMode mode) {
        if (!a.isFinite()) {
            return a;
        }
        if (Math.abs(digits) > ROUNDING_MAX) {
            throw new UndecidableException();
        }
        BigDecimal rounded = a.decimal().setScale((int) digits, mode);
        return Numeric.of(digits < 0 ? rounded.setScale(0) : rounded);
    }

    private static BigDecimal trimmed(Numeric a) {
        BigDecimal stripped =
                a.decimal().signum() == 0 ? BigDecimal.ZERO : a.decimal().stripTrailingZeros();
        return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
    }

    private static Numeric divisor(Numeric a, Numeric b) {
        if (!a.isFinite() || !b.isFinite()) {
            return Numeric.NAN;
        }
        int scale = Math.max(a.decimal().scale(), b.decimal().scale());
        return Numeric.of(new BigDecimal(units(a, scale).gcd(units(b, scale)), scale));
    }

    private static Numeric multiple(Numeric a, Numeric b) {
        if (!a.isFinite() || !b.isFinite()) {
            return Numeric.NAN;
        }
        int scale = Math.max(a.decimal().scale(), b.decimal().scale());
        BigInteger first = units(a, scale);
        BigInteger second = units(b, scale);
        BigInteger multiple = first.signum() == 0 || second.signum() == 0
                ? BigInteger.ZERO
                : first.divide(first.gcd(second)).multiply(second).abs();
        return Numeric.of(new BigDecimal(multiple, scale));
    }

    private static BigInteger units(Numeric a, int scale) {
        if (a.decimal().precision() > DIVISOR_DIGITS_MAX || scale > DIVISOR_DIGITS_MAX) {
            throw new UndecidableException();
        }
        return a.decimal().setScale(scale).unscaledValue();
    }

    private static Numeric factorial(long n) {
        if (n < 0) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        if (n > FACTORIAL_MAX) {
            throw new UndecidableException();
        }
        BigInteger product = BigInteger.ONE;
        for (long factor = 2; factor <= n; factor++) {
            product = product.multiply(BigInteger.valueOf(factor));
        }
        return Numeric.of(new BigDecimal(product));
    }
}
