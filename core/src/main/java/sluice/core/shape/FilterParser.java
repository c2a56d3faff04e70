package sluice.core.shape;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.shape.ParsedTerm.Operator;

/// Splits `owner_id=eq.7,status=in.(open,done)` into its terms.
///
/// Order is kept: of two equally good columns, routing takes the earlier. Column names and values may be
/// double-quoted, with `\"` and `\\` inside; an unquoted value ends at the next comma (in a list also at the
/// closing parenthesis) and is otherwise taken as it stands. Values are never put into SQL as text.
public final class FilterParser {
    /// Most terms of one filter.
    public static final int TERMS_MAX = 100;
    /// Most values of one `in` list.
    public static final int VALUES_MAX = 100;

    private final String text;
    private int position;

    private FilterParser(String text) {
        this.text = text;
    }

    /// @param text AND-only; empty means every row
    /// @return 0 to {@link #TERMS_MAX} terms
    /// @throws RequestException `INVALID_FILTER`, naming the first term that cannot be read
    public static List<ParsedTerm> parse(String text) {
        if (text.isBlank()) {
            return List.of();
        }
        if (text.indexOf('\0') >= 0) {
            throw invalid("a filter cannot hold a NUL character");
        }
        FilterParser parser = new FilterParser(text);
        List<ParsedTerm> terms = new ArrayList<>();
        do {
            if (terms.size() == TERMS_MAX) {
                throw invalid("a filter has at most " + TERMS_MAX + " terms");
            }
            terms.add(parser.term());
        } while (parser.comma());
        return terms;
    }

    private ParsedTerm term() {
        skipBlanks();
        String column = startsWith('"') ? quoted() : upTo('=');
        skipBlanks();
        if (column.isEmpty() || !startsWith('=')) {
            throw invalid("expected column=operator.value at \"" + excerpt() + "\"");
        }
        position++;
        Operator operator = operator();
        List<String> values = operator == Operator.EQ ? List.of(value(',')) : list();
        skipBlanks();
        if (position < text.length() && text.charAt(position) != ',') {
            throw invalid("unexpected text after the value of \"" + column + "\"");
        }
        return new ParsedTerm(column, operator, values);
    }

    private Operator operator() {
        int dot = text.indexOf('.', position);
        if (dot < 0) {
            throw invalid("expected an operator and a dot at \"" + excerpt() + "\"");
        }
        String name = text.substring(position, dot).strip().toLowerCase(Locale.ROOT);
        position = dot + 1;
        return switch (name) {
            case "eq" -> Operator.EQ;
            case "in" -> Operator.IN;
            case "neq", "lt", "lte", "gt", "gte", "like", "ilike", "is", "not" ->
                throw invalid("operator \"" + name + "\" is not supported yet");
            default -> throw invalid("there is no operator \"" + name + "\"");
        };
    }

    private List<String> list() {
        skipBlanks();
        if (!startsWith('(')) {
            throw invalid("\"in\" takes a list in parentheses");
        }
        List<String> values = new ArrayList<>();
        do {
            position++;
            if (values.size() == VALUES_MAX) {
                throw invalid("\"in\" takes at most " + VALUES_MAX + " values");
            }
            skipBlanks();
            if (values.isEmpty() && startsWith(')')) {
                throw invalid("\"in\" takes at least one value");
            }
            values.add(value(')'));
            skipBlanks();
        } while (startsWith(','));
        if (!startsWith(')')) {
            throw invalid("the list of \"in\" is not closed");
        }
        position++;
        return values;
    }

    private String value(char end) {
        skipBlanks();
        if (startsWith('"')) {
            return quoted();
        }
        int start = position;
        while (position < text.length() && text.charAt(position) != ',' && text.charAt(position) != end) {
            position++;
        }
        return text.substring(start, position).strip();
    }

    private String quoted() {
        StringBuilder unquoted = new StringBuilder();
        for (position++; position < text.length(); position++) {
            char next = text.charAt(position);
            if (next == '"') {
                position++;
                return unquoted.toString();
            }
            if (next == '\\' && position + 1 < text.length()) {
                next = text.charAt(++position);
            }
            unquoted.append(next);
        }
        throw invalid("a double quote is not closed");
    }

    private String upTo(char end) {
        int start = position;
        while (position < text.length() && text.charAt(position) != end && text.charAt(position) != ',') {
            position++;
        }
        return text.substring(start, position).strip();
    }

    private boolean comma() {
        if (!startsWith(',')) {
            return false;
        }
        position++;
        return true;
    }

    private boolean startsWith(char expected) {
        return position < text.length() && text.charAt(position) == expected;
    }

    private void skipBlanks() {
        while (position < text.length() && Character.isWhitespace(text.charAt(position))) {
            position++;
        }
    }

    private String excerpt() {
        return text.substring(position, Math.min(text.length(), position + 40));
    }

    private static RequestException invalid(String message) {
        return new RequestException(ErrorCode.INVALID_FILTER, message);
    }
}
