package sluice.server.judge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.testkit.DatabaseOptions;

/// A share of the signatures and some random expressions on each older server.
class OlderMajorsJudgePgTest {
    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void decides_as_older_majors_do(int major) {
        ExpressionTrial trial = new ExpressionTrial(major, Long.getLong("sluice.seed", 20_261_131L));
        trial.signatures(DatabaseOptions.plain(), 25, 1, 0.25);
        trial.expressions(DatabaseOptions.plain().icu("en-US"), 40, 20_000);
        trial.report("older");
        assertThat(trial.reported()).as("differences").isEmpty();
    }
}
