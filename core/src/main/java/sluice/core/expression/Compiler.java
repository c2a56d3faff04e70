package sluice.core.expression;

import java.util.Arrays;
import java.util.List;
import sluice.core.expression.Expression.Elements;
import sluice.core.expression.Expression.Quantifier;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;

/// Turns an {@link Expression} without open folds and unsupported parts into a {@link Predicate}.
///
/// The closures answer with SQL's three-valued logic widened by UNDECIDABLE: a value the log did not carry makes
/// undecidable whatever PostgreSQL would have needed it for, and nothing else. AND and OR stop where PostgreSQL's
/// executor stops, so an error in a part that is not reached is not raised. Deciding a row allocates nothing.
///
/// A function that can raise and is added here must also raise, or answer UNDECIDABLE to everything above it, where
/// its argument is not known: PostgreSQL, which knows the argument, might have raised.
public final class Compiler {
    private Compiler() {}

    /// @throws IllegalStateException when a part waits for an answer or is unsupported
    public static Predicate compile(Expression expression) {
        return switch (expression) {
            case Expression.Constant constant -> constantTruth(constant);
            case Expression.ColumnValue(var attnum, var type) -> {
                require(type == ValueType.BOOL, expression);
                yield row -> Columns.truth(row, attnum);
            }
            case Expression.And(var arguments) -> and(compileAll(arguments));
            case Expression.Or(var arguments) -> or(compileAll(arguments));
            case Expression.Not(var argument) -> not(compile(argument));
            case Expression.NullTest(var argument, var sense) -> nullTest(argument, sense);
            case Expression.TruthTest(var argument, var sense) -> truthTest(compile(argument), sense);
            case Expression.Comparison(var kind, var left, var right) -> comparison(kind, left, right);
            case Expression.Distinct(var left, var right) -> distinct(left, right);
            case Expression.Quantified quantified -> quantified(quantified);
            case Expression.Raised(var type, var sqlState) ->
                row -> {
                    throw new EvaluationException(sqlState);
                };
            case Expression.Folded folded -> throw notReady(folded);
            case Expression.Unsupported unsupported -> throw notReady(unsupported);
        };
    }

    private static Predicate constantTruth(Expression.Constant constant) {
        require(constant.type() == ValueType.BOOL, constant);
        Truth truth = constant.text() == null ? Truth.NULL : Truth.of(constant.isTrue());
        return row -> truth;
    }

    private static Predicate[] compileAll(List<Expression> expressions) {
        Predicate[] compiled = new Predicate[expressions.size()];
        for (int i = 0; i < compiled.length; i++) {
            compiled[i] = compile(expressions.get(i));
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
        if (argument.type() == ValueType.BOOL && !(argument instanceof Expression.ColumnValue)) {
            Predicate tested = compile(argument);
            return row -> switch (tested.test(row)) {
                case NULL -> whenNull;
                case TRUE, FALSE -> whenNull.not();
                case UNDECIDABLE -> Truth.UNDECIDABLE;
            };
        }
        if (argument instanceof Expression.ColumnValue(var attnum, var type)) {
            return row -> nullTest(row.kind(attnum), whenNull);
        }
        Operand operand = operand(argument);
        return row -> nullTest(operand.kind(row), whenNull);
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
        if (left.type() == ValueType.BOOL) {
            return truthComparison(kind, compile(left), compile(right));
        }
        return comparison(kind, operand(left), operand(right));
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

    private static Predicate distinct(Expression left, Expression right) {
        if (left.type() == ValueType.BOOL) {
            Predicate a = compile(left);
            Predicate b = compile(right);
            return row -> {
                Truth first = a.test(row);
                Truth second = b.test(row);
                return first == Truth.UNDECIDABLE || second == Truth.UNDECIDABLE
                        ? Truth.UNDECIDABLE
                        : Truth.of(first != second);
            };
        }
        Operand a = operand(left);
        Operand b = operand(right);
        return row -> {
            Tuple.Kind first = a.kind(row);
            Tuple.Kind second = b.kind(row);
            if (unknown(first) || unknown(second)) {
                return Truth.UNDECIDABLE;
            }
            if (first == Tuple.Kind.NULL || second == Tuple.Kind.NULL) {
                return Truth.of(first != second);
            }
            return Truth.of(order(a, b, row) != 0);
        };
    }

    private static boolean unknown(Tuple.Kind kind) {
        return kind == Tuple.Kind.UNCHANGED || kind == Tuple.Kind.NOT_SENT;
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
                Predicate[] comparisons = new Predicate[values.size()];
                for (int i = 0; i < comparisons.length; i++) {
                    comparisons[i] = comparison(quantified.kind(), quantified.scalar(), values.get(i));
                }
                yield quantified.quantifier() == Quantifier.ANY ? or(comparisons) : and(comparisons);
            }
            case Elements.FoldedArray ignored -> throw notReady(quantified);
        };
    }

    private static Operand operand(Expression expression) {
        ValueType type = expression.type();
        boolean integer = switch (type.representation()) {
            case INTEGER -> true;
            case BYTES -> false;
            case TRUTH -> throw notReady(expression);
        };
        return switch (expression) {
            case Expression.Constant(var constantType, var text) ->
                integer ? Constants.IntegerConstant.of(text) : Constants.BytesConstant.of(text);
            case Expression.ColumnValue(var attnum, var columnType) ->
                integer ? new Columns.IntegerColumn(attnum) : new Columns.BytesColumn(attnum);
            case Expression.Raised(var raisedType, var sqlState) ->
                integer ? new Constants.RaisingInteger(sqlState) : new Constants.RaisingBytes(sqlState);
            case Expression.And ignored -> throw notReady(expression);
            case Expression.Or ignored -> throw notReady(expression);
            case Expression.Not ignored -> throw notReady(expression);
            case Expression.NullTest ignored -> throw notReady(expression);
            case Expression.TruthTest ignored -> throw notReady(expression);
            case Expression.Comparison ignored -> throw notReady(expression);
            case Expression.Distinct ignored -> throw notReady(expression);
            case Expression.Quantified ignored -> throw notReady(expression);
            case Expression.Folded ignored -> throw notReady(expression);
            case Expression.Unsupported ignored -> throw notReady(expression);
        };
    }

    private static void require(boolean holds, Expression expression) {
        if (!holds) {
            throw notReady(expression);
        }
    }

    private static IllegalStateException notReady(Expression expression) {
        // The expression itself may hold a caller's claims.
        return new IllegalStateException(
                "cannot compile " + expression.getClass().getSimpleName());
    }
}
