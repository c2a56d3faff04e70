package sluice.server.judge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;

/// Every function, operator and cast of the catalog in every signature, decided in process and by PostgreSQL. What is
/// not decided in process is counted by its reason: that list, in `target/signatures-18.txt`, is what is left to do.
class SignatureJudgePgTest {
    /// Lengths of types are part of random expressions; the type "char", what repeats texts, and
    /// what only the server
    /// itself calls have the judge of single functions.
    private static final Set<String> JUDGED_ELSEWHERE = Set.of(
            "bpchar",
            "varchar",
            "numeric",
            "interval_scale",
            "time_scale",
            "timestamp_scale",
            "timestamptz_scale",
            "timetz_scale",
            "char_bpchar",
            "char_text",
            "chareq",
            "charge",
            "chargt",
            "charle",
            "charlt",
            "charne",
            "chartoi4",
            "i4tochar",
            "text_char",
            "repeat",
            "lpad",
            "rpad",
            "array_fill",
            "array_fill_with_lower_bounds",
            "similar_escape",
            "similar_to_escape_1",
            "similar_to_escape_2",
            "select $1 operator(pg_catalog.||) $2::pg_catalog.text",
            "select $1::pg_catalog.text operator(pg_catalog.||) $2");

    @Test
    void decides_every_signature_as_postgresql_does() {
        int major = Integer.getInteger("sluice.postgres", PostgresCluster.NEWEST);
        ExpressionTrial trial = new ExpressionTrial(major, Long.getLong("sluice.seed", 20_261_129L));
        trial.signatures(DatabaseOptions.plain(), 40, 2, 1.0);
        trial.report("signatures");
        Verdicts verdicts = trial.verdicts();
        System.out.println("  registered and not compared: " + trial.neverCompared());
        assertThat(trial.reported()).as("differences").isEmpty();
        assertThat(trial.neverCompared()).as("registered and not compared").allMatch(JUDGED_ELSEWHERE::contains);
        assertThat(verdicts.vacuous())
                .as("signatures that gave one answer only")
                .hasSizeLessThanOrEqualTo(verdicts.coveredSignatures() / 20);
        assertThat(verdicts.brokenPromises())
                .as("said to answer every row, and left one open")
                .isEmpty();
        assertThat(verdicts.undecidable())
                .as("whole rows left to PostgreSQL")
                .isLessThanOrEqualTo(verdicts.decisions() / 20);
        assertThat(verdicts.withheldMore())
                .as("rows only we raise for")
                .isLessThanOrEqualTo(verdicts.decisions() / 100);
    }
}
