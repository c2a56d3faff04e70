package sluice.server.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
            "In a checkout, `./sluice bench --help` measures this machine.",
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

    @Command(
            name = "healthcheck",
            description = "Asks a server on this machine whether it lives.",
            mixinStandardHelpOptions = true,
            footer = {
                "",
                "Examples:",
                "  sluice healthcheck",
                "  sluice healthcheck --url http://127.0.0.1:4000",
                "",
                "Exit status: 0 yes, 1 no or no answer."
            })
    int healthcheck(@Mixin Probe probe) throws InterruptedException {
        return ask(probe, "/healthz");
    }

    @Command(
            name = "readycheck",
            description = "Asks a server on this machine whether it streams: it has its catalog and reads its slot.",
            mixinStandardHelpOptions = true,
            footer = {
                "",
                "Examples:",
                "  sluice readycheck",
                "  sluice readycheck --url http://127.0.0.1:4000",
                "",
                "Exit status: 0 yes, 1 no or no answer."
            })
    int readycheck(@Mixin Probe probe) throws InterruptedException {
        return ask(probe, "/readyz");
    }

    private int ask(Probe probe, String path) throws InterruptedException {
        return probe.ask(path, spec.commandLine().getOut(), spec.commandLine().getErr());
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }
}
