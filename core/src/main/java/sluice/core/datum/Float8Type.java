package sluice.core.datum;

import java.nio.ByteBuffer;
import java.util.regex.Pattern;
import sluice.core.value.Oid;

/// `float8` (`float.c`): NaN equals itself and is the greatest, zeros of both signs are equal.
final class Float8Type extends ValueType<Double> {
    static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?(e[+-][0-9]+)?");

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
                if (Double.isInfinite(value) || value == 0 && !text.matches("-?0")) {
                    throw new UndecidableException();
                }
                yield value;
            }
        };
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
