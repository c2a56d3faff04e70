package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// A server that is told to stop: nobody is cut off in the middle, and not everybody comes back at once.
class ShutdownPgTest {
    private static final int SPREAD_MILLIS = 4_000;

    @Test
    void every_stream_gets_what_was_committed_and_is_told_when_to_come_back() throws Exception {
        try (PostgresDatabase database = Notes.database("shutdown");
                RunningSluice sluice =
                        RunningSluice.on(database, Map.of("SLUICE_RECONNECT_SPREAD", SPREAD_MILLIS + "ms"))) {
            List<SseClient> clients = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                clients.add(Notes.open(sluice, i % 2 == 0 ? ALICE : BOB));
            }
            Notes.insert(database, 1, ALICE);
            Notes.insert(database, 2, BOB);
            clients.forEach(client -> client.await("change"));

            sluice.server().close();

            List<Integer> delays = new ArrayList<>();
            for (SseClient client : clients) {
                var error = client.await("error").json();
                assertThat(error.get("code").asText()).isEqualTo("server_shutdown");
                assertThat(error.get("retryable").asBoolean()).isTrue();
                delays.add(error.get("retry_after_ms").asInt());
                assertThat(client.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
            }
            assertThat(delays).allMatch(delay -> delay >= 0 && delay < SPREAD_MILLIS);
            assertThat(delays.stream().distinct().count()).isGreaterThan(1);
            assertThat(database.value(
                            "SELECT active FROM pg_replication_slots WHERE slot_name = ?", Notes.slot(database)))
                    .isEqualTo("f");
        }
    }

    @Test
    void a_stream_asked_for_while_the_server_stops_is_refused() throws Exception {
        try (PostgresDatabase database = Notes.database("shutdown_new");
                RunningSluice sluice = RunningSluice.on(database);
                SseClient alice = Notes.open(sluice, ALICE);
                Socket late = new Socket(
                        InetAddress.getLoopbackAddress(), sluice.server().port())) {
            String body = "{\"subscriptions\":[" + shape("mine", "notes", "") + "]}";
            write(
                    late,
                    "POST /sluice/v1/stream HTTP/1.1\r\nhost: sluice\r\nauthorization: Bearer " + sluice.token(ALICE)
                            + "\r\ncontent-type: application/json\r\ncontent-length: " + body.length() + "\r\n\r\n"
                            + body.substring(0, 5));
            // an answer on another connection: the server has had time to read the head
            assertThat(sluice.readyStatus()).isEqualTo(200);

            CompletableFuture<Void> closing = CompletableFuture.runAsync(sluice.server()::close);
            assertThat(alice.await("error").data()).contains("\"server_shutdown\"");
            write(late, body.substring(5));

            String answer = new String(late.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 503 ").contains("\"server_shutdown\"");
            closing.join();
        }
    }

    private static void write(Socket socket, String text) throws Exception {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }
}
