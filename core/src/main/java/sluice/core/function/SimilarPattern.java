package sluice.core.function;

import sluice.core.datum.UndecidableException;

/// SIMILAR TO as the regular expression the server makes of it (`similar_escape_internal` of `regexp.c`).
final class SimilarPattern {
    private SimilarPattern() {}

    /// @param escape one character, or empty for none
    /// @throws UndecidableException for what majors translate differently: anything special in square brackets, and
    ///     quotes that are escaped
    static String regex(String pattern, String escape) {
        StringBuilder out = new StringBuilder("^(?:");
        boolean escaped = false;
        for (int at = 0; at < pattern.length(); ) {
            int character = pattern.codePointAt(at);
            at += Character.charCount(character);
            if (escaped) {
                if (character == '"') {
                    throw new UndecidableException();
                }
                out.append('\\').appendCodePoint(character);
                escaped = false;
            } else if (!escape.isEmpty() && character == escape.codePointAt(0)) {
                escaped = true;
            } else if (character == '[') {
                at = bracket(pattern, at, escape, out);
            } else {
                translate(character, out);
            }
        }
        return out.append(")$").toString();
    }

    private static void translate(int character, StringBuilder out) {
        switch (character) {
            case '%' -> out.append(".*");
            case '_' -> out.append('.');
            case '(' -> out.append("(?:");
            case '\\', '.', '^', '$' -> out.append('\\').appendCodePoint(character);
            default -> out.appendCodePoint(character);
        }
    }

    /// @return where the pattern goes on behind the bracket
    private static int bracket(String pattern, int from, String escape, StringBuilder out) {
        int end = pattern.indexOf(']', from);
        String inside = end < 0 ? "" : pattern.substring(from, end);
        int first = inside.startsWith("^") ? 1 : 0;
        if (inside.length() == first || (!escape.isEmpty() && inside.contains(escape))) {
            throw new UndecidableException();
        }
        for (int i = first; i < inside.length(); i++) {
            char c = inside.charAt(i);
            if (!LetterCases.isLetter(c) && !(c >= '0' && c <= '9') && c != '-' && c != ' ') {
                throw new UndecidableException();
            }
        }
        out.append('[').append(inside).append(']');
        return end + 1;
    }
}
