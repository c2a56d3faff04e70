package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.server.hook.HookServer;
import sluice.server.hook.HookServer.Reply;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// Channels from `pg_logical_emit_message` and from one client to another, over a real database, real connections and
/// a real hook.
class ChannelsPgTest {
    private static HookServer hook;
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        hook = new HookServer();
        database = Notes.database("channels");
        sluice = RunningSluice.on(
                database,
                Map.of(
                        "SLUICE_CHANNELS",
                        "room:public,notify:owner,team:hook:" + hook.url(),
                        "SLUICE_CHANNEL_HOOK_BEARER",
                        "hook-credential",
                        "SLUICE_CHANNEL_HOOK_TIMEOUT",
                        "5s",
                        "SLUICE_CATALOG_REFRESH",
                        "1s",
                        "SLUICE_PRESENCE_BROADCAST",
                        "50ms",
                        "SLUICE_PRESENCE_RATE",
                        "0",
                        "SLUICE_PUBLISH_RATE",
                        "3",
                        "SLUICE_MAX_PAYLOAD_BYTES",
                        "1000"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
        hook.close();
    }

    @BeforeEach
    void allowEverybody() {
        hook.answers(Reply.allow(3600));
    }

    // ---- the database speaks

    @Test
    void a_transactional_message_comes_after_the_rows_of_its_commit_and_only_if_it_commits() {
        try (SseClient alice = open(ALICE, shape("mine", "notes", "") + "," + join("orders", "room:orders"))) {
            database.execute(
                    "BEGIN",
                    "SELECT pg_logical_emit_message(true, 'sluice:room:orders', '\"never\"')",
                    "ROLLBACK",
                    "BEGIN",
                    "SELECT pg_logical_emit_message(true, 'sluice:room:orders',"
                            + " '{\"event\":\"paid\",\"payload\":{\"id\":1.50}}')",
                    "INSERT INTO notes VALUES (101, '" + ALICE + "', 'x')",
                    "COMMIT");

            SseEvent change = alice.await(event -> !event.is("warning"));
            SseEvent broadcast = alice.next();
            assertThat(change.is("change")).isTrue();
            assertThat(broadcast.is("broadcast")).isTrue();
            assertThat(broadcast.json().get("sub").asText()).isEqualTo("orders");
            assertThat(broadcast.json().get("channel").asText()).isEqualTo("room:orders");
            assertThat(broadcast.json().get("event").asText()).isEqualTo("paid");
            assertThat(broadcast.data()).contains("\"payload\":{\"id\":1.50}");
            assertThat(broadcast.json().get("origin").asText()).isEqualTo("database");
            assertThat(broadcast.json().get("commit_lsn"))
                    .isEqualTo(change.json().get("commit_lsn"));
            assertThat(broadcast.json().has("from")).isFalse();
        }
    }

    @Test
    void a_message_outside_the_transaction_comes_even_if_that_rolls_back() {
        try (SseClient alice = open(ALICE, join("a", "room:lone"))) {
            database.execute(
                    "BEGIN", "SELECT pg_logical_emit_message(false, 'sluice:room:lone', 'plain text')", "ROLLBACK");
            // with nothing else in the log it waits for the log to be written out
            database.execute("INSERT INTO notes VALUES (102, '" + BOB + "', 'x')");

            SseEvent broadcast = alice.await("broadcast");
            assertThat(broadcast.json().get("event").asText()).isEqualTo("message");
            assertThat(broadcast.json().get("payload").asText()).isEqualTo("plain text");
            assertThat(broadcast.json().has("commit_lsn")).isFalse();
        }
    }

    @Test
    void a_message_reaches_who_joined_its_channel_and_nobody_else() {
        try (SseClient alice = open(ALICE, join("a", "notify:" + ALICE));
                SseClient bob = open(BOB, join("b", "notify:" + BOB))) {
            emit("notify:" + ALICE, "\"for alice\"");
            emit("other", "\"for nobody\"");
            emit("notify:" + BOB, "\"for bob\"");

            assertThat(bob.await("broadcast").data()).contains("for bob");
            assertThat(alice.await("broadcast").data()).contains("for alice");
            emit("notify:" + BOB, "\"fence\"");
            assertThat(bob.await("broadcast").data()).contains("fence");
            assertThat(broadcasts(alice)).hasSize(1);
        }
    }

    // ---- who may join

    @Test
    void somebody_elses_owner_channel_is_refused_and_brings_nothing() {
        try (SseClient alice = sluice.stream(
                sluice.token(ALICE), join("his", "notify:" + BOB) + "," + join("mine", "notify:" + ALICE))) {
            assertThat(alice.await("ready").data())
                    .contains("\"sub\":\"his\",\"ok\":false,\"error\":{\"code\":\"channel_not_authorized\"");
            emit("notify:" + BOB, "\"secret\"");
            emit("notify:" + ALICE, "\"fence\"");

            assertThat(alice.await("broadcast").data()).contains("fence");
            assertThat(broadcasts(alice)).hasSize(1);
        }
    }

    @Test
    void a_hook_that_denies_keeps_the_caller_out_and_is_asked_with_its_credential() {
        hook.answers(asked -> asked.body().contains(ALICE) ? Reply.allow() : Reply.deny());
        try (SseClient alice = open(ALICE, join("t", "team:deny"));
                SseClient bob =
                        sluice.stream(sluice.token(BOB), join("t", "team:deny") + "," + join("r", "room:deny"))) {
            assertThat(bob.await("ready").data())
                    .contains("\"sub\":\"t\",\"ok\":false,\"error\":{\"code\":\"channel_not_authorized\"")
                    .contains("\"sub\":\"r\",\"ok\":true");
            emit("team:deny", "\"secret\"");
            emit("room:deny", "\"fence\"");

            assertThat(alice.await("broadcast").data()).contains("secret");
            assertThat(bob.await("broadcast").data()).contains("fence");
            assertThat(broadcasts(bob)).hasSize(1);
        }
        HookServer.Asked asked = hook.asked().stream()
                .filter(one -> one.isAbout("team:deny"))
                .findFirst()
                .orElseThrow();
        assertThat(asked.headers())
                .containsEntry("authorization", "Bearer hook-credential")
                .containsKey("x-request-id");
    }

    @Test
    void a_hook_without_a_verdict_refuses_for_a_while() {
        hook.answers(Reply.of(500, "broken"));
        try (SseClient alice = sluice.stream(sluice.token(ALICE), join("t", "team:broken"))) {
            SseEvent ready = alice.await("ready");
            assertThat(ready.data()).contains("\"code\":\"channel_hook_unavailable\"", "\"retryable\":true");
            assertThat(ready.json().at("/subscriptions/0/error/retry_after_ms").asLong())
                    .isBetween(1000L, 5000L);
        }
    }

    @Test
    void a_hook_that_denies_later_ends_the_join_on_the_tick_and_an_outage_does_not() {
        hook.answers(Reply.allow(0));
        try (SseClient alice = open(ALICE, join("t", "team:later") + "," + join("r", "room:later"))) {
            hook.answers(Reply.of(503, ""));
            awaitAskedAgain("team:later");
            emit("team:later", "\"still in\"");
            assertThat(alice.await("broadcast").data()).contains("still in");

            hook.answers(Reply.deny());
            SseEvent error = alice.await("error");
            assertThat(error.data()).contains("\"sub\":\"t\"", "channel_not_authorized");
            emit("team:later", "\"secret\"");
            emit("room:later", "\"fence\"");
            assertThat(alice.await("broadcast").data()).contains("fence");
        }
    }

    @Test
    void a_new_token_asks_every_hook_of_the_stream_again() throws Exception {
        try (SseClient alice =
                sluice.stream(sluice.token(ALICE), join("t", "team:token") + "," + join("r", "room:t"))) {
            String stream = alice.await("ready").json().get("stream_id").asText();
            hook.answers(Reply.deny());

            HttpResponse<String> answer = sluice.post(
                    "/token",
                    sluice.token(ALICE),
                    "{\"stream_id\":\"" + stream + "\",\"access_token\":\"" + sluice.token(ALICE) + "\"}");

            assertThat(answer.body()).contains("\"revoked_subscriptions\":1");
            assertThat(alice.await("error").data()).contains("\"sub\":\"t\"", "channel_not_authorized");
            emit("team:token", "\"secret\"");
            emit("room:t", "\"fence\"");
            assertThat(alice.await("broadcast").data()).contains("fence");
        }
    }

    @Test
    void a_hook_that_hangs_delays_nobody_but_who_asks_it() {
        hook.hangs();
        try (SseClient alice = sluice.stream(sluice.token(ALICE), join("t", "team:hangs"));
                SseClient bob = open(BOB, shape("mine", "notes", "") + "," + join("r", "room:hangs"))) {
            database.execute("INSERT INTO notes VALUES (103, '" + BOB + "', 'x')");
            emit("room:hangs", "1");
            assertThat(bob.await("change").json().at("/record/id").asInt()).isEqualTo(103);
            assertThat(bob.await("broadcast").data()).contains("\"payload\":1");
            assertThat(alice.await("ready").data()).contains("channel_hook_unavailable");
        }
    }

    // ---- clients speak

    @Test
    void a_broadcast_reaches_the_others_as_it_was_written() throws Exception {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), join("a", "room:chat"));
                SseClient bob = open(BOB, join("b", "room:chat"))) {
            String stream = alice.await("ready").json().get("stream_id").asText();

            assertThat(publish(ALICE, stream, "room:chat", "\"payload\":{\"n\": 1.10, \"t\":\"<\\u2028>\"}")
                            .body())
                    .isEqualTo("{\"delivered\":1}\n");
            assertThat(publish(ALICE, stream, "room:chat", "\"self\":true").body())
                    .isEqualTo("{\"delivered\":2}\n");

            SseEvent heard = bob.await("broadcast");
            assertThat(heard.data()).contains("\"payload\":{\"n\":1.10,\"t\":\"<\\u2028>\"}");
            assertThat(heard.json().get("from").asText()).isEqualTo(ALICE);
            assertThat(heard.json().get("origin").asText()).isEqualTo("client");
            assertThat(alice.await("broadcast").json().has("payload")).isFalse();
            assertThat(broadcasts(alice)).hasSize(1);
        }
    }

    @Test
    void what_is_wrong_with_a_broadcast_is_told_in_order() throws Exception {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), join("a", "room:order"));
                SseClient bob = open(BOB, join("b", "room:order") + "," + join("o", "room:other"))) {
            String stream = alice.await("ready").json().get("stream_id").asText();
            String large = "\"payload\":\"" + "x".repeat(999) + "\"";

            assertThat(refusal(publish(ALICE, "nobody", "room:order", large))).isEqualTo("413 payload_too_large");
            assertThat(refusal(publish(ALICE, stream, "room:order", "\"more\":1")))
                    .isEqualTo("400 bad_request");
            assertThat(refusal(publish(ALICE, "nobody", "room:order", "\"payload\":1")))
                    .isEqualTo("404 unknown_stream");
            assertThat(refusal(publish(BOB, stream, "room:order", "\"payload\":1")))
                    .isEqualTo("403 forbidden");
            assertThat(refusal(publish(ALICE, stream, "room:other", "\"payload\":1")))
                    .isEqualTo("403 channel_not_subscribed");
            assertThat(bob.received().stream().filter(event -> event.is("broadcast")))
                    .isEmpty();

            HttpResponse<String> limited = publish(ALICE, stream, "room:order", "\"payload\":1");
            for (int i = 0; i < 50 && limited.statusCode() == 200; i++) {
                limited = publish(ALICE, stream, "room:order", "\"payload\":1");
            }
            assertThat(refusal(limited)).isEqualTo("429 rate_limited");
            assertThat(limited.headers().firstValue("Retry-After")).hasValue("1");
        }
    }

    // ---- presence

    @Test
    void two_tabs_of_one_user_are_one_member_until_the_last_is_closed() throws Exception {
        try (SseClient bob = open(BOB, listed("b", "room:tabs"));
                SseClient first = sluice.stream(sluice.token(ALICE), join("a", "room:tabs"))) {
            assertThat(bob.await("presence").json().has("members")).isFalse();
            String firstId = first.await("ready").json().get("stream_id").asText();
            try (SseClient second = sluice.stream(sluice.token(ALICE), join("a", "room:tabs"))) {
                String secondId = second.await("ready").json().get("stream_id").asText();
                assertThat(presence(ALICE, firstId, "room:tabs", "\"meta\":{\"tab\":1}")
                                .body())
                        .isEqualTo("{\"ok\":true}\n");
                assertThat(meta(bob.await("presence"))).isEqualTo(1);
                assertThat(presence(ALICE, secondId, "room:tabs", "\"meta\":{\"tab\":2}")
                                .statusCode())
                        .isEqualTo(200);
                assertThat(meta(bob.await("presence"))).isEqualTo(2);
            }
            SseEvent back = bob.await("presence");
            assertThat(meta(back)).isEqualTo(1);
            assertThat(back.json().has("leaves")).isFalse();

            first.close();
            SseEvent gone = bob.await("presence");
            assertThat(gone.json().at("/leaves/" + ALICE + "/meta/tab").asInt()).isEqualTo(1);
            assertThat(gone.json().has("joins")).isFalse();
        }
    }

    @Test
    void nobody_is_made_present_by_another_or_where_he_has_not_joined() throws Exception {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), join("a", "room:keys"));
                SseClient bob = open(BOB, listed("b", "room:keys") + "," + listed("e", "room:elsewhere"))) {
            String stream = alice.await("ready").json().get("stream_id").asText();

            assertThat(refusal(presence(ALICE, stream, "room:keys", "\"key\":\"" + BOB + "\"")))
                    .isEqualTo("403 presence_key_not_allowed");
            assertThat(refusal(presence(BOB, stream, "room:keys", "\"meta\":1")))
                    .isEqualTo("403 forbidden");
            assertThat(refusal(presence(ALICE, stream, "room:elsewhere", "\"meta\":1")))
                    .isEqualTo("403 channel_not_subscribed");
            assertThat(refusal(presence(ALICE, stream, "room:keys", "\"action\":\"dance\"")))
                    .isEqualTo("400 bad_request");
            assertThat(refusal(presence(ALICE, stream, "room:keys", "\"meta\":\"" + "x".repeat(4096) + "\"")))
                    .isEqualTo("413 payload_too_large");
            presence(ALICE, stream, "room:keys", "\"action\":\"track\",\"key\":\"" + ALICE + "\"");

            SseEvent diff =
                    bob.await(event -> event.is("presence") && event.data().contains("\"diff\""));
            assertThat(diff.json().get("sub").asText()).isEqualTo("b");
            assertThat(diff.json().get("joins").size()).isEqualTo(1);
            assertThat(diff.json().get("joins").has(ALICE)).isTrue();
        }
    }

    @Test
    void a_token_without_a_subject_joins_and_is_not_present() throws Exception {
        String anonymous =
                sluice.sign(Claims.of(ALICE).without("sub").role("anon").audience("authenticated"));
        try (SseClient client = sluice.stream(anonymous, join("a", "room:anon"))) {
            String stream = client.await("ready").json().get("stream_id").asText();
            HttpResponse<String> answer =
                    sluice.post("/presence", anonymous, "{\"stream_id\":\"" + stream + "\",\"channel\":\"room:anon\"}");
            assertThat(refusal(answer)).isEqualTo("403 presence_key_not_allowed");
        }
    }

    // ---- what a test says with one word

    private static SseClient open(String subject, String subscriptions) {
        SseClient client = sluice.stream(sluice.token(subject), subscriptions);
        assertThat(client.await("ready").data()).doesNotContain("\"ok\":false");
        return client;
    }

    private static String join(String label, String channel) {
        return "{\"sub\":\"" + label + "\",\"channel\":\"" + channel + "\"}";
    }

    private static String listed(String label, String channel) {
        return "{\"sub\":\"" + label + "\",\"channel\":\"" + channel + "\",\"presence\":true}";
    }

    private static void emit(String channel, String content) {
        database.execute("SELECT pg_logical_emit_message(true, 'sluice:" + channel + "', '" + content + "')");
    }

    private static HttpResponse<String> publish(String subject, String stream, String channel, String more)
            throws Exception {
        return sluice.post(
                "/publish",
                sluice.token(subject),
                "{\"stream_id\":\"" + stream + "\",\"channel\":\"" + channel + "\",\"event\":\"said\"," + more + "}");
    }

    private static HttpResponse<String> presence(String subject, String stream, String channel, String more)
            throws Exception {
        return sluice.post(
                "/presence",
                sluice.token(subject),
                "{\"stream_id\":\"" + stream + "\",\"channel\":\"" + channel + "\"," + more + "}");
    }

    private static String refusal(HttpResponse<String> answer) {
        return answer.statusCode() + " " + answer.body().replaceAll("(?s).*\"error\":\"([a-z_]+)\".*", "$1");
    }

    private static int meta(SseEvent diff) {
        return diff.json().at("/joins/" + ALICE + "/meta/tab").asInt();
    }

    private static List<SseEvent> broadcasts(SseClient client) {
        return client.received().stream().filter(event -> event.is("broadcast")).toList();
    }

    private static void awaitAskedAgain(String channel) {
        long before = hook.askedAbout(channel);
        Await.until("the hook was asked again", Duration.ofSeconds(30), () -> hook.askedAbout(channel) >= before + 2);
    }
}
