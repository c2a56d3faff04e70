package sluice.server.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import sluice.server.cli.Main;

/// `sluice` in a process of its own, on this test's class path.
final class DemoProcess implements AutoCloseable {
    /// A start of PostgreSQL and of a JVM are in it, on whatever machine.
    private static final long PATIENCE_SECONDS = 240;

    private final Process process;
    private final Path out;
    private final Path err;

    private DemoProcess(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    static DemoProcess start(Path scratch, String... arguments) throws IOException {
        Path out = Files.createTempFile(scratch, "sluice-", ".out");
        Path err = Files.createTempFile(scratch, "sluice-", ".err");
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Dsluice.postgres.binaries=" + System.getProperty("sluice.postgres.binaries"),
                "-Djava.io.tmpdir=" + Files.createDirectories(scratch.resolve("tmp")),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        return new DemoProcess(process, out, err);
    }

    /// Waits for the one line of `--json`.
    JsonNode facts() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (System.nanoTime() < deadline && process.isAlive()) {
            String printed = Files.readString(out);
            if (printed.endsWith("\n")) {
                return new ObjectMapper().readTree(printed);
            }
            process.waitFor(50, TimeUnit.MILLISECONDS);
        }
        throw new AssertionError("the demo did not start: " + errors());
    }

    int exitStatus() throws IOException, InterruptedException {
        boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(ended)
                .as("ended in time, after this: " + (ended ? "" : output() + errors()))
                .isTrue();
        return process.exitValue();
    }

    String output() throws IOException {
        return Files.readString(out);
    }

    String errors() throws IOException {
        return Files.readString(err);
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    /// As Ctrl-C and service managers do.
    void interrupt() {
        process.destroy();
    }

    /// kill -9: nothing of the program runs any more.
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            process.destroy();
            try {
                process.waitFor(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
