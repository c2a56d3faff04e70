package sluice.core.value;

/// Which bytes are UTF-8, by the table of well-formed sequences (Unicode 16, table 3-7).
///
/// PostgreSQL checks this for databases in UTF8, but a database in SQL_ASCII stores whatever it is given.
final class Utf8 {
    private Utf8() {}

    /// Length of the well-formed sequence that starts here, 1 to 4, or 0 when there is none: overlong forms,
    /// surrogates and what lies past U+10FFFF are none.
    static int width(byte[] text, int at, int to) {
        int lead = text[at] & 0xFF;
        if (lead < 0x80) {
            return 1;
        }
        if (lead < 0xC2 || lead > 0xF4) {
            return 0;
        }
        int width = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (to - at < width) {
            return 0;
        }
        int second = text[at + 1] & 0xFF;
        if (second < lowestSecond(lead) || second > highestSecond(lead)) {
            return 0;
        }
        for (int i = 2; i < width; i++) {
            if ((text[at + i] & 0xC0) != 0x80) {
                return 0;
            }
        }
        return width;
    }

    private static int lowestSecond(int lead) {
        return lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    }

    private static int highestSecond(int lead) {
        return lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    }
}
