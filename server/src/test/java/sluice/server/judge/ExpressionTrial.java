package sluice.server.judge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sluice.core.function.FunctionTable;
import sluice.core.pgoutput.Tuple;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.seed.SeededRandom;

/// One run of the judge over expressions: every signature the catalog lists first, then random expressions until
/// enough was decided.
final class ExpressionTrial {
    static final List<String> CLAIMS = List.of(
            "{\"sub\":\"00000000-0000-0000-0000-00000000000a\",\"role\":\"authenticated\",\"team\":\"a\",\"level\":1}",
            "{\"role\":\"b\",\"team\":\"it's\",\"level\":\"-1\"}",
            "{\"sub\":\"nobody\",\"level\":\"high\",\"team\":null}",
            "");
    private static final int REASONS_TOLD = 12;
    private static final int REPORTED_MAX = 20;
    private static final int BATCH = 80;
    private static final int ROUNDS_WITHOUT_DECISION = 3;

    private static final long PROGRESS_NANOS = 30_000_000_000L;

    private final int major;
    private final long seed;
    private final SeededRandom random;
    private final Support support = new Support();
    private final Verdicts verdicts = new Verdicts();
    /// What a reported difference was about: one of each kind is told.
    private final Set<String> seen = new HashSet<>();

    private final List<String> reported = new ArrayList<>();
    private final Set<String> registered = new HashSet<>();
    private final JudgedTypes types;
    private final List<JudgedColumn> columns;

    ExpressionTrial(int major, long seed) {
        this.major = major;
        this.seed = seed;
        this.random = new SeededRandom(seed);
        this.types = JudgedTypes.of(major);
        FunctionTable.all().forEach(function -> registered.add(function.symbol()));
        this.columns = JudgedColumn.all(types);
    }

    Verdicts verdicts() {
        return verdicts;
    }

    /// A database with rows and what is judged in it.
    private final class Bench implements AutoCloseable {
        private final JudgedDatabase database;
        private final List<Callable> callables;
        private final ExpressionWriter writer;
        private final Court court;

        Bench(DatabaseOptions options, int rows) {
            database = JudgedDatabase.create(PostgresCluster.of(major).createDatabase("judge", options), columns);
            database.fill(random, rows);
            callables = database.callables(types);
            writer = new ExpressionWriter(random, types, columns, callables, support);
            court = new Court(database, random, support, verdicts);
        }

        @Override
        public void close() {
            shrink(database);
            database.close();
        }
    }

    /// Every signature of the catalog, or a random share of them, in samples of its own.
    ///
    /// @param perSignature how many samples each decided signature gets; four times as many while it has given only
    ///     one answer
    void signatures(DatabaseOptions options, int rows, int perSignature, double share) {
        try (Bench bench = new Bench(options, rows)) {
            List<Callable> chosen = new ArrayList<>(bench.callables);
            chosen.removeIf(_ -> !random.chance(share));
            for (int round = 0; round < perSignature * 4; round++) {
                for (List<Sample> batch : batches(covering(bench.writer, chosen, round, perSignature))) {
                    cover(bench.court, batch);
                }
            }
        }
    }

    /// Random expressions of what is decided in process, until so many rows were decided.
    void expressions(DatabaseOptions options, int rows, long decisions) {
        long until = verdicts.decisions() + decisions;
        long told = System.nanoTime();
        try (Bench bench = new Bench(options, rows)) {
            for (int round = 0; round < ROUNDS_WITHOUT_DECISION; round++) {
                batches(covering(bench.writer, bench.callables, round, 0)).forEach(bench.court::learn);
            }
            for (long batch = 1; verdicts.decisions() < until && batch <= decisions; batch++) {
                List<Sample> samples = new ArrayList<>();
                for (int i = 0; i < BATCH; i++) {
                    samples.add(bench.writer.random());
                }
                bench.court.judge(random.pick(CLAIMS), samples);
                if (batch % 20 == 0) {
                    bench.database.fill(random, rows);
                }
                if (System.nanoTime() - told > PROGRESS_NANOS) {
                    told = System.nanoTime();
                    System.out.println(headline());
                }
            }
        }
    }

    private List<Sample> covering(ExpressionWriter writer, List<Callable> callables, int round, int usual) {
        List<Sample> samples = new ArrayList<>();
        for (Callable callable : callables) {
            boolean undecided = !support.decided(callable.key());
            boolean hopeful = registered.contains(callable.symbol())
                    || (round < ROUNDS_WITHOUT_DECISION && support.promising(callable.key()));
            boolean needed = round < usual || (usual > 0 && verdicts.isVacuous(callable));
            boolean wanted = undecided ? hopeful : needed;
            if (wanted) {
                samples.add(writer.covering(callable));
            }
        }
        return samples;
    }

    private static List<List<Sample>> batches(List<Sample> samples) {
        List<List<Sample>> batches = new ArrayList<>();
        for (int i = 0; i < samples.size(); i += BATCH) {
            batches.add(samples.subList(i, Math.min(samples.size(), i + BATCH)));
        }
        return batches;
    }

    /// Values that are no booleans are compared with what PostgreSQL says they are in one of the rows.
    private void cover(Court court, List<Sample> samples) {
        String claims = random.pick(CLAIMS);
        List<Term> valued = new ArrayList<>();
        for (Sample sample : samples) {
            if (!sample.term().type().equals("bool")) {
                valued.add(sample.term());
            }
        }
        List<@Nullable String> values = valued.isEmpty() ? List.of() : court.values(claims, valued);
        List<Sample> booleans = new ArrayList<>();
        int next = 0;
        for (Sample sample : samples) {
            boolean bool = sample.term().type().equals("bool");
            Term truth = bool ? sample.term() : compared(sample.term(), values.get(next));
            booleans.add(sample.with(random.chance(0.25) ? ExpressionWriter.negated(truth) : truth));
            next += bool ? 0 : 1;
        }
        court.judge(claims, booleans);
    }

    private Term compared(Term term, @Nullable String value) {
        if (value == null) {
            return Term.of("bool", "", "(" + term.sql() + ") IS NULL", List.of(term));
        }
        String type = term.type();
        String literal = JudgedTypes.literal(value, type);
        boolean asText = type.equals("json") || random.chance(0.3);
        String sql = asText
                ? "((" + term.sql() + ")::text = " + JudgedTypes.literal(value, "text") + ")"
                : "((" + term.sql() + ") "
                        + random.pick("=", "=", "<", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM") + " " + literal
                        + ")";
        return Term.of("bool", "", sql, List.of(term));
    }

    /// The first differences, each with the smallest of its parts that still differs.
    List<String> reported() {
        return List.copyOf(reported);
    }

    String headline() {
        return "PostgreSQL " + major + ", seed " + seed + ": " + verdicts;
    }

    /// Says on standard output what was judged, and the reasons that keep most from being judged.
    ///
    /// @param name of the file with everything, in the build's folder
    void report(String name) {
        write(name);
        System.out.println(headline());
        verdicts.obstacles().stream()
                .limit(REASONS_TOLD)
                .forEach(reason -> System.out.println("  not in process: " + reason));
        System.out.println("  one answer only: " + verdicts.vacuous());
    }

    /// Registered functions that no signature reached, by symbol.
    List<String> neverCompared() {
        Set<String> missing = new TreeSet<>(registered);
        missing.removeAll(verdicts.comparedSymbols());
        return List.copyOf(missing);
    }

    private void shrink(JudgedDatabase database) {
        for (Verdicts.Difference difference : verdicts.differences()) {
            Callable subject = difference.sample().subject();
            String sql = difference.sample().term().sql();
            String what = subject == null ? sql : subject.symbol() + subject.name() + subject.result();
            if (reported.size() >= REPORTED_MAX || !seen.add(what)) {
                continue;
            }
            reported.add("seed " + seed + (difference.hidden() ? ", columns hidden" : "") + ", row "
                    + (difference.row() + 1) + ": ours " + difference.ours() + ", PostgreSQL's " + difference.theirs()
                    + ", claims " + difference.claims() + "\n  "
                    + difference.sample().term().sql() + "\n  smallest: "
                    + smallest(database, difference) + "\n  row: " + row(database, difference));
        }
    }

    private String smallest(JudgedDatabase database, Verdicts.Difference difference) {
        List<Sample> parts = new ArrayList<>();
        for (Term part : difference.sample().term().all()) {
            if (part.type().equals("bool")) {
                parts.add(difference.sample().with(part));
            }
        }
        Verdicts again = new Verdicts();
        new Court(database, random, new Support(), again).judge(difference.claims(), parts);
        return again.differences().isEmpty()
                ? "none of its parts alone"
                : again.differences().getFirst().sample().term().sql();
    }

    /// The columns the expression names, with their values; those of the table as it is now.
    private String row(JudgedDatabase database, Verdicts.Difference difference) {
        List<String> names = new ArrayList<>();
        database.relation().columns().forEach(column -> names.add(column.name()));
        if (difference.row() >= database.tuples().size()) {
            return "";
        }
        Tuple tuple = database.tuples().get(difference.row());
        StringBuilder row = new StringBuilder();
        for (int position = 0; position < names.size(); position++) {
            if (difference.sample().term().sql().contains('"' + names.get(position) + '"')) {
                row.append(names.get(position)).append("=");
                row.append(
                        tuple.kind(position) == Tuple.Kind.TEXT
                                ? "'" + tuple.text(position) + "' "
                                : tuple.kind(position) + " ");
            }
        }
        return row.toString();
    }

    /// The whole report, in a file of the build.
    private void write(String name) {
        List<String> lines = new ArrayList<>();
        lines.add(headline());
        lines.add("\n== differences");
        lines.addAll(reported);
        lines.add("\n== why not decided in process, the most frequent first");
        lines.addAll(verdicts.obstacles());
        lines.add("\n== signatures compared with one answer only");
        lines.addAll(verdicts.vacuous());
        lines.add("\n== expressions said to answer every row that left one open");
        lines.addAll(verdicts.brokenPromises());
        lines.add("\n== whole rows left to PostgreSQL, by signature");
        lines.addAll(verdicts.open());
        lines.add("\n== expressions that are raised or undecidable only here, and PostgreSQL's answer");
        lines.addAll(verdicts.withheldMoreExamples());
        lines.add("\n== signatures never decided in process");
        lines.addAll(verdicts.undecidedSignatures());
        try {
            Path folder = Path.of("target");
            Files.createDirectories(folder);
            Files.writeString(
                    folder.resolve(name + "-" + major + ".txt"),
                    String.join("\n", lines) + "\n",
                    StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
