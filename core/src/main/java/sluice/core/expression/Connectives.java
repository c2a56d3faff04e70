package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;

/// AND and OR as PostgreSQL's planner simplifies them before anything is evaluated.
///
/// A literal that decides makes the others go away, whatever they call and wherever they stand. Only an immutable
/// part left of it was already evaluated by then, so it stays for the error it may have raised.
public final class Connectives {
    private Connectives() {}

    public static Expression and(List<Expression> arguments) {
        List<Expression> kept = planned(arguments, Expression.Constant.FALSE);
        return kept.size() == 1 ? kept.getFirst() : new Expression.And(kept);
    }

    public static Expression or(List<Expression> arguments) {
        List<Expression> kept = planned(arguments, Expression.Constant.TRUE);
        return kept.size() == 1 ? kept.getFirst() : new Expression.Or(kept);
    }

    private static List<Expression> planned(List<Expression> arguments, Expression.Constant decider) {
        int decided = arguments.indexOf(decider);
        if (decided < 0) {
            return arguments;
        }
        List<Expression> kept = new ArrayList<>();
        for (Expression earlier : arguments.subList(0, decided)) {
            if (evaluatedWhilePlanning(earlier)) {
                kept.add(earlier);
            }
        }
        kept.add(decider);
        return kept;
    }

    private static boolean evaluatedWhilePlanning(Expression expression) {
        for (Expression.Folded folded : Parts.folds(expression)) {
            if (folded.timing() == FoldTiming.WHILE_PLANNING) {
                return true;
            }
        }
        return Parts.raisesWhilePlanning(expression);
    }
}
