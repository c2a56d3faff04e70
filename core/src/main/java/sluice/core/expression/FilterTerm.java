package sluice.core.expression;

import java.util.List;
import sluice.core.catalog.Column;

/// One term of a shape's filter, its constants already made canonical by PostgreSQL.
///
/// @param constants PostgreSQL's own text of each literal, read as the column's type; one for EQUAL
public record FilterTerm(Column column, Operator operator, List<String> constants, Negation negation) {
    public FilterTerm {
        constants = List.copyOf(constants);
        if (operator == Operator.EQUAL && constants.size() != 1) {
            throw new IllegalArgumentException("eq with " + constants.size() + " constants");
        }
    }

    /// What the column is compared by.
    public enum Operator {
        EQUAL,
        IN
    }

    /// Whether the term's answer is turned round; NULL stays NULL.
    public enum Negation {
        PLAIN,
        NEGATED
    }
}
