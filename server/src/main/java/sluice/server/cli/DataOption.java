package sluice.server.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import sluice.server.demo.DemoOptions;

/// Which demo: `--data`, shared by the commands that need one.
final class DataOption {
    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Folder of the demo's data (default: .demo below this checkout).")
    private @Nullable Path data;

    Path folder() {
        Path chosen = data == null ? DemoOptions.defaultData() : data;
        return chosen.toAbsolutePath().normalize();
    }
}
