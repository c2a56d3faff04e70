package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.http.JwksServer;
import sluice.testkit.http.TokenSigner;
import sluice.testkit.sse.SseClient;

/// A server with little memory refuses what does not fit, and lives.
@Timeout(120)
class MemoryIT {
    private static final int SHAPES = 5;

    /// More than any heap of these tests has room for.
    private static final int STREAMS_MAX = 5000;

    @TempDir
    private Path scratch;

    private final TokenSigner signer = TokenSigner.es256("test");

    private Map<String, String> settings(PostgresDatabase database, JwksServer jwks, String heap) {
        Map<String, String> settings = RunningSluice.environment(database, jwks, scratch.resolve("spill"));
        settings.put("JAVA_TOOL_OPTIONS", heap);
        return settings;
    }

    private SseClient open(ServerProcess server, String subscriptions) {
        return SseClient.post(server.uri("/sluice/v1/stream"), "{\"subscriptions\":[" + subscriptions + "]}")
                .bearer(signer.sign(Claims.of(ALICE)))
                .open();
    }

    /// Subscriptions that hold a hundred times what a stream usually does.
    private static String heavy(int number) {
        return IntStream.range(0, SHAPES)
                .mapToObj(i -> shape("s" + i, "notes", ",\"filter\":\"title=in.(" + titles(number, i) + ")\""))
                .collect(Collectors.joining(","));
    }

    private static String titles(int number, int shape) {
        return IntStream.range(0, 100)
                .mapToObj(i -> new UUID(number, 1000L * shape + i).toString())
                .collect(Collectors.joining(","));
    }

    private static double figure(ServerProcess server, String name) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(server.uri("/metrics")).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body()
                    .lines()
                    .filter(line -> line.startsWith(name + " "))
                    .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                    .sum();
        }
    }

    @Test
    void a_small_heap_refuses_streams_that_do_not_fit_serves_those_it_holds_and_takes_others_when_they_go()
            throws Exception {
        List<SseClient> clients = new ArrayList<>();
        try (PostgresDatabase database = Notes.database("memory");
                JwksServer jwks = JwksServer.publishing(signer);
                ServerProcess server = ServerProcess.start(scratch, settings(database, jwks, "-Xmx96m"));
                SseClient first = open(server, shape("mine", "notes", ""))) {
            assertThat(first.await("ready").data()).contains("\"ok\":true");
            SseClient last = first;
            while (last.status() == 200 && clients.size() < STREAMS_MAX) {
                last = open(server, heavy(clients.size()));
                clients.add(last);
            }
            assertThat(last.status()).isEqualTo(503);
            assertThat(last.refusal()).contains("\"error\":\"too_many_streams\"", "memory");
            assertThat(last.header("Retry-After")).isNotNull();
            assertThat(clients).as("streams that fit").hasSizeGreaterThan(10);

            long began = System.nanoTime();
            for (int i = 0; i < 100; i++) {
                clients.add(open(server, heavy(STREAMS_MAX + i)));
            }
            long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
            assertThat(figure(server, "sluice_streams_refused_total{reason=\"memory\"}"))
                    .isGreaterThan(1);
            assertThat(server.log().lines().filter(line -> line.contains("streams refused")))
                    .hasSizeBetween(1, (int) seconds + 3);

            Notes.insert(database, 1, ALICE);
            assertThat(Notes.idsUntil(first, 1)).containsExactly(1);

            clients.forEach(SseClient::close);
            Await.until("another fits again", Duration.ofSeconds(60), () -> {
                try (SseClient again = open(server, heavy(0))) {
                    return again.status() == 200;
                }
            });
            Notes.insert(database, 2, ALICE);
            assertThat(Notes.idsUntil(first, 2)).containsExactly(1, 2);
            assertThat(server.log()).doesNotContain("OutOfMemory", "invariant");
        } finally {
            clients.forEach(SseClient::close);
        }
    }

    @Test
    void a_thousand_streams_fit_in_a_small_heap_and_each_receives_its_row() throws Exception {
        List<SseClient> clients = new ArrayList<>();
        try (PostgresDatabase database = Notes.database("thousand");
                JwksServer jwks = JwksServer.publishing(signer);
                ServerProcess server = ServerProcess.start(scratch, settings(database, jwks, "-Xmx96m"))) {
            for (int i = 0; i < 1000; i++) {
                clients.add(open(server, shape("mine", "notes", ",\"filter\":\"id=eq." + i % 7 + "\"")));
            }
            for (SseClient client : clients) {
                assertThat(client.status()).as(client.refusal()).isEqualTo(200);
                assertThat(client.await("ready").data()).contains("\"ok\":true");
            }
            for (int i = 0; i < 7; i++) {
                Notes.insert(database, i, ALICE);
            }
            for (int i = 0; i < 1000; i++) {
                assertThat(Notes.idsUntil(clients.get(i), i % 7)).containsExactly(i % 7);
            }
            assertThat(figure(server, "sluice_streams")).isEqualTo(1000);
            assertThat(figure(server, "sluice_memory_projected_ratio")).isBetween(0.01, 0.5);
        } finally {
            clients.forEach(SseClient::close);
        }
    }
}
