package sluice.core.datum;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The text form of arrays, as `array_out` prints it.
///
/// Source: PostgreSQL 18 manual, 8.15.6 "Array Input and Output Syntax". An instance reads one text.
final class ArrayText {
    private final String text;
    private final ValueType<?> elementType;
    private final List<@Nullable Object> elements = new ArrayList<>();
    private final List<Integer> lengths = new ArrayList<>();
    private int position;

    ArrayText(String text, ValueType<?> elementType) {
        this.text = text;
        this.elementType = elementType;
    }

    ArrayValue read() {
        List<Integer> lowerBounds = bounds();
        if (peek() != '{') {
            throw malformed();
        }
        level(0);
        if (position != text.length()) {
            throw malformed();
        }
        if (elements.isEmpty()) {
            return ArrayValue.of(List.of());
        }
        while (lowerBounds.size() < lengths.size()) {
            lowerBounds.add(1);
        }
        if (lowerBounds.size() != lengths.size()) {
            throw malformed();
        }
        return new ArrayValue(lengths, lowerBounds, elements);
    }

    /// Lower bounds other than one are printed in front: `[0:2][1:2]={{...}}`.
    private List<Integer> bounds() {
        List<Integer> lowerBounds = new ArrayList<>();
        while (peek() == '[') {
            int colon = text.indexOf(':', position);
            int close = text.indexOf(']', position);
            if (colon < 0 || close < colon) {
                throw malformed();
            }
            try {
                lowerBounds.add(Integer.parseInt(text.substring(position + 1, colon)));
            } catch (NumberFormatException notBound) {
                throw malformed();
            }
            position = close + 1;
        }
        if (!lowerBounds.isEmpty() && next() != '=') {
            throw malformed();
        }
        return lowerBounds;
    }

    /// One pair of braces; all of a depth have the same number of members.
    private void level(int depth) {
        if (depth == ArrayValue.DIMENSIONS_MAX || next() != '{') {
            throw malformed();
        }
        if (lengths.size() == depth) {
            lengths.add(-1);
        }
        int members = 0;
        if (peek() == '}') {
            position++;
        } else {
            do {
                if (peek() == '{') {
                    level(depth + 1);
                } else {
                    element();
                }
                members++;
            } while (more());
        }
        if (lengths.get(depth) >= 0 && lengths.get(depth) != members) {
            throw malformed();
        }
        lengths.set(depth, members);
    }

    private boolean more() {
        return switch (next()) {
            case ',' -> true;
            case '}' -> false;
            default -> throw malformed();
        };
    }

    private void element() {
        if (peek() == '"') {
            position++;
            elements.add(elementType.parse(quoted()));
        } else {
            String word = word();
            elements.add(word.equals("NULL") ? null : elementType.parse(word));
        }
    }

    private String quoted() {
        StringBuilder element = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            element.append(c == '\\' ? next() : c);
        }
        return element.toString();
    }

    private String word() {
        int start = position;
        while (position < text.length() && ",{}\"".indexOf(text.charAt(position)) < 0) {
            if (text.charAt(position) == '\\') {
                throw malformed();
            }
            position++;
        }
        if (position == start) {
            throw malformed();
        }
        return text.substring(start, position);
    }

    private char peek() {
        return position < text.length() ? text.charAt(position) : 0;
    }

    private char next() {
        if (position >= text.length()) {
            throw malformed();
        }
        return text.charAt(position++);
    }

    private static EvaluationException malformed() {
        return new EvaluationException("22P02");
    }

    static String print(ArrayValue value, ValueType<?> elementType) {
        if (value.elements().isEmpty()) {
            return "{}";
        }
        StringBuilder out = new StringBuilder();
        boolean shifted = value.lowerBounds().stream().anyMatch(bound -> bound != 1);
        for (int i = 0; shifted && i < value.dimensions(); i++) {
            int lower = value.lowerBounds().get(i);
            out.append('[')
                    .append(lower)
                    .append(':')
                    .append(lower + value.lengths().get(i) - 1)
                    .append(']');
        }
        if (shifted) {
            out.append('=');
        }
        print(out, value, elementType, 0, 0);
        return out.toString();
    }

    /// @return where the next brace of this depth starts among the elements
    private static int print(StringBuilder out, ArrayValue value, ValueType<?> type, int depth, int from) {
        int at = from;
        out.append('{');
        for (int i = 0; i < value.lengths().get(depth); i++) {
            if (i > 0) {
                out.append(',');
            }
            if (depth + 1 < value.dimensions()) {
                at = print(out, value, type, depth + 1, at);
            } else {
                Object element = value.elements().get(at++);
                out.append(element == null ? "NULL" : quotedWhereNeeded(type.text(element)));
            }
        }
        out.append('}');
        return at;
    }

    private static String quotedWhereNeeded(String element) {
        boolean quote = element.isEmpty() || element.toUpperCase(Locale.ROOT).equals("NULL");
        for (int i = 0; i < element.length() && !quote; i++) {
            // The delimiter, what is special in an array, and what isspace() of the server calls a space.
            quote = "{}\",\\ \t\n\r\u000b\f".indexOf(element.charAt(i)) >= 0;
        }
        return quote ? "\"" + element.replace("\\", "\\\\").replace("\"", "\\\"") + "\"" : element;
    }
}
