package sluice.testkit.sse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import mockwebserver3.MockResponse;
import mockwebserver3.MockWebServer;
import mockwebserver3.RecordedRequest;
import okhttp3.Protocol;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;

class SseClientTest {
    private static final String HEAD =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

    @Test
    void the_request_carries_token_body_and_host() throws Exception {
        try (Peer peer = new Peer("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n")) {
            SseClient.post(peer.uri("/stream?a=1"), "{\"größe\":1}")
                    .bearer("abc")
                    .open()
                    .close();
            assertThat(peer.request())
                    .startsWith("POST /stream?a=1 HTTP/1.1")
                    .contains("authorization: Bearer abc", "content-length: 13", "content-type: application/json");
        }
    }

    @Test
    void events_arrive_in_order_through_any_chunks() throws Exception {
        String body =
                chunk("event: ready\nda") + chunk("ta: 1\n\n: ping\n\nevent: ") + chunk("change\ndata: 2\n\n") + end();
        try (Peer peer = new Peer(HEAD + body);
                SseClient client = SseClient.post(peer.uri("/stream"), "{}").open()) {
            assertThat(client.status()).isEqualTo(200);
            assertThat(client.header("content-type")).isEqualTo("text/event-stream");
            assertThat(client.next().event()).isEqualTo("ready");
            assertThat(client.await("change").data()).isEqualTo("2");
            assertThat(client.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
            assertThat(client.heartbeats()).isEqualTo(1);
            assertThat(client.received()).hasSize(2);
        }
    }

    @Test
    void a_fence_shows_what_came_before_it() throws Exception {
        String body = chunk("data: 1\n\ndata: 2\n\nevent: fence\ndata: x\n\n");
        try (Peer peer = new Peer(HEAD + body);
                SseClient client = SseClient.post(peer.uri("/stream"), "{}").open()) {
            assertThat(client.next().data()).isEqualTo("1");
            assertThat(client.eventsUntil(event -> event.is("fence")))
                    .extracting(SseEvent::data)
                    .containsExactly("2");
        }
    }

    @Test
    void what_should_not_have_arrived_is_shown() throws Exception {
        String body = chunk("data: 1\n\nevent: fence\ndata: x\n\nevent: fence\ndata: y\n\n");
        try (Peer peer = new Peer(HEAD + body);
                SseClient client = SseClient.post(peer.uri("/stream"), "{}").open()) {
            assertThatThrownBy(() -> client.assertNothingUntil(event -> event.is("fence")))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("data=1");
            client.assertNothingUntil(event -> event.is("fence"));
        }
    }

    @Test
    void a_cut_connection_is_not_an_end() throws Exception {
        try (Peer peer = new Peer(HEAD + chunk("data: 1\n\n"));
                SseClient client = SseClient.post(peer.uri("/stream"), "{}").open()) {
            client.next();
            peer.cut();
            assertThat(client.awaitEnd()).isEqualTo(SseClient.End.CUT);
            assertThatThrownBy(() -> client.await("change"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("CUT");
        }
    }

    @Test
    void a_missed_event_fails_with_what_was_received() throws Exception {
        try (Peer peer = new Peer(HEAD + chunk("event: other\ndata: 1\n\n"));
                SseClient client = SseClient.post(peer.uri("/stream"), "{}").open()) {
            assertThatThrownBy(() -> client.await(event -> event.is("change"), Duration.ofMillis(200)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("other");
        }
    }

    @Test
    void a_refusal_is_kept_with_its_body() throws Exception {
        try (Peer peer = new Peer("HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\nRetry-After: 2\r\n\r\nnope");
                SseClient client = SseClient.post(peer.uri("/stream"), "{}").open()) {
            assertThat(client.status()).isEqualTo(401);
            assertThat(client.refusal()).isEqualTo("nope");
            assertThat(client.header("Retry-After")).isEqualTo("2");
        }
    }

    @Test
    void aborting_is_seen_as_a_reset() throws Exception {
        try (Peer peer = new Peer(HEAD + chunk("data: 1\n\n"))) {
            SseClient client = SseClient.post(peer.uri("/stream"), "{}").open();
            client.next();
            client.abort();
            assertThat(client.awaitEnd()).isEqualTo(SseClient.End.BY_CLIENT);
            assertThatThrownBy(peer::readOne)
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
        }
    }

    @Test
    void a_paused_client_leaves_bytes_to_the_kernel_until_it_resumes() throws Exception {
        try (Peer peer = new Peer(HEAD);
                SseClient client = SseClient.post(peer.uri("/stream"), "{}")
                        .holdingAtMost(10, 4096)
                        .open()) {
            client.pause();
            int events = 20_000;
            CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
                for (int i = 0; i < events; i++) {
                    peer.send(chunk("data: " + i + " " + "x".repeat(200) + "\n\n"));
                }
            });
            Await.until("the writer is stuck", () -> peer.isStuck());
            assertThat(writer).isNotDone();
            client.resume();
            assertThat(client.next(events))
                    .last()
                    .extracting(SseEvent::data)
                    .asString()
                    .startsWith("19999 ");
            writer.join();
        }
    }

    @Test
    void http2_streams_share_a_connection() throws Exception {
        try (MockWebServer server = new MockWebServer()) {
            server.setProtocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE));
            for (int i = 0; i < 2; i++) {
                server.enqueue(new MockResponse.Builder()
                        .addHeader("content-type", "text/event-stream")
                        .body("event: ready\ndata: " + i + "\n\n")
                        .build());
            }
            server.start();
            Transport transport = Transport.http2();
            List<Integer> connections = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                try (SseClient client = SseClient.post(server.url("/stream").uri(), "{}")
                        .bearer("abc")
                        .over(transport)
                        .open()) {
                    assertThat(client.next().data()).isEqualTo(Integer.toString(i));
                    assertThat(client.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
                }
                RecordedRequest request = server.takeRequest();
                connections.add(request.getConnectionIndex());
                assertThat(request.getVersion()).isEqualTo("HTTP/2");
                assertThat(request.getHeaders().get("authorization")).isEqualTo("Bearer abc");
            }
            assertThat(connections).containsExactly(0, 0);
        }
    }

    private static String chunk(String text) {
        return Integer.toHexString(text.getBytes(StandardCharsets.UTF_8).length) + "\r\n" + text + "\r\n";
    }

    private static String end() {
        return "0\r\n\r\n";
    }

    /// Takes one connection, reads the request's head and answers with given bytes.
    private static final class Peer implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final CompletableFuture<Socket> connection = new CompletableFuture<>();
        private final CompletableFuture<String> request = new CompletableFuture<>();
        private volatile long lastSent = System.nanoTime();
        private volatile boolean sending;

        Peer(String answer) throws IOException {
            Thread.ofVirtual().start(() -> serve(answer));
        }

        private void serve(String answer) {
            try {
                Socket socket = listener.accept();
                socket.setSendBufferSize(4096);
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                List<String> head = new ArrayList<>();
                for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
                    head.add(line);
                }
                for (int i = 0; i < 2; i++) {
                    assertThat(in.read()).isNotNegative(); // the body, "{}" or more
                }
                request.complete(String.join("\n", head));
                socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                connection.complete(socket);
            } catch (IOException e) {
                request.completeExceptionally(e);
                connection.completeExceptionally(e);
            }
        }

        URI uri(String path) {
            return URI.create("http://127.0.0.1:" + listener.getLocalPort() + path);
        }

        String request() {
            return request.join();
        }

        void send(String text) {
            try {
                OutputStream out = connection.join().getOutputStream();
                sending = true;
                out.write(text.getBytes(StandardCharsets.UTF_8));
                sending = false;
                lastSent = System.nanoTime();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        boolean isStuck() {
            return sending
                    && System.nanoTime() - lastSent > Duration.ofMillis(300).toNanos();
        }

        void readOne() throws IOException {
            int ignored = connection.join().getInputStream().read();
            assertThat(ignored).isNotNegative();
        }

        void cut() throws IOException {
            connection.join().close();
        }

        @Override
        public void close() throws IOException {
            listener.close();
            if (connection.isDone() && !connection.isCompletedExceptionally()) {
                connection.join().close();
            }
        }
    }
}
