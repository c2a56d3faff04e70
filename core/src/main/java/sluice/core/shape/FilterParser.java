package sluice.core.shape;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.expression.FilterTerm.Negation;
import sluice.core.expression.FilterTerm.Operator;
import sluice.core.expression.FilterTree;

/// Reads `owner_id=eq.7,or(status=in.(open,done),due=is.null)`: the grammar is in docs/protocol.md.
///
/// Nothing is guessed: what can be read in two ways is refused, with the character it begins at and what to write
/// instead. Order is kept: of two equally good columns, routing takes the earlier. A message never repeats a value,
/// and no value is ever put into SQL as text. Time is linear in the text, depth and counts are bounded.
public final class FilterParser {
    /// Longest filter, in UTF-16 units.
    public static final int LENGTH_MAX = 65_536;
    /// Most conditions of one filter, at every depth together.
    public static final int TERMS_MAX = 100;
    /// Most values of one `in` list.
    public static final int VALUES_MAX = 100;
    /// Most values of all lists together.
    public static final int VALUES_TOGETHER_MAX = 1_000;
    /// Most groups inside one another.
    public static final int DEPTH_MAX = 8;

    private static final List<String> KNOWN_ELSEWHERE = List.of(
            "match",
            "imatch",
            "isdistinct",
            "fts",
            "plfts",
            "phfts",
            "wfts",
            "cs",
            "cd",
            "ov",
            "sl",
            "sr",
            "nxr",
            "nxl",
            "adj",
            "any",
            "all");
    private static final List<Operator> COMPARISONS = List.of(
            Operator.EQUAL,
            Operator.NOT_EQUAL,
            Operator.LESS,
            Operator.LESS_OR_EQUAL,
            Operator.GREATER,
            Operator.GREATER_OR_EQUAL,
            Operator.LIKE,
            Operator.ILIKE,
            Operator.IN);
    private static final String NEGATION = "not.";

    private final String text;
    private int position;
    private int terms;
    private int values;

    private FilterParser(String text) {
        this.text = text;
    }

    /// @param text empty or blank means every row
    /// @return an AND of 0 to {@link #TERMS_MAX} conditions
    /// @throws RequestException `INVALID_FILTER`, naming the character, counted from 1, at which it cannot be read
    public static FilterTree<ParsedTerm> parse(String text) {
        FilterParser parser = new FilterParser(text);
        parser.requireReadable();
        if (text.isBlank()) {
            return FilterTree.every(List.of());
        }
        List<FilterTree<ParsedTerm>> members = new ArrayList<>();
        do {
            members.add(parser.member(0));
        } while (parser.comma());
        if (parser.position < text.length()) {
            throw parser.invalid(
                    parser.position, "a closing parenthesis stands alone; put a value that holds one in double quotes");
        }
        return FilterTree.every(members);
    }

    /// The filter as this class would have it written, which parses to the same.
    public static String print(FilterTree<ParsedTerm> filter) {
        return FilterText.of(filter);
    }

    private void requireReadable() {
        if (text.length() > LENGTH_MAX) {
            throw invalid(LENGTH_MAX, "a filter has at most " + LENGTH_MAX + " characters");
        }
        for (int i = 0; i < text.length(); i++) {
            char next = text.charAt(i);
            boolean pair = Character.isHighSurrogate(next)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1));
            if (pair) {
                i++;
            } else if (next == 0 || Character.isSurrogate(next)) {
                throw invalid(i, "a filter cannot hold a NUL or half a character; PostgreSQL has no such text");
            }
        }
    }

    private FilterTree<ParsedTerm> member(int depth) {
        skipBlanks();
        int start = position;
        Negation negation = negation();
        for (FilterTree.Connective connective : FilterTree.Connective.values()) {
            String opening = connective.name().toLowerCase(Locale.ROOT) + "(";
            if (text.startsWith(opening, position)) {
                position += opening.length();
                if (depth == DEPTH_MAX) {
                    throw invalid(start, "groups are at most " + DEPTH_MAX + " deep");
                }
                return group(connective, negation, depth);
            }
        }
        position = start;
        return new FilterTree.Leaf<>(term());
    }

    private FilterTree<ParsedTerm> group(FilterTree.Connective connective, Negation negation, int depth) {
        int start = position - 1;
        List<FilterTree<ParsedTerm>> members = new ArrayList<>();
        do {
            members.add(member(depth + 1));
        } while (comma());
        close(start, "the group");
        requireEnd();
        return new FilterTree.Group<>(connective, negation, members);
    }

    private ParsedTerm term() {
        int start = position;
        if (terms++ == TERMS_MAX) {
            throw invalid(start, "a filter has at most " + TERMS_MAX + " conditions");
        }
        String column = startsWith('"') ? quoted() : column();
        skipBlanks();
        if (!startsWith('=')) {
            throw invalid(position, "expected column=operator.value; put an unusual column name in double quotes");
        }
        if (column.isEmpty()) {
            throw invalid(start, "a column name is missing; write column=operator.value");
        }
        position++;
        skipBlanks();
        Negation negation = negation();
        ParsedTerm term = condition(column, negation);
        requireEnd();
        return FilterText.canonical(term);
    }

    private String column() {
        int start = position;
        while (position < text.length() && ",=()\"".indexOf(text.charAt(position)) < 0) {
            position++;
        }
        String name = text.substring(start, position).strip();
        if (name.contains("->")) {
            throw invalid(start, "paths into json are not supported yet; put a column of that name in double quotes");
        }
        return name;
    }

    /// Whether the name can stand without quotes.
    static boolean plainColumn(String name) {
        return plainValue(name) && name.indexOf('=') < 0 && !name.contains("->");
    }

    /// Whether the value can stand without quotes.
    static boolean plainValue(String value) {
        if (value.isEmpty() || !value.strip().equals(value)) {
            return false;
        }
        for (int i = 0; i < value.length(); i++) {
            if (",()\"".indexOf(value.charAt(i)) >= 0) {
                return false;
            }
        }
        return true;
    }

    private Negation negation() {
        if (!text.startsWith(NEGATION, position)) {
            return Negation.PLAIN;
        }
        position += NEGATION.length();
        return Negation.NEGATED;
    }

    private ParsedTerm condition(String column, Negation negation) {
        int start = position;
        String name = operatorName();
        if (name.equals("is")) {
            return test(column, negation);
        }
        for (Operator operator : COMPARISONS) {
            if (operator.spelling().equals(name)) {
                List<String> given = operator.operands() == Operator.Operands.SEVERAL ? list() : List.of(scalar());
                if (operator == Operator.LIKE || operator == Operator.ILIKE) {
                    requirePattern(given.getFirst());
                }
                return new ParsedTerm(column, operator, given, negation);
            }
        }
        throw noOperator(start, name);
    }

    /// Letters up to a dot, in lower case; the position is after the dot.
    private String operatorName() {
        int start = position;
        while (position < text.length() && isLetter(text.charAt(position))) {
            position++;
        }
        String name = text.substring(start, position).toLowerCase(Locale.ROOT);
        if (startsWith('(')) {
            throw invalid(
                    start,
                    name.isEmpty()
                            ? "a group is written or(column=operator.value,...), without an equals sign"
                            : "an operator takes no modifier in parentheses; write column=operator.value");
        }
        if (name.isEmpty() || !startsWith('.')) {
            throw invalid(start, "expected an operator and a dot, as in column=eq.value");
        }
        position++;
        return name;
    }

    private static boolean isLetter(char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    }

    private RequestException noOperator(int start, String name) {
        if (name.equals("not")) {
            return invalid(start, "\"not.\" stands once, in lower case, before the operator");
        }
        return invalid(
                start,
                (KNOWN_ELSEWHERE.contains(name)
                                ? "operator \"" + name + "\" is not supported"
                                : "there is no such operator")
                        + "; operators are eq, neq, lt, lte, gt, gte, in, like, ilike, is");
    }

    private ParsedTerm test(String column, Negation negation) {
        int start = position;
        String word = scalar().toLowerCase(Locale.ROOT);
        Negation opposite = negation == Negation.PLAIN ? Negation.NEGATED : Negation.PLAIN;
        return switch (word) {
            case "null" -> new ParsedTerm(column, Operator.IS_NULL, List.of(), negation);
            case "not_null" -> new ParsedTerm(column, Operator.IS_NULL, List.of(), opposite);
            case "true" -> new ParsedTerm(column, Operator.IS_TRUE, List.of(), negation);
            case "false" -> new ParsedTerm(column, Operator.IS_FALSE, List.of(), negation);
            case "unknown" -> new ParsedTerm(column, Operator.IS_UNKNOWN, List.of(), negation);
            default -> throw invalid(start, "\"is\" takes null, not_null, true, false or unknown");
        };
    }

    private List<String> list() {
        skipBlanks();
        int start = position;
        if (!startsWith('(')) {
            throw invalid(start, "\"in\" takes a list in parentheses, as in column=in.(a,b)");
        }
        List<String> list = new ArrayList<>();
        do {
            position++;
            if (list.size() == VALUES_MAX || values++ == VALUES_TOGETHER_MAX) {
                throw invalid(
                        position,
                        "a list has at most " + VALUES_MAX + " values, all lists of a filter " + VALUES_TOGETHER_MAX);
            }
            skipBlanks();
            boolean quoted = startsWith('"');
            int valueStart = position;
            String value = scalar();
            if (value.isEmpty() && !quoted) {
                throw invalid(valueStart, "a value is missing in the list; write \"\" for the empty text");
            }
            list.add(value);
            skipBlanks();
        } while (startsWith(','));
        close(start, "the list");
        return list;
    }

    private void close(int start, String what) {
        if (!startsWith(')')) {
            throw invalid(
                    position,
                    "expected a comma or the parenthesis that closes " + what + " begun at character " + (start + 1));
        }
        position++;
    }

    private String scalar() {
        skipBlanks();
        return startsWith('"') ? quoted() : plain();
    }

    /// Up to a comma or closing parenthesis outside the value's own parentheses.
    private String plain() {
        int start = position;
        int open = 0;
        for (; position < text.length(); position++) {
            char next = text.charAt(position);
            if (next == '"') {
                throw invalid(position, "a double quote inside a value; put the whole value in double quotes");
            }
            if (open == 0 && (next == ',' || next == ')')) {
                break;
            }
            open += next == '(' ? 1 : next == ')' ? -1 : 0;
        }
        if (open > 0) {
            throw invalid(start, "a parenthesis in the value is not closed; put the value in double quotes");
        }
        return text.substring(start, position).strip();
    }

    private String quoted() {
        int start = position;
        StringBuilder unquoted = new StringBuilder();
        for (position++; position < text.length(); position++) {
            char next = text.charAt(position);
            if (next == '"') {
                position++;
                return unquoted.toString();
            }
            if (next == '\\') {
                position++;
                if (!startsWith('"') && !startsWith('\\')) {
                    throw invalid(position - 1, "inside double quotes write \\\\ for a backslash and \\\" for a quote");
                }
                next = text.charAt(position);
            }
            unquoted.append(next);
        }
        throw invalid(start, "a double quote is not closed");
    }

    /// PostgreSQL raises an error for every row it matches with such a pattern.
    private void requirePattern(String pattern) {
        int backslashes = 0;
        while (backslashes < pattern.length() && pattern.charAt(pattern.length() - 1 - backslashes) == '\\') {
            backslashes++;
        }
        if (backslashes % 2 == 1) {
            throw invalid(position, "a pattern ends in a lone backslash; write two for a backslash");
        }
    }

    private boolean comma() {
        skipBlanks();
        if (!startsWith(',')) {
            return false;
        }
        position++;
        return true;
    }

    private void requireEnd() {
        skipBlanks();
        if (position < text.length() && !startsWith(',') && !startsWith(')')) {
            throw invalid(position, "unexpected text after a condition; conditions are joined by commas");
        }
    }

    private boolean startsWith(char expected) {
        return position < text.length() && text.charAt(position) == expected;
    }

    private void skipBlanks() {
        while (position < text.length() && Character.isWhitespace(text.charAt(position))) {
            position++;
        }
    }

    /// @param at from 0
    private RequestException invalid(int at, String message) {
        return new RequestException(
                ErrorCode.INVALID_FILTER, "the filter cannot be read at character " + (at + 1) + ": " + message);
    }
}
