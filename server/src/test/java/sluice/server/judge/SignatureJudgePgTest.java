package sluice.server.judge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;

/// Every function, operator and cast of the catalog in every signature, decided in process and by PostgreSQL. What is
/// not decided in process is counted by its reason: that list, in `target/signatures-18.txt`, is what is left to do.
class SignatureJudgePgTest {
    @Test
    void decides_every_signature_as_postgresql_does() {
        int major = Integer.getInteger("sluice.postgres", PostgresCluster.NEWEST);
        ExpressionTrial trial = new ExpressionTrial(major, Long.getLong("sluice.seed", 20_261_129L));
        trial.signatures(DatabaseOptions.plain(), 40, 2, 1.0);
        trial.report("signatures");
        Verdicts verdicts = trial.verdicts();
        assertThat(trial.reported()).as("differences").isEmpty();
        assertThat(verdicts.vacuous())
                .as("signatures that gave one answer only")
                .hasSizeLessThanOrEqualTo(verdicts.coveredSignatures() / 20);
        assertThat(verdicts.undecidable()).as("whole rows not decided").isLessThanOrEqualTo(verdicts.decisions() / 4);
        assertThat(verdicts.withheldMore())
                .as("rows only we raise for")
                .isLessThanOrEqualTo(verdicts.decisions() / 100);
    }
}
