package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import sluice.core.function.BuiltIn;

/// CASE, COALESCE and strict calls as PostgreSQL's planner simplifies them where a part is constant: what it leaves
/// may be constant as a whole, and then is evaluated before any row is read.
final class Planned {
    private Planned() {}

    /// A strict function of a constant NULL is NULL, and its other arguments are never evaluated, unless they are
    /// constant themselves and raise.
    static Expression applied(Expression application) {
        boolean strict = application instanceof Expression.Comparison
                || (application instanceof Expression.Call call
                        && call.function().nulls() != BuiltIn.Nulls.CALLED);
        boolean ofNull = false;
        boolean droppable = true;
        for (Expression argument : application.parts()) {
            ofNull |= argument instanceof Expression.Constant(var type, var text) && text == null;
            droppable &= !isEvaluatedAnyway(argument);
        }
        return strict && ofNull && droppable ? new Expression.Constant(application.type(), null) : application;
    }

    private static boolean isEvaluatedAnyway(Expression argument) {
        for (Expression.Folded folded : Parts.folds(argument)) {
            if (folded.timing() != FoldTiming.WHEN_REACHED) {
                return true;
            }
        }
        return Parts.hasNoValue(argument) || Parts.raisesWhilePlanning(argument);
    }

    /// Without its constant NULLs, and nothing after a constant.
    static Expression coalesce(List<Expression> arguments) {
        List<Expression> kept = new ArrayList<>();
        for (Expression argument : arguments) {
            if (argument instanceof Expression.Constant(var type, var text)) {
                if (text != null) {
                    kept.add(argument);
                    break;
                }
            } else {
                kept.add(argument);
            }
        }
        if (kept.isEmpty()) {
            return arguments.getFirst();
        }
        return kept.size() == 1 ? kept.getFirst() : new Expression.Coalesce(kept);
    }

    /// Without conditions that never hold, and nothing after one that always does.
    ///
    /// @param results as many as conditions
    static Expression choice(List<Expression> conditions, List<Expression> results, Expression otherwise) {
        List<Expression> keptConditions = new ArrayList<>();
        List<Expression> keptResults = new ArrayList<>();
        Expression last = otherwise;
        for (int i = 0; i < conditions.size(); i++) {
            if (!(conditions.get(i) instanceof Expression.Constant condition)) {
                keptConditions.add(conditions.get(i));
                keptResults.add(results.get(i));
            } else if (condition.isTrue()) {
                last = results.get(i);
                break;
            }
        }
        return keptConditions.isEmpty() ? last : new Expression.Case(keptConditions, keptResults, last);
    }
}
