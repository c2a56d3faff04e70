package sluice.core.authorization;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Answers;
import sluice.core.expression.Compiler;
import sluice.core.expression.Connectives;
import sluice.core.expression.Expression;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.Parts;

/// A rule made of policies, waiting for what PostgreSQL says of the caller.
///
/// @param composed what must be TRUE
/// @param fallback what is done when that cannot be evaluated in process
record PolicyPlan(Composed composed, Fallback fallback) implements RulePlan {
    /// @param required each must be TRUE for a row to be visible: the restrictive policies, then
    /// the OR of the others
    record Composed(String table, List<Expression> required, List<Fold> folds, PinnedColumns pinned) {
        Composed {
            required = List.copyOf(required);
            folds = List.copyOf(folds);
        }
    }

    /// @param question the policies for PostgreSQL to evaluate
    record Fallback(ProbePermission permission, Origin.Question question, Meaning.Wording wording) {}

    @Override
    public List<Fold> folds() {
        return composed.folds();
    }

    @Override
    public Verdict complete(List<FoldAnswer> answers) {
        if (answers.size() != composed.folds().size()) {
            throw new IllegalStateException(
                    answers.size() + " answers to " + composed.folds().size() + " folds");
        }
        Answers answered = new Answers(answers, composed.pinned().textByAttnum());
        List<Expression> open = new ArrayList<>();
        for (Expression required : composed.required()) {
            String raised = answered.raisedForEveryRow(required);
            if (raised != null) {
                return raised(raised);
            }
            Expression substituted = answered.substitute(required);
            if (substituted instanceof Expression.Raised(var type, var sqlState)) {
                return raised(sqlState);
            }
            if (!(substituted instanceof Expression.Constant constant)) {
                open.add(substituted);
            } else if (!constant.isTrue()) {
                return RlsResolver.refused(composed.table(), "the policies show this caller no row of");
            }
        }
        return granted(open, answers);
    }

    /// What is left to say before anybody asks.
    Forecast forecast() {
        return composed.folds().isEmpty()
                ? Forecast.of(complete(List.of()))
                : Forecast.of(Connectives.and(composed.required()));
    }

    private Verdict granted(List<Expression> open, List<FoldAnswer> answers) {
        if (open.isEmpty()) {
            return new Verdict.Granted(new Rule(
                    new Rule.Decision.Everything(),
                    "the policies hold for every row of this shape",
                    List.of(),
                    Rule.Lasting.UNTIL_THE_ROW_CHANGES,
                    origin(Origin.Reach.EVERY_ROW),
                    null,
                    Meaning.everything()));
        }
        Expression rule = Connectives.and(open);
        String obstacle = Parts.unsupported(rule);
        if (obstacle == null) {
            return new Verdict.Granted(new Rule(
                    new Rule.Decision.Compiled(Compiler.compile(rule)),
                    "the policies are evaluated in process on columns of the row",
                    Parts.columns(rule),
                    Parts.readsClock(rule) ? Rule.Lasting.FOR_A_TIME : Rule.Lasting.UNTIL_THE_ROW_CHANGES,
                    origin(Parts.answersEveryRow(rule) ? Origin.Reach.EVERY_ROW : Origin.Reach.MOST_ROWS),
                    Lease.of(rule),
                    new Meaning.Evaluated(open)));
        }
        Map<Fold, FoldAnswer> said = new LinkedHashMap<>();
        for (int i = 0; i < answers.size(); i++) {
            said.put(composed.folds().get(i), answers.get(i));
        }
        return origin(Origin.Reach.MOST_ROWS)
                .byQuery(composed.table(), obstacle, new Meaning.Asked(fallback.wording(), said));
    }

    private Origin origin(Origin.Reach reach) {
        return new Origin(fallback.question(), fallback.permission(), composed.pinned(), reach);
    }

    /// An error fails every query of this caller, so nothing is visible; one that may pass can be tried again.
    private Verdict raised(String sqlState) {
        if (TransientErrors.contain(sqlState)) {
            return new Verdict.Refused(
                    ErrorCode.CATALOG_UNAVAILABLE,
                    "the policies of table \"" + composed.table() + "\" could not be evaluated now (" + sqlState + ")");
        }
        return RlsResolver.refused(
                composed.table(), "the policies raise an error (SQLSTATE " + sqlState + ") for this caller on");
    }
}
