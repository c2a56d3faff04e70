package sluice.core.datum;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.regex.Pattern;
import sluice.core.value.Oid;

/// `numeric` (`numeric.c`).
final class NumericType extends ValueType<Numeric> {
    private static final Pattern DECIMAL = Pattern.compile("-?[0-9]+(\\.[0-9]+)?");

    /// Longest text that is read. A numeric may have 147,455 digits, but the work of reading them grows with their
    /// square, and no row may hold up the others.
    private static final int LENGTH_MAX = 10_000;

    private static final BigInteger BASE = BigInteger.valueOf(10_000);

    NumericType() {
        super(Oid.NUMERIC, 1231, "pg_catalog.numeric", Storage.variable());
    }

    /// @throws UndecidableException for spellings that the server reads but does not print, and
    /// for very long numbers
    @Override
    public Numeric parse(String text) {
        return switch (text) {
            case "NaN" -> Numeric.NAN;
            case "Infinity" -> Numeric.INFINITY;
            case "-Infinity" -> Numeric.MINUS_INFINITY;
            default -> {
                if (text.length() > LENGTH_MAX || !DECIMAL.matcher(text).matches()) {
                    throw new UndecidableException();
                }
                yield Numeric.of(new BigDecimal(text));
            }
        };
    }

    @Override
    public Numeric input(String text) {
        String special = InputText.special(text);
        return switch (special) {
            case "NaN", "Infinity", "-Infinity" -> parse(special);
            default -> Numeric.of(InputText.exactDecimal(text));
        };
    }

    @Override
    public String print(Numeric value) {
        return value.toString();
    }

    /// Two forms of header, then digits to the base of ten thousand, the first of them worth `10000 ^ weight`.
    @Override
    public Numeric decode(ByteBuffer datum) throws DatumFormatException {
        Datums.need(datum.remaining() >= 2);
        int header = datum.getShort(0) & 0xffff;
        return switch (header >> 14) {
            case 0, 1 -> {
                Datums.need(datum.remaining() >= 4);
                yield number(datum, 4, new Header(header >> 14, header & 0x3fff, datum.getShort(2)));
            }
            case 2 -> {
                int weight = (header & 0x40) != 0 ? (header & 0x3f) | ~0x3f : header & 0x3f;
                yield number(datum, 2, new Header(header >> 13 & 1, header >> 7 & 0x3f, weight));
            }
            default ->
                switch (header) {
                    case 0xc000 -> Numeric.NAN;
                    case 0xd000 -> Numeric.INFINITY;
                    case 0xf000 -> Numeric.MINUS_INFINITY;
                    default -> throw new DatumFormatException("a numeric constant is of a kind that is not known");
                };
        };
    }

    /// @param sign 1 when negative
    private record Header(int sign, int scale, int weight) {}

    private static Numeric number(ByteBuffer datum, int start, Header header) throws DatumFormatException {
        Datums.need((datum.remaining() - start) % 2 == 0);
        BigInteger digits = BigInteger.ZERO;
        int count = (datum.remaining() - start) / 2;
        for (int i = 0; i < count; i++) {
            int digit = datum.getShort(start + 2 * i);
            Datums.need(digit >= 0 && digit < 10_000);
            digits = digits.multiply(BASE).add(BigInteger.valueOf(digit));
        }
        BigDecimal value =
                new BigDecimal(header.sign() == 1 ? digits.negate() : digits, 4 * (count - 1 - header.weight()));
        if (count == 0) {
            value = BigDecimal.ZERO;
        }
        try {
            // Digits behind the displayed ones can only be zeros that fill the last one up.
            return Numeric.of(value.setScale(header.scale()));
        } catch (ArithmeticException hiddenDigits) {
            throw new DatumFormatException("a numeric constant has digits that it does not display");
        }
    }

    @Override
    public int compare(Numeric left, Numeric right) {
        return left.compareTo(right);
    }

    @Override
    public Numeric cast(Object value) {
        return (Numeric) value;
    }
}
