package sluice.core.expression;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A boolean or comparable expression over one row, made only of what this package can decide exactly.
///
/// Everything else of PostgreSQL's language is {@link Unsupported} with its reason. {@link Folded} parts wait for
/// PostgreSQL's answer; {@link Answers} puts it in.
public sealed interface Expression {
    ValueType type();

    /// @param text canonical text, `t` or `f` for bool, null for SQL NULL
    record Constant(ValueType type, @Nullable String text) implements Expression {
        static final Constant TRUE = new Constant(ValueType.BOOL, "t");
        static final Constant FALSE = new Constant(ValueType.BOOL, "f");

        /// Values may come from claims and are never printed.
        @Override
        public String toString() {
            return "Constant[" + type + "]";
        }

        public boolean isTrue() {
            return type == ValueType.BOOL && "t".equals(text);
        }

        public boolean isFalse() {
            return type == ValueType.BOOL && "f".equals(text);
        }
    }

    /// A column of the row, its text read as `type`.
    record ColumnValue(int attnum, ValueType type) implements Expression {}

    /// Evaluated left to right, as PostgreSQL's executor does; an argument after a FALSE is not reached.
    record And(List<Expression> arguments) implements Expression {
        public And {
            arguments = List.copyOf(arguments);
        }

        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }

    /// Evaluated left to right; an argument after a TRUE is not reached.
    record Or(List<Expression> arguments) implements Expression {
        public Or {
            arguments = List.copyOf(arguments);
        }

        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }

    record Not(Expression argument) implements Expression {
        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }

    record NullTest(Expression argument, NullSense sense) implements Expression {
        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }

    /// `NullTestType`, in its order.
    enum NullSense {
        IS_NULL,
        IS_NOT_NULL
    }

    record TruthTest(Expression argument, TruthSense sense) implements Expression {
        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }

    /// `BoolTestType`, in its order.
    enum TruthSense {
        IS_TRUE,
        IS_NOT_TRUE,
        IS_FALSE,
        IS_NOT_FALSE,
        IS_UNKNOWN,
        IS_NOT_UNKNOWN
    }

    /// Both sides have the same representation.
    record Comparison(ComparisonKind kind, Expression left, Expression right) implements Expression {
        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }

    /// `left IS DISTINCT FROM right`.
    record Distinct(Expression left, Expression right) implements Expression {
        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }

    /// `scalar kind ANY (elements)` or `ALL`.
    record Quantified(ComparisonKind kind, Quantifier quantifier, Expression scalar, Elements elements)
            implements Expression {
        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }

    /// `ScalarArrayOpExpr.useOr`.
    enum Quantifier {
        ANY,
        ALL
    }

    /// The array of a {@link Quantified}.
    sealed interface Elements {
        /// The elements of every dimension, in order.
        record Listed(List<Expression> values) implements Elements {
            public Listed {
                values = List.copyOf(values);
            }
        }

        /// An array that is itself NULL, which makes the comparison NULL.
        record NullArray() implements Elements {}

        /// @param index of the fold whose answer is the array
        record FoldedArray(int index, ValueType elementType, FoldTiming timing) implements Elements {}
    }

    /// @param index of the fold whose answer is the value
    record Folded(int index, ValueType type, FoldTiming timing) implements Expression {}

    /// PostgreSQL raised an error for this part, and would again for every row that reaches it.
    record Raised(ValueType type, String sqlState) implements Expression {}

    /// A part that is not decided in process.
    ///
    /// @param reason what stands in the way, for a person, without values
    record Unsupported(String reason) implements Expression {
        @Override
        public ValueType type() {
            return ValueType.BOOL;
        }
    }
}
