package sluice.core.authorization;

import java.util.List;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;

/// The composed rule of one table for one role before PostgreSQL was asked about the caller.
///
/// Life: `RlsResolver.plan` makes it from the catalog alone; the engine has its folds answered; `complete` gives the
/// verdict. A plan is immutable and may be completed for any number of callers.
public interface RulePlan {
    /// What PostgreSQL must say first; may be empty. Answers come back in the same order.
    List<Fold> folds();

    Verdict complete(List<FoldAnswer> answers);

    /// What comes of a plan.
    sealed interface Verdict {
        record Granted(Rule rule) implements Verdict {}

        record Refused(ErrorCode code, String message) implements Verdict {}
    }
}
