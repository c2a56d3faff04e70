package sluice.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import sluice.server.cli.Main;

/// The server under test: `sluice serve` with the flags that every figure is measured with.
final class ServerProcess implements AutoCloseable {
    static final String PREFIX = "/sluice/v1";

    static final List<String> FLAGS = List.of(
            "-Xmx512m",
            "-XX:+UseG1GC",
            "-XX:+UseCompactObjectHeaders",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");

    private static final long START_SECONDS = 60;
    private static final long STOP_SECONDS = 30;
    private static final long PAUSE_MILLIS = 50;
    private static final Pattern STREAMS = Pattern.compile("\"streams\":(\\d+)");

    private final Process process;
    private final int port;
    private final Path log;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private ServerProcess(Process process, int port, Path log) {
        this.process = process;
        this.port = port;
        this.log = log;
    }

    /// Blocks until streams can be opened.
    ///
    /// @param settings all but the address, by the names of environment variables
    static ServerProcess start(Map<String, String> settings, Path log)
            throws IOException, InterruptedException, BenchException {
        int port = freePort();
        List<String> command = new ArrayList<>(List.of(java()));
        command.addAll(FLAGS);
        String more = System.getProperty("sluice.bench.server.options", "");
        Stream.of(more.split(" ")).filter(option -> !option.isEmpty()).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), "serve"));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .redirectInput(Path.of("/dev/null").toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("SLUICE_"));
        builder.environment().putAll(settings);
        builder.environment().put("SLUICE_LISTEN_ADDR", "127.0.0.1:" + port);
        builder.environment().put("SLUICE_PATH_PREFIX", PREFIX);
        builder.environment().put("SLUICE_LOG_LEVEL", "warn");
        ServerProcess server = new ServerProcess(builder.start(), port, log);
        try {
            server.awaitStreams(0);
        } catch (BenchException e) {
            server.close();
            throw e;
        }
        return server;
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    int port() {
        return port;
    }

    long pid() {
        return process.pid();
    }

    /// Blocks until the server is ready and has so many streams.
    void awaitStreams(int streams) throws InterruptedException, BenchException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/readyz"))
                .timeout(Duration.ofSeconds(5))
                .build();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (System.nanoTime() < deadline) {
            if (!process.isAlive()) {
                throw new BenchException("the server ended with status " + process.exitValue() + ": " + lastLine());
            }
            if (ready(request, streams)) {
                return;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        throw new BenchException(
                "the server is not ready with " + streams + " streams after " + START_SECONDS + " s: " + lastLine());
    }

    private boolean ready(HttpRequest request, int streams) throws InterruptedException {
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            Matcher found = STREAMS.matcher(answer.body());
            return answer.statusCode() == 200 && found.find() && Integer.parseInt(found.group(1)) == streams;
        } catch (IOException e) {
            return false;
        }
    }

    private String lastLine() {
        try {
            List<String> lines = Files.readAllLines(log);
            return lines.isEmpty() ? "its log is empty" : lines.getLast();
        } catch (IOException e) {
            return "its log cannot be read";
        }
    }

    @Override
    public void close() {
        http.close();
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
