package sluice.server.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import sluice.server.config.LocalServer;

/// One question to a server on this machine, for container health checks.
final class Probe {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "The server's base URL (default: this machine, port of SLUICE_LISTEN_ADDR or 4000).")
    private @Nullable URI url;

    /// @return 0 when the answer is 200, 1 when it is another or none comes
    int ask(String path, PrintWriter out, PrintWriter err) throws InterruptedException {
        String base = url == null ? LocalServer.url() : url.toString().replaceAll("/+$", "");
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(base + path)).timeout(TIMEOUT).build();
        try (HttpClient client = HttpClient.newBuilder()
                .connectTimeout(TIMEOUT)
                .version(HttpClient.Version.HTTP_1_1)
                .build()) {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            out.println(answer.body().strip());
            return answer.statusCode() == 200 ? 0 : Failures.FAILED;
        } catch (IOException e) {
            err.println("sluice: " + base + path + " does not answer");
            return Failures.FAILED;
        }
    }
}
