package sluice.bench.micro;

import ch.qos.logback.classic.LoggerContext;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sluice.core.value.Truth;

/// Each {@link SamplePolicy} asked of a row that it shows and of one that it hides. `./sluice bench predicates`
/// runs it beside the PostgreSQL it needs.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PolicyBenchmark {
    /// System property: a file of two lines, the owner's JDBC URL and the callers' URL. Not the URLs themselves,
    /// since everybody may read the command line of a process.
    public static final String DATABASE = "sluice.bench.database";

    /// Name of the parameter below.
    public static final String POLICY = "policy";

    /// Name of the parameter below.
    public static final String CANDIDATE = "candidate";

    @Param
    public SamplePolicy policy = SamplePolicy.UUID_OWNER;

    @Param
    public SampleTable.Candidate candidate = SampleTable.Candidate.MATCHING;

    private SampleTable.@Nullable Trial trial;

    /// What the thread spent in one iteration, which other load on the machine does not change as
    /// it does the time on
    /// the wall.
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Spent {
        public long cpuNanos;
        public long decisions;
        private long since;

        @Setup(Level.Iteration)
        public void begin() {
            since = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        }

        @TearDown(Level.Iteration)
        public void end() {
            cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - since;
        }
    }

    @Setup
    public void compile() throws IOException, SQLException {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext loggers) {
            // The pools have nothing to say that belongs among figures.
            loggers.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(ch.qos.logback.classic.Level.OFF);
        }
        String file = System.getProperty(DATABASE);
        if (file == null) {
            throw new IllegalStateException("this one is run by ./sluice bench predicates");
        }
        List<String> urls = Files.readAllLines(Path.of(file));
        trial = new SampleTable(urls.getFirst(), urls.getLast()).trial(policy, candidate);
    }

    @Benchmark
    public Truth decide(Spent spent) {
        spent.decisions++;
        SampleTable.Trial asked = Objects.requireNonNull(trial);
        return asked.predicate().test(asked.row());
    }
}
