package sluice.server.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// One short program run to its end, its output kept.
final class Command {
    private static final long TIMEOUT_SECONDS = 120;
    private static final int OUTPUT_MAX = 64 * 1024;

    /// @param output what it printed, both streams, at most 64 KiB; empty when it could not be started
    record Outcome(int status, String output) {
        boolean succeeded() {
            return status == 0;
        }
    }

    private Command() {}

    /// Never throws for a program that is missing or hangs: that is a status of -1.
    static Outcome run(List<String> command) {
        try {
            // To a file, not a pipe: a child that outlives the program would hold a pipe open.
            Path printed = Files.createTempFile("sluice-", ".out");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(printed.toFile())
                        .redirectInput(ProcessBuilder.Redirect.from(
                                Path.of("/dev/null").toFile()))
                        .start();
                if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    return new Outcome(-1, command.getFirst() + " did not end within " + TIMEOUT_SECONDS + " s");
                }
                try (InputStream output = Files.newInputStream(printed)) {
                    return new Outcome(
                            process.exitValue(), new String(output.readNBytes(OUTPUT_MAX), StandardCharsets.UTF_8));
                }
            } finally {
                Files.deleteIfExists(printed);
            }
        } catch (IOException e) {
            return new Outcome(-1, "");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Outcome(-1, "interrupted");
        }
    }
}
