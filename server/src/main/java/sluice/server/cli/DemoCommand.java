package sluice.server.cli;

import java.io.PrintWriter;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import sluice.server.app.StopSignal;
import sluice.server.demo.Demo;
import sluice.server.demo.DemoCheck;
import sluice.server.demo.DemoException;
import sluice.server.demo.DemoOptions;

@Command(
        name = "demo",
        description = {
            "Starts a PostgreSQL of its own, tables under row-level security, the server and a page, all on 127.0.0.1,"
                    + " and says how to use them.",
            "The data stays in a folder for the next start."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Examples:",
            "  sluice demo                          on port 4000, until Ctrl-C",
            "  sluice demo --port 0 --json          any free port, the facts as one JSON line",
            "  sluice demo --postgres-version 15    another PostgreSQL, with data of its own",
            "  sluice demo --check                  tries everything by itself and cleans up"
        })
final class DemoCommand implements Callable<Integer> {
    private static final Set<Integer> MAJORS = Set.of(15, 16, 17, 18);
    private static final int PORT_MAX = 65_535;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--port",
            paramLabel = "N",
            defaultValue = "4000",
            description = "Port of 127.0.0.1; 0 takes any free one (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = "--postgres-version",
            paramLabel = "15|16|17|18",
            defaultValue = "18",
            description = "Which PostgreSQL (default: ${DEFAULT-VALUE}).")
    private int postgresMajor;

    @Mixin
    private DataOption data = new DataOption();

    @Option(names = "--json", description = "Print the facts as one line of JSON and nothing else.")
    private boolean json;

    @Option(
            names = "--check",
            description = "Run in a temporary folder on free ports, write as alice and bob, compare what their streams"
                    + " brought with SELECT, and end: 0 when all is well, 1 when not.")
    private boolean check;

    @Override
    public Integer call() throws DemoException {
        if (!MAJORS.contains(postgresMajor)) {
            throw new ParameterException(spec.commandLine(), "--postgres-version is 15, 16, 17 or 18");
        }
        if (port < 0 || port > PORT_MAX) {
            throw new ParameterException(spec.commandLine(), "--port is a number from 0 to " + PORT_MAX);
        }
        DemoOptions options = new DemoOptions(port, postgresMajor, data.folder(), DemoOptions.defaultBinaries());
        return check ? check(options) : serve(options);
    }

    private int check(DemoOptions options) {
        try {
            return DemoCheck.run(options, System.out, this::progress) ? 0 : Failures.FAILED;
        } catch (DemoException e) {
            spec.commandLine().getErr().println("sluice: " + e.line());
            return Failures.FAILED;
        }
    }

    private int serve(DemoOptions options) throws DemoException {
        Demo demo = Demo.start(options, this::progress);
        StopSignal.install(() -> {
            progress("stopping");
            demo.close();
            progress("stopped; the rows stay in " + options.data());
        });
        PrintWriter out = spec.commandLine().getOut();
        out.println(json ? demo.facts().json() : demo.facts().text());
        out.flush();
        // Ctrl-C ends the process from the signal; only a server that cannot go on comes back here.
        progress("the server stopped: " + demo.awaitEnd());
        return Failures.FAILED;
    }

    private void progress(String step) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("sluice demo: " + step);
        err.flush();
    }
}
