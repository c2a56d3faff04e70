package sluice.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

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
final class ReadycheckCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private Probe probe = new Probe();

    @Override
    public Integer call() throws InterruptedException {
        return probe.ask(
                "/readyz", spec.commandLine().getOut(), spec.commandLine().getErr());
    }
}
