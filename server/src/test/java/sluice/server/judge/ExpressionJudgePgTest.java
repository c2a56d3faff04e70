package sluice.server.judge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;

/// Random expressions at all depths, decided in process and by PostgreSQL, a third of them in a database whose
/// default collation is not of bytes.
///
/// `-Dsluice.decisions=10000000` makes it long, `-Dsluice.postgres=15` takes another major, `-Dsluice.seed=1` another
/// seed.
class ExpressionJudgePgTest {
    @Test
    void decides_random_expressions_as_postgresql_does() {
        int major = Integer.getInteger("sluice.postgres", PostgresCluster.NEWEST);
        long decisions = Long.getLong("sluice.decisions", 300_000L);
        int rows = decisions > 1_000_000 ? 200 : 80;
        ExpressionTrial trial = new ExpressionTrial(major, Long.getLong("sluice.seed", 20_261_130L));
        trial.expressions(DatabaseOptions.plain(), rows, decisions * 2 / 3);
        trial.expressions(DatabaseOptions.plain().icu("en-US"), rows, decisions / 3 + 1);
        trial.report("expressions");
        Verdicts verdicts = trial.verdicts();
        assertThat(trial.reported()).as("differences").isEmpty();
        assertThat(verdicts.decisions()).isGreaterThanOrEqualTo(decisions);
        assertThat(verdicts.hiddenDecided())
                .as("rows decided without some columns")
                .isGreaterThan(decisions / 100);
        assertThat(verdicts.brokenPromises())
                .as("said to answer every row, and left one open")
                .isEmpty();
        assertThat(verdicts.undecidable())
                .as("whole rows left to PostgreSQL")
                .isLessThanOrEqualTo(verdicts.decisions() / 20);
        assertThat(verdicts.withheldMore()).as("rows only we raise for").isLessThanOrEqualTo(decisions / 50);
        assertThat(verdicts.oneAnswer()).as("samples of one answer").isLessThan(verdicts.samples() * 2 / 3);
    }
}
