package sluice.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
        name = "version",
        description = "Prints the version and the JDK it runs on.",
        mixinStandardHelpOptions = true,
        footer = {"", "Example:", "  sluice version"})
final class VersionCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        for (String line : new Version().getVersion()) {
            spec.commandLine().getOut().println(line);
        }
    }
}
