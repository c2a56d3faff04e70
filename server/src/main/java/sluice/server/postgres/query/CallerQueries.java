package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.Stamp;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.server.postgres.query.Pool.Lane;
import sluice.server.postgres.query.Rows.Row;

/// Evaluates the row-free parts of rules as the caller would.
///
/// As many parts in one SELECT as it takes; if that raises, each of these by itself, so that one that raises spoils
/// no other. All answers are of one snapshot.
public final class CallerQueries {
    /// A SELECT may return 1,664 columns.
    private static final int TOGETHER_MAX = 500;

    private final Pool pool;
    private final Duration timeout;

    /// @param timeout for all folds of one call together, within a factor of two
    public CallerQueries(Pool pool, Duration timeout) {
        this.pool = pool;
        this.timeout = timeout;
    }

    /// @return one answer for each fold, in their order
    /// @throws QueryException when the database does not answer, or the pool cannot take the caller's role
    public Stamped<List<FoldAnswer>> fold(Identity caller, List<Fold> folds) {
        return pool.ask(Lane.CALLERS, "the fold", timeout, connection -> {
            Stamp stamp = CallerSession.enter(connection, caller, "", timeout);
            return new Stamped<>(stamp, answers(connection, folds));
        });
    }

    private List<FoldAnswer> answers(Connection connection, List<Fold> folds) throws SQLException {
        long deadline = System.nanoTime() + timeout.toNanos();
        List<FoldAnswer> answers = new ArrayList<>(folds.size());
        for (int from = 0; from < folds.size(); from += TOGETHER_MAX) {
            List<Fold> some = folds.subList(from, Math.min(folds.size(), from + TOGETHER_MAX));
            answers.addAll(together(connection, some, deadline));
        }
        return List.copyOf(answers);
    }

    private static List<FoldAnswer> together(Connection connection, List<Fold> folds, long deadline)
            throws SQLException {
        StringBuilder together = new StringBuilder("SAVEPOINT folds; SELECT ");
        for (int i = 0; i < folds.size(); i++) {
            together.append(i == 0 ? "" : ", ").append(expression(folds.get(i)));
        }
        try {
            Row row = Rows.run(connection, together.toString()).getFirst().getFirst();
            List<FoldAnswer> answers = new ArrayList<>();
            for (int i = 0; i < folds.size(); i++) {
                answers.add(new FoldAnswer.Value(row.textOrNull(i)));
            }
            return answers;
        } catch (SQLException e) {
            if (!CallerSession.isAnswer(e)) {
                throw e;
            }
            Rows.run(connection, "ROLLBACK TO folds");
        }
        return oneByOne(connection, folds, deadline);
    }

    private static List<FoldAnswer> oneByOne(Connection connection, List<Fold> folds, long deadline)
            throws SQLException {
        List<FoldAnswer> answers = new ArrayList<>();
        for (Fold fold : folds) {
            if (System.nanoTime() - deadline > 0) {
                answers.add(new FoldAnswer.Raised("57014"));
                continue;
            }
            try {
                Row row = Rows.run(connection, "SAVEPOINT fold; SELECT " + expression(fold))
                        .getFirst()
                        .getFirst();
                answers.add(new FoldAnswer.Value(row.textOrNull(0)));
            } catch (SQLException e) {
                if (!CallerSession.isAnswer(e)) {
                    throw e;
                }
                Rows.run(connection, "ROLLBACK TO fold");
                answers.add(new FoldAnswer.Raised(QueryException.stateOf(e)));
            }
        }
        return List.copyOf(answers);
    }

    private static String expression(Fold fold) {
        return "(" + fold.sql() + ")";
    }
}
