package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Streams through the proxies that are installed, with the settings of the operating page.
class BehindProxyIT {
    private static final AtomicInteger LAST_ID = new AtomicInteger();
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @TempDir
    private Path scratch = Path.of("");

    @BeforeAll
    static void start() throws Exception {
        database = Notes.database("proxied");
        sluice = RunningSluice.on(database, Map.of("SLUICE_HEARTBEAT", "5s"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @ParameterizedTest
    @EnumSource
    void each_event_and_heartbeat_comes_through_while_the_stream_is_open(ProxyProcess.Kind kind) throws Exception {
        boolean installed = kind.installed().isPresent();
        if (!installed) {
            System.err.println("not tested behind " + kind.program() + ", which is not installed");
        }
        assumeTrue(installed, kind.program() + " is not installed");
        String body = "{\"subscriptions\":[" + shape("mine", "notes", "") + "]}";
        try (ProxyProcess proxy = ProxyProcess.start(kind, sluice.uri(""), scratch);
                SseClient alice = SseClient.post(proxy.uri("/sluice/v1/stream"), body)
                        .bearer(sluice.token(ALICE))
                        .open()) {
            assertThat(alice.status()).isEqualTo(200);
            assertThat(alice.header("Content-Type")).isEqualTo("text/event-stream");
            assertThat(alice.header("Content-Encoding")).isNull();
            assertThat(alice.header("Sluice-Stream-Id")).isNotNull();
            alice.await("ready");
            // each is read before the next is written: a proxy that waits for more would never let one through
            for (int written = 0; written < 3; written++) {
                int id = LAST_ID.incrementAndGet();
                Notes.insert(database, id, ALICE);
                assertThat(Notes.id(alice.await("change"))).isEqualTo(id);
            }
            long before = alice.heartbeats();
            Await.until("a heartbeat comes through", Duration.ofSeconds(60), () -> alice.heartbeats() > before);
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_is_not_for_clients_stays_inside(ProxyProcess.Kind kind) throws Exception {
        assumeTrue(kind.installed().isPresent(), kind.program() + " is not installed");
        try (ProxyProcess proxy = ProxyProcess.start(kind, sluice.uri(""), scratch)) {
            try (SseClient metrics =
                            SseClient.get(proxy.uri("/sluice/v1/metrics")).open();
                    SseClient admin = SseClient.post(proxy.uri("/sluice/v1/admin/jwks/refresh"), "")
                            .open()) {
                assertThat(metrics.status()).isEqualTo(404);
                assertThat(admin.status()).isEqualTo(404);
            }
            try (SseClient answer =
                    SseClient.get(proxy.uri("/sluice/v1/healthz")).open()) {
                assertThat(answer.status()).isEqualTo(200);
            }
        }
    }

    /// A compressor holds events back until it has enough of them, or needs to be told after each.
    @ParameterizedTest
    @EnumSource
    void b60_a_proxy_that_compresses_leaves_the_stream_alone(ProxyProcess.Kind kind) throws Exception {
        assumeTrue(kind.installed().isPresent(), kind.program() + " is not installed");
        try (ProxyProcess proxy = ProxyProcess.start(kind, sluice.uri(""), scratch)) {
            try (SseClient compressed = SseClient.get(proxy.uri(kind.compressed()))
                    .header("Accept-Encoding", "gzip")
                    .open()) {
                assertThat(compressed.header("Content-Encoding"))
                        .as("it does compress")
                        .isEqualTo("gzip");
            }
            try (SseClient alice = SseClient.post(
                            proxy.uri("/sluice/v1/stream"), "{\"subscriptions\":[" + shape("mine", "notes", "") + "]}")
                    .bearer(sluice.token(ALICE))
                    .header("Accept-Encoding", "gzip")
                    .open()) {
                assertThat(alice.status()).isEqualTo(200);
                assertThat(alice.header("Content-Encoding")).isNull();
                alice.await("ready");
                int id = LAST_ID.incrementAndGet();
                Notes.insert(database, id, ALICE);
                assertThat(Notes.id(alice.await("change"))).isEqualTo(id);
            }
        }
    }
}
