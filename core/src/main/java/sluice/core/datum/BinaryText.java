package sluice.core.datum;

/// The formats in which bytes are written as text (`encode.c`), both sides as chars up to 255.
public final class BinaryText {
    private static final String INVALID = "22023";
    private static final String BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// A line of base64 is at most this long.
    private static final int LINE = 76;

    private BinaryText() {}

    /// Blanks may stand between pairs of digits.
    public static String fromHex(String text) {
        StringBuilder bytes = new StringBuilder();
        for (int at = 0; at < text.length(); ) {
            if (isBlank(text.charAt(at))) {
                at++;
                continue;
            }
            if (at + 1 == text.length()) {
                throw new EvaluationException(INVALID);
            }
            bytes.append((char) ((digit(text.charAt(at)) << 4) | digit(text.charAt(at + 1))));
            at += 2;
        }
        return bytes.toString();
    }

    private static int digit(char c) {
        int digit = c > 0x7f ? -1 : Character.digit(c, 16);
        if (digit < 0) {
            throw new EvaluationException(INVALID);
        }
        return digit;
    }

    public static String toBase64(String bytes) {
        StringBuilder text = new StringBuilder();
        int lineStart = 0;
        for (int at = 0; at < bytes.length(); at += 3) {
            int left = bytes.length() - at;
            int group = bytes.charAt(at) << 16;
            group |= left > 1 ? bytes.charAt(at + 1) << 8 : 0;
            group |= left > 2 ? bytes.charAt(at + 2) : 0;
            text.append(BASE64.charAt(group >> 18)).append(BASE64.charAt(group >> 12 & 63));
            text.append(left > 1 ? BASE64.charAt(group >> 6 & 63) : '=');
            text.append(left > 2 ? BASE64.charAt(group & 63) : '=');
            // Broken after a full line even when nothing follows, but not behind the padding.
            if (left > 2 && text.length() - lineStart >= LINE) {
                text.append('\n');
                lineStart = text.length();
            }
        }
        return text.toString();
    }

    public static String fromBase64(String text) {
        StringBuilder bytes = new StringBuilder();
        int group = 0;
        int digits = 0;
        int padding = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (isBlank(c)) {
                continue;
            }
            int digit = BASE64.indexOf(c);
            if (c == '=') {
                digit = 0;
                if (padding == 0 && digits < 2) {
                    throw new EvaluationException(INVALID);
                }
                padding = padding != 0 ? padding : digits == 2 ? 2 : 1;
            } else if (digit < 0) {
                throw new EvaluationException(INVALID);
            }
            group = (group << 6) | digit;
            digits++;
            if (digits == 4) {
                bytes.append((char) (group >> 16 & 0xff));
                bytes.append(padding < 2 ? String.valueOf((char) (group >> 8 & 0xff)) : "");
                bytes.append(padding < 1 ? String.valueOf((char) (group & 0xff)) : "");
                group = 0;
                digits = 0;
            }
        }
        if (digits != 0) {
            throw new EvaluationException(INVALID);
        }
        return bytes.toString();
    }

    /// Zero and what is beyond ASCII in octal, the backslash doubled.
    public static String escaped(String bytes) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < bytes.length(); i++) {
            char c = bytes.charAt(i);
            if (c == 0 || c > 0x7f) {
                text.append('\\').append((char) ('0' + (c >> 6)));
                text.append((char) ('0' + (c >> 3 & 7))).append((char) ('0' + (c & 7)));
            } else {
                text.append(c == '\\' ? "\\\\" : String.valueOf(c));
            }
        }
        return text.toString();
    }

    public static String unescaped(String text) {
        StringBuilder bytes = new StringBuilder();
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c != '\\') {
                bytes.append(c);
            } else if (text.startsWith("\\", at + 1)) {
                bytes.append('\\');
                at++;
            } else {
                bytes.append((char)
                        ((octal(text, at + 1, 3) << 6) | (octal(text, at + 2, 7) << 3) | octal(text, at + 3, 7)));
                at += 3;
            }
        }
        return bytes.toString();
    }

    private static int octal(String text, int at, int most) {
        int digit = at < text.length() ? text.charAt(at) - '0' : -1;
        if (digit < 0 || digit > most) {
            throw new EvaluationException(INVALID);
        }
        return digit;
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\n' || c == '\t' || c == '\r';
    }
}
