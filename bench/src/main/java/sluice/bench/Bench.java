package sluice.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sluice.bench.client.LoadOptions;
import sluice.server.demo.DemoException;

/// `./sluice bench`: runs scenarios against a real server in a process of its own, and prints figures.
@Command(
        name = "sluice bench",
        description = {
            "Measures this machine: starts a PostgreSQL 18 and the server on free ports of 127.0.0.1, puts load on"
                    + " them, prints figures, and leaves nothing behind.",
            "",
            "  quiet       streams that receive nothing: live heap of the server for each, with 1 shape and with 7",
            "  fanout      one change to 1,000 streams, 10 times a second: delay, CPU and garbage for each delivery",
            "  probes      one change to 25 streams whose rows PostgreSQL decides, as often: the same figures",
            "  broadcast   one broadcast to 1,000 streams in a channel, as often: the same figures",
            "  predicates  policies decided in process, for rows they show and hide: time and garbage of a decision"
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Examples:",
            "  sluice bench quiet fanout            a full run, about ten minutes",
            "  sluice bench fanout --quick --json   about a minute, one line of JSON for each scenario",
            "",
            "Exit status: 0 done, 1 an event was lost, came twice or out of order, 2 could not run."
        })
public final class Bench implements Callable<Integer> {
    private static final int JUDGED_BAD = 1;
    private static final int COULD_NOT_RUN = 2;

    /// What can be measured.
    enum Scenario {
        QUIET,
        FANOUT,
        PROBES,
        BROADCAST,
        PREDICATES
    }

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(arity = "1..*", paramLabel = "SCENARIO", description = "${COMPLETION-CANDIDATES}")
    private List<Scenario> scenarios = new ArrayList<>();

    @Option(names = "--quick", description = "Fewer streams and rounds: to see that all works, not to quote.")
    private boolean quick;

    @Option(names = "--json", description = "Print one line of JSON for each scenario instead of the table.")
    private boolean json;

    @Option(
            names = "--streams",
            paramLabel = "N",
            description = "Streams, at most " + LoadOptions.STREAMS_MAX
                    + " (default: quiet 10000, probes 25, the others 1000).")
    private int streams;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Bench())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((problem, command, parsed) -> failed(problem, command))
                .execute(arguments));
    }

    private static int failed(Exception problem, CommandLine command) {
        PrintWriter err = command.getErr();
        if (problem instanceof DemoException || problem instanceof BenchException) {
            err.println("sluice bench: " + problem.getMessage());
        } else {
            problem.printStackTrace(err);
        }
        return COULD_NOT_RUN;
    }

    @Override
    public Integer call() throws Exception {
        if (streams < 0 || streams > LoadOptions.STREAMS_MAX) {
            throw new ParameterException(spec.commandLine(), "--streams is a number up to " + LoadOptions.STREAMS_MAX);
        }
        Report report = new Report(
                json ? Report.Form.JSON : Report.Form.TABLE, spec.commandLine().getOut());
        try (TestBed bed = TestBed.start(binaries(), this::progress)) {
            for (Scenario scenario : new LinkedHashSet<>(scenarios)) {
                for (Figures figures : run(scenario, bed)) {
                    report.add(figures);
                }
            }
        }
        report.end();
        return report.faultless() ? 0 : JUDGED_BAD;
    }

    private List<Figures> run(Scenario scenario, TestBed bed) throws IOException, InterruptedException, BenchException {
        return switch (scenario) {
            case QUIET -> {
                QuietScenario quiet = new QuietScenario(bed, streams(quick ? 1_000 : 10_000), quick ? 1 : 3);
                yield List.of(quiet.run(1), quiet.run(Tables.COUNT));
            }
            case FANOUT ->
                List.of(fanout(bed, FanoutScenario.Kind.CHANGES, 1_000).run());
            case PROBES -> List.of(fanout(bed, FanoutScenario.Kind.PROBES, 25).run());
            case BROADCAST ->
                List.of(fanout(bed, FanoutScenario.Kind.BROADCASTS, 1_000).run());
            case PREDICATES ->
                List.of(new PredicateScenario(bed, quick ? PredicateScenario.QUICK : PredicateScenario.FULL).run());
        };
    }

    private FanoutScenario fanout(TestBed bed, FanoutScenario.Kind kind, int byDefault) {
        return new FanoutScenario(bed, kind, streams(byDefault), quick ? FanoutScenario.QUICK : FanoutScenario.FULL);
    }

    private int streams(int byDefault) {
        return streams == 0 ? byDefault : streams;
    }

    private static Path binaries() {
        return Path.of(System.getProperty("sluice.postgres.binaries", "target/postgres"));
    }

    private void progress(String step) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("sluice bench: " + step);
        err.flush();
    }
}
