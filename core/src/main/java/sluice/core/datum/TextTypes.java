package sluice.core.datum;

import java.util.List;

/// `bpchar`, `name`, `"char"` and `bytea`.
public final class TextTypes {
    public static final ValueType<String> BPCHAR = new BpcharType();
    public static final ValueType<String> NAME = new NameType();
    public static final ValueType<Integer> CHAR = new CharType();

    /// Each byte is the char of that number.
    public static final ValueType<String> BYTEA = new ByteaType();

    static final List<ValueType<?>> ALL = List.of(BPCHAR, NAME, CHAR, BYTEA);

    /// Most bytes of a name (`NAMEDATALEN`).
    private static final int NAME_BYTES_MAX = 63;

    private TextTypes() {}

    /// What counts of a `char(n)`: only spaces go, no other kind of blank.
    public static String withoutTrailingBlanks(String text) {
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == ' ') {
            end--;
        }
        return text.substring(0, end);
    }

    /// As many whole characters as fit into a name.
    public static String shortened(String text) {
        int bytes = 0;
        for (int at = 0; at < text.length(); ) {
            int character = text.codePointAt(at);
            bytes += utf8Length(character);
            if (bytes > NAME_BYTES_MAX) {
                return text.substring(0, at);
            }
            at += Character.charCount(character);
        }
        return text;
    }

    /// Bytes of a character in UTF-8.
    public static int utf8Length(int character) {
        return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x1_0000 ? 3 : 4;
    }
}
