package sluice.core.authorization;

import java.util.List;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;

/// A plan that needs no answer from PostgreSQL.
record SettledPlan(Verdict verdict) implements RulePlan {
    @Override
    public List<Fold> folds() {
        return List.of();
    }

    @Override
    public Verdict complete(List<FoldAnswer> answers) {
        return verdict;
    }
}
