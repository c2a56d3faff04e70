package sluice.core.datum;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/// The text of floating-point numbers: the fewest digits that read back as the same number, the closest of those.
///
/// PostgreSQL asks that they lie strictly between the midpoints to the neighbours (`d2s.c`, `f2s.c`), Java allows the
/// midpoints of even numbers and prefers two digits to one, so Java's answer is checked and corrected.
final class FloatText {
    private FloatText() {}

    /// How many digits are always enough, and below which exponent, from -4 on, a number is written without one.
    enum Format {
        SINGLE(9, 6),
        DOUBLE(17, 15);

        private final int digitsMax;
        private final int fixedBelow;

        Format(int digitsMax, int fixedBelow) {
            this.digitsMax = digitsMax;
            this.fixedBelow = fixedBelow;
        }
    }

    static String print(double value) {
        if (Double.isNaN(value)) {
            return "NaN";
        }
        String sign = Double.doubleToRawLongBits(value) < 0 ? "-" : "";
        double size = Math.abs(value);
        if (Double.isInfinite(size)) {
            return sign + "Infinity";
        }
        if (size == 0) {
            return sign + "0";
        }
        BigDecimal exact = new BigDecimal(size);
        BigDecimal below = exact.add(new BigDecimal(Math.nextDown(size))).divide(BigDecimal.TWO);
        BigDecimal above = exact.add(exact).subtract(below);
        double next = Math.nextUp(size);
        if (!Double.isInfinite(next)) {
            above = exact.add(new BigDecimal(next)).divide(BigDecimal.TWO);
        }
        BigDecimal guess = new BigDecimal(Double.toString(size));
        return sign + write(shortest(guess, new Interval(below, exact, above), Format.DOUBLE), Format.DOUBLE);
    }

    static String print(float value) {
        if (Float.isNaN(value) || Float.isInfinite(value) || value == 0) {
            return print((double) value);
        }
        String sign = value < 0 ? "-" : "";
        float size = Math.abs(value);
        BigDecimal exact = new BigDecimal(size);
        BigDecimal below = exact.add(new BigDecimal(Math.nextDown(size))).divide(BigDecimal.TWO);
        BigDecimal above = exact.add(exact).subtract(below);
        float next = Math.nextUp(size);
        if (!Float.isInfinite(next)) {
            above = exact.add(new BigDecimal(next)).divide(BigDecimal.TWO);
        }
        BigDecimal guess = new BigDecimal(Float.toString(size));
        return sign + write(shortest(guess, new Interval(below, exact, above), Format.SINGLE), Format.SINGLE);
    }

    /// The numbers that read as `exact`, without the ends.
    private record Interval(BigDecimal below, BigDecimal exact, BigDecimal above) {
        boolean holds(BigDecimal number) {
            return number.compareTo(below) > 0 && number.compareTo(above) < 0;
        }

        /// The number of so many digits in here that is closest, null when there is none.
        @Nullable
        BigDecimal closest(int digits) {
            BigDecimal down = exact.round(new MathContext(digits, RoundingMode.DOWN));
            BigDecimal up = exact.round(new MathContext(digits, RoundingMode.UP));
            if (!holds(down)) {
                return holds(up) ? up : null;
            }
            boolean upIsCloser = up.subtract(exact).compareTo(exact.subtract(down)) <= 0;
            return upIsCloser && holds(up) ? up : down;
        }
    }

    private static BigDecimal shortest(BigDecimal guess, Interval interval, Format format) {
        BigDecimal plain = guess.stripTrailingZeros();
        if (plain.precision() > 2 && interval.holds(plain)) {
            return plain;
        }
        int digits = plain.precision() <= 2 ? 1 : plain.precision();
        while (digits < format.digitsMax) {
            BigDecimal closest = interval.closest(digits);
            if (closest != null) {
                return closest;
            }
            digits++;
        }
        return interval.exact().round(new MathContext(format.digitsMax, RoundingMode.HALF_EVEN));
    }

    private static String write(BigDecimal number, Format format) {
        BigDecimal plain = number.stripTrailingZeros();
        int exponent = plain.precision() - plain.scale() - 1;
        if (exponent >= -4 && exponent < format.fixedBelow) {
            return plain.toPlainString();
        }
        String digits = plain.unscaledValue().toString();
        String fraction = digits.length() == 1 ? "" : "." + digits.substring(1);
        String power = Integer.toString(Math.abs(exponent));
        return digits.charAt(0) + fraction + (exponent < 0 ? "e-" : "e+") + (power.length() < 2 ? "0" : "") + power;
    }
}
