package sluice.core.expression;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Decodes the datums of stored constants into PostgreSQL's text form.
///
/// These are the on-disk formats of a little-endian server, which pg_upgrade freezes (`varatt.h`, `array.h`,
/// `uuid.h`). A type that is not listed, a compressed or an external value is not compilable.
final class DatumText {
    private static final int ARRAY_DIMENSIONS_MAX = 6;

    private DatumText() {}

    /// @param datum the bytes between the brackets: a machine word, or the value itself
    static String text(ValueType type, byte[] datum) throws NotCompilable {
        return switch (type) {
            case BOOL -> word(datum, 1).get(0) != 0 ? "t" : "f";
            case INT2 -> Short.toString(word(datum, 2).getShort(0));
            case INT4 -> Integer.toString(word(datum, 4).getInt(0));
            case INT8 -> Long.toString(word(datum, 8).getLong(0));
            case TEXT, VARCHAR -> utf8(varlena(datum));
            case UUID -> uuid(datum);
        };
    }

    static int dimensions(byte[] datum) throws NotCompilable {
        ByteBuffer array = varlena(datum);
        need(array.remaining() >= 12);
        return array.getInt(0);
    }

    /// The elements of an array of any number of dimensions, null for a NULL element.
    static List<@Nullable String> elements(ValueType type, byte[] datum) throws NotCompilable {
        ByteBuffer array = varlena(datum);
        need(array.remaining() >= 12);
        int dimensions = array.getInt(0);
        int dataOffset = array.getInt(4);
        need(dimensions >= 0 && dimensions <= ARRAY_DIMENSIONS_MAX && array.getInt(8) == type.oid());
        need(array.remaining() >= 12 + 8 * dimensions);
        long count = dimensions == 0 ? 0 : 1;
        for (int i = 0; i < dimensions; i++) {
            int size = array.getInt(12 + 4 * i);
            need(size >= 0);
            count *= size;
            need(count <= array.remaining() * 8L);
        }
        return elements(type, array, new Layout((int) count, 12 + 8 * dimensions, dataOffset));
    }

    /// @param bitmap where the null bitmap lies if there is one
    /// @param dataOffset from the start of the header, 0 when no element is NULL
    private record Layout(int count, int bitmap, int dataOffset) {
        /// Offsets here count from behind the four-byte header, alignment from its start.
        int start() {
            return dataOffset != 0 ? dataOffset - 4 : align(bitmap, 8);
        }
    }

    private static List<@Nullable String> elements(ValueType type, ByteBuffer array, Layout layout)
            throws NotCompilable {
        List<@Nullable String> elements = new ArrayList<>();
        int at = layout.start();
        for (int i = 0; i < layout.count(); i++) {
            if (layout.dataOffset() != 0) {
                need(layout.bitmap() + i / 8 < array.limit());
                if ((array.get(layout.bitmap() + i / 8) >> i % 8 & 1) == 0) {
                    elements.add(null);
                    continue;
                }
            }
            at = align(at, alignment(type, array, at));
            int length = length(type, array, at);
            need(length >= 1 && at >= 0 && at <= array.limit() - length);
            byte[] element = new byte[length];
            array.get(at, element);
            elements.add(text(type, element));
            at += length;
        }
        return elements;
    }

    private static int length(ValueType type, ByteBuffer array, int at) throws NotCompilable {
        return switch (type) {
            case BOOL -> 1;
            case INT2 -> 2;
            case INT4 -> 4;
            case INT8 -> 8;
            case UUID -> 16;
            case TEXT, VARCHAR -> {
                need(at >= 0 && at < array.limit());
                if ((array.get(at) & 1) == 1) {
                    yield (array.get(at) & 0xff) >> 1;
                }
                need(at <= array.limit() - 4);
                yield array.getInt(at) >>> 2;
            }
        };
    }

    private static int alignment(ValueType type, ByteBuffer array, int at) throws NotCompilable {
        return switch (type) {
            case BOOL, UUID -> 1;
            case INT2 -> 2;
            case INT4 -> 4;
            case INT8 -> 8;
            case TEXT, VARCHAR -> {
                need(at >= 0 && at < array.limit());
                // A one-byte header starts anywhere; padding is zero.
                yield (array.get(at) & 1) == 1 ? 1 : 4;
            }
        };
    }

    private static int align(int offset, int alignment) {
        return (offset + 4 + alignment - 1 & -alignment) - 4;
    }

    private static ByteBuffer word(byte[] datum, int length) throws NotCompilable {
        need(datum.length == length || datum.length == 8);
        return ByteBuffer.wrap(datum).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer varlena(byte[] datum) throws NotCompilable {
        need(datum.length >= 1);
        int first = datum[0] & 0xff;
        if ((first & 1) == 1) {
            need(first != 1 && first >> 1 == datum.length);
            return slice(datum, 1);
        }
        need((first & 3) == 0 && datum.length >= 4);
        int length = ByteBuffer.wrap(datum).order(ByteOrder.LITTLE_ENDIAN).getInt(0) >>> 2;
        need(length == datum.length);
        return slice(datum, 4);
    }

    private static ByteBuffer slice(byte[] datum, int from) {
        return ByteBuffer.wrap(datum, from, datum.length - from).slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    private static String utf8(ByteBuffer bytes) throws NotCompilable {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(bytes)
                    .toString();
        } catch (CharacterCodingException otherEncoding) {
            throw new NotCompilable("a text constant is not UTF-8");
        }
    }

    private static String uuid(byte[] datum) throws NotCompilable {
        need(datum.length == 16);
        String hex = HexFormat.of().formatHex(datum);
        return hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20) + "-" + hex.substring(20);
    }

    private static void need(boolean asExpected) throws NotCompilable {
        if (!asExpected) {
            throw new NotCompilable("a constant is stored in a form that is not known");
        }
    }
}
