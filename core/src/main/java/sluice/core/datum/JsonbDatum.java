package sluice.core.datum;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Stored `jsonb`: a tree of containers, each a word with the number of its members, an entry for each of them, and
/// their bytes (`jsonb.h`). Numbers are stored as `numeric` (`numeric.c`).
final class JsonbDatum {
    private static final int COUNT = 0x0fff_ffff;
    private static final int SCALAR = 0x1000_0000;
    private static final int OBJECT = 0x2000_0000;
    private static final int ARRAY = 0x4000_0000;

    private static final int ENTRY_LENGTH = 0x0fff_ffff;
    private static final int ENTRY_TYPE = 0x7000_0000;
    private static final int ENTRY_HAS_END = 0x8000_0000;

    private static final int TEXT_ENTRY = 0;
    private static final int NUMBER_ENTRY = 0x1000_0000;
    private static final int FALSE_ENTRY = 0x2000_0000;
    private static final int TRUE_ENTRY = 0x3000_0000;
    private static final int NULL_ENTRY = 0x4000_0000;
    private static final int CONTAINER_ENTRY = 0x5000_0000;

    /// One container.
    private final ByteBuffer bytes;
    private final int header;
    private final int data;
    private final int depth;

    private JsonbDatum(ByteBuffer bytes, int depth) throws DatumFormatException {
        Datums.need(bytes.remaining() >= 4 && depth <= Json.DEPTH_MAX);
        this.bytes = bytes;
        this.depth = depth;
        this.header = bytes.getInt(0);
        long entries = (long) (header & COUNT) * ((header & OBJECT) != 0 ? 2 : 1);
        Datums.need(4 + 4 * entries <= bytes.remaining());
        this.data = (int) (4 + 4 * entries);
    }

    static Json decode(ByteBuffer datum) throws DatumFormatException {
        ByteBuffer root = datum.slice().order(ByteOrder.LITTLE_ENDIAN);
        JsonbDatum container = new JsonbDatum(root, 0);
        Json json = container.json();
        if ((container.header & SCALAR) == 0) {
            return json;
        }
        // A scalar alone is stored as an array of one.
        Datums.need(json instanceof Json.Array(var elements) && elements.size() == 1);
        return ((Json.Array) json).elements().getFirst();
    }

    private Json json() throws DatumFormatException {
        int count = header & COUNT;
        boolean isObject = (header & OBJECT) != 0;
        Datums.need(isObject != ((header & ARRAY) != 0));
        List<Json> values = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < (isObject ? 2 * count : count); i++) {
            int entry = bytes.getInt(4 + 4 * i);
            int length = entry & ENTRY_LENGTH;
            int end = (entry & ENTRY_HAS_END) != 0 ? length : start + length;
            Datums.need(start <= end && end <= bytes.limit() - data);
            values.add(value(entry & ENTRY_TYPE, start, end));
            start = end;
        }
        if (!isObject) {
            return new Json.Array(values);
        }
        // All the keys, then all the values.
        List<Json.Member> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Datums.need(values.get(i) instanceof Json.Text);
            members.add(new Json.Member(((Json.Text) values.get(i)).value(), values.get(count + i)));
        }
        return Json.Mapping.of(members);
    }

    private Json value(int type, int start, int end) throws DatumFormatException {
        return switch (type) {
            case TEXT_ENTRY -> new Json.Text(Datums.utf8(slice(start, end)));
            case NUMBER_ENTRY -> new Json.Numeral(number(aligned(start, end)));
            case FALSE_ENTRY -> new Json.Truth(false);
            case TRUE_ENTRY -> new Json.Truth(true);
            case NULL_ENTRY -> Json.Null.INSTANCE;
            case CONTAINER_ENTRY -> new JsonbDatum(aligned(start, end), depth + 1).json();
            default -> throw new DatumFormatException("a jsonb constant has an entry of a kind that is not known");
        };
    }

    private ByteBuffer aligned(int start, int end) throws DatumFormatException {
        int aligned = (start + 3) & ~3;
        Datums.need(aligned <= end);
        return slice(aligned, end);
    }

    private ByteBuffer slice(int start, int end) {
        return bytes.slice(data + start, end - start).order(ByteOrder.LITTLE_ENDIAN);
    }

    /// Digits to the base of ten thousand, behind a header of one or two words that has sign, scale and weight.
    private static BigDecimal number(ByteBuffer stored) throws DatumFormatException {
        byte[] copy = new byte[stored.remaining()];
        stored.get(0, copy);
        ByteBuffer numeric = Datums.withoutHeader(copy);
        Datums.need(numeric.remaining() >= 2);
        int word = numeric.getShort(0) & 0xffff;
        boolean isShort = (word & 0xc000) == 0x8000;
        // NaN and the infinities are no JSON.
        Datums.need((word & 0xc000) != 0xc000 && (isShort || numeric.remaining() >= 4));
        boolean negative = isShort ? (word & 0x2000) != 0 : (word & 0xc000) == 0x4000;
        int scale = isShort ? (word & 0x1f80) >> 7 : word & 0x3fff;
        int weight = isShort ? (word & 0x3f) - ((word & 0x40) != 0 ? 0x40 : 0) : numeric.getShort(2);
        BigInteger digits = BigInteger.ZERO;
        int count = 0;
        for (int i = isShort ? 2 : 4; i + 2 <= numeric.remaining(); i += 2) {
            digits = digits.multiply(BigInteger.valueOf(10_000)).add(BigInteger.valueOf(numeric.getShort(i)));
            count++;
        }
        BigDecimal value = new BigDecimal(negative ? digits.negate() : digits, 4 * (count - 1 - weight));
        return count == 0 ? BigDecimal.ZERO.setScale(scale) : value.setScale(scale, RoundingMode.DOWN);
    }
}
