package sluice.core.expression;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sluice.core.value.Truth;

/// Finds `object ->> key = text` in a jsonb as the server prints it: `{"a": 1, "b": "text"}`, each key once.
final class MemberText {
    private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

    /// A text or an object that is not as expected.
    private static final int UNUSUAL = -1;

    private final byte[] key;
    private final byte[] text;

    /// @param key one that {@link #isPrintedAsItIs}
    MemberText(byte[] key, byte[] text) {
        this.key = key;
        this.text = text;
    }

    /// Whether a key stands in a printed jsonb without an escape.
    static boolean isPrintedAsItIs(String key) {
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            if (c < ' ' || c == '"' || c == '\\') {
                return false;
            }
        }
        return true;
    }

    /// Whether the member is this text, NULL when there is none or it is JSON's null; null, which
    /// is no answer, where
    /// escapes, containers or another spelling have to be read.
    @Nullable
    Truth isIn(byte[] bytes, int from, int end) {
        if (end - from < 2 || bytes[from] != '{' || bytes[end - 1] != '}') {
            return null;
        }
        int at = from + 1;
        if (at == end - 1) {
            return Truth.NULL;
        }
        while (true) {
            int keyEnd = endOfText(bytes, at, end);
            if (keyEnd == UNUSUAL || keyEnd + 4 > end || bytes[keyEnd + 1] != ':' || bytes[keyEnd + 2] != ' ') {
                return null;
            }
            int value = keyEnd + 3;
            int valueEnd = endOfValue(bytes, value, end);
            if (valueEnd == UNUSUAL) {
                return null;
            }
            if (Arrays.equals(bytes, at + 1, keyEnd, key, 0, key.length)) {
                return compared(bytes, value, valueEnd);
            }
            if (valueEnd == end - 1) {
                return Truth.NULL;
            }
            if (valueEnd + 2 >= end || bytes[valueEnd] != ',' || bytes[valueEnd + 1] != ' ') {
                return null;
            }
            at = valueEnd + 2;
        }
    }

    private @Nullable Truth compared(byte[] bytes, int value, int valueEnd) {
        byte first = bytes[value];
        if (first == '{' || first == '[') {
            return null;
        }
        if (first == '"') {
            // Without the quotes; a text with an escape was not passed over.
            return Truth.of(Arrays.equals(bytes, value + 1, valueEnd - 1, text, 0, text.length));
        }
        if (Arrays.equals(bytes, value, valueEnd, NULL, 0, NULL.length)) {
            return Truth.NULL;
        }
        if (first != 't' && first != 'f' && holdsLetter(bytes, value, valueEnd)) {
            return null;
        }
        return Truth.of(Arrays.equals(bytes, value, valueEnd, text, 0, text.length));
    }

    private static boolean holdsLetter(byte[] bytes, int from, int end) {
        for (int i = from; i < end; i++) {
            if (bytes[i] >= 'a') {
                return true;
            }
        }
        return false;
    }

    /// Where the closing quote of the text is that opens at `at`; a text with an escape is not looked into.
    private static int endOfText(byte[] bytes, int at, int end) {
        if (at >= end || bytes[at] != '"') {
            return UNUSUAL;
        }
        for (int i = at + 1; i < end; i++) {
            if (bytes[i] == '"') {
                return i;
            }
            if (bytes[i] == '\\') {
                return UNUSUAL;
            }
        }
        return UNUSUAL;
    }

    /// Behind the value that starts at `at`.
    private static int endOfValue(byte[] bytes, int at, int end) {
        byte first = bytes[at];
        if (first == '"') {
            int quote = endOfText(bytes, at, end);
            return quote == UNUSUAL ? UNUSUAL : quote + 1;
        }
        if (first == '{' || first == '[') {
            return endOfContainer(bytes, at, end);
        }
        int i = at;
        while (i < end && isPlain(bytes[i])) {
            i++;
        }
        return i == at || i == end ? UNUSUAL : i;
    }

    /// Of a number as jsonb prints it, or of `true`, `false` and `null`.
    private static boolean isPlain(byte c) {
        return (c >= '0' && c <= '9') || c == '-' || c == '.' || "truefalsn".indexOf(c) >= 0;
    }

    private static int endOfContainer(byte[] bytes, int at, int end) {
        int depth = 0;
        for (int i = at; i < end; i++) {
            switch (bytes[i]) {
                case '{', '[' -> depth++;
                case '}', ']' -> {
                    if (--depth == 0) {
                        return i + 1;
                    }
                }
                case '"' -> {
                    i = endOfText(bytes, i, end);
                    if (i == UNUSUAL) {
                        return UNUSUAL;
                    }
                }
                default -> {
                    // part of a number, a word or a separator
                }
            }
        }
        return UNUSUAL;
    }
}
