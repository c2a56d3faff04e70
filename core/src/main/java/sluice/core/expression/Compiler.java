package sluice.core.expression;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.expression.Expression.Elements;
import sluice.core.expression.Expression.Quantifier;
import sluice.core.function.ComparisonKind;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;

/// Turns an {@link Expression} without open folds and unsupported parts into a {@link Predicate}.
///
/// The closures answer with SQL's three-valued logic widened by UNDECIDABLE: a value the log did not carry makes
/// undecidable whatever PostgreSQL would have needed it for, and nothing else. AND and OR stop where PostgreSQL's
/// executor stops, so an error in a part that is not reached is not raised. Comparing a column of a simple type
/// with a constant allocates nothing; neither do some conditions on values of other types in their usual form.
///
/// A function that can raise and whose argument is not known stops the evaluation with an
/// {@link UndecidableException}: PostgreSQL, which knows the argument, might have raised.
public final class Compiler {
    private Compiler() {}

    /// @throws IllegalStateException when a part waits for an answer or is unsupported
    public static Predicate compile(Expression expression) {
        Predicate predicate = predicate(expression);
        // PostgreSQL evaluates what does not depend on the row while it plans, reached or not.
        Scalar[] planned = ScalarCompiler.compileAll(Parts.clockPartsPassedOver(expression));
        return row -> {
            try {
                Truth truth = predicate.test(row);
                return truth == Truth.TRUE ? unlessPlanningRaises(truth, planned, row) : truth;
            } catch (UndecidableException _) {
                return Truth.UNDECIDABLE;
            }
        };
    }

    private static Truth unlessPlanningRaises(Truth truth, Scalar[] planned, RowImage row) {
        Truth known = truth;
        for (Scalar part : planned) {
            if (Scalar.isUnknown(part.evaluate(row))) {
                known = Truth.UNDECIDABLE;
            }
        }
        return known;
    }

    static Predicate predicate(Expression expression) {
        return switch (expression) {
            case Expression.Constant constant -> constantTruth(constant);
            case Expression.ColumnValue(var attnum, var type) -> {
                require(type.equals(ValueTypes.BOOL), expression);
                yield row -> Columns.truth(row, attnum);
            }
            case Expression.And(var arguments) -> and(compileAll(arguments));
            case Expression.Or(var arguments) -> or(compileAll(arguments));
            case Expression.Not(var argument) -> not(predicate(argument));
            case Expression.NullTest(var argument, var sense) -> nullTest(argument, sense);
            case Expression.TruthTest(var argument, var sense) -> truthTest(predicate(argument), sense);
            case Expression.Comparison comparison ->
                InPlace.comparison(comparison, comparison(comparison.kind(), comparison.left(), comparison.right()));
            case Expression.RowComparison rows -> RowComparisons.compile(rows);
            case Expression.Distinct(var equality, var left, var right) -> distinct(equality, left, right);
            case Expression.Quantified quantified -> InPlace.quantified(quantified, quantified(quantified));
            case Expression.Raised(var type, var sqlState) ->
                row -> {
                    throw new EvaluationException(sqlState);
                };
            case Expression.Folded folded -> throw notReady(folded);
            case Expression.Unsupported unsupported -> throw notReady(unsupported);
            case Expression.Clock clock -> valueTruth(clock);
            case Expression.Call call -> InPlace.call(call, valueTruth(call));
            case Expression.Recast recast -> valueTruth(recast);
            case Expression.TextCast cast -> valueTruth(cast);
            case Expression.Case choice -> valueTruth(choice);
            case Expression.Coalesce coalesce -> valueTruth(coalesce);
            case Expression.NullIf nullIf -> valueTruth(nullIf);
            case Expression.Extreme extreme -> valueTruth(extreme);
            case Expression.ArrayOf array -> valueTruth(array);
            case Expression.Element element -> valueTruth(element);
        };
    }

    private static Predicate constantTruth(Expression.Constant constant) {
        require(constant.type().equals(ValueTypes.BOOL), constant);
        Truth truth = constant.text() == null ? Truth.NULL : Truth.of(constant.isTrue());
        return row -> truth;
    }

    /// An expression that is evaluated as a value and happens to be a truth value.
    private static Predicate valueTruth(Expression expression) {
        require(expression.type().equals(ValueTypes.BOOL), expression);
        Scalar value = ScalarCompiler.compile(expression);
        return row -> truth(value.evaluate(row));
    }

    static Truth truth(@Nullable Object value) {
        if (value == null) {
            return Truth.NULL;
        }
        return Scalar.isUnknown(value) ? Truth.UNDECIDABLE : Truth.of((Boolean) value);
    }

    private static Predicate[] compileAll(List<Expression> expressions) {
        Predicate[] compiled = new Predicate[expressions.size()];
        for (int i = 0; i < compiled.length; i++) {
            compiled[i] = predicate(expressions.get(i));
        }
        return compiled;
    }

    private static Predicate and(Predicate[] arguments) {
        return row -> {
            Truth all = Truth.TRUE;
            for (Predicate argument : arguments) {
                all = all.and(argument.test(row));
                if (all == Truth.FALSE) {
                    return all;
                }
            }
            return all;
        };
    }

    private static Predicate or(Predicate[] arguments) {
        return row -> {
            Truth any = Truth.FALSE;
            for (Predicate argument : arguments) {
                any = any.or(argument.test(row));
                if (any == Truth.TRUE) {
                    return any;
                }
            }
            return any;
        };
    }

    private static Predicate not(Predicate argument) {
        return row -> argument.test(row).not();
    }

    private static Predicate nullTest(Expression argument, Expression.NullSense sense) {
        Truth whenNull = Truth.of(sense == Expression.NullSense.IS_NULL);
        if (argument instanceof Expression.ColumnValue(var attnum, var type)) {
            return row -> nullTest(row.kind(attnum), whenNull);
        }
        Scalar tested = ScalarCompiler.compile(argument);
        return row -> {
            Object value = tested.evaluate(row);
            if (Scalar.isUnknown(value)) {
                return Truth.UNDECIDABLE;
            }
            return value == null ? whenNull : whenNull.not();
        };
    }

    private static Truth nullTest(Tuple.Kind kind, Truth whenNull) {
        return switch (kind) {
            case NULL -> whenNull;
            case TEXT -> whenNull.not();
            case UNCHANGED, NOT_SENT -> Truth.UNDECIDABLE;
        };
    }

    private static Predicate truthTest(Predicate argument, Expression.TruthSense sense) {
        Truth wanted = switch (sense) {
            case IS_TRUE, IS_NOT_TRUE -> Truth.TRUE;
            case IS_FALSE, IS_NOT_FALSE -> Truth.FALSE;
            case IS_UNKNOWN, IS_NOT_UNKNOWN -> Truth.NULL;
        };
        Truth whenWanted = switch (sense) {
            case IS_TRUE, IS_FALSE, IS_UNKNOWN -> Truth.TRUE;
            case IS_NOT_TRUE, IS_NOT_FALSE, IS_NOT_UNKNOWN -> Truth.FALSE;
        };
        return row -> {
            Truth tested = argument.test(row);
            if (tested == Truth.UNDECIDABLE) {
                return Truth.UNDECIDABLE;
            }
            return tested == wanted ? whenWanted : whenWanted.not();
        };
    }

    private static Predicate comparison(ComparisonKind kind, Expression left, Expression right) {
        if (left.type().equals(ValueTypes.BOOL)) {
            return truthComparison(kind, predicate(left), predicate(right));
        }
        Operand a = Operands.of(left);
        Operand b = Operands.of(right);
        if (a != null && b != null) {
            return comparison(kind, a, b);
        }
        return comparison(kind, left.type(), ScalarCompiler.compile(left), ScalarCompiler.compile(right));
    }

    private static Predicate comparison(ComparisonKind kind, ValueType<?> type, Scalar left, Scalar right) {
        return row -> {
            Object a = left.evaluate(row);
            Object b = right.evaluate(row);
            if (a == null || b == null) {
                return Truth.NULL;
            }
            if (Scalar.isUnknown(a) || Scalar.isUnknown(b)) {
                return Truth.UNDECIDABLE;
            }
            return Truth.of(kind.holds(type.order(a, b)));
        };
    }

    private static Predicate truthComparison(ComparisonKind kind, Predicate left, Predicate right) {
        return row -> {
            Truth a = left.test(row);
            Truth b = right.test(row);
            if (a == Truth.NULL || b == Truth.NULL) {
                return Truth.NULL;
            }
            if (a == Truth.UNDECIDABLE || b == Truth.UNDECIDABLE) {
                return Truth.UNDECIDABLE;
            }
            // false sorts before true
            return Truth.of(kind.holds(Boolean.compare(a == Truth.TRUE, b == Truth.TRUE)));
        };
    }

    private static Predicate comparison(ComparisonKind kind, Operand left, Operand right) {
        return row -> {
            Truth known = knownWithoutValues(left.kind(row), right.kind(row));
            return known != Truth.TRUE ? known : Truth.of(kind.holds(order(left, right, row)));
        };
    }

    /// What a strict comparison answers before it looks at the values: NULL or UNDECIDABLE, or TRUE to go on.
    private static Truth knownWithoutValues(Tuple.Kind left, Tuple.Kind right) {
        if (left == Tuple.Kind.NULL || right == Tuple.Kind.NULL) {
            return Truth.NULL;
        }
        return left == Tuple.Kind.TEXT && right == Tuple.Kind.TEXT ? Truth.TRUE : Truth.UNDECIDABLE;
    }

    private static int order(Operand left, Operand right, RowImage row) {
        return switch (left) {
            case Operand.OfInteger a -> Long.compare(a.value(row), ((Operand.OfInteger) right).value(row));
            case Operand.OfBytes a -> {
                Operand.OfBytes b = (Operand.OfBytes) right;
                int aFrom = a.offset(row);
                int bFrom = b.offset(row);
                yield Arrays.compareUnsigned(
                        a.bytes(row), aFrom, aFrom + a.length(row), b.bytes(row), bFrom, bFrom + b.length(row));
            }
        };
    }

    private static Predicate distinct(Expression.Operation equality, Expression left, Expression right) {
        Scalar a = ScalarCompiler.compile(left);
        Scalar b = ScalarCompiler.compile(right);
        Operations.Test equal = Operations.test(equality, left.type());
        boolean raises = Parts.raises(new Expression.Distinct(equality, left, right));
        return row -> {
            Object first = a.evaluate(row);
            Object second = b.evaluate(row);
            if (Scalar.isUnknown(first) || Scalar.isUnknown(second)) {
                return unknown(raises);
            }
            if (first == null || second == null) {
                return Truth.of(first != null || second != null);
            }
            return equal.test(first, second).not();
        };
    }

    private static Predicate quantified(Expression.Quantified quantified) {
        return switch (quantified.elements()) {
            case Elements.NullArray() -> {
                // Still evaluated, for the error it may raise.
                Predicate scalar = nullTest(quantified.scalar(), Expression.NullSense.IS_NULL);
                yield row -> {
                    Truth ignored = scalar.test(row);
                    return Truth.NULL;
                };
            }
            case Elements.Listed(var values) -> {
                if (quantified.operation() instanceof Expression.Operation.Compares(var kind)
                        && !Parts.mayRaise(quantified)) {
                    Predicate[] comparisons = new Predicate[values.size()];
                    for (int i = 0; i < comparisons.length; i++) {
                        comparisons[i] = comparison(kind, quantified.scalar(), values.get(i));
                    }
                    yield quantified.quantifier() == Quantifier.ANY ? or(comparisons) : and(comparisons);
                }
                yield listed(quantified, values);
            }
            case Elements.Computed(var array) -> computed(quantified, array);
        };
    }

    /// Everything is evaluated before anything is compared.
    private static Predicate listed(Expression.Quantified quantified, List<Expression> values) {
        Scalar scalar = ScalarCompiler.compile(quantified.scalar());
        Scalar[] elements = ScalarCompiler.compileAll(values);
        Operations.Test test =
                Operations.test(quantified.operation(), quantified.scalar().type());
        boolean raises = Parts.raises(quantified);
        return row -> {
            Object compared = scalar.evaluate(row);
            @Nullable Object[] evaluated = new Object[elements.length];
            for (int i = 0; i < elements.length; i++) {
                evaluated[i] = elements[i].evaluate(row);
            }
            return quantify(quantified.quantifier(), test, compared, Arrays.asList(evaluated), raises);
        };
    }

    private static Predicate computed(Expression.Quantified quantified, Expression array) {
        Scalar scalar = ScalarCompiler.compile(quantified.scalar());
        Scalar elements = ScalarCompiler.compile(array);
        Operations.Test test =
                Operations.test(quantified.operation(), quantified.scalar().type());
        boolean raises = Parts.raises(quantified);
        return row -> {
            Object compared = scalar.evaluate(row);
            Object value = elements.evaluate(row);
            if (value == null) {
                return Truth.NULL;
            }
            if (Scalar.isUnknown(value)) {
                return unknown(raises);
            }
            return quantify(quantified.quantifier(), test, compared, ((ArrayValue) value).elements(), raises);
        };
    }

    /// @param raises whether a comparison may raise, so that nothing after an unknown one is reached for sure
    private static Truth quantify(
            Quantifier quantifier,
            Operations.Test test,
            @Nullable Object scalar,
            List<@Nullable Object> elements,
            boolean raises) {
        boolean any = quantifier == Quantifier.ANY;
        Truth decider = Truth.of(any);
        Truth answer = decider.not();
        for (Object element : elements) {
            Truth compared;
            if (scalar == null || element == null) {
                compared = Truth.NULL;
            } else if (Scalar.isUnknown(scalar) || Scalar.isUnknown(element)) {
                compared = unknown(raises);
            } else {
                compared = test.test(scalar, element);
            }
            answer = any ? answer.or(compared) : answer.and(compared);
            if (answer == decider) {
                return answer;
            }
        }
        return answer;
    }

    private static Truth unknown(boolean raises) {
        if (raises) {
            throw new UndecidableException();
        }
        return Truth.UNDECIDABLE;
    }

    private static void require(boolean holds, Expression expression) {
        if (!holds) {
            throw notReady(expression);
        }
    }

    static IllegalStateException notReady(Expression expression) {
        // The expression itself may hold a caller's claims.
        return new IllegalStateException(
                "cannot compile " + expression.getClass().getSimpleName());
    }
}
