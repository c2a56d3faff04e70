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
/// As many parts in one SELECT as it takes, mostly in one round trip with all that precedes and follows it; if that
/// raises, each of these by itself, so that one that raises spoils no other. All answers are of one snapshot.
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
        return pool.askWhole(Lane.CALLERS, "the fold", timeout, use -> {
            long deadline = System.nanoTime() + timeout.toNanos();
            if (!fitsOneTrip(folds)) {
                Stamp stamp = CallerSession.enter(use.connection(), caller, "", timeout);
                return new Stamped<>(stamp, answers(use.connection(), folds, deadline));
            }
            try {
                return inOneTrip(use, caller, folds);
            } catch (SQLException e) {
                if (!CallerSession.isAnswer(e)) {
                    throw e;
                }
            }
            Rows.run(use.connection(), "ROLLBACK");
            // raises once more when it was the entering that raised
            Stamp stamp = CallerSession.enter(use.connection(), caller, "", timeout);
            return new Stamped<>(stamp, oneByOne(use.connection(), folds, deadline));
        });
    }

    /// Parameters and the operator `?` cannot be told apart in one text.
    private static boolean fitsOneTrip(List<Fold> folds) {
        for (Fold fold : folds) {
            if (fold.sql().indexOf('?') >= 0) {
                return false;
            }
        }
        return folds.size() <= TOGETHER_MAX;
    }

    /// Everything from the start of the transaction to its end.
    private Stamped<List<FoldAnswer>> inOneTrip(Pool.Use use, Identity caller, List<Fold> folds) throws SQLException {
        String sql = CallerSession.sql(caller, timeout) + "; " + select(folds);
        List<List<Row>> answers = use.last(sql, CallerSession.parameters(caller, ""));
        return new Stamped<>(
                ReadTransaction.stamp(answers.getFirst().getFirst()),
                values(answers.get(1).getFirst(), folds.size()));
    }

    private static List<FoldAnswer> answers(Connection connection, List<Fold> folds, long deadline)
            throws SQLException {
        List<FoldAnswer> answers = new ArrayList<>(folds.size());
        for (int from = 0; from < folds.size(); from += TOGETHER_MAX) {
            List<Fold> some = folds.subList(from, Math.min(folds.size(), from + TOGETHER_MAX));
            answers.addAll(together(connection, some, deadline));
        }
        return List.copyOf(answers);
    }

    private static List<FoldAnswer> together(Connection connection, List<Fold> folds, long deadline)
            throws SQLException {
        try {
            Row row = Rows.run(connection, "SAVEPOINT folds; " + select(folds))
                    .getFirst()
                    .getFirst();
            return values(row, folds.size());
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

    private static String select(List<Fold> folds) {
        StringBuilder select = new StringBuilder("SELECT ");
        for (int i = 0; i < folds.size(); i++) {
            select.append(i == 0 ? "" : ", ").append(expression(folds.get(i)));
        }
        return select.toString();
    }

    private static List<FoldAnswer> values(Row row, int count) {
        List<FoldAnswer> answers = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            answers.add(new FoldAnswer.Value(row.textOrNull(i)));
        }
        return answers;
    }

    private static String expression(Fold fold) {
        return "(" + fold.sql() + ")";
    }
}
