package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.dispatch.ControlAnswer;
import sluice.core.dispatch.ControlRequest;
import sluice.core.dispatch.ShapeSelection;
import sluice.core.error.ErrorCode;
import sluice.core.event.SubscriptionResult;
import sluice.core.wal.Lsn;
import sluice.server.http.StreamGate.ControlCall;
import sluice.server.http.StreamGate.DropCall;

/// Requests about open streams, up to the engine and back: the order of checks, what is read, what is answered.
class ControlRequestsTest {
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
    void forget() {
        server.controls.clear();
        server.drops.clear();
        server.controlAnswer = new ControlAnswer.Done();
        server.tokens.keysAre(true, false);
    }

    private static String bearer(String token) {
        return "Authorization: Bearer " + token + "\r\n";
    }

    private static String alice() {
        return bearer(server.tokens.of("alice"));
    }

    private static RawClient.Reply post(String path, String headers, String body) throws IOException {
        try (RawClient client = server.client()) {
            return client.post(path, headers, body);
        }
    }

    private static ControlCall call() throws InterruptedException {
        ControlCall call = server.controls.poll(10, TimeUnit.SECONDS);
        assertThat(call).isNotNull();
        return call;
    }

    private static void assertError(RawClient.Reply reply, int status, String code) {
        assertThat(reply.status()).as(reply.body()).isEqualTo(status);
        assertThat(reply.body())
                .matches("\\{\"error\":\"" + code + "\",\"message\":\"[^\"\\\\]*(\\\\\"[^\"\\\\]*)*\"}\n");
        assertThat(reply.header("Content-Type")).isEqualTo("application/json");
        assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
        assertThat(reply.header("Vary")).isEqualTo("Authorization");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/subscribe", "/unsubscribe"})
    void the_token_comes_before_the_body_and_the_body_before_the_stream(String path) throws Exception {
        RawClient.Reply missing = post(path, "", "{nonsense");
        assertError(missing, 401, "unauthorized");
        assertThat(missing.header("WWW-Authenticate")).isEqualTo("Bearer");
        assertError(post(path, bearer("a.b.c"), "{nonsense"), 401, "unauthorized");
        assertError(
                post(path, bearer(server.tokens.expiring("alice", Instant.now().minusSeconds(60))), "{}"),
                401,
                "unauthorized");
        assertError(post(path, alice(), "{nonsense"), 400, "bad_request");
        assertError(post(path, alice(), ""), 400, "bad_request");
        assertError(post(path, alice(), "[]"), 400, "bad_request");
        assertError(post(path, alice(), "{\"stream_id\":\"s\"}"), 400, "bad_request");
        assertThat(server.controls).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/subscribe   | {\"stream_id\":7,\"subscriptions\":[]}                | stream_id",
                "/subscribe   | {\"stream_id\":\"s\",\"subscriptions\":{}}            | subscriptions",
                "/subscribe   | {\"stream_id\":\"s\",\"subscriptions\":[],\"more\":1} | more",
                "/subscribe   | {\"stream_id\":\"s\",\"resume\":{},\"subscriptions\":[]} | resume",
                "/subscribe   | {\"stream_id\":\"s\",\"stream_id\":\"s\",\"subscriptions\":[]} | JSON",
                "/unsubscribe | {\"stream_id\":\"s\",\"subs\":\"a\"}                  | subs",
                "/unsubscribe | {\"stream_id\":\"s\",\"subs\":[1]}                    | subs",
                "/unsubscribe | {\"stream_id\":\"s\",\"subs\":{\"a\":\"b\"}}          | subs",
                "/token       | {\"stream_id\":\"s\"}                                 | access_token",
                "/token       | {\"access_token\":\"x\"}                              | stream_id",
                "/token       | {\"stream_id\":\"\",\"access_token\":\"x\"}           | stream_id",
                "/token       | {\"stream_id\":\"s\",\"access_token\":7}              | access_token",
                "/token       | {\"stream_id\":\"s\",\"access_token\":\"x\",\"a\":1}  | a",
            })
    void what_cannot_be_read_is_named(String path, String body, String named) throws Exception {
        RawClient.Reply reply = post(path, alice(), body);
        assertError(reply, 400, "bad_request");
        assertThat(reply.body()).contains(named);
        assertThat(server.controls).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"a, -, a", "-, a, a", "a, a, a"})
    void a_stream_is_named_in_the_body_or_the_header_or_both(String header, String body, String named)
            throws Exception {
        RawClient.Reply reply = post("/unsubscribe", alice() + idHeader(header), unsubscribe(body));
        assertThat(reply.status()).isEqualTo(200);
        ControlCall call = call();
        assertThat(call.streamId()).isEqualTo(named);
        assertThat(call.caller().subject()).isEqualTo("alice");
        assertThat(call.request()).isEqualTo(new ControlRequest.Unsubscribe(List.of("x")));
    }

    @Test
    void two_names_that_differ_are_a_mismatch_and_none_is_a_bad_request() throws Exception {
        assertError(post("/unsubscribe", alice() + idHeader("a"), unsubscribe("b")), 400, "stream_id_mismatch");
        assertError(post("/unsubscribe", alice() + idHeader("a"), unsubscribe("A")), 400, "stream_id_mismatch");
        assertError(post("/unsubscribe", alice(), unsubscribe(null)), 400, "bad_request");
        assertError(post("/unsubscribe", alice() + idHeader(""), unsubscribe("")), 400, "bad_request");
        assertThat(server.controls).isEmpty();
    }

    private static String idHeader(String id) {
        return id == null ? "" : "Sluice-Stream-Id: " + id + "\r\n";
    }

    private static String unsubscribe(@Nullable String id) {
        return id == null ? "{\"subs\":[\"x\"]}" : "{\"stream_id\":\"" + id + "\",\"subs\":[\"x\"]}";
    }

    @Test
    void subscriptions_are_read_as_those_of_a_stream_are() throws Exception {
        server.controlAnswer = new ControlAnswer.Subscribed(
                List.of(new SubscriptionResult(
                        "docs",
                        new SubscriptionResult.Granted(
                                "A", SubscriptionResult.Indexing.INDEXED, "owner_id", "stable", "h", null, List.of()))),
                new Lsn(0x1A2B));
        RawClient.Reply reply = post(
                "/subscribe",
                alice(),
                "{\"stream_id\":\"s\",\"subscriptions\":[{\"sub\":\"docs\",\"shape\":{\"table\":\"t\"}},7]}");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.body())
                .isEqualTo(
                        "{\"results\":[{\"sub\":\"docs\",\"ok\":true,\"tier\":\"A\",\"indexed\":true,\"routing_key\":\"owner_id\",\"reason\":\"stable\",\"history\":\"h\"}],\"wal_lsn\":\"0/1A2B\"}\n");
        var subscribe = (ControlRequest.Subscribe) call().request();
        assertThat(subscribe.requests()).hasSize(2);
        assertThat(subscribe.requests().get(0).label()).isEqualTo("docs");
        assertThat(subscribe.requests().get(1).problem()).isNotNull();
    }

    @Test
    void each_answer_of_the_engine_has_its_form() throws Exception {
        assertThat(answered(new ControlAnswer.Removed(3))).isEqualTo("200 {\"removed\":3}\n");
        assertThat(answered(new ControlAnswer.Delivered(4))).isEqualTo("200 {\"delivered\":4}\n");
        assertThat(answered(new ControlAnswer.Done())).isEqualTo("200 {\"ok\":true}\n");
        assertThat(answered(new ControlAnswer.TokenTaken(5)))
                .isEqualTo("200 {\"ok\":true,\"revoked_subscriptions\":5}\n");
        assertThat(answered(new ControlAnswer.Refused(ErrorCode.UNKNOWN_STREAM, "gone")))
                .isEqualTo("404 {\"error\":\"unknown_stream\",\"message\":\"gone\"}\n");
    }

    private static String answered(ControlAnswer answer) throws IOException {
        server.controlAnswer = answer;
        RawClient.Reply reply = post("/unsubscribe", alice(), unsubscribe("s"));
        return reply.status() + " " + reply.body();
    }

    @Test
    void a_refusal_for_a_while_says_in_whole_seconds_when_to_ask_again() throws Exception {
        server.controlAnswer = new ControlAnswer.Refused(ErrorCode.RATE_LIMITED, "too fast", 1001L);
        RawClient.Reply reply = post("/unsubscribe", alice(), unsubscribe("s"));
        assertError(reply, 429, "rate_limited");
        assertThat(reply.header("Retry-After")).isEqualTo("2");
    }

    @Test
    void a_new_token_is_that_of_the_body_and_needs_no_header() throws Exception {
        String token = server.tokens.of("carol");
        assertThat(post("/token", "", token("s", token)).status()).isEqualTo(200);
        assertThat(call().caller().subject()).isEqualTo("carol");

        // neither another caller in the header nor another stream there counts for anything
        assertThat(post("/token", alice() + idHeader("other"), token("s", token))
                        .status())
                .isEqualTo(200);
        ControlCall call = call();
        assertThat(call.caller().subject()).isEqualTo("carol");
        assertThat(call.streamId()).isEqualTo("s");
        assertThat(call.request()).isEqualTo(new ControlRequest.Token());
    }

    @Test
    void a_new_token_that_is_not_accepted_reaches_no_stream() throws Exception {
        assertError(post("/token", alice(), token("s", "a.b.c")), 401, "unauthorized");
        assertError(
                post(
                        "/token",
                        alice(),
                        token("s", server.tokens.expiring("alice", Instant.now().minusSeconds(60)))),
                401,
                "unauthorized");
        assertError(post("/token", alice(), token("s", server.tokens.ofRole("postgres"))), 401, "unauthorized");
        assertThat(server.controls).isEmpty();
    }

    private static String token(String streamId, String token) {
        return "{\"stream_id\":\"" + streamId + "\",\"access_token\":\"" + token + "\"}";
    }

    @ParameterizedTest
    @ValueSource(strings = {"/admin/jwks/refresh", "/admin/shapes/drop"})
    void administration_is_forbidden_to_all_but_one_role_whatever_else_is_wrong(String path) throws Exception {
        for (String headers : List.of("", bearer("a.b.c"), alice(), bearer("sb_secret_x"))) {
            RawClient.Reply reply = post(path, headers, "{nonsense");
            assertError(reply, 403, "forbidden");
            assertThat(reply.head()).doesNotContain("WWW-Authenticate");
        }
        assertThat(server.drops).isEmpty();
    }

    @Test
    void a_payload_a_meta_and_an_event_name_are_as_large_as_may_be_and_not_a_byte_larger() throws Exception {
        int payload = (256 << 10) - 2;
        assertThat(publish("said", payload).status()).isEqualTo(200);
        RawClient.Reply larger = publish("said", payload + 1);
        assertError(larger, 413, "payload_too_large");
        assertThat(larger.body()).contains("262144 bytes (SLUICE_MAX_PAYLOAD_BYTES)");

        assertThat(publish("e".repeat(256), 1).status()).isEqualTo(200);
        assertError(publish("e".repeat(257), 1), 400, "bad_request");

        assertThat(track(4096 - 2).status()).isEqualTo(200);
        assertError(track(4096 - 1), 413, "payload_too_large");
    }

    /// @param characters of a text, besides its quotes
    private static RawClient.Reply publish(String event, int characters) throws IOException {
        return post(
                "/publish",
                alice(),
                "{\"stream_id\":\"s\",\"channel\":\"room:1\",\"event\":\"" + event + "\",\"payload\":\""
                        + "x".repeat(characters) + "\"}");
    }

    private static RawClient.Reply track(int characters) throws IOException {
        return post(
                "/presence",
                alice(),
                "{\"stream_id\":\"s\",\"channel\":\"room:1\",\"meta\":\"" + "x".repeat(characters) + "\"}");
    }

    @Test
    void a_list_of_labels_or_of_equalities_has_a_bound() throws Exception {
        String labels = "\"x\",".repeat(9_999) + "\"x\"";
        assertThat(post("/unsubscribe", alice(), "{\"stream_id\":\"s\",\"subs\":[" + labels + "]}")
                        .status())
                .isEqualTo(200);
        assertError(
                post("/unsubscribe", alice(), "{\"stream_id\":\"s\",\"subs\":[" + labels + ",\"x\"]}"),
                400,
                "bad_request");
        StringBuilder equalities = new StringBuilder("\"c0\":0");
        for (int i = 1; i < 100; i++) {
            equalities.append(",\"c").append(i).append("\":0");
        }
        assertThat(post("/admin/shapes/drop", administrator(), selection(equalities.toString()))
                        .status())
                .isEqualTo(200);
        assertError(
                post("/admin/shapes/drop", administrator(), selection(equalities + ",\"more\":0")), 400, "bad_request");
    }

    private static String selection(String equalities) {
        return "{\"table\":\"docs\",\"equalities\":{" + equalities + "}}";
    }

    private static String administrator() {
        return bearer(server.tokens.ofRole("service_role"));
    }

    @Test
    void keys_are_fetched_again_on_demand() throws Exception {
        RawClient.Reply reply = post("/admin/jwks/refresh", administrator(), "");
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.body()).isEqualTo("{\"ok\":true}\n");

        server.tokens.keysAre(true, true);
        assertThat(post("/admin/jwks/refresh", administrator(), "").body())
                .startsWith("{\"ok\":true,\"warning\":\"")
                .contains("symmetric");

        server.tokens.keysAre(false, false);
        assertError(post("/admin/jwks/refresh", administrator(), ""), 502, "jwks_refresh_failed");
        assertThat(post("/unsubscribe", alice(), unsubscribe("s")).status()).isEqualTo(200);
    }

    @Test
    void shapes_to_drop_are_named_by_table_and_equalities() throws Exception {
        RawClient.Reply reply = post(
                "/admin/shapes/drop",
                administrator(),
                "{\"table\":\"docs\",\"equalities\":{\"project\":\"p\",\"level\":7,\"open\":true},"
                        + "\"identity\":{\"sub\":\"u\",\"role\":\"r\"}}");
        assertThat(reply.body()).isEqualTo("{\"dropped\":2}\n");
        DropCall drop = server.drops.poll(10, TimeUnit.SECONDS);
        assertThat(drop).isNotNull();
        assertThat(drop.selection())
                .isEqualTo(new ShapeSelection(
                        "public",
                        "docs",
                        List.of(
                                new ShapeSelection.Equality("project", "p"),
                                new ShapeSelection.Equality("level", "7"),
                                new ShapeSelection.Equality("open", "t")),
                        "u",
                        "r"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "{\"table\":\"docs\"}",
                "{\"table\":\"docs\",\"equalities\":{}}",
                "{\"table\":\"docs\",\"equalities\":[\"a\"]}",
                "{\"table\":\"docs\",\"equalities\":{\"a\":null}}",
                "{\"table\":\"docs\",\"equalities\":{\"a\":[1]}}",
                "{\"equalities\":{\"a\":1}}",
                "{\"table\":\"docs\",\"equalities\":{\"a\":1},\"identity\":7}",
                "{\"table\":\"docs\",\"equalities\":{\"a\":1},\"identity\":{\"user\":\"u\"}}",
                "{\"table\":\"docs\",\"equalities\":{\"a\":1},\"filter\":\"a=eq.1\"}"
            })
    void a_selection_without_a_table_and_an_equality_drops_nothing(String body) throws Exception {
        assertError(post("/admin/shapes/drop", administrator(), body), 400, "bad_request");
        assertThat(server.drops).isEmpty();
    }

    @Test
    void a_body_past_its_limit_is_a_bad_request() throws Exception {
        assertError(post("/subscribe", alice(), " ".repeat((1 << 20) + 1)), 400, "bad_request");
    }

    @Test
    void requests_on_one_connection_are_answered_one_after_the_other() throws Exception {
        server.controlAnswer = null;
        try (RawClient client = server.client()) {
            client.sendPost("/unsubscribe", alice(), unsubscribe("one"));
            client.sendPost("/unsubscribe", alice(), unsubscribe("two"));
            ControlCall first = call();
            assertThat(first.streamId()).isEqualTo("one");
            assertThat(server.controls).isEmpty();
            server.http().answered(first.number(), new ControlAnswer.Removed(1));
            assertThat(client.reply().body()).isEqualTo("{\"removed\":1}\n");
            server.http().answered(call().number(), new ControlAnswer.Removed(2));
            assertThat(client.reply().body()).isEqualTo("{\"removed\":2}\n");
        }
    }

    @Test
    void an_answer_to_a_client_that_hung_up_and_one_that_nobody_asked_for_go_nowhere() throws Exception {
        server.controlAnswer = null;
        ControlCall abandoned;
        try (RawClient client = server.client()) {
            client.sendPost("/unsubscribe", alice(), unsubscribe("one"));
            abandoned = call();
        }
        server.http().answered(abandoned.number(), new ControlAnswer.Removed(1));
        server.http().answered(abandoned.number(), new ControlAnswer.Removed(1));
        server.http().answered(Long.MAX_VALUE, new ControlAnswer.Removed(1));

        server.controlAnswer = new ControlAnswer.Removed(7);
        assertThat(post("/unsubscribe", alice(), unsubscribe("s")).body()).isEqualTo("{\"removed\":7}\n");
    }
}
