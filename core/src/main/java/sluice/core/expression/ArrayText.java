package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads PostgreSQL's text form of an array into its elements, dimensions flattened as ANY and ALL see them.
///
/// Source: PostgreSQL 18 manual, 8.15.6 "Array Input and Output Syntax", and array_out.
final class ArrayText {
    private final String text;
    private int position;

    private ArrayText(String text) {
        this.text = text;
    }

    /// @throws IllegalArgumentException when the text is not what array_out prints
    static Expression.Elements elements(ValueType elementType, @Nullable String text) {
        if (text == null) {
            return new Expression.Elements.NullArray();
        }
        return new Expression.Elements.Listed(new ArrayText(text).read(elementType));
    }

    private List<Expression> read(ValueType elementType) {
        List<Expression> elements = new ArrayList<>();
        // Lower bounds other than one are printed in front: [0:2]={a,b,c}
        int equals = text.startsWith("[") ? text.indexOf('=') : -1;
        position = equals + 1;
        int depth = 0;
        do {
            char c = next();
            switch (c) {
                case '{' -> depth++;
                case '}' -> depth--;
                case ',' -> {
                    // between elements or sub-arrays
                }
                case '"' -> elements.add(Answers.constant(elementType, quoted()));
                default -> {
                    position--;
                    String word = word();
                    elements.add(Answers.constant(elementType, word.equals("NULL") ? null : word));
                }
            }
        } while (depth > 0);
        if (position != text.length() || depth != 0 || !text.startsWith("{", equals + 1)) {
            throw new IllegalArgumentException("not an array");
        }
        return elements;
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
                throw new IllegalArgumentException("not an array");
            }
            position++;
        }
        return text.substring(start, position);
    }

    private char next() {
        if (position >= text.length()) {
            throw new IllegalArgumentException("not an array");
        }
        return text.charAt(position++);
    }
}
