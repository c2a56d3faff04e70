package sluice.server.app;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sluice.server.cli.Main;
import sluice.testkit.Await;
import sluice.testkit.sse.SseClient;

/// `sluice serve` in a process of its own, on this test's class path.
final class ServerProcess implements AutoCloseable {
    private static final Pattern PORT = Pattern.compile("\"port\":\"?(\\d+)");

    private final Process process;
    private final Path log;
    private int port;

    private ServerProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /// Starts and waits until streams may open.
    ///
    /// @param environment the process's own settings, by their full name
    static ServerProcess start(Path scratch, Map<String, String> environment) throws IOException {
        Path log = Files.createTempFile(scratch, "serve-", ".log");
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName(),
                "serve"));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(log.toFile());
        builder.environment().putAll(environment);
        builder.environment().put("SLUICE_LOG_LEVEL", "info");
        builder.environment().put("SLUICE_LOG_FORMAT", "json");
        ServerProcess started = new ServerProcess(builder.start(), log);
        Await.until("the server listens", started::listens);
        Await.until("streams may open", started::isReady);
        return started;
    }

    private boolean listens() throws IOException {
        if (!process.isAlive()) {
            throw new AssertionError("the server ended: " + log());
        }
        for (String line : Files.readAllLines(log)) {
            Matcher found = PORT.matcher(line);
            if (line.contains("\"listening\"") && found.find()) {
                port = Integer.parseInt(found.group(1));
                return true;
            }
        }
        return false;
    }

    private boolean isReady() throws IOException {
        if (!process.isAlive()) {
            throw new AssertionError("the server ended: " + log());
        }
        try (SseClient answer = SseClient.get(uri("/readyz")).open()) {
            return answer.status() == 200;
        }
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    /// kill -9: nothing of the program runs any more.
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    }

    int exitStatus() throws InterruptedException {
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            throw new AssertionError("the server did not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
