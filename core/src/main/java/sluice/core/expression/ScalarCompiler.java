package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.function.BuiltIn;
import sluice.core.pgoutput.Tuple;

/// Turns an {@link Expression} of any type into a {@link Scalar}, under the same rules as {@link Compiler}.
final class ScalarCompiler {
    private ScalarCompiler() {}

    /// @throws IllegalStateException when a part waits for an answer or is unsupported
    static Scalar compile(Expression expression) {
        return switch (expression) {
            case Expression.Constant(var type, var text) -> {
                Object value = text == null ? null : type.parse(text);
                yield row -> value;
            }
            case Expression.ColumnValue(var attnum, var type) -> column(attnum, type);
            case Expression.Clock(var type) -> row -> type.parse(ClockText.of(type, row.at()));
            case Expression.Call call -> call(call);
            case Expression.Recast(var argument, var type) -> compile(argument);
            case Expression.TextCast cast -> textCast(cast);
            case Expression.Case choice -> choice(choice);
            case Expression.Coalesce(var arguments) -> coalesce(arguments);
            case Expression.NullIf nullIf -> nullIf(nullIf);
            case Expression.Extreme(var side, var arguments) -> extreme(side, arguments);
            case Expression.ArrayOf(var elements, var type) -> array(compileAll(elements));
            case Expression.Element element -> element(element);
            case Expression.Raised(var type, var sqlState) ->
                row -> {
                    throw new EvaluationException(sqlState);
                };
            case Expression.Folded folded -> throw Compiler.notReady(folded);
            case Expression.And and -> condition(and);
            case Expression.Or or -> condition(or);
            case Expression.Not not -> condition(not);
            case Expression.NullTest test -> condition(test);
            case Expression.TruthTest test -> condition(test);
            case Expression.Comparison comparison -> condition(comparison);
            case Expression.RowComparison comparison -> condition(comparison);
            case Expression.Distinct distinct -> condition(distinct);
            case Expression.Quantified quantified -> condition(quantified);
            case Expression.Unsupported unsupported -> condition(unsupported);
        };
    }

    static Scalar[] compileAll(List<Expression> expressions) {
        Scalar[] compiled = new Scalar[expressions.size()];
        for (int i = 0; i < compiled.length; i++) {
            compiled[i] = compile(expressions.get(i));
        }
        return compiled;
    }

    private static Scalar condition(Expression.Condition condition) {
        Predicate predicate = Compiler.predicate(condition);
        return row -> switch (predicate.test(row)) {
            case TRUE -> true;
            case FALSE -> false;
            case NULL -> null;
            case UNDECIDABLE -> Scalar.UNKNOWN;
        };
    }

    private static Scalar column(int attnum, ValueType<?> type) {
        return row -> switch (row.kind(attnum)) {
            case NULL -> null;
            case UNCHANGED, NOT_SENT -> Scalar.UNKNOWN;
            case TEXT -> {
                Tuple tuple = row.tuple();
                yield type.parse(tuple.text(row.mapping().position(attnum)));
            }
        };
    }

    private static Scalar call(Expression.Call call) {
        BuiltIn function = call.function();
        BuiltIn.CallSite site = call.site();
        Scalar[] arguments = compileAll(call.arguments());
        BuiltIn.Body body = function.body().prepared(site, Operations.constants(call.arguments()));
        boolean strict = function.nulls() == BuiltIn.Nulls.STRICT;
        boolean raises = function.errors() == BuiltIn.Errors.POSSIBLE;
        return row -> {
            @Nullable Object[] values = new Object[arguments.length];
            boolean anyNull = false;
            boolean anyUnknown = false;
            for (int i = 0; i < values.length; i++) {
                Object value = arguments[i].evaluate(row);
                values[i] = value;
                anyNull |= value == null;
                anyUnknown |= Scalar.isUnknown(value);
            }
            if (strict && anyNull) {
                return null;
            }
            if (anyUnknown) {
                return unknown(raises);
            }
            return body.apply(site, values);
        };
    }

    private static Object unknown(boolean raises) {
        if (raises) {
            throw new UndecidableException();
        }
        return Scalar.UNKNOWN;
    }

    private static Scalar textCast(Expression.TextCast cast) {
        ValueType<?> from = cast.argument().type();
        ValueType<?> to = cast.type();
        Scalar argument = compile(cast.argument());
        boolean prints = cast.prints();
        return row -> {
            Object value = argument.evaluate(row);
            if (value == null) {
                return null;
            }
            if (Scalar.isUnknown(value)) {
                return unknown(!prints);
            }
            return prints ? from.text(value) : to.input(from.text(value));
        };
    }

    private static Scalar choice(Expression.Case choice) {
        int count = choice.conditions().size();
        Predicate[] conditions = new Predicate[count];
        Scalar[] results = compileAll(choice.results());
        boolean[] raises = new boolean[count];
        Scalar otherwise = compile(choice.otherwise());
        boolean raisesLater = Parts.mayRaise(choice.otherwise());
        for (int i = count - 1; i >= 0; i--) {
            conditions[i] = Compiler.predicate(choice.conditions().get(i));
            raisesLater |= Parts.mayRaise(choice.results().get(i));
            // What is reached after a condition that is not known.
            raises[i] = raisesLater;
            raisesLater |= Parts.mayRaise(choice.conditions().get(i));
        }
        return row -> {
            for (int i = 0; i < count; i++) {
                switch (conditions[i].test(row)) {
                    case TRUE -> {
                        return results[i].evaluate(row);
                    }
                    case UNDECIDABLE -> {
                        return unknown(raises[i]);
                    }
                    case FALSE, NULL -> {
                        // the next one
                    }
                }
            }
            return otherwise.evaluate(row);
        };
    }

    private static Scalar coalesce(List<Expression> arguments) {
        Scalar[] values = compileAll(arguments);
        boolean[] raises = new boolean[values.length];
        for (int i = values.length - 2; i >= 0; i--) {
            raises[i] = raises[i + 1] || Parts.mayRaise(arguments.get(i + 1));
        }
        return row -> {
            for (int i = 0; i < values.length; i++) {
                Object value = values[i].evaluate(row);
                if (Scalar.isUnknown(value)) {
                    return unknown(raises[i]);
                }
                if (value != null) {
                    return value;
                }
            }
            return null;
        };
    }

    private static Scalar nullIf(Expression.NullIf nullIf) {
        Scalar left = compile(nullIf.left());
        Scalar right = compile(nullIf.right());
        Operations.Test equal = Operations.test(nullIf.equality(), nullIf.left().type());
        boolean raises = Parts.raises(nullIf);
        return row -> {
            Object first = left.evaluate(row);
            Object second = right.evaluate(row);
            if (first == null || second == null) {
                return first;
            }
            if (Scalar.isUnknown(first) || Scalar.isUnknown(second)) {
                return unknown(raises);
            }
            return switch (equal.test(first, second)) {
                case TRUE -> null;
                case FALSE, NULL -> first;
                case UNDECIDABLE -> Scalar.UNKNOWN;
            };
        };
    }

    private static Scalar extreme(Expression.Side side, List<Expression> arguments) {
        Scalar[] values = compileAll(arguments);
        ValueType<?> type = arguments.getFirst().type();
        int sign = side == Expression.Side.GREATEST ? 1 : -1;
        return row -> {
            Object best = null;
            boolean unknown = false;
            for (Scalar argument : values) {
                Object value = argument.evaluate(row);
                if (Scalar.isUnknown(value)) {
                    unknown = true;
                } else if (value != null && (best == null || sign * Integer.signum(type.order(value, best)) > 0)) {
                    best = value;
                }
            }
            return unknown ? Scalar.UNKNOWN : best;
        };
    }

    private static Scalar array(Scalar[] elements) {
        return row -> {
            List<@Nullable Object> values = new ArrayList<>();
            boolean unknown = false;
            for (Scalar element : elements) {
                Object value = element.evaluate(row);
                unknown |= Scalar.isUnknown(value);
                values.add(value);
            }
            return unknown ? Scalar.UNKNOWN : ArrayValue.of(values);
        };
    }

    private static Scalar element(Expression.Element element) {
        Scalar array = compile(element.array());
        Scalar[] subscripts = compileAll(element.subscripts());
        return row -> {
            Object container = array.evaluate(row);
            long[] indexes = new long[subscripts.length];
            boolean unknown = Scalar.isUnknown(container);
            // A NULL array is not asked for its subscripts.
            if (container == null) {
                return null;
            }
            boolean anyNull = false;
            // All are evaluated before one of them is looked at.
            for (int i = 0; i < subscripts.length; i++) {
                Object subscript = subscripts[i].evaluate(row);
                anyNull |= subscript == null;
                unknown |= Scalar.isUnknown(subscript);
                indexes[i] = subscript instanceof Long index ? index : 0;
            }
            if (anyNull) {
                return null;
            }
            return unknown ? Scalar.UNKNOWN : at((ArrayValue) container, indexes);
        };
    }

    private static @Nullable Object at(ArrayValue array, long[] indexes) {
        if (array.dimensions() != indexes.length) {
            return null;
        }
        int position = 0;
        for (int i = 0; i < indexes.length; i++) {
            long index = indexes[i] - array.lowerBounds().get(i);
            if (index < 0 || index >= array.lengths().get(i)) {
                return null;
            }
            position = (int) (position * array.lengths().get(i) + index);
        }
        return array.elements().get(position);
    }
}
