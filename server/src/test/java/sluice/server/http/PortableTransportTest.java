package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;

/// Streams over the JDK's sockets, which are used wherever no native ones load.
@Timeout(60)
class PortableTransportTest {
    private static HttpSettings portable(HttpSettings settings) {
        return new HttpSettings(
                settings.address(),
                settings.pathPrefix(),
                settings.nodeId(),
                settings.requestIdHeader(),
                settings.limits(),
                settings.times(),
                settings.metricsEndpoint(),
                HttpSettings.TransportChoice.PORTABLE);
    }

    @Test
    void the_portable_choice_is_the_jdks_sockets() {
        assertThat(Transport.of(HttpSettings.TransportChoice.PORTABLE)).isEqualTo(Transport.NIO);
    }

    @Test
    void a_stream_opens_carries_commits_and_ends_as_on_native_sockets() throws Exception {
        try (TestServer server = new TestServer(PortableTransportTest::portable)) {
            RawClient alice = server.stream();
            StreamHandle hers = server.nextOpened();
            RawClient other = server.stream();
            StreamHandle others = server.nextOpened();
            server.commit(List.of(hers), 1, 200, 2_000);
            for (int seq = 1; seq <= 200; seq++) {
                assertThat(alice.event()).contains("\"seq\":" + seq + ",");
            }
            alice.close();
            assertThat(server.nextClosed()).isEqualTo(new TestServer.Closed(hers, CloseReason.CLIENT_CLOSED));
            server.commit(List.of(others), 1, 1, 10);
            assertThat(other.event()).contains("\"seq\":1,");
            server.http().drain();
            assertThat(other.event()).contains("server_shutdown");
            other.close();
        }
    }

    @Test
    void heartbeats_come_and_a_client_that_does_not_read_is_closed() throws Exception {
        try (TestServer server = new TestServer(settings -> TestServer.times(
                                times -> TestServer.shortTimes(Duration.ofMillis(300), Duration.ofMillis(500)))
                        .apply(portable(settings)));
                RawClient quiet = server.stream();
                RawClient deaf = server.stream()) {
            server.nextOpened();
            StreamHandle unread = server.nextOpened();
            assertThat(quiet.event()).contains(": hb");
            for (long seq = 1; server.closed.isEmpty(); seq++) {
                server.commit(List.of(unread), seq, 1, 100_000);
            }
            TestServer.Closed closed = server.nextClosed();
            assertThat(closed.stream()).isEqualTo(unread);
            assertThat(closed.reason()).isIn(CloseReason.WRITE_FAILED, CloseReason.STREAM_LAGGING);
            assertThat(quiet.event()).contains(": hb");
        }
    }

    @Test
    void http2_is_spoken_there_too() throws Exception {
        try (TestServer server = new TestServer(PortableTransportTest::portable);
                HttpClient client = HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_2)
                        .build()) {
            HttpResponse<InputStream> response = client.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/sluice/v1/stream"))
                            .timeout(Duration.ofSeconds(20))
                            .header("Authorization", "Bearer " + server.tokens.of("alice"))
                            .POST(HttpRequest.BodyPublishers.ofString("{\"subscriptions\":[]}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofInputStream());
            assertThat(response.version()).isEqualTo(HttpClient.Version.HTTP_2);
            StreamHandle stream = server.nextOpened();
            server.commit(List.of(stream), 1, 1, 10);
            try (BufferedReader reader =
                    new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
                assertThat(reader.readLine()).isEqualTo("event: ready");
                String line = reader.readLine();
                while (!line.contains("\"seq\":1,")) {
                    line = reader.readLine();
                }
                assertThat(line).startsWith("data: {\"sub\"");
            }
        }
    }
}
