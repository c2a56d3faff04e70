package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.ComparisonKind;

/// An expression over one row, made only of what this package can decide exactly.
///
/// Everything else of PostgreSQL's language is {@link Unsupported} with its reason. {@link Folded} parts wait for
/// PostgreSQL's answer; {@link Answers} puts it in.
public sealed interface Expression {
    ValueType<?> type();

    /// What it is made of, in the order of evaluation.
    default List<Expression> parts() {
        return List.of();
    }

    /// The same of other parts.
    ///
    /// @param parts as many as {@link #parts()}, in that order
    default Expression withParts(List<Expression> parts) {
        if (!parts.isEmpty()) {
            throw new IllegalArgumentException("it has no parts");
        }
        return this;
    }

    /// An expression whose value is a truth value.
    sealed interface Condition extends Expression {
        @Override
        default ValueType<?> type() {
            return ValueTypes.BOOL;
        }
    }

    /// @param text as the server prints it, `t` or `f` for bool, null for SQL NULL
    record Constant(ValueType<?> type, @Nullable String text) implements Expression {
        static final Constant TRUE = new Constant(ValueTypes.BOOL, "t");
        static final Constant FALSE = new Constant(ValueTypes.BOOL, "f");

        /// Values may come from claims and are never printed.
        @Override
        public String toString() {
            return "Constant[" + type + "]";
        }

        public boolean isTrue() {
            return type.equals(ValueTypes.BOOL) && "t".equals(text);
        }

        public boolean isFalse() {
            return type.equals(ValueTypes.BOOL) && "f".equals(text);
        }
    }

    /// A column of the row, its text read as `type`.
    record ColumnValue(int attnum, ValueType<?> type) implements Expression {}

    /// The commit's time, as `now()` and `CURRENT_DATE` would give it.
    record Clock(ValueType<?> type) implements Expression {}

    /// Evaluated left to right, as PostgreSQL's executor does; an argument after a FALSE is not reached.
    record And(List<Expression> arguments) implements Condition {
        public And {
            arguments = List.copyOf(arguments);
        }

        @Override
        public List<Expression> parts() {
            return arguments;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new And(parts);
        }
    }

    /// Evaluated left to right; an argument after a TRUE is not reached.
    record Or(List<Expression> arguments) implements Condition {
        public Or {
            arguments = List.copyOf(arguments);
        }

        @Override
        public List<Expression> parts() {
            return arguments;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Or(parts);
        }
    }

    record Not(Expression argument) implements Condition {
        @Override
        public List<Expression> parts() {
            return List.of(argument);
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Not(parts.getFirst());
        }
    }

    record NullTest(Expression argument, NullSense sense) implements Condition {
        @Override
        public List<Expression> parts() {
            return List.of(argument);
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new NullTest(parts.getFirst(), sense);
        }
    }

    /// `NullTestType`, in its order.
    enum NullSense {
        IS_NULL,
        IS_NOT_NULL
    }

    record TruthTest(Expression argument, TruthSense sense) implements Condition {
        @Override
        public List<Expression> parts() {
            return List.of(argument);
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new TruthTest(parts.getFirst(), sense);
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

    /// A comparison in the default order of both sides' type, which have the same Java form.
    record Comparison(ComparisonKind kind, Expression left, Expression right) implements Condition {
        @Override
        public List<Expression> parts() {
            return List.of(left, right);
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Comparison(kind, parts.getFirst(), parts.getLast());
        }
    }

    /// `(a, b, ...) < (x, y, ...)`: the first pair that differs decides.
    ///
    /// @param kind neither EQUAL nor NOT_EQUAL, which PostgreSQL writes as AND and OR
    record RowComparison(ComparisonKind kind, List<Expression> left, List<Expression> right) implements Condition {
        public RowComparison {
            left = List.copyOf(left);
            right = List.copyOf(right);
        }

        @Override
        public List<Expression> parts() {
            List<Expression> parts = new ArrayList<>(left);
            parts.addAll(right);
            return parts;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new RowComparison(kind, parts.subList(0, left.size()), parts.subList(left.size(), parts.size()));
        }
    }

    /// `left IS DISTINCT FROM right`.
    record Distinct(Operation equality, Expression left, Expression right) implements Condition {
        @Override
        public List<Expression> parts() {
            return List.of(left, right);
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Distinct(equality, parts.getFirst(), parts.getLast());
        }
    }

    /// `scalar operation ANY (elements)` or `ALL`.
    record Quantified(Operation operation, Quantifier quantifier, Expression scalar, Elements elements)
            implements Condition {
        @Override
        public List<Expression> parts() {
            List<Expression> parts = new ArrayList<>(List.of(scalar));
            switch (elements) {
                case Elements.Listed(var values) -> parts.addAll(values);
                case Elements.Computed(var array) -> parts.add(array);
                case Elements.NullArray() -> {
                    // nothing to evaluate
                }
            }
            return parts;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            List<Expression> others = parts.subList(1, parts.size());
            Elements changed = switch (elements) {
                case Elements.Listed(var values) -> new Elements.Listed(others);
                case Elements.Computed(var array) -> new Elements.Computed(others.getFirst());
                case Elements.NullArray none -> none;
            };
            return new Quantified(operation, quantifier, parts.getFirst(), changed);
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

        /// @param array an expression of an array type
        record Computed(Expression array) implements Elements {}
    }

    /// A function or operator of two arguments whose result is a truth value.
    sealed interface Operation {
        /// Between two values of one Java form, in their type's default order.
        record Compares(ComparisonKind kind) implements Operation {}

        record Applies(BuiltIn function, BuiltIn.CallSite site) implements Operation {}
    }

    /// A function or operator, all arguments evaluated first.
    record Call(BuiltIn function, BuiltIn.CallSite site, List<Expression> arguments) implements Expression {
        public Call {
            arguments = List.copyOf(arguments);
        }

        @Override
        public ValueType<?> type() {
            return site.resultType();
        }

        @Override
        public List<Expression> parts() {
            return arguments;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Call(function, site, parts);
        }
    }

    /// A cast whose value keeps its Java form, so that it can be read as another type as it is.
    record Recast(Expression argument, ValueType<?> type) implements Expression {
        @Override
        public List<Expression> parts() {
            return List.of(argument);
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Recast(parts.getFirst(), type);
        }
    }

    /// A cast through the text form (`CoerceViaIO`): what the server prints, read as another type.
    record TextCast(Expression argument, ValueType<?> type) implements Expression {
        /// Whether the text itself is the result, so that nothing is read and nothing can raise.
        boolean prints() {
            return type.equals(ValueTypes.TEXT) || type.equals(ValueTypes.VARCHAR);
        }

        @Override
        public List<Expression> parts() {
            return List.of(argument);
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new TextCast(parts.getFirst(), type);
        }
    }

    /// `CASE WHEN ... THEN ... ELSE ... END`: the result of the first condition that is TRUE.
    ///
    /// @param results as many as conditions
    record Case(List<Expression> conditions, List<Expression> results, Expression otherwise) implements Expression {
        public Case {
            conditions = List.copyOf(conditions);
            results = List.copyOf(results);
        }

        @Override
        public ValueType<?> type() {
            return otherwise.type();
        }

        @Override
        public List<Expression> parts() {
            List<Expression> parts = new ArrayList<>();
            for (int i = 0; i < conditions.size(); i++) {
                parts.add(conditions.get(i));
                parts.add(results.get(i));
            }
            parts.add(otherwise);
            return parts;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            List<Expression> changedConditions = new ArrayList<>();
            List<Expression> changedResults = new ArrayList<>();
            for (int i = 0; i + 1 < parts.size(); i += 2) {
                changedConditions.add(parts.get(i));
                changedResults.add(parts.get(i + 1));
            }
            return new Case(changedConditions, changedResults, parts.getLast());
        }
    }

    /// The first argument that is not NULL; those after it are not reached.
    record Coalesce(List<Expression> arguments) implements Expression {
        public Coalesce {
            arguments = List.copyOf(arguments);
        }

        @Override
        public ValueType<?> type() {
            return arguments.getFirst().type();
        }

        @Override
        public List<Expression> parts() {
            return arguments;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Coalesce(parts);
        }
    }

    /// `NULLIF(left, right)`.
    record NullIf(Operation equality, Expression left, Expression right) implements Expression {
        @Override
        public ValueType<?> type() {
            return left.type();
        }

        @Override
        public List<Expression> parts() {
            return List.of(left, right);
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new NullIf(equality, parts.getFirst(), parts.getLast());
        }
    }

    /// `GREATEST` and `LEAST`: of the arguments that are not NULL.
    record Extreme(Side side, List<Expression> arguments) implements Expression {
        public Extreme {
            arguments = List.copyOf(arguments);
        }

        @Override
        public ValueType<?> type() {
            return arguments.getFirst().type();
        }

        @Override
        public List<Expression> parts() {
            return arguments;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Extreme(side, parts);
        }
    }

    /// `MinMaxOp`, in its order.
    enum Side {
        GREATEST,
        LEAST
    }

    /// `ARRAY[...]` of one dimension.
    record ArrayOf(List<Expression> elements, ValueType<?> type) implements Expression {
        public ArrayOf {
            elements = List.copyOf(elements);
        }

        @Override
        public List<Expression> parts() {
            return elements;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new ArrayOf(parts, type);
        }
    }

    /// `array[i]` or `array[i][j]`: one element, NULL where there is none.
    record Element(Expression array, List<Expression> subscripts, ValueType<?> type) implements Expression {
        public Element {
            subscripts = List.copyOf(subscripts);
        }

        @Override
        public List<Expression> parts() {
            List<Expression> parts = new ArrayList<>(List.of(array));
            parts.addAll(subscripts);
            return parts;
        }

        @Override
        public Expression withParts(List<Expression> parts) {
            return new Element(parts.getFirst(), parts.subList(1, parts.size()), type);
        }
    }

    /// @param index of the fold whose answer is the value
    record Folded(int index, ValueType<?> type, FoldTiming timing) implements Expression {}

    /// PostgreSQL raised an error for this part, and would again for every row that reaches it.
    record Raised(ValueType<?> type, String sqlState) implements Expression {}

    /// A part that is not decided in process.
    ///
    /// @param reason what stands in the way, for a person, without values
    record Unsupported(String reason) implements Condition {}
}
