package sluice.server.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The `sluice` command. Exit status: 0 done, 1 failed, 2 wrong usage or could not run.
@Command(
        name = "sluice",
        description = "Streams the rows a user may see from PostgreSQL over SSE, under row-level security.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer = {
            "",
            "Begin with:",
            "  sluice demo          everything on this machine, PostgreSQL included",
            "  sluice demo --check  the same, used and judged by itself",
            "",
            "Exit status: 0 done, 1 failed, 2 wrong usage or could not run."
        },
        subcommands = {
            DemoCommand.class,
            ServeCommand.class,
            SetupCommand.class,
            LintCommand.class,
            SqlCommand.class,
            TokenCommand.class,
            HealthcheckCommand.class,
            ReadycheckCommand.class,
            VersionCommand.class
        })
public final class Main implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Failures::usage)
                .setExecutionExceptionHandler(Failures::execution);
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }
}
