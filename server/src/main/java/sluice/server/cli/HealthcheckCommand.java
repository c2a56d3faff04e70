package sluice.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

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
final class HealthcheckCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private Probe probe = new Probe();

    @Override
    public Integer call() throws InterruptedException {
        return probe.ask(
                "/healthz", spec.commandLine().getOut(), spec.commandLine().getErr());
    }
}
