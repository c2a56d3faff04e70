package sluice.core.expression;

import java.util.List;
import sluice.core.catalog.Column;

/// One condition of a shape's filter, its constants already made canonical by PostgreSQL.
///
/// @param constants PostgreSQL's own text of each literal, as many as the operator takes; a pattern for LIKE
/// @param equality how the texts of equal values of the column's type relate
public record FilterTerm(
        Column column, Operator operator, List<String> constants, Negation negation, EqualTexts equality) {
    public FilterTerm {
        constants = List.copyOf(constants);
        if (!operator.takes(constants.size())) {
            throw new IllegalArgumentException(operator.spelling() + " with " + constants.size() + " constants");
        }
    }

    /// Whether every row of it has the value of one constant.
    public boolean isEquality() {
        return operator == Operator.EQUAL && negation == Negation.PLAIN;
    }

    /// Whether every row of it has the value of one of the constants.
    public boolean isMembership() {
        return operator == Operator.IN && negation == Negation.PLAIN;
    }

    /// Values may be anybody's and are never printed.
    @Override
    public String toString() {
        return "FilterTerm[" + column.name() + " " + negation + " " + operator + "]";
    }

    /// What the column is compared by.
    public enum Operator {
        EQUAL("eq", "=", Operands.ONE),
        NOT_EQUAL("neq", "<>", Operands.ONE),
        LESS("lt", "<", Operands.ONE),
        LESS_OR_EQUAL("lte", "<=", Operands.ONE),
        GREATER("gt", ">", Operands.ONE),
        GREATER_OR_EQUAL("gte", ">=", Operands.ONE),
        LIKE("like", "~~", Operands.ONE),
        ILIKE("ilike", "~~*", Operands.ONE),
        IN("in", "=", Operands.SEVERAL),
        IS_NULL("is.null", "IS NULL", Operands.NONE),
        IS_TRUE("is.true", "IS TRUE", Operands.NONE),
        IS_FALSE("is.false", "IS FALSE", Operands.NONE),
        IS_UNKNOWN("is.unknown", "IS UNKNOWN", Operands.NONE);

        /// How many constants it takes.
        public enum Operands {
            NONE,
            ONE,
            SEVERAL
        }

        private final String spelling;
        private final String symbol;
        private final Operands operands;

        Operator(String spelling, String symbol, Operands operands) {
            this.spelling = spelling;
            this.symbol = symbol;
            this.operands = operands;
        }

        /// As clients write it.
        public String spelling() {
            return spelling;
        }

        /// `pg_operator.oprname`, or the test as SQL writes it where it takes no constant.
        String symbol() {
            return symbol;
        }

        public Operands operands() {
            return operands;
        }

        boolean takes(int count) {
            return switch (operands) {
                case NONE -> count == 0;
                case ONE -> count == 1;
                case SEVERAL -> count > 0;
            };
        }
    }

    /// Whether the answer is turned round; NULL stays NULL.
    public enum Negation {
        PLAIN,
        NEGATED
    }
}
