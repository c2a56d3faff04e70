package sluice.core.value;

/// The number grammar of JSON (RFC 8259, section 6), which is narrower than what PostgreSQL prints: NaN and Infinity
/// are no numbers there.
final class JsonNumber {
    /// Answer when no number starts at the position.
    static final int NONE = -1;

    private JsonNumber() {}

    /// Where the number that starts at `from` ends, or {@link #NONE}.
    static int end(byte[] text, int from, int to) {
        int at = from < to && text[from] == '-' ? from + 1 : from;
        int whole = digits(text, at, to);
        if (whole == at || (whole - at > 1 && text[at] == '0')) {
            return NONE;
        }
        at = whole;
        if (at < to && text[at] == '.') {
            int fraction = digits(text, at + 1, to);
            if (fraction == at + 1) {
                return NONE;
            }
            at = fraction;
        }
        if (at < to && (text[at] == 'e' || text[at] == 'E')) {
            int sign = at + 1 < to && (text[at + 1] == '+' || text[at + 1] == '-') ? at + 2 : at + 1;
            int exponent = digits(text, sign, to);
            return exponent == sign ? NONE : exponent;
        }
        return at;
    }

    private static int digits(byte[] text, int from, int to) {
        int at = from;
        while (at < to && text[at] >= '0' && text[at] <= '9') {
            at++;
        }
        return at;
    }
}
