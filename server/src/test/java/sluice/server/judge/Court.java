package sluice.server.judge;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.expression.Answers;
import sluice.core.expression.Compiler;
import sluice.core.expression.Expression;
import sluice.core.expression.ExpressionReader;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.FoldList;
import sluice.core.expression.Parts;
import sluice.core.expression.PolicyTree;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.Tuple;
import sluice.testkit.seed.SeededRandom;

/// Puts samples before both: the evaluator, by way of a stored policy's tree, and PostgreSQL.
///
/// NULL and FALSE are told apart. Where PostgreSQL raises, we must not say TRUE. Where columns of a row are hidden
/// from us, we must say that we do not know, or what PostgreSQL says that sees them.
final class Court {
    private static final String SUBJECT = "it";
    private static final int HIDDEN_ROWS = 12;

    private final JudgedDatabase database;
    private final SeededRandom random;
    private final Support support;
    private final Verdicts verdicts;

    Court(JudgedDatabase database, SeededRandom random, Support support, Verdicts verdicts) {
        this.database = database;
        this.random = random;
        this.support = support;
        this.verdicts = verdicts;
    }

    /// An expression as the evaluator read it.
    ///
    /// @param obstacle why it is not decided in process, null when it is
    private record Reading(
            Sample sample,
            Expression expression,
            List<Fold> folds,
            @Nullable String obstacle) {}

    /// A sample ready to be decided.
    ///
    /// @param predicate null where PostgreSQL raised for every row while planning
    /// @param answersEveryRow whether the evaluator says that it leaves no whole row open
    private record Ready(Sample sample, @Nullable Predicate predicate, boolean answersEveryRow) {}

    /// Judges all that PostgreSQL takes for policies.
    void judge(String claims, List<Sample> samples) {
        List<Ready> ready = ready(claims, read(samples));
        JudgedDatabase.Answers answers = database.ask(
                claims, ready.stream().map(one -> one.sample.term().sql()).toList());
        for (int i = 0; i < ready.size(); i++) {
            String theirs = answers.letters().get(i);
            JudgedDatabase.Answers of = answers;
            if (theirs == null) {
                of = database.ask(claims, List.of(ready.get(i).sample.term().sql()));
                theirs = of.letters().getFirst();
            }
            if (theirs == null) {
                verdicts.gaveUp(ready.get(i).sample);
            } else {
                compare(claims, ready.get(i), theirs, of.at());
            }
        }
    }

    /// Finds out what is decided in process, without asking PostgreSQL for anything but the trees.
    void learn(List<Sample> samples) {
        List<Reading> ignored = read(samples);
    }

    private List<Reading> read(List<Sample> samples) {
        List<@Nullable String> trees = database.trees(
                samples.stream().map(sample -> sample.term().sql()).toList());
        List<Reading> readings = new ArrayList<>();
        for (int i = 0; i < samples.size(); i++) {
            String tree = trees.get(i);
            if (tree == null) {
                verdicts.noPolicy(samples.get(i));
            } else {
                Reading reading = read(samples.get(i), tree);
                String obstacle = reading.obstacle;
                support.note(reading.sample, obstacle == null);
                if (obstacle != null) {
                    verdicts.undecided(reading.sample, obstacle);
                } else {
                    readings.add(reading);
                }
            }
        }
        return readings;
    }

    private Reading read(Sample sample, String tree) {
        FoldList folds = new FoldList();
        Expression expression = new ExpressionReader(database.catalog(), database.relation(), Map.of(), folds, SUBJECT)
                .read(PolicyTree.read(tree));
        return new Reading(sample, expression, folds.folds(), Parts.unsupported(expression));
    }

    private List<Ready> ready(String claims, List<Reading> readings) {
        List<Fold> folds = new ArrayList<>();
        readings.forEach(reading -> folds.addAll(reading.folds));
        List<FoldAnswer> answers = folds.isEmpty() ? List.of() : database.fold(claims, folds);
        List<Ready> ready = new ArrayList<>();
        int at = 0;
        for (Reading reading : readings) {
            Answers answered = new Answers(answers.subList(at, at + reading.folds.size()), Map.of());
            at += reading.folds.size();
            Expression expression = answered.substitute(reading.expression);
            boolean raised = answered.raisedForEveryRow(reading.expression) != null;
            String obstacle = Parts.unsupported(expression);
            if (obstacle != null && !raised) {
                verdicts.undecided(reading.sample, obstacle);
            } else {
                ready.add(new Ready(
                        reading.sample,
                        raised ? null : Compiler.compile(expression),
                        raised || Parts.answersEveryRow(expression)));
            }
        }
        return ready;
    }

    private void compare(String claims, Ready ready, String theirs, java.time.Instant at) {
        ColumnMapping mapping = database.mapping();
        List<Tuple> tuples = database.tuples();
        StringBuilder ours = new StringBuilder();
        for (Tuple tuple : tuples) {
            ours.append(answer(ready.predicate, new RowImage(tuple, mapping, at)));
        }
        verdicts.compared(claims, ready.sample, ours.toString(), theirs);
        if (ready.answersEveryRow) {
            verdicts.promised(ready.sample, ours.toString());
        }
        for (int i = 0; i < HIDDEN_ROWS && ready.predicate != null; i++) {
            int row = random.below(tuples.size());
            Tuple hiding = hiding(tuples.get(row));
            char our = answer(ready.predicate, new RowImage(hiding, mapping, at));
            verdicts.hidden(claims, ready.sample, row, our, theirs.charAt(row));
        }
    }

    /// `t`, `f`, `n`, `u` for undecidable, `e` for an error and `x` for a failure of ours.
    static char answer(@Nullable Predicate predicate, RowImage row) {
        if (predicate == null) {
            return 'e';
        }
        try {
            return switch (predicate.test(row)) {
                case TRUE -> 't';
                case FALSE -> 'f';
                case NULL -> 'n';
                case UNDECIDABLE -> 'u';
            };
        } catch (EvaluationException raised) {
            return 'e';
        } catch (RuntimeException failed) {
            return 'x';
        }
    }

    /// The tuple with some columns unchanged, as a TOASTed value is, or not sent.
    private Tuple hiding(Tuple tuple) {
        int count = tuple.columnCount();
        Tuple.Kind[] kinds = new Tuple.Kind[count];
        int[] offsets = new int[count];
        int[] lengths = new int[count];
        double share = random.pick(0.1, 0.5, 1.0);
        for (int i = 0; i < count; i++) {
            Tuple.Kind kind = tuple.kind(i);
            boolean hidden = random.chance(share);
            Tuple.Kind absent = kind == Tuple.Kind.TEXT && random.flip() ? Tuple.Kind.UNCHANGED : Tuple.Kind.NOT_SENT;
            kinds[i] = hidden ? absent : kind;
            offsets[i] = tuple.offset(i);
            lengths[i] = tuple.length(i);
        }
        return new Tuple(tuple.bytes(), kinds, offsets, lengths);
    }

    /// Values of expressions in random rows, as PostgreSQL prints them, to compare with: so that some row is equal.
    List<@Nullable String> values(String claims, List<Term> terms) {
        List<Integer> ids = new ArrayList<>();
        terms.forEach(_ -> ids.add(1 + random.below(database.tuples().size())));
        return database.values(claims, terms.stream().map(Term::sql).toList(), ids);
    }
}
