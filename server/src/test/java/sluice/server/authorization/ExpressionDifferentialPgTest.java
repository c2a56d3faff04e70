package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Relation;
import sluice.core.datum.EvaluationException;
import sluice.core.expression.Answers;
import sluice.core.expression.Compiler;
import sluice.core.expression.Expression;
import sluice.core.expression.ExpressionReader;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.FoldList;
import sluice.core.expression.Parts;
import sluice.core.expression.PolicyTree;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.core.value.Truth;
import sluice.testkit.PostgresCluster;

/// Random policy expressions, decided in process and by PostgreSQL, NULL told apart from FALSE.
///
/// PostgreSQL is asked with `SELECT (e) IS TRUE, (e) IS NULL`. Where it raises, we must not say TRUE.
class ExpressionDifferentialPgTest {
    private static final List<String> CLAIMS = List.of(
            "{\"sub\":\"00000000-0000-0000-0000-00000000000a\",\"role\":\"authenticated\",\"team\":\"a\",\"level\":1,"
                    + "\"teams\":\"a,b\",\"app\":{\"team\":\"b\"}}",
            "{\"role\":\"b\",\"team\":\"it's\",\"level\":\"-1\",\"app\":{}}",
            "{\"sub\":\"nobody\",\"role\":\"anon\",\"level\":\"high\"}",
            "");

    @Test
    void decides_every_expression_as_postgresql_18_does() {
        compare(18, new Random(seed()), Volume.FULL);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void decides_a_sample_as_older_majors_do(int major) {
        compare(major, new Random(seed()), Volume.SMOKE);
    }

    /// How many expressions, over 40 rows and four callers each.
    private enum Volume {
        SMOKE(40),
        FULL(Boolean.getBoolean("sluice.long") ? 5_000 : 250);

        private final int expressions;

        Volume(int expressions) {
            this.expressions = expressions;
        }
    }

    private static long seed() {
        return Long.getLong("sluice.seed", 20_261_129L);
    }

    private static void compare(int major, Random random, Volume volume) {
        RandomExpression expressions = new RandomExpression(random, RandomExpression.Undecided.MIXED_IN);
        Tally tally = new Tally();
        try (PolicyTable table = PolicyTable.create(PostgresCluster.of(major).createDatabase("expressions"))) {
            table.fill(random, 40);
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < volume.expressions; i++) {
                texts.add(expressions.next());
                table.database().execute("CREATE POLICY p" + i + " ON t USING (" + texts.getLast() + ")");
            }
            CatalogImage catalog = table.catalog(List.of("authenticated"));
            Relation relation = Objects.requireNonNull(catalog.relation("public", "t"));
            List<RowImage> rows = table.rows(relation);
            for (Policy policy : relation.policies()) {
                String text = texts.get(Integer.parseInt(policy.name().substring(1)));
                compare(new Subject(table, catalog, relation, rows), policy, text, tally);
            }
        }
        System.out.println("PostgreSQL " + major + ", seed " + seed() + ": " + tally);
        assertThat(tally.differences).isEmpty();
        assertThat(tally.decisions).isGreaterThan(volume == Volume.SMOKE ? 2_000 : 20_000);
        assertThat(tally.withheldMore).isLessThan(tally.decisions / 50);
        assertThat(tally.vacuous).as("samples of one answer only").isLessThan(tally.samples / 2);
    }

    private record Subject(PolicyTable table, CatalogImage catalog, Relation relation, List<RowImage> rows) {}

    private static void compare(Subject subject, Policy policy, String text, Tally tally) {
        FoldList folds = new FoldList();
        String tree = Objects.requireNonNull(policy.tree());
        Expression read = new ExpressionReader(subject.catalog, subject.relation, Map.of(), folds, policy.name())
                .read(PolicyTree.read(tree));
        for (String claims : CLAIMS) {
            List<FoldAnswer> answers = subject.table.fold("authenticated", claims, folds.folds());
            Answers answered = new Answers(answers, Map.of());
            Expression expression = answered.substitute(read);
            if (Parts.unsupported(expression) != null) {
                tally.unsupported++;
                continue;
            }
            tally.samples++;
            boolean raised = answered.raisedForEveryRow(read) != null;
            compareRows(subject, new Case(text, claims, raised, Compiler.compile(expression)), tally);
        }
    }

    private record Case(String text, String claims, boolean raised, Predicate predicate) {}

    private static void compareRows(Subject subject, Case sample, Tally tally) {
        List<@Nullable Truth> ours = new ArrayList<>();
        for (RowImage row : subject.rows) {
            ours.add(sample.raised ? null : answer(sample.predicate, row));
        }
        List<@Nullable Truth> theirs = postgres(subject, sample);
        tally.vacuous += ours.stream().distinct().count() == 1 ? 1 : 0;
        for (int i = 0; i < ours.size(); i++) {
            tally.decisions++;
            Truth our = ours.get(i);
            Truth their = theirs.get(i);
            tally.raised += their == null ? 1 : 0;
            // An error of ours withholds the row. PostgreSQL's planner sometimes finds a way round a part that raises.
            boolean withheldMore = our == null && their != null;
            tally.withheldMore += withheldMore ? 1 : 0;
            if (our != their && !withheldMore && !(their == null && our != Truth.TRUE)) {
                tally.differences.add(sample.text + " for " + sample.claims + " row " + (i + 1) + ": " + our
                        + " instead of " + their);
            }
        }
    }

    private static @Nullable Truth answer(Predicate predicate, RowImage row) {
        try {
            return predicate.test(row);
        } catch (EvaluationException raised) {
            return null;
        }
    }

    /// The server's answers by row, null where it raises: all at once, and one by one where that raises.
    private static List<@Nullable Truth> postgres(Subject subject, Case sample) {
        String query = "SELECT (" + sample.text + ") IS TRUE, (" + sample.text + ") IS NULL FROM t";
        String as = "authenticated";
        subject.table.database().execute("ALTER TABLE t DISABLE ROW LEVEL SECURITY");
        List<@Nullable Truth> answers = new ArrayList<>();
        try {
            for (List<@Nullable String> row :
                    subject.table.database().asRole(as, sample.claims).rows(query + " ORDER BY id")) {
                answers.add(truth(row));
            }
        } catch (IllegalStateException raised) {
            answers.clear();
            for (int id = 1; id <= subject.rows.size(); id++) {
                try {
                    answers.add(truth(subject.table
                            .database()
                            .asRole(as, sample.claims)
                            .rows(query + " WHERE id = " + id)
                            .getFirst()));
                } catch (IllegalStateException raisedAgain) {
                    answers.add(null);
                }
            }
        }
        return answers;
    }

    private static Truth truth(List<@Nullable String> row) {
        return "t".equals(row.getLast()) ? Truth.NULL : Truth.of("t".equals(row.getFirst()));
    }

    private static final class Tally {
        private final List<String> differences = new ArrayList<>();
        private int decisions;
        private int samples;
        private int vacuous;
        private int unsupported;
        private int raised;
        private int withheldMore;

        @Override
        public String toString() {
            return decisions + " decisions, " + differences.size() + " differences, " + samples + " samples of which "
                    + vacuous + " have one answer only, " + unsupported + " not evaluated in process, " + raised
                    + " raised by PostgreSQL, " + withheldMore + " raised by us only";
        }
    }
}
