package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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

    /// The reason of the first unsupported part, null when everything is decided in process.
    public static @Nullable String unsupported(Expression expression) {
        List<String> reasons = new ArrayList<>();
        visit(expression, part -> {
            if (part instanceof Expression.Unsupported(var reason)) {
                reasons.add(reason);
            }
        });
        return reasons.isEmpty() ? null : reasons.getFirst();
    }

    static List<Expression.Folded> folds(Expression expression) {
        List<Expression.Folded> folds = new ArrayList<>();
        visit(expression, part -> {
            if (part instanceof Expression.Folded folded) {
                folds.add(folded);
            } else if (part instanceof Expression.Quantified quantified
                    && quantified.elements() instanceof Expression.Elements.FoldedArray(var i, var type, var timing)) {
                folds.add(new Expression.Folded(i, type, timing));
            }
        });
        return folds;
    }

    /// Whether evaluating it may raise, or cannot be done here, so that it must not be passed over.
    static boolean mayRaise(Expression expression) {
        boolean[] found = {false};
        visit(
                expression,
                part -> found[0] |= part instanceof Expression.Raised || part instanceof Expression.Unsupported);
        return found[0];
    }

    private static void visit(Expression expression, Consumer<Expression> visitor) {
        visitor.accept(expression);
        switch (expression) {
            case Expression.And(var arguments) -> visitAll(arguments, visitor);
            case Expression.Or(var arguments) -> visitAll(arguments, visitor);
            case Expression.Not(var argument) -> visit(argument, visitor);
            case Expression.NullTest(var argument, var sense) -> visit(argument, visitor);
            case Expression.TruthTest(var argument, var sense) -> visit(argument, visitor);
            case Expression.Comparison(var kind, var left, var right) -> visitAll(List.of(left, right), visitor);
            case Expression.Distinct(var left, var right) -> visitAll(List.of(left, right), visitor);
            case Expression.Quantified(var kind, var quantifier, var scalar, var elements) -> {
                visit(scalar, visitor);
                if (elements instanceof Expression.Elements.Listed(var values)) {
                    visitAll(values, visitor);
                }
            }
            case Expression.Constant ignored -> {}
            case Expression.ColumnValue ignored -> {}
            case Expression.Folded ignored -> {}
            case Expression.Raised ignored -> {}
            case Expression.Unsupported ignored -> {}
        }
    }

    private static void visitAll(List<Expression> expressions, Consumer<Expression> visitor) {
        for (Expression expression : expressions) {
            visit(expression, visitor);
        }
    }
}
