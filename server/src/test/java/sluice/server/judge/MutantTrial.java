package sluice.server.judge;

import java.util.concurrent.Callable;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;

/// The judges at a small volume, for one mutant. Made and called in the mutant's own world.
public final class MutantTrial implements Callable<String> {
    /// What judged and what it said first; empty when no judge noticed anything.
    @Override
    public String call() {
        String rows = RowSecurityJudgePgTest.firstDifference(PostgresCluster.NEWEST, 30);
        if (!rows.isEmpty()) {
            return "RowSecurityJudgePgTest: " + rows;
        }
        ExpressionTrial expressions = new ExpressionTrial(PostgresCluster.NEWEST, 7L);
        expressions.expressions(DatabaseOptions.plain(), 40, 80_000);
        if (!expressions.verdicts().differences().isEmpty()) {
            return "ExpressionJudgePgTest: " + expressions.reported().getFirst();
        }
        ExpressionTrial signatures = new ExpressionTrial(PostgresCluster.NEWEST, 8L);
        signatures.signatures(DatabaseOptions.plain(), 25, 1, 1.0);
        if (!signatures.verdicts().differences().isEmpty()) {
            return "SignatureJudgePgTest: " + signatures.reported().getFirst();
        }
        return "";
    }
}
