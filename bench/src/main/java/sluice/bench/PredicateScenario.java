package sluice.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import sluice.bench.micro.PolicyBenchmark;

/// What one decision in process costs, for policies of several kinds and rows they show and hide: CPU time
/// of the deciding thread, and garbage.
///
/// Each pair of a policy and a row is measured by JMH in processes of its own.
final class PredicateScenario {
    static final Length QUICK = new Length(1, 4, 3, 500);
    static final Length FULL = new Length(2, 8, 5, 500);

    private static final String GARBAGE = "gc.alloc.rate.norm";

    private final TestBed bed;
    private final Length length;

    PredicateScenario(TestBed bed, Length length) {
        this.bed = bed;
        this.length = length;
    }

    /// @param forks processes for each pair
    /// @param warmUps iterations that do not count, in each
    /// @param iterations that count, in each
    record Length(int forks, int warmUps, int iterations, int millis) {}

    Figures run() throws IOException, BenchException {
        Path database;
        try {
            database = bed.createSamplePolicies();
        } catch (SQLException e) {
            throw new BenchException("the policies could not be made: " + e.getMessage());
        }
        // Somebody else's benchmark on this machine is no reason not to run.
        System.setProperty("jmh.ignoreLock", "true");
        bed.progress("predicates: 20 pairs of a policy and a row");
        Map<String, @Nullable Object> values = Figures.blank();
        StringBuilder table = new StringBuilder(String.format(
                Locale.ROOT, "%-16s %-9s %10s %22s %8s%n", "policy", "row", "ns", "least to greatest", "B"));
        try {
            for (RunResult pair : new Runner(options(database)).run()) {
                add(pair, values, table);
            }
        } catch (RunnerException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new BenchException("a predicate could not be measured: " + cause.getMessage());
        }
        values.put("forks", length.forks);
        values.put("iterations", length.forks * length.iterations);
        return new Figures("predicates", values, table.toString(), 0);
    }

    private Options options(Path database) {
        return new OptionsBuilder()
                .include(PolicyBenchmark.class.getName() + ".decide")
                .forks(length.forks)
                .warmupIterations(length.warmUps)
                .warmupTime(TimeValue.milliseconds(length.millis))
                .measurementIterations(length.iterations)
                .measurementTime(TimeValue.milliseconds(length.millis))
                .timeUnit(TimeUnit.NANOSECONDS)
                .addProfiler(GCProfiler.class)
                .jvmArgsAppend("-Xmx256m", "-XX:+UseSerialGC", "-D" + PolicyBenchmark.DATABASE + "=" + database)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true)
                .build();
    }

    private static double score(IterationResult iteration, String name) {
        Result<?> result = iteration.getSecondaryResults().get(name);
        return result == null ? Double.NaN : result.getScore();
    }

    private void add(RunResult pair, Map<String, @Nullable Object> values, StringBuilder table) {
        double[] nanos = new double[length.forks * length.iterations];
        double[] bytes = new double[nanos.length];
        int i = 0;
        for (BenchmarkResult fork : pair.getBenchmarkResults()) {
            for (IterationResult iteration : fork.getIterationResults()) {
                nanos[i] = score(iteration, "cpuNanos") / score(iteration, "decisions");
                bytes[i++] = score(iteration, GARBAGE);
            }
        }
        Median time = Median.of(nanos);
        long garbage = Math.round(Median.of(bytes).value());
        String policy = pair.getParams().getParam(PolicyBenchmark.POLICY).toLowerCase(Locale.ROOT);
        String row = pair.getParams().getParam(PolicyBenchmark.CANDIDATE).toLowerCase(Locale.ROOT);
        values.put(policy + "_" + row + "_ns", time.rounded());
        values.put(policy + "_" + row + "_ns" + Figures.SPREAD, time.spread());
        values.put(policy + "_" + row + "_bytes", garbage);
        table.append(String.format(
                Locale.ROOT,
                "%-16s %-9s %10.1f %22s %8d%n",
                policy,
                row,
                time.value(),
                String.format(Locale.ROOT, "%.1f to %.1f", time.least(), time.greatest()),
                garbage));
    }
}
