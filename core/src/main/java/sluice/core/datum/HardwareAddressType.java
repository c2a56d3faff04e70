package sluice.core.datum;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/// `macaddr` and `macaddr8` (`mac.c`, `mac8.c`), as the number their bytes are, compared unsigned.
final class HardwareAddressType extends ValueType<Long> {
    private final int length;

    HardwareAddressType(int oid, int arrayOid, String sqlName, int length) {
        super(oid, arrayOid, sqlName, Storage.fixed(length, 4));
        this.length = length;
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public Long parse(String text) {
        if (text.length() != 3 * length - 1) {
            throw new UndecidableException();
        }
        long value = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (i % 3 == 2 ? c != ':' : !HexFormat.isHexDigit(c)) {
                throw new UndecidableException();
            }
            value = i % 3 == 2 ? value : value << 4 | HexFormat.fromHexDigit(c);
        }
        return value;
    }

    @Override
    public Long input(String text) {
        return parse(text);
    }

    @Override
    public String print(Long value) {
        StringBuilder out = new StringBuilder();
        for (int i = length - 1; i >= 0; i--) {
            HexFormat.of().toHexDigits(out, (byte) (value >>> (8 * i)));
            out.append(i > 0 ? ":" : "");
        }
        return out.toString();
    }

    /// The bytes in their order for the longer one; the shorter is a structure of six bytes too.
    @Override
    public Long decode(ByteBuffer datum) throws DatumFormatException {
        Datums.fixed(datum, length);
        long value = 0;
        for (int i = 0; i < length; i++) {
            value = value << 8 | (datum.get(i) & 0xff);
        }
        return value;
    }

    @Override
    public int compare(Long left, Long right) {
        return Long.compareUnsigned(left, right);
    }

    @Override
    public Long cast(Object value) {
        return (Long) value;
    }
}
