package sluice.core.datum;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/// Reads a JSON text as the server does (`jsonapi.c`). An instance reads one text.
public final class JsonReader {
    private static final String NOT_JSON = "22P02";
    private static final String NO_CHARACTER = "22P05";

    /// Digits on either side of the point that are held here; `numeric` has many more.
    private static final int DIGITS_MAX = 2000;

    /// Whether what texts stand for is asked, or only that they are well formed.
    public enum Escapes {
        READ,
        SKIPPED
    }

    private final String text;
    private final Escapes escapes;
    private int at;

    private JsonReader(String text, Escapes escapes) {
        this.text = text;
        this.escapes = escapes;
    }

    /// @throws EvaluationException when it is not JSON
    /// @throws UndecidableException when it is nested deeper than is read here
    public static JsonNode read(String text, Escapes escapes) {
        JsonReader reader = new JsonReader(text, escapes);
        JsonNode root = reader.value(0);
        reader.skipBlanks();
        if (reader.at != text.length()) {
            throw notJson();
        }
        return root;
    }

    private JsonNode value(int depth) {
        if (depth > Json.DEPTH_MAX) {
            throw new UndecidableException();
        }
        skipBlanks();
        int start = at;
        return switch (peek()) {
            case '{' -> object(start, depth);
            case '[' -> array(start, depth);
            case '"' -> {
                String value = string();
                yield new JsonNode(JsonNode.Kind.TEXT, start, at, value, List.of(), List.of());
            }
            case 'n' -> word("null", JsonNode.Kind.NULL);
            case 't' -> word("true", JsonNode.Kind.TRUE);
            case 'f' -> word("false", JsonNode.Kind.FALSE);
            default -> number();
        };
    }

    private JsonNode word(String word, JsonNode.Kind kind) {
        int start = at;
        if (!text.startsWith(word, at)) {
            throw notJson();
        }
        at += word.length();
        return new JsonNode(kind, start, at, "", List.of(), List.of());
    }

    private JsonNode array(int start, int depth) {
        at++;
        List<JsonNode> values = new ArrayList<>();
        if (!closes(']')) {
            do {
                values.add(value(depth + 1));
            } while (more(']'));
        }
        return new JsonNode(JsonNode.Kind.ARRAY, start, at, "", List.of(), values);
    }

    private JsonNode object(int start, int depth) {
        at++;
        List<String> keys = new ArrayList<>();
        List<JsonNode> values = new ArrayList<>();
        if (!closes('}')) {
            do {
                skipBlanks();
                if (peek() != '"') {
                    throw notJson();
                }
                keys.add(string());
                skipBlanks();
                if (next() != ':') {
                    throw notJson();
                }
                values.add(value(depth + 1));
            } while (more('}'));
        }
        return new JsonNode(JsonNode.Kind.OBJECT, start, at, "", keys, values);
    }

    private boolean closes(char bracket) {
        skipBlanks();
        if (peek() != bracket) {
            return false;
        }
        at++;
        return true;
    }

    private boolean more(char bracket) {
        skipBlanks();
        char c = next();
        if (c != ',' && c != bracket) {
            throw notJson();
        }
        return c == ',';
    }

    private JsonNode number() {
        int start = at;
        if (peek() == '-') {
            at++;
        }
        if (peek() == '0') {
            at++;
        } else {
            digits();
        }
        if (peek() == '.') {
            at++;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            at++;
            if (peek() == '+' || peek() == '-') {
                at++;
            }
            digits();
        }
        return new JsonNode(JsonNode.Kind.NUMBER, start, at, text.substring(start, at), List.of(), List.of());
    }

    private void digits() {
        int start = at;
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
        if (at == start) {
            throw notJson();
        }
    }

    static Json.Numeral number(String text) {
        if (text.length() > 2 * DIGITS_MAX) {
            throw new UndecidableException();
        }
        BigDecimal value;
        try {
            value = new BigDecimal(text);
        } catch (NumberFormatException exponentTooLarge) {
            throw new UndecidableException();
        }
        if (value.scale() > DIGITS_MAX || value.scale() < -DIGITS_MAX) {
            throw new UndecidableException();
        }
        return new Json.Numeral(value.scale() < 0 ? value.setScale(0) : value);
    }

    private String string() {
        StringBuilder value = new StringBuilder();
        at++;
        for (char c = next(); c != '"'; c = next()) {
            if (c < ' ') {
                throw notJson();
            }
            if (c == '\\') {
                escape(value);
            } else {
                value.append(c);
            }
        }
        return value.toString();
    }

    private void escape(StringBuilder value) {
        char c = next();
        switch (c) {
            case '"', '\\', '/' -> value.append(c);
            case 'b' -> value.append('\b');
            case 'f' -> value.append('\f');
            case 'n' -> value.append('\n');
            case 'r' -> value.append('\r');
            case 't' -> value.append('\t');
            case 'u' -> unicode(value);
            default -> throw notJson();
        }
    }

    /// Characters beyond the first plane come as a pair of surrogates; neither stands alone.
    private void unicode(StringBuilder value) {
        char unit = hex();
        if (escapes == Escapes.SKIPPED) {
            return;
        }
        if (unit == 0) {
            throw new EvaluationException(NO_CHARACTER);
        }
        value.append(unit);
        if (Character.isHighSurrogate(unit)) {
            if (!text.startsWith("\\u", at)) {
                throw notJson();
            }
            at += 2;
            char low = hex();
            if (!Character.isLowSurrogate(low)) {
                throw notJson();
            }
            value.append(low);
        } else if (Character.isLowSurrogate(unit)) {
            throw notJson();
        }
    }

    private char hex() {
        int unit = 0;
        for (int i = 0; i < 4; i++) {
            char c = next();
            if (c > 0x7f || Character.digit(c, 16) < 0) {
                throw notJson();
            }
            unit = (unit << 4) | Character.digit(c, 16);
        }
        return (char) unit;
    }

    private void skipBlanks() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
            at++;
        }
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private char next() {
        if (at >= text.length()) {
            throw notJson();
        }
        return text.charAt(at++);
    }

    private static EvaluationException notJson() {
        return new EvaluationException(NOT_JSON);
    }
}
