package sluice.core.value;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// JSON texts of unknown origin, checked and brought onto one line, so that they can stand in an event.
///
/// What a text says is kept: digits, escapes, order and repetition of keys. Stateless.
public final class JsonLine {
    private JsonLine() {}

    /// The text without the blanks and line ends that only lay it out.
    ///
    /// @return null when the text is not JSON, or is nested deeper than 512 levels
    public static byte @Nullable [] of(byte[] text) {
        ByteSink out = new ByteSink(Math.max(16, text.length));
        return new JsonEmbedding(out).embed(text, 0, text.length) ? out.toBytes() : null;
    }

    /// Whether this is a string with something in it.
    ///
    /// @param line as {@link #of} gave it
    public static boolean isNonEmptyString(byte[] line) {
        return line[0] == '"' && line.length > 2;
    }

    /// The value of an object's member. Of several members of this name the last counts, as in
    /// PostgreSQL's `jsonb`.
    ///
    /// @param line as {@link #of} gave it
    /// @return null when the text is not an object or has no such member
    public static byte @Nullable [] member(byte[] line, String name) {
        if (line[0] != '{') {
            return null;
        }
        byte[] found = null;
        int at = 1;
        while (line[at] != '}') {
            int colon = end(line, at);
            int after = end(line, colon + 1);
            if (unquoted(line, at, colon).equals(name)) {
                found = Arrays.copyOfRange(line, colon + 1, after);
            }
            at = line[after] == ',' ? after + 1 : after;
        }
        return found;
    }

    /// Where the value ends that starts here. The text is known to be well formed.
    private static int end(byte[] line, int from) {
        if (line[from] == '"') {
            return endOfString(line, from);
        }
        int depth = 0;
        int at = from;
        while (at < line.length) {
            byte unit = line[at];
            if (unit == '"') {
                at = endOfString(line, at);
                continue;
            }
            if (unit == '{' || unit == '[') {
                depth++;
            } else if (unit == '}' || unit == ']') {
                if (depth == 0) {
                    return at;
                }
                depth--;
                if (depth == 0) {
                    return at + 1;
                }
            } else if (depth == 0 && unit == ',') {
                return at;
            }
            at++;
        }
        return at;
    }

    private static int endOfString(byte[] line, int quote) {
        int at = quote + 1;
        while (line[at] != '"') {
            at += line[at] == '\\' ? 2 : 1;
        }
        return at + 1;
    }

    /// The string's text. A text outside ASCII is compared by its bytes, which is all a member's name needs.
    private static String unquoted(byte[] line, int quote, int end) {
        StringBuilder text = new StringBuilder(end - quote);
        int at = quote + 1;
        while (at < end - 1) {
            if (line[at] != '\\') {
                text.append((char) (line[at] & 0xFF));
                at++;
            } else if (line[at + 1] == 'u') {
                String digits = new String(line, at + 2, 4, StandardCharsets.US_ASCII);
                text.append((char) Integer.parseInt(digits, 16));
                at += 6;
            } else {
                text.append(simpleEscape(line[at + 1]));
                at += 2;
            }
        }
        return text.toString();
    }

    private static char simpleEscape(byte letter) {
        return switch (letter) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> (char) letter;
        };
    }
}
