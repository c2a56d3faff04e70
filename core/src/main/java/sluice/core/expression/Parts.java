package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayType;
import sluice.core.datum.JsonTypes;
import sluice.core.datum.RangeType;
import sluice.core.datum.ValueType;
import sluice.core.function.BuiltIn;

/// What an expression is made of.
public final class Parts {
    private Parts() {}

    /// Attnums of the columns read, ascending, each once.
    public static List<Integer> columns(Expression expression) {
        List<Integer> attnums = new ArrayList<>();
        visit(expression, part -> {
            if (part instanceof Expression.ColumnValue(var attnum, var type) && !attnums.contains(attnum)) {
                attnums.add(attnum);
            }
        });
        attnums.sort(null);
        return attnums;
    }

    /// Whether the answer can change with the time alone.
    public static boolean readsClock(Expression expression) {
        boolean[] found = {false};
        visit(expression, part -> found[0] |= part instanceof Expression.Clock);
        return found[0];
    }

    /// The reason of the first unsupported part, null when everything is decided in process.
    public static @Nullable String unsupported(Expression expression) {
        List<String> reasons = new ArrayList<>();
        visit(expression, part -> {
            if (part instanceof Expression.Unsupported(var reason)) {
                reasons.add(reason);
            } else if (failsPlanning(part)) {
                reasons.add("PostgreSQL reads a pattern before any row, and this one is not read here");
            }
        });
        return reasons.isEmpty() ? null : reasons.getFirst();
    }

    /// Whether PostgreSQL may fail every query for a constant in it, though no row reaches it.
    static boolean mayFailPlanning(Expression expression) {
        boolean[] found = {false};
        visit(expression, part -> found[0] |= failsPlanning(part));
        return found[0];
    }

    private static boolean failsPlanning(Expression part) {
        if (part instanceof Expression.Call(var function, var site, var arguments)) {
            return function.body().mayFailPlanning(site, Operations.constants(arguments));
        }
        boolean fails = false;
        if (part instanceof Expression.Quantified(var operation, var quantifier, var scalar, var elements)
                && operation instanceof Expression.Operation.Applies(var function, var site)
                && elements instanceof Expression.Elements.Listed(var values)) {
            for (Expression value : values) {
                fails |= function.body().mayFailPlanning(site, Operations.constants(List.of(scalar, value)));
            }
        }
        return fails;
    }

    /// The parts that read the clock and no column, may raise, and may be passed over where the whole is TRUE.
    static List<Expression> clockPartsPassedOver(Expression expression) {
        List<Expression> found = new ArrayList<>();
        if (expression instanceof Expression.And(var arguments)) {
            // All are reached where it is TRUE.
            for (Expression argument : arguments) {
                found.addAll(clockPartsPassedOver(argument));
            }
        } else if (passesOver(expression)) {
            collectClockParts(expression, found);
        }
        return found;
    }

    private static void collectClockParts(Expression expression, List<Expression> found) {
        if (columns(expression).isEmpty() && !hasNoValue(expression)) {
            if (readsClock(expression) && mayRaise(expression)) {
                found.add(expression);
            }
            return;
        }
        for (Expression part : expression.parts()) {
            collectClockParts(part, found);
        }
    }

    /// Whether something in it does not evaluate all that it is made of.
    private static boolean passesOver(Expression expression) {
        boolean[] found = {false};
        visit(
                expression,
                part -> found[0] |= part instanceof Expression.And
                        || part instanceof Expression.Or
                        || part instanceof Expression.Case
                        || part instanceof Expression.Coalesce
                        || part instanceof Expression.RowComparison
                        || part instanceof Expression.Quantified
                        || part instanceof Expression.Element);
        return found[0];
    }

    static List<Expression.Folded> folds(Expression expression) {
        List<Expression.Folded> folds = new ArrayList<>();
        visit(expression, part -> {
            if (part instanceof Expression.Folded folded) {
                folds.add(folded);
            }
        });
        return folds;
    }

    /// Whether it has one value whoever asks and whenever, or always raises.
    static boolean isConstant(Expression expression) {
        return columns(expression).isEmpty()
                && folds(expression).isEmpty()
                && !readsClock(expression)
                && !hasNoValue(expression);
    }

    /// The parts that read no row, may raise by themselves, and may be evaluated before a row is read.
    static List<Expression> rowFreeThatMayRaise(Expression expression) {
        List<Expression> found = new ArrayList<>();
        visit(expression, part -> {
            if (raises(part) && evaluatedBeforeRows(part)) {
                found.add(part);
            }
        });
        return found;
    }

    private static boolean evaluatedBeforeRows(Expression part) {
        boolean before = columns(part).isEmpty() && !readsClock(part) && !hasNoValue(part);
        for (Expression.Folded folded : folds(part)) {
            before &= folded.timing() != FoldTiming.WHEN_REACHED;
        }
        return before;
    }

    /// Whether a part of it is constant and raises.
    static boolean raisesWhilePlanning(Expression expression) {
        for (Expression part : rowFreeThatMayRaise(expression)) {
            if (isConstant(part) && Answers.settled(part) instanceof Expression.Raised) {
                return true;
            }
        }
        return false;
    }

    /// Whether a part of it is an error or is not decided here.
    static boolean hasNoValue(Expression expression) {
        boolean[] found = {false};
        visit(
                expression,
                part -> found[0] |= part instanceof Expression.Raised || part instanceof Expression.Unsupported);
        return found[0];
    }

    /// Whether evaluating it may raise, or cannot be done here, so that it must not be passed over.
    static boolean mayRaise(Expression expression) {
        boolean[] found = {false};
        visit(expression, part -> found[0] |= raises(part));
        return found[0];
    }

    /// Whether a row that carries every column read is always decided here, or raises as it does in PostgreSQL. In
    /// doubt it is not.
    public static boolean answersEveryRow(Expression expression) {
        boolean[] open = {false};
        visit(expression, part -> open[0] |= raises(part) || isWide(part.type()));
        return !open[0];
    }

    /// Types with values that are not read, or not put in order, here.
    private static boolean isWide(ValueType<?> type) {
        ValueType<?> scalar = type instanceof ArrayType array ? array.element() : type;
        return scalar instanceof RangeType || scalar.equals(JsonTypes.JSON) || scalar.equals(JsonTypes.JSONB);
    }

    /// Whether the expression itself, its parts aside, may raise.
    static boolean raises(Expression expression) {
        return switch (expression) {
            case Expression.Raised ignored -> true;
            case Expression.Unsupported ignored -> true;
            case Expression.Call call -> call.function().errors() == BuiltIn.Errors.POSSIBLE;
            case Expression.TextCast cast -> !cast.prints();
            case Expression.Quantified(var operation, var quantifier, var scalar, var elements) -> raises(operation);
            case Expression.Distinct(var equality, var left, var right) -> raises(equality);
            case Expression.NullIf(var equality, var left, var right) -> raises(equality);
            case Expression.Constant ignored -> false;
            case Expression.ColumnValue ignored -> false;
            case Expression.Clock ignored -> false;
            case Expression.And ignored -> false;
            case Expression.Or ignored -> false;
            case Expression.Not ignored -> false;
            case Expression.NullTest ignored -> false;
            case Expression.TruthTest ignored -> false;
            case Expression.Comparison ignored -> false;
            case Expression.RowComparison ignored -> false;
            case Expression.Recast ignored -> false;
            case Expression.Case ignored -> false;
            case Expression.Coalesce ignored -> false;
            case Expression.Extreme ignored -> false;
            case Expression.ArrayOf ignored -> false;
            case Expression.Element ignored -> false;
            case Expression.Folded ignored -> false;
        };
    }

    /// Whether a text is read as another type in it.
    static boolean readsText(Expression expression) {
        boolean[] found = {false};
        visit(expression, part -> found[0] |= part instanceof Expression.TextCast cast && !cast.prints());
        return found[0];
    }

    private static boolean raises(Expression.Operation operation) {
        return operation instanceof Expression.Operation.Applies(var function, var site)
                && function.errors() == BuiltIn.Errors.POSSIBLE;
    }

    private static void visit(Expression expression, Consumer<Expression> visitor) {
        visitor.accept(expression);
        for (Expression part : expression.parts()) {
            visit(part, visitor);
        }
    }
}
