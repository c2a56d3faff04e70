package sluice.server.demo;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import sluice.server.app.SluiceServer;
import sluice.server.app.StartException;
import sluice.server.config.Settings;
import sluice.server.config.SettingsReader;
import sluice.server.http.ExtraRoutes;
import sluice.server.logging.LogFormat;
import sluice.server.logging.LogLevel;
import sluice.server.logging.LogSetup;

/// The server inside the demo: the same as `sluice serve`, its log in the demo's folder.
final class DemoServer implements AutoCloseable {
    private static final Duration READY_WITHIN = Duration.ofSeconds(60);
    private static final long PAUSE_MILLIS = 20;

    private final SluiceServer server;
    private final OutputStream log;
    private final Path logFile;

    private DemoServer(SluiceServer server, OutputStream log, Path logFile) {
        this.server = server;
        this.log = log;
        this.logFile = logFile;
    }

    static DemoServer start(DemoOptions options, Map<String, String> environment, ExtraRoutes routes)
            throws DemoException, IOException {
        Path logFile = options.data().resolve("server.log");
        OutputStream log = Files.newOutputStream(logFile);
        LogSetup.apply(LogFormat.TEXT, LogLevel.INFO, log);
        try {
            Settings settings = new SettingsReader(environment, SettingsReader.Place.here()).read();
            return new DemoServer(SluiceServer.start(settings, routes), log, logFile);
        } catch (StartException e) {
            log.close();
            throw new DemoException("the server did not start: " + e.getMessage(), "its log is " + logFile);
        }
    }

    int port() {
        return server.port();
    }

    /// Completes with the reason when the server cannot go on.
    CompletableFuture<String> ended() {
        return server.ended();
    }

    /// Blocks until `/readyz` says that streams can be opened.
    void awaitReady(String baseUrl) throws DemoException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(baseUrl + "/readyz"))
                .timeout(Duration.ofSeconds(5))
                .build();
        long deadline = System.nanoTime() + READY_WITHIN.toNanos();
        try (HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            while (System.nanoTime() < deadline) {
                if (answers(client, request)) {
                    return;
                }
                Thread.sleep(PAUSE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new DemoException(
                "the server was not ready within " + READY_WITHIN.toSeconds() + " s", "its log is " + logFile);
    }

    private static boolean answers(HttpClient client, HttpRequest request) throws InterruptedException {
        try {
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        log.close();
    }
}
