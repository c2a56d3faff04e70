package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;

/// Who may ask for `/diagnostics`, and where.
class DiagnosticsTest {
    private static final String PATH = "/sluice/v1/diagnostics";
    private static final AtomicInteger MADE = new AtomicInteger();
    private static volatile boolean late;
    private static TestServer server;

    @BeforeAll
    static void start() throws IOException {
        server = new TestServer(settings -> settings, ExtraRoutes.NONE, () -> {
            if (late) {
                throw new RequestException(ErrorCode.CATALOG_UNAVAILABLE, "the engine did not answer in time");
            }
            return "{\"report\":" + MADE.incrementAndGet() + "}";
        });
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void the_administrators_role_receives_the_report() throws IOException {
        int before = MADE.get();
        try (RawClient client = server.client()) {
            RawClient.Reply reply = client.get(PATH, server.tokens.ofRole("service_role"));
            assertThat(reply.status()).isEqualTo(200);
            assertThat(reply.body()).isEqualTo("{\"report\":" + (before + 1) + "}\n");
            assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
            assertThat(reply.header("Vary")).isEqualTo("Authorization");
            assertThat(client.get("/healthz").status()).isEqualTo(200);
        }
    }

    @Test
    void everybody_else_is_forbidden_and_nothing_is_made_for_them() throws IOException {
        int before = MADE.get();
        Instant past = Instant.now().minusSeconds(3600);
        try (RawClient client = server.client()) {
            for (String token : new String[] {
                server.tokens.of("alice"),
                server.tokens.ofRole("postgres"),
                server.tokens.ofRole("SERVICE_ROLE"),
                new TestTokens().ofRole("service_role"),
                server.tokens.sign("{\"role\":\"service_role\",\"exp\":" + past.getEpochSecond() + "}"),
                "nonsense"
            }) {
                assertForbidden(client.get(PATH, token));
            }
            assertForbidden(client.get(PATH));
        }
        assertThat(MADE.get()).isEqualTo(before);
    }

    private static void assertForbidden(RawClient.Reply reply) {
        assertThat(reply.status()).isEqualTo(403);
        assertThat(reply.body())
                .isEqualTo("{\"error\":\"forbidden\",\"message\":\"a token of role \\\"service_role\\\" is"
                        + " required\"}\n");
    }

    @Test
    void an_engine_that_does_not_answer_is_told_as_such() throws IOException {
        late = true;
        try (RawClient client = server.client()) {
            RawClient.Reply reply = client.get(PATH, server.tokens.ofRole("service_role"));
            assertThat(reply.status()).isEqualTo(503);
            assertThat(reply.body()).contains("\"catalog_unavailable\"");
        } finally {
            late = false;
        }
    }

    @Test
    void it_is_under_the_prefix_only_and_for_get_only() throws IOException {
        String token = server.tokens.ofRole("service_role");
        try (RawClient client = server.client()) {
            assertThat(client.get("/diagnostics", token).status()).isEqualTo(404);
            client.send("POST " + PATH + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token
                    + "\r\nContent-Length: 0\r\n\r\n");
            assertThat(client.reply().status()).isEqualTo(404);
        }
    }

    @Test
    void switched_off_it_does_not_exist() throws IOException {
        try (TestServer hidden = new TestServer();
                RawClient client = hidden.client()) {
            RawClient.Reply reply = client.get(PATH, hidden.tokens.ofRole("service_role"));
            assertThat(reply.status()).isEqualTo(404);
            assertThat(reply.body()).contains("\"not_found\"");
        }
    }
}
