package sluice.server.cli;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import sluice.server.app.StartException;
import sluice.server.config.SettingsException;
import sluice.server.demo.DemoException;
import sluice.server.postgres.console.StatementException;

/// Turns what a command threw into one line and an exit status. Only what nobody expected shows where it came from.
final class Failures {
    static final int FAILED = 1;
    static final int COULD_NOT_RUN = 2;

    private Failures() {}

    static int usage(ParameterException problem, String[] arguments) {
        CommandLine command = problem.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("sluice: " + problem.getMessage());
        err.println("see " + command.getCommandSpec().qualifiedName() + " --help");
        return COULD_NOT_RUN;
    }

    static int execution(Exception problem, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        if (problem instanceof StatementException statement) {
            refused(statement, err);
            return FAILED;
        }
        if (problem instanceof DemoException demo) {
            err.println("sluice: " + demo.line());
        } else if (problem instanceof StartException || problem instanceof SettingsException) {
            String.valueOf(problem.getMessage()).lines().forEach(line -> err.println("sluice: " + line));
        } else {
            err.println("sluice: this should not have happened; please report it with the following lines");
            problem.printStackTrace(err);
        }
        return COULD_NOT_RUN;
    }

    /// As psql prints it.
    private static void refused(StatementException problem, PrintWriter err) {
        err.println("ERROR: " + problem.getMessage());
        if (!problem.detail().isEmpty()) {
            err.println("DETAIL: " + problem.detail());
        }
        if (!problem.hint().isEmpty()) {
            err.println("HINT: " + problem.hint());
        }
    }
}
