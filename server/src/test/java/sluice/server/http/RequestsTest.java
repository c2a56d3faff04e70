package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.error.ErrorCode;
import sluice.core.stream.StreamHandle;
import sluice.server.metrics.Metrics;

/// Every answer that is not a stream, over real sockets.
class RequestsTest {
    private static TestServer server;

    @BeforeAll
    static void start() throws IOException {
        server = new TestServer(
                TestServer.times(times -> TestServer.shortTimes(Duration.ofSeconds(20), Duration.ofSeconds(5))));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void admitAll() {
        server.refusal = null;
        server.answers = true;
    }

    @ParameterizedTest
    @ValueSource(strings = {"/healthz", "/sluice/v1/healthz", "http://some.host/healthz", "/healthz?x=1"})
    void health_is_answered_with_and_without_the_prefix(String path) throws IOException {
        try (RawClient client = server.client()) {
            RawClient.Reply reply = client.get(path);
            assertThat(reply.status()).isEqualTo(200);
            assertThat(reply.body()).isEqualTo("{\"status\":\"ok\"}\n");
            assertThat(reply.header("Content-Type")).isEqualTo("application/json");
            assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
            assertThat(reply.header("Vary")).isEqualTo("Authorization");
        }
    }

    @Test
    void readiness_reports_its_facts_and_fails_with_503() throws IOException {
        Readiness ready = server.readiness;
        try (RawClient client = server.client()) {
            RawClient.Reply reply = client.get("/readyz");
            assertThat(reply.status()).isEqualTo(200);
            assertThat(reply.body())
                    .startsWith("{\"catalog_loaded\":true,\"replicating\":true,\"streams\":")
                    .endsWith(",\"confirmed_lsn\":\"1/AA\",\"reader_lag_seconds\":0.25}\n");
            server.readiness = new Readiness(
                    Readiness.Verdict.NOT_READY,
                    Readiness.Catalog.MISSING,
                    Readiness.Reader.WAITING,
                    ready.confirmedLsn(),
                    7,
                    Readiness.Lag.DEGRADED);
            RawClient.Reply waiting = client.get("/sluice/v1/readyz");
            assertThat(waiting.status()).isEqualTo(503);
            assertThat(waiting.body())
                    .contains("\"replicating\":false", "\"reader_lag_seconds\":7.0,\"degraded\":\"reader_lag\"");
        } finally {
            server.readiness = ready;
        }
    }

    @Test
    void metrics_are_served_as_text() throws IOException {
        try (RawClient client = server.client()) {
            RawClient.Reply reply = client.get("/metrics");
            assertThat(reply.status()).isEqualTo(200);
            assertThat(reply.header("Content-Type")).startsWith("text/plain");
            assertThat(reply.body()).contains("# TYPE sluice_streams gauge");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /",
                "GET /sluice/v1/stream",
                "POST /stream",
                "PUT /sluice/v1/stream",
                "POST /healthz",
                "HEAD /healthz",
                "GET /sluice/v1/subscribe",
                "PUT /sluice/v1/subscribe",
                "POST /subscribe",
                "GET /sluice/v1/unsubscribe",
                "GET /sluice/v1/token",
                "POST /token",
                "GET /sluice/v1/admin/jwks/refresh",
                "POST /admin/shapes/drop",
                "POST /sluice/v1/admin",
                "GET /SLUICE/v1/healthz",
                "GET /sluice/v1/healthz/",
                "OPTIONS *",
                "GET /sluice/v1/%68ealthz"
            })
    void whatever_does_not_exist_is_not_found(String line) throws IOException {
        try (RawClient client = server.client()) {
            client.send(line + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            String all = client.rest();
            assertThat(all).startsWith("HTTP/1.1 404 ");
            if (!line.startsWith("HEAD")) {
                assertThat(all).endsWith("{\"error\":\"not_found\",\"message\":\"no such endpoint\"}\n");
            }
        }
    }

    @Test
    void a_stream_without_a_token_is_unauthorized() throws IOException {
        try (RawClient client = server.client()) {
            client.send("POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
            RawClient.Reply reply = client.reply();
            assertThat(reply.status()).isEqualTo(401);
            assertThat(reply.body())
                    .isEqualTo("{\"error\":\"unauthorized\",\"message\":\"a bearer token is required\"}\n");
            client.openStream("a.b.c");
            assertThat(client.reply().status()).isEqualTo(401);
        }
    }

    @Test
    void two_authorization_headers_are_no_token() throws IOException {
        String token = server.tokens.of("alice");
        try (RawClient client = server.client()) {
            client.send("POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token
                    + "\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 0\r\n\r\n");
            assertThat(client.reply().status()).isEqualTo(401);
        }
    }

    @Test
    void a_server_whose_memory_is_nearly_full_says_when_to_ask_again_and_not_the_same_to_everybody()
            throws IOException {
        server.refusal =
                new StreamGate.Refusal(ErrorCode.TOO_MANY_STREAMS, Metrics.StreamRefusal.MEMORY, "memory is full");
        Set<Integer> seconds = new TreeSet<>();
        try (RawClient client = server.client()) {
            for (int i = 0; i < 100; i++) {
                client.openStream(server.tokens.of("alice"), "{}");
                RawClient.Reply refused = client.reply();
                assertThat(refused.status()).isEqualTo(503);
                assertThat(refused.body())
                        .isEqualTo("{\"error\":\"too_many_streams\",\"message\":\"memory is full\"}\n");
                seconds.add(Integer.valueOf(refused.header("Retry-After")));
            }
        }
        assertThat(seconds).hasSizeGreaterThan(1).allMatch(second -> second >= 5 && second <= 15);
        assertThat(new String(server.metrics.scrape(), StandardCharsets.UTF_8))
                .contains("sluice_streams_refused_total{reason=\"memory\"} 100.0");
        assertThat(server.http().streams()).isZero();
    }

    @Test
    void the_token_is_judged_before_anything_else_and_the_body_last() throws IOException {
        server.refusal =
                new StreamGate.Refusal(ErrorCode.NOT_REPLICATING, Metrics.StreamRefusal.NOT_REPLICATING, "not yet");
        try (RawClient client = server.client()) {
            client.openStream("bad", "{");
            assertThat(client.reply().status()).isEqualTo(401);
            client.openStream(server.tokens.of("alice"), "{");
            RawClient.Reply waiting = client.reply();
            assertThat(waiting.status()).isEqualTo(503);
            assertThat(waiting.header("Retry-After")).isEqualTo("5");
            assertThat(waiting.body()).isEqualTo("{\"error\":\"not_replicating\",\"message\":\"not yet\"}\n");
            server.refusal = null;
            client.openStream(server.tokens.of("alice"), "{");
            RawClient.Reply bad = client.reply();
            assertThat(bad.status()).isEqualTo(400);
            assertThat(bad.body())
                    .isEqualTo("{\"error\":\"bad_request\",\"message\":\"the body is not valid JSON\"}\n");
        }
        assertThat(server.http().streams()).isZero();
    }

    @Test
    void the_engine_may_refuse_instead_of_opening() throws Exception {
        server.answers = false;
        server.opened.clear();
        StreamHandle stream;
        try (RawClient client = server.client()) {
            client.openStream(server.tokens.of("alice"));
            stream = server.nextOpened();
            StreamHandle refused = stream;
            server.engine(() -> server.shards().refuse(refused, ErrorCode.CATALOG_UNAVAILABLE, "later"));
            RawClient.Reply reply = client.reply();
            assertThat(reply.status()).isEqualTo(503);
            assertThat(reply.body()).contains("catalog_unavailable");
            // the connection goes on
            assertThat(client.get("/healthz").status()).isEqualTo(200);
        }
        assertThat(server.closed).noneMatch(closed -> closed.stream().equals(stream));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
                "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
                "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
                "POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "POST /healthz HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1e3\r\n\r\n",
                "GET /healthz HTTP/1.1\r\n\r\n",
                "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n",
                "GET /healthz HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n",
                "\u0000\u0001\u0002garbage\r\n\r\n",
                "hello\r\n\r\n"
            })
    void a_malformed_request_is_answered_once_and_the_connection_closed(String request) throws IOException {
        try (RawClient client = server.client()) {
            client.send(request + "GET /metrics HTTP/1.1\r\nHost: smuggled\r\n\r\n");
            String all = client.rest();
            assertThat(all).startsWith("HTTP/1.1 400 ");
            assertThat(all).contains("{\"error\":\"bad_request\"");
            assertThat(all.indexOf("HTTP/1.1 ", 1)).as("a second answer").isEqualTo(-1);
        }
    }

    @Test
    void a_body_over_a_mebibyte_is_a_bad_request_however_it_is_announced() throws IOException {
        try (RawClient client = server.client()) {
            client.send("POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n");
            assertThat(client.rest()).startsWith("HTTP/1.1 400 ").contains("bad_request");
        }
        try (RawClient client = server.client()) {
            client.send("POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
            String chunk = "10000\r\n" + " ".repeat(0x10000) + "\r\n";
            for (int i = 0; i < 16; i++) {
                client.send(chunk);
            }
            client.send("1\r\n \r\n");
            assertThat(client.rest()).startsWith("HTTP/1.1 400 ").contains("larger than 1048576 bytes");
        }
    }

    @Test
    void a_body_of_a_whole_mebibyte_is_read() throws IOException {
        try (RawClient client = server.client()) {
            client.openStream(server.tokens.of("alice"), " ".repeat(1 << 20));
            TestServer.assertReady(client);
        }
    }

    @Test
    void all_bodies_together_have_a_bound_and_give_their_room_back() throws Exception {
        int clients = (int) (HttpContext.BODIES_BYTES_MAX >> 20) + 8;
        List<RawClient> open = new ArrayList<>();
        try (TestServer own = new TestServer()) {
            for (int i = 0; i < clients; i++) {
                RawClient client = own.client();
                client.send("POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n");
                client.send(" ".repeat(1_048_575));
                open.add(client);
            }
            RawClient refused = firstAnswered(open);
            RawClient.Reply reply = refused.reply();
            assertThat(reply.status()).isEqualTo(503);
            assertThat(reply.body()).contains("too_many_streams");
            assertThat(reply.header("Retry-After")).isEqualTo("5");
            for (RawClient client : open) {
                client.close();
            }
            String head = "";
            for (int attempt = 0; attempt < 50 && !head.startsWith("HTTP/1.1 200 "); attempt++) {
                try (RawClient client = own.client()) {
                    client.openStream(own.tokens.of("alice"), " ".repeat(1 << 20));
                    head = client.head();
                }
            }
            assertThat(head).as("room is given back").startsWith("HTTP/1.1 200 ");
        }
    }

    private static RawClient firstAnswered(List<RawClient> clients) throws IOException {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (System.nanoTime() < deadline) {
            for (RawClient client : clients) {
                if (client.hasBytes()) {
                    return client;
                }
            }
            LockSupport.parkNanos(5_000_000);
        }
        throw new AssertionError("nobody was refused");
    }

    @Test
    void a_head_that_never_ends_is_cut_off() throws IOException {
        try (RawClient client = server.client()) {
            client.send("GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(40_000));
            assertThat(client.rest()).startsWith("HTTP/1.1 400 ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "PRI * HT",
                "GET /hea",
                "GET /healthz HTTP/1.1\r\nHost: a\r\nX: y",
                "POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"
            })
    void a_client_that_stops_in_the_middle_is_closed(String start) throws IOException {
        try (RawClient client = server.client()) {
            client.send(start);
            assertThat(client.rest()).isEmpty();
        }
    }

    @Test
    void a_client_that_sends_a_byte_at_a_time_is_closed_all_the_same() throws Exception {
        try (RawClient client = server.client()) {
            client.send("GET /healthz HTTP/1.1\r\nHost: a\r\nX: ");
            Thread drip = Thread.ofVirtual().start(() -> {
                try {
                    while (true) {
                        client.send("x");
                        LockSupport.parkNanos(1_000_000);
                    }
                } catch (IOException e) {
                    // closed, as it should be
                }
            });
            assertThat(client.rest()).doesNotStartWith("HTTP/1.1 200");
            client.close();
            drip.join();
        }
    }

    @Test
    void an_idle_connection_is_closed_and_a_used_one_was_kept() throws IOException {
        try (RawClient client = server.client()) {
            assertThat(client.get("/healthz").status()).isEqualTo(200);
            assertThat(client.get("/healthz").status()).isEqualTo(200);
            assertThat(client.rest()).isEmpty();
        }
    }

    @Test
    void pipelined_requests_are_answered_in_order() throws IOException {
        try (RawClient client = server.client()) {
            StringBuilder many = new StringBuilder();
            for (int i = 0; i < 200; i++) {
                many.append("GET ").append(i % 2 == 0 ? "/metrics" : "/nowhere").append(" HTTP/1.1\r\nHost: a\r\n\r\n");
            }
            client.send(many.toString());
            for (int i = 0; i < 200; i++) {
                assertThat(client.reply().status()).isEqualTo(i % 2 == 0 ? 200 : 404);
            }
        }
    }

    @Test
    void an_expected_continue_is_given() throws IOException {
        try (RawClient client = server.client()) {
            client.send("POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
                    + server.tokens.of("alice") + "\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
            assertThat(client.head()).startsWith("HTTP/1.1 100 ");
            client.send("{}");
            TestServer.assertReady(client);
        }
    }
}
