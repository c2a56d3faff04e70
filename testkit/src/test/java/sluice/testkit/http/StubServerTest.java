package sluice.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StubServerTest {
    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void it_answers_as_told_and_remembers_what_it_was_asked() {
        try (StubServer server = StubServer.start(asked -> StubServer.Answer.json(200, "{\"n\":1}"))) {
            HttpResponse<String> response =
                    post(server.uri("/hook?x=1"), "größe").join();
            assertThat(response.body()).isEqualTo("{\"n\":1}");
            assertThat(response.headers().firstValue("content-type")).hasValue("application/json");
            server.answer(asked -> StubServer.Answer.status(503));
            assertThat(post(server.uri("/hook"), "").join().statusCode()).isEqualTo(503);
            assertThat(server.asked()).hasSize(2).first().satisfies(asked -> {
                assertThat(asked.method()).isEqualTo("POST");
                assertThat(asked.path()).isEqualTo("/hook?x=1");
                assertThat(asked.body()).isEqualTo("größe");
                assertThat(asked.headers()).containsEntry("x-test", "yes");
            });
        }
    }

    @Test
    void what_it_holds_is_asked_but_not_answered_until_released() {
        try (StubServer server = StubServer.start(asked -> StubServer.Answer.status(204))) {
            server.hold();
            CompletableFuture<HttpResponse<String>> pending = post(server.uri("/"), "");
            server.awaitAsked(1);
            assertThat(pending).isNotDone();
            server.release();
            assertThat(pending.join().statusCode()).isEqualTo(204);
        }
    }

    @Test
    void a_key_server_rotates_fails_and_counts() {
        TokenSigner first = TokenSigner.es256("first");
        TokenSigner second = TokenSigner.es256("second");
        try (JwksServer server = JwksServer.publishing(first)) {
            assertThat(post(server.uri(), "").join().body())
                    .contains("\"first\"")
                    .doesNotContain("\"second\"");
            server.publish(second);
            assertThat(post(server.uri(), "").join().body())
                    .contains("\"second\"")
                    .doesNotContain("\"first\"");
            server.fail(500);
            assertThat(post(server.uri(), "").join().statusCode()).isEqualTo(500);
            server.publishText("not json");
            assertThat(post(server.uri(), "").join().body()).isEqualTo("not json");
            assertThat(server.requests()).isEqualTo(4);
        }
    }

    private CompletableFuture<HttpResponse<String>> post(URI uri, String body) {
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header("X-Test", "yes")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }
}
