package sluice.core.value;

import java.nio.charset.StandardCharsets;

/// Text to JSON strings that stay on one line wherever they are read.
///
/// The result is valid UTF-8 whatever comes in: a byte that is none becomes U+FFFD. Besides what JSON demands, every
/// character that some reader takes for the end of a line is escaped (U+0085, U+2028, U+2029), so a string can stand
/// in a line-based protocol.
public final class JsonString {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REPLACEMENT = "\uFFFD".getBytes(StandardCharsets.UTF_8);

    /// What follows the backslash for each ASCII byte: 0 for a byte that stands for itself, `u` for the long form.
    private static final byte[] ESCAPES = escapes();

    private JsonString() {}

    private static byte[] escapes() {
        byte[] table = new byte[128];
        for (int i = 0; i < 0x20; i++) {
            table[i] = 'u';
        }
        table['\b'] = 'b';
        table['\t'] = 't';
        table['\n'] = 'n';
        table['\f'] = 'f';
        table['\r'] = 'r';
        table['"'] = '"';
        table['\\'] = '\\';
        return table;
    }

    /// The text as a JSON string, quotes included.
    public static void quote(byte[] text, int from, int to, ByteSink out) {
        out.put('"');
        escape(text, from, to, out);
        out.put('"');
    }

    /// The string as a JSON string, quotes included. Half a surrogate pair is kept, as an escape.
    public static void quote(String text, ByteSink out) {
        out.put('"');
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit < 0x80) {
                ascii(unit, out);
            } else if (Character.isHighSurrogate(unit)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                supplementary(Character.toCodePoint(unit, text.charAt(++i)), out);
            } else if (Character.isSurrogate(unit) || unit == 0x85 || unit == 0x2028 || unit == 0x2029) {
                unicodeEscape(unit, out);
            } else if (unit < 0x800) {
                out.put(0xC0 | (unit >> 6));
                out.put(0x80 | (unit & 0x3F));
            } else {
                out.put(0xE0 | (unit >> 12));
                out.put(0x80 | ((unit >> 6) & 0x3F));
                out.put(0x80 | (unit & 0x3F));
            }
        }
        out.put('"');
    }

    /// The string as a JSON string, for what is encoded once and kept.
    public static byte[] quoted(String text) {
        var out = new ByteSink(text.length() + 16);
        quote(text, out);
        return out.toBytes();
    }

    /// Bytes that should be UTF-8 as a JSON string.
    public static byte[] quoted(byte[] text) {
        var out = new ByteSink(text.length + 16);
        quote(text, 0, text.length, out);
        return out.toBytes();
    }

    /// The inside of a JSON string: the text without quotes around it.
    static void escape(byte[] text, int from, int to, ByteSink out) {
        int plainFrom = from;
        int at = from;
        while (at < to) {
            byte unit = text[at];
            if (unit >= 0) {
                if (ESCAPES[unit] == 0) {
                    at++;
                    continue;
                }
                out.put(text, plainFrom, at - plainFrom);
                ascii(unit, out);
                plainFrom = ++at;
                continue;
            }
            int width = Utf8.width(text, at, to);
            if (width > 0 && !endsLine(text, at, width)) {
                at += width;
                continue;
            }
            out.put(text, plainFrom, at - plainFrom);
            at += beyondAscii(text, at, width, out);
            plainFrom = at;
        }
        out.put(text, plainFrom, at - plainFrom);
    }

    /// Writes one sequence that may not stand as it is.
    ///
    /// @param width as {@link Utf8#width} told
    /// @return bytes consumed
    static int beyondAscii(byte[] text, int at, int width, ByteSink out) {
        if (width == 0) {
            out.put(REPLACEMENT);
            return 1;
        }
        unicodeEscape(width == 2 ? 0x85 : 0x2028 + (text[at + 2] & 1), out);
        return width;
    }

    /// Whether the valid sequence is U+0085, U+2028 or U+2029.
    static boolean endsLine(byte[] text, int at, int width) {
        if (width == 2) {
            return text[at] == (byte) 0xC2 && text[at + 1] == (byte) 0x85;
        }
        return width == 3 && text[at] == (byte) 0xE2 && text[at + 1] == (byte) 0x80 && (text[at + 2] & 0xFE) == 0xA8;
    }

    private static void ascii(int unit, ByteSink out) {
        byte escape = ESCAPES[unit];
        if (escape == 0) {
            out.put(unit);
        } else if (escape == 'u') {
            unicodeEscape(unit, out);
        } else {
            out.put('\\');
            out.put(escape);
        }
    }

    private static void unicodeEscape(int unit, ByteSink out) {
        out.put('\\');
        out.put('u');
        out.put(HEX[(unit >> 12) & 15]);
        out.put(HEX[(unit >> 8) & 15]);
        out.put(HEX[(unit >> 4) & 15]);
        out.put(HEX[unit & 15]);
    }

    private static void supplementary(int codePoint, ByteSink out) {
        out.put(0xF0 | (codePoint >> 18));
        out.put(0x80 | ((codePoint >> 12) & 0x3F));
        out.put(0x80 | ((codePoint >> 6) & 0x3F));
        out.put(0x80 | (codePoint & 0x3F));
    }
}
