package sluice.core.shape;

import java.util.ArrayList;
import java.util.List;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.FilterTerm.Negation;
import sluice.core.expression.FilterTerm.Operator;

/// One condition of a filter as the client wrote it.
///
/// @param values as many as the operator takes, unquoted; at most {@link FilterParser#VALUES_MAX}
public record ParsedTerm(String column, Operator operator, List<String> values, Negation negation) {
    public ParsedTerm {
        values = List.copyOf(values);
    }

    /// What PostgreSQL is asked to type: the values, a pattern with `%` where the client wrote `*`.
    public List<String> literals() {
        return switch (operator) {
            case LIKE, ILIKE -> {
                List<String> patterns = new ArrayList<>(values.size());
                for (String value : values) {
                    patterns.add(pattern(value));
                }
                yield patterns;
            }
            case EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, IN -> values;
            case IS_NULL, IS_TRUE, IS_FALSE, IS_UNKNOWN -> values;
        };
    }

    /// What the condition means once PostgreSQL has spelled its values, in the client's notation.
    static ParsedTerm of(FilterTerm term) {
        return new ParsedTerm(term.column().name(), term.operator(), term.constants(), term.negation());
    }

    /// Values may be anybody's and are never printed.
    @Override
    public String toString() {
        return "ParsedTerm[" + negation + " " + operator + "]";
    }

    /// A character after a backslash stands for itself, so `\*` is an asterisk.
    private static String pattern(String value) {
        StringBuilder pattern = new StringBuilder(value.length());
        for (int i = 0; i < value.length(); i++) {
            char next = value.charAt(i);
            if (next == '\\' && i + 1 < value.length()) {
                pattern.append(next).append(value.charAt(++i));
            } else {
                pattern.append(next == '*' ? '%' : next);
            }
        }
        return pattern.toString();
    }
}
