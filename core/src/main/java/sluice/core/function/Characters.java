package sluice.core.function;

import java.util.ArrayList;
import java.util.List;
import sluice.core.datum.TextTypes;
import sluice.core.datum.UndecidableException;

/// Texts as PostgreSQL counts them: by characters of UTF-8, which are code points, where Java has UTF-16.
///
/// What a function makes longer is bounded here; PostgreSQL's own bound is a gigabyte.
final class Characters {
    /// UTF-16 units a result may have that is longer than what it is made from.
    private static final long LENGTH_MAX = 1 << 20;

    /// Steps one call may take.
    static final long WORK_MAX = 50_000_000;

    private Characters() {}

    static long count(String text) {
        return text.codePointCount(0, text.length());
    }

    /// In UTF-8.
    static long bytes(String text) {
        long bytes = 0;
        for (int at = 0; at < text.length(); ) {
            int character = text.codePointAt(at);
            bytes += TextTypes.utf8Length(character);
            at += Character.charCount(character);
        }
        return bytes;
    }

    /// Characters number `from` to before `to`, counted from zero; what lies outside of the text is left out.
    static String slice(String text, long from, long to) {
        int start = offset(text, 0, from);
        int end = to == Long.MAX_VALUE ? text.length() : offset(text, start, to - Math.max(0, from));
        return text.substring(start, end);
    }

    private static int offset(String text, int start, long characters) {
        int at = start;
        for (long n = 0; n < characters && at < text.length(); n++) {
            at += Character.charCount(text.codePointAt(at));
        }
        return at;
    }

    static String trimStart(String text, String set) {
        int from = 0;
        while (from < text.length() && set.indexOf(text.codePointAt(from)) >= 0) {
            from += Character.charCount(text.codePointAt(from));
        }
        return text.substring(from);
    }

    static String trimEnd(String text, String set) {
        int to = text.length();
        while (to > 0 && set.indexOf(text.codePointBefore(to)) >= 0) {
            to -= Character.charCount(text.codePointBefore(to));
        }
        return text.substring(0, to);
    }

    /// What lies between separators, which are not empty; the empty text is one empty field.
    static List<String> split(String text, String separator) {
        List<String> fields = new ArrayList<>();
        int from = 0;
        for (int at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, from)) {
            fields.add(text.substring(from, at));
            from = at + separator.length();
        }
        fields.add(text.substring(from));
        return fields;
    }

    /// Both texts, one after the other.
    static String bounded(String first, String second) {
        checkBound((long) first.length() + second.length(), Math.max(first.length(), second.length()));
        return first.concat(second);
    }

    /// @param length of a result
    /// @param known a length that exists already, which a result may always have
    /// @throws UndecidableException when it is longer than is made here
    static void checkBound(long length, long known) {
        if (length > Math.max(LENGTH_MAX, known)) {
            throw new UndecidableException();
        }
    }

    static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 0x7f) {
                return false;
            }
        }
        return true;
    }
}
