package sluice.core.datum;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// Reads the datums of stored constants.
///
/// These are the on-disk formats of a little-endian server, which pg_upgrade freezes (`varatt.h`). A compressed or an
/// external value is not known here.
public final class Datums {
    private Datums() {}

    /// A constant of a stored expression.
    ///
    /// @param bytes between the brackets: a machine word, or the value itself with its header
    public static <T> T decode(ValueType<T> type, byte[] bytes) throws DatumFormatException {
        if (type.storage().isVariable()) {
            return type.decode(withoutHeader(bytes));
        }
        int length = type.storage().length();
        need(bytes.length == length || (bytes.length == 8 && length <= 8));
        return type.decode(slice(bytes, 0, length));
    }

    /// What follows the length header of a variable-length value.
    public static ByteBuffer withoutHeader(byte[] bytes) throws DatumFormatException {
        need(bytes.length >= 1);
        int first = bytes[0] & 0xff;
        if ((first & 1) == 1) {
            need(first != 1 && first >> 1 == bytes.length);
            return slice(bytes, 1, bytes.length - 1);
        }
        need((first & 3) == 0 && bytes.length >= 4);
        need(slice(bytes, 0, 4).getInt(0) >>> 2 == bytes.length);
        return slice(bytes, 4, bytes.length - 4);
    }

    static ByteBuffer slice(byte[] bytes, int from, int length) {
        return ByteBuffer.wrap(bytes, from, length).slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    static ByteBuffer fixed(ByteBuffer datum, int length) throws DatumFormatException {
        need(datum.remaining() == length);
        return datum;
    }

    static String utf8(ByteBuffer bytes) throws DatumFormatException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(bytes.duplicate())
                    .toString();
        } catch (CharacterCodingException otherEncoding) {
            throw new DatumFormatException("a text constant is not UTF-8");
        }
    }

    /// The order of the UTF-8 bytes, which is that of the code points.
    public static int compareBytes(String left, String right) {
        int length = Math.min(left.length(), right.length());
        for (int i = 0; i < length; i++) {
            char a = left.charAt(i);
            char b = right.charAt(i);
            if (a != b) {
                // A surrogate stands for a code point above every other char.
                boolean aSurrogate = Character.isSurrogate(a);
                return aSurrogate == Character.isSurrogate(b) ? Character.compare(a, b) : aSurrogate ? 1 : -1;
            }
        }
        return Integer.compare(left.length(), right.length());
    }

    static void need(boolean asExpected) throws DatumFormatException {
        if (!asExpected) {
            throw new DatumFormatException("a constant is stored in a form that is not known");
        }
    }
}
