package sluice.core.datum;

import java.nio.ByteBuffer;
import java.util.regex.Pattern;
import sluice.core.value.Oid;

/// `float8` (`float.c`): NaN equals itself and is the greatest, zeros of both signs are equal.
final class Float8Type extends ValueType<Double> {
    static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?(e[+-][0-9]+)?");

    private static final Pattern ZERO = Pattern.compile("[+-]?[0.]+([eE].*)?");

    Float8Type() {
        super(Oid.FLOAT8, 1022, "pg_catalog.float8", Storage.fixed(8, 8));
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public Double parse(String text) {
        return switch (text) {
            case "NaN" -> Double.NaN;
            case "Infinity" -> Double.POSITIVE_INFINITY;
            case "-Infinity" -> Double.NEGATIVE_INFINITY;
            default -> {
                if (!NUMBER.matcher(text).matches()) {
                    throw new UndecidableException();
                }
                double value = Double.parseDouble(text);
                if (Double.isInfinite(value) || (value == 0 && !text.matches("-?0"))) {
                    throw new UndecidableException();
                }
                yield value;
            }
        };
    }

    @Override
    public Double input(String text) {
        String special = InputText.special(text);
        return switch (special) {
            case "NaN", "Infinity", "-Infinity" -> parse(special);
            default -> {
                String number = InputText.decimal(text);
                double value = Double.parseDouble(number);
                if (Double.isInfinite(value) || (value == 0 && !isZero(number))) {
                    throw new EvaluationException("22003");
                }
                yield value;
            }
        };
    }

    /// Whether a number is written with no other digit than zeros in front of its exponent.
    static boolean isZero(String number) {
        return ZERO.matcher(number).matches();
    }

    @Override
    public String print(Double value) {
        return FloatText.print(value.doubleValue());
    }

    @Override
    public Double decode(ByteBuffer datum) throws DatumFormatException {
        return Datums.fixed(datum, 8).getDouble(0);
    }

    @Override
    public int compare(Double left, Double right) {
        return order(left.doubleValue(), right.doubleValue());
    }

    static int order(double left, double right) {
        if (left < right) {
            return -1;
        }
        if (left > right) {
            return 1;
        }
        return Boolean.compare(Double.isNaN(left), Double.isNaN(right));
    }

    @Override
    public Double cast(Object value) {
        return (Double) value;
    }
}
