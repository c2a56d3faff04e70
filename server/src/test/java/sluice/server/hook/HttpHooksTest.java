package sluice.server.hook;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.channel.HookAnswer;
import sluice.core.channel.HookAnswer.Verdict;
import sluice.core.channel.HookQuestion;
import sluice.core.channel.Namespace;
import sluice.core.channel.Namespaces;
import sluice.core.channel.Namespaces.Decision;
import sluice.core.session.Identity;
import sluice.server.hook.HookServer.Reply;

class HttpHooksTest {
    private static final Duration TTL = Duration.ofSeconds(60);

    private final HookServer server = new HookServer();
    private final HttpHooks hooks =
            new HttpHooks(new HttpHooks.Options(Duration.ofSeconds(20), TTL, "s3cret", "X-Trace"));

    @AfterEach
    void close() {
        hooks.close();
        server.close();
    }

    @Test
    void the_endpoint_is_told_who_wants_to_join_what() throws IOException {
        hooks.ask(question(
                new Identity("alice", "authenticated", "{\"plan\":\"pro\"}", Instant.MAX, "s-1", null), "r-1"));

        HookServer.Asked asked = server.asked().getFirst();
        assertThat(asked.method()).isEqualTo("POST");
        assertThat(asked.headers())
                .containsEntry("authorization", "Bearer s3cret")
                .containsEntry("content-type", "application/json")
                .containsEntry("x-trace", "r-1")
                .containsKey("idempotency-key");
        JsonNode body = new ObjectMapper().readTree(asked.body());
        assertThat(body).isEqualTo(new ObjectMapper().readTree("""
            {"action": "subscribe", "channel": "team:7", "namespace": "team",
             "role": "authenticated", "sub": "alice", "session_id": "s-1",
             "claims": {"plan": "pro"}}
            """));
    }

    @Test
    void what_the_token_does_not_say_is_left_out() throws IOException {
        hooks.ask(question(new Identity(null, "anon", "{}", Instant.MAX), null));

        JsonNode body = new ObjectMapper().readTree(server.asked().getFirst().body());
        assertThat(body.has("sub")).isFalse();
        assertThat(body.has("session_id")).isFalse();
        assertThat(server.asked().getFirst().headers()).doesNotContainKey("x-trace");
    }

    @Test
    void without_a_credential_none_is_sent() {
        try (HttpHooks open = new HttpHooks(new HttpHooks.Options(Duration.ofSeconds(20), TTL, null, "X-Trace"))) {
            open.ask(question());
        }

        assertThat(server.asked().getFirst().headers()).doesNotContainKey("authorization");
    }

    @Test
    void a_clear_answer_is_a_verdict() {
        assertThat(answer(200, "{\"allow\":true}")).isEqualTo(new HookAnswer(Verdict.ALLOW, TTL, null));
        assertThat(answer(201, "{\"allow\":false,\"reason\":\"left the team\",\"ttl\":5}"))
                .isEqualTo(new HookAnswer(Verdict.DENY, Duration.ofSeconds(5), "left the team"));
        assertThat(answer(200, "{\"allow\":true,\"ttl\":0}"))
                .isEqualTo(new HookAnswer(Verdict.ALLOW, Duration.ZERO, null));
        assertThat(answer(200, "{\"allow\":true,\"ttl\":-3}"))
                .isEqualTo(new HookAnswer(Verdict.ALLOW, Duration.ZERO, null));
        assertThat(answer(200, "{\"allow\":true,\"ttl\":1e300}").validFor()).isEqualTo(Duration.ofDays(1));
        assertThat(answer(200, "{\"allow\":true,\"ttl\":null,\"more\":[1]}").validFor())
                .isEqualTo(TTL);
        assertThat(answer(403, "anything")).isEqualTo(new HookAnswer(Verdict.DENY, TTL, null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "yes",
                "true",
                "[true]",
                "{}",
                "{\"allow\":\"true\"}",
                "{\"allow\":1}",
                "{\"allow\":null}",
                "{\"allow\":false,\"allow\":true}",
                "{\"allow\":true} x",
                "{\"allow\":true,\"ttl\":\"60\"}"
            })
    void an_answer_that_cannot_be_read_is_no_verdict(String body) {
        assertThat(answer(200, body).verdict()).isEqualTo(Verdict.NONE);
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 307, 400, 401, 404, 429, 500, 503})
    void another_status_is_no_verdict_whatever_the_body_says(int status) {
        HookAnswer answer = answer(status, "{\"allow\":true}");

        assertThat(answer.verdict()).isEqualTo(Verdict.NONE);
        assertThat(answer.validFor()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void a_redirect_is_not_followed_and_the_credential_goes_nowhere_else() {
        try (HookServer elsewhere = new HookServer()) {
            server.answers(new Reply(307, "", Map.of("Location", elsewhere.url())));

            assertThat(hooks.ask(question()).verdict()).isEqualTo(Verdict.NONE);
            assertThat(elsewhere.asked()).isEmpty();
        }
    }

    @Test
    void an_answer_larger_than_64_kib_is_no_verdict() {
        HookAnswer answer = answer(200, "{\"allow\":true,\"reason\":\"" + "x".repeat(64 << 10) + "\"}");

        assertThat(answer.verdict()).isEqualTo(Verdict.NONE);
        assertThat(answer.reason()).contains("larger than 65536 bytes");
    }

    @Test
    void a_long_reason_is_cut() {
        assertThat(answer(200, "{\"allow\":false,\"reason\":\"" + "x".repeat(5000) + "\"}")
                        .reason())
                .hasSize(200);
    }

    @Test
    void an_endpoint_that_does_not_answer_is_given_up_in_time() {
        server.hangs();
        try (HttpHooks impatient = new HttpHooks(new HttpHooks.Options(Duration.ofMillis(200), TTL, null, "X-Trace"))) {
            HookAnswer answer = impatient.ask(question());

            assertThat(answer.verdict()).isEqualTo(Verdict.NONE);
            assertThat(answer.reason()).contains("did not answer within");
        }
    }

    @Test
    void an_endpoint_that_is_not_there_is_no_verdict() {
        HookQuestion question = question();
        server.close();

        HookAnswer answer = hooks.ask(question);

        assertThat(answer.verdict()).isEqualTo(Verdict.NONE);
        assertThat(answer.reason()).isEqualTo("the endpoint could not be asked: ConnectException");
    }

    @Test
    void the_credential_is_never_printed() {
        assertThat(new HttpHooks.Options(TTL, TTL, "s3cret", "X").toString()).doesNotContain("s3cret");
    }

    private HookAnswer answer(int status, String body) {
        server.answers(Reply.of(status, body));
        return hooks.ask(question());
    }

    private HookQuestion question() {
        return question(new Identity("alice", "authenticated", "{}", Instant.MAX), null);
    }

    private HookQuestion question(Identity caller, @Nullable String requestId) {
        Namespaces namespaces =
                new Namespaces(List.of(new Namespace("team", new Namespace.Admission.Hook(server.url()))));
        if (namespaces.decide("team:7", caller) instanceof Decision.Ask(var key)) {
            return new HookQuestion(key, caller, requestId);
        }
        throw new AssertionError("a hook namespace is asked about");
    }
}
