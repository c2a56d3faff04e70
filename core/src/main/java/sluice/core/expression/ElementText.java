package sluice.core.expression;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.value.Truth;

/// Finds elements in an array as the server prints it: `{a,"b c",NULL}`, of one dimension that starts at 1.
///
/// For types whose values are equal where their texts are: then so are the printed elements, quotes included.
final class ElementText {
    private static final byte[] NULL = "NULL".getBytes(StandardCharsets.US_ASCII);

    /// Longest array times number of wanted elements that is searched byte by byte.
    private static final long WORK_MAX = 1_000_000;

    private static final List<ValueType<?>> TYPES = List.of(
            ValueTypes.TEXT, ValueTypes.VARCHAR, ValueTypes.UUID, ValueTypes.INT2, ValueTypes.INT4, ValueTypes.INT8);

    private final byte[][] wanted;

    private ElementText(byte[][] wanted) {
        this.wanted = wanted;
    }

    /// Null for a type of another kind, and where an element is NULL or there is none.
    static @Nullable ElementText of(ArrayType type, ArrayValue elements) {
        int count = elements.elements().size();
        if (!TYPES.contains(type.element()) || count == 0 || elements.hasNull()) {
            return null;
        }
        byte[][] wanted = new byte[count][];
        for (int i = 0; i < count; i++) {
            String alone = type.print(ArrayValue.of(elements.elements().subList(i, i + 1)));
            // Without the braces.
            wanted[i] = alone.substring(1, alone.length() - 1).getBytes(StandardCharsets.UTF_8);
        }
        return new ElementText(wanted);
    }

    /// Whether the array has every wanted element; null, which is no answer, for arrays of another form.
    @Nullable
    Truth areAllIn(byte[] bytes, int from, int end) {
        if (!isUsual(bytes, from, end)) {
            return null;
        }
        for (byte[] element : wanted) {
            if (!has(bytes, from, end, element)) {
                return Truth.FALSE;
            }
        }
        return Truth.TRUE;
    }

    /// Whether the array has one of the wanted elements; null, which is no answer, for arrays of another form.
    @Nullable
    Truth isAnyIn(byte[] bytes, int from, int end) {
        if (!isUsual(bytes, from, end)) {
            return null;
        }
        for (byte[] element : wanted) {
            if (has(bytes, from, end, element)) {
                return Truth.TRUE;
            }
        }
        return Truth.FALSE;
    }

    /// The same as `wanted = ANY (array)` answers it: a NULL in the array may be what is wanted.
    @Nullable
    Truth equalsAnyIn(byte[] bytes, int from, int end) {
        Truth found = isAnyIn(bytes, from, end);
        return found == Truth.FALSE && has(bytes, from, end, NULL) ? Truth.NULL : found;
    }

    private boolean isUsual(byte[] bytes, int from, int end) {
        if (end - from < 2 || bytes[from] != '{' || bytes[end - 1] != '}' || bytes[from + 1] == '{') {
            return false;
        }
        return (long) (end - from) * wanted.length <= WORK_MAX;
    }

    private static boolean has(byte[] bytes, int from, int end, byte[] element) {
        int at = from + 1;
        while (at < end - 1) {
            int elementEnd = endOfElement(bytes, at, end - 1);
            if (Arrays.equals(bytes, at, elementEnd, element, 0, element.length)) {
                return true;
            }
            at = elementEnd + 1;
        }
        return false;
    }

    /// Where the comma behind the element is that starts at `at`, or the end of all.
    private static int endOfElement(byte[] bytes, int at, int end) {
        boolean quoted = false;
        int i = at;
        while (i < end && (quoted || bytes[i] != ',')) {
            if (bytes[i] == '\\') {
                i++;
            } else if (bytes[i] == '"') {
                quoted = !quoted;
            }
            i++;
        }
        return Math.min(i, end);
    }
}
