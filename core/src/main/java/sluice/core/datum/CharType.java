package sluice.core.datum;

import java.nio.ByteBuffer;

/// `"char"`: one byte, unsigned (`char.c`). Zero is printed as nothing.
///
/// Majors print bytes above ASCII differently; those are undecidable.
final class CharType extends ValueType<Integer> {
    CharType() {
        super(18, 1002, "pg_catalog.\"char\"", Storage.fixed(1, 1));
    }

    @Override
    public Integer parse(String text) {
        if (text.isEmpty()) {
            return 0;
        }
        if (text.length() > 1 || text.charAt(0) > 0x7f) {
            throw new UndecidableException();
        }
        return (int) text.charAt(0);
    }

    /// The first byte of a longer text, except that newer majors read a backslash with three octal digits.
    @Override
    public Integer input(String text) {
        return parse(
                text.startsWith("\\") && text.length() == 4 ? text : text.substring(0, Math.min(1, text.length())));
    }

    @Override
    public String print(Integer value) {
        if (value > 0x7f) {
            throw new UndecidableException();
        }
        return value == 0 ? "" : String.valueOf((char) (int) value);
    }

    @Override
    public Integer decode(ByteBuffer datum) throws DatumFormatException {
        return Datums.fixed(datum, 1).get(0) & 0xff;
    }

    @Override
    public int compare(Integer left, Integer right) {
        return Integer.compare(left, right);
    }

    @Override
    public Integer cast(Object value) {
        return (Integer) value;
    }
}
