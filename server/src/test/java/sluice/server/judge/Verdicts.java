package sluice.server.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// What came out, counted: the differences, the reasons for which nothing was decided, and for each signature how
/// often it was compared and which answers it gave.
final class Verdicts {
    private static final int EXAMPLES_MAX = 300;

    private final Map<String, Integer> obstacles = new HashMap<>();
    private final Map<String, Coverage> coverage = new TreeMap<>();
    private final TreeSet<String> undecidedSignatures = new TreeSet<>();
    private final List<Difference> differences = new ArrayList<>();
    private final List<String> brokenPromises = new ArrayList<>();
    private final List<String> withheldMoreExamples = new ArrayList<>();
    private long decisions;
    private long hiddenDecisions;
    private long hiddenDecided;
    private long samples;
    private long oneAnswer;
    private long undecided;
    private long noPolicy;
    private long gaveUp;
    private long raised;
    private long withheldMore;
    private long undecidable;

    /// @param row counted from 0
    record Difference(String claims, Sample sample, int row, char ours, char theirs, boolean hidden) {}

    private static final class Coverage {
        private int samples;
        private int rows;
        private int open;
        private final TreeSet<Character> answers = new TreeSet<>();
    }

    void noPolicy(Sample sample) {
        noPolicy++;
    }

    void gaveUp(Sample sample) {
        gaveUp++;
    }

    void undecided(Sample sample, String obstacle) {
        undecided++;
        String reason = obstacle.substring(obstacle.indexOf(": ") + 1)
                .replaceAll("column \"[^\"]*\"", "column")
                .strip();
        obstacles.merge(reason, 1, Integer::sum);
        Callable subject = sample.subject();
        if (subject != null && sample.term().features().contains(subject.key())) {
            undecidedSignatures.add(subject.key());
        }
    }

    /// One letter for each row.
    void compared(String claims, Sample sample, String ours, String theirs) {
        samples++;
        oneAnswer += theirs.chars().distinct().count() == 1 ? 1 : 0;
        for (int row = 0; row < ours.length(); row++) {
            decisions++;
            char our = ours.charAt(row);
            char their = theirs.charAt(row);
            raised += their == 'e' ? 1 : 0;
            // a whole row we cannot decide is safe, and as bad as an error that only we raise
            if (our == 'u' || (our == 'e' && their != 'e')) {
                undecidable += our == 'u' ? 1 : 0;
                withheldMore += our == 'u' ? 0 : 1;
                if (withheldMoreExamples.size() < EXAMPLES_MAX && row == ours.indexOf(String.valueOf(our))) {
                    withheldMoreExamples.add(
                            our + " for " + their + ": " + sample.term().sql());
                }
            } else if (our != their && !(their == 'e' && (our == 'f' || our == 'n'))) {
                differences.add(new Difference(claims, sample, row, our, their, false));
            }
        }
        Callable subject = sample.subject();
        // a call of constants only is PostgreSQL's to evaluate
        if (subject != null && sample.term().features().contains(subject.key())) {
            Coverage covered = coverage.computeIfAbsent(subject.key(), _ -> new Coverage());
            covered.samples++;
            covered.rows += ours.length();
            covered.open += (int) ours.chars().filter(letter -> letter == 'u').count();
            theirs.chars().forEach(letter -> covered.answers.add((char) letter));
        }
    }

    /// The evaluator said that it answers every whole row: one left open would be withheld for good.
    void promised(Sample sample, String ours) {
        if (ours.indexOf('u') >= 0) {
            brokenPromises.add(sample.term().sql());
        }
    }

    /// Expressions said to answer every row that left one open.
    List<String> brokenPromises() {
        return List.copyOf(brokenPromises);
    }

    /// Signatures and the share of whole rows they left open, those that left most first.
    List<String> open() {
        List<Map.Entry<String, Coverage>> sorted = new ArrayList<>(coverage.entrySet());
        sorted.removeIf(entry -> entry.getValue().open == 0);
        sorted.sort(Comparator.comparingDouble(entry -> -(double) entry.getValue().open / entry.getValue().rows));
        return sorted.stream()
                .map(entry -> 100 * entry.getValue().open / entry.getValue().rows + " % of " + entry.getKey())
                .toList();
    }

    void hidden(String claims, Sample sample, int row, char our, char their) {
        hiddenDecisions++;
        hiddenDecided += our == 'u' || our == 'e' ? 0 : 1;
        boolean fine = our == 'u' || our == 'e' || our == their || (their == 'e' && (our == 'f' || our == 'n'));
        if (!fine) {
            differences.add(new Difference(claims, sample, row, our, their, true));
        }
    }

    List<Difference> differences() {
        return List.copyOf(differences);
    }

    long decisions() {
        return decisions;
    }

    long hiddenDecided() {
        return hiddenDecided;
    }

    long withheldMore() {
        return withheldMore;
    }

    /// Rows of which every column was there, and which were not decided all the same.
    long undecidable() {
        return undecidable;
    }

    List<String> withheldMoreExamples() {
        return List.copyOf(withheldMoreExamples);
    }

    long samples() {
        return samples;
    }

    long oneAnswer() {
        return oneAnswer;
    }

    int coveredSignatures() {
        return coverage.size();
    }

    boolean isVacuous(Callable callable) {
        Coverage covered = coverage.get(callable.key());
        return covered == null || !(covered.answers.contains('t') && covered.answers.contains('f'));
    }

    /// Signatures that were compared with only one answer among TRUE, FALSE and NULL.
    List<String> vacuous() {
        List<String> vacuous = new ArrayList<>();
        coverage.forEach((key, covered) -> {
            if (!(covered.answers.contains('t') && covered.answers.contains('f'))) {
                vacuous.add(key + " " + covered.answers + " in " + covered.samples + " samples");
            }
        });
        return vacuous;
    }

    /// What the server runs behind the signatures that were compared.
    Set<String> comparedSymbols() {
        Set<String> symbols = new TreeSet<>();
        coverage.keySet().forEach(key -> symbols.add(key.substring(0, key.indexOf('('))));
        return symbols;
    }

    /// Signatures that were never decided in process.
    List<String> undecidedSignatures() {
        return undecidedSignatures.stream()
                .filter(key -> !coverage.containsKey(key))
                .toList();
    }

    /// The most frequent first.
    List<String> obstacles() {
        return obstacles.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .map(entry -> entry.getValue() + " " + entry.getKey())
                .toList();
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%,d decisions, %,d with hidden columns (%,d of them decided), %d differences; %,d samples, %,d of one"
                        + " answer only; %,d signatures compared, %,d never decided in process; %,d samples undecided, %,d"
                        + " no policies, %,d given up; %,d rows raised by PostgreSQL, %,d by us only, %,d undecidable for"
                        + " us though whole",
                decisions,
                hiddenDecisions,
                hiddenDecided,
                differences.size(),
                samples,
                oneAnswer,
                coverage.size(),
                undecidedSignatures().size(),
                undecided,
                noPolicy,
                gaveUp,
                raised,
                withheldMore,
                undecidable);
    }
}
