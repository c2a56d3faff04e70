package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.ChannelWorld.join;
import static sluice.core.dispatch.ChannelWorld.joinListed;
import static sluice.core.dispatch.ChannelWorld.message;
import static sluice.core.dispatch.ChannelWorld.presence;
import static sluice.core.dispatch.ChannelWorld.publish;
import static sluice.core.dispatch.ChannelWorld.subscribe;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.dispatch.ControlRequest.Echo;
import sluice.core.dispatch.ControlRequest.Presence.Action;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.error.ErrorCode;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

/// Who receives what is said in a channel, and who may say it.
class ChannelsTest {
    private final ChannelWorld channels = new ChannelWorld();
    private final World world = channels.world;

    // ---- joining

    @Test
    void a_public_channel_is_joined_and_an_undeclared_one_refused() {
        Received alice = channels.open("a", "alice", join("r", "room:1"), join("x", "other:1"), join("y", "room"));

        assertThat(alice.only("ready"))
                .contains("{\"sub\":\"r\",\"ok\":true}")
                .contains("\"sub\":\"x\",\"ok\":false,\"error\":{\"code\":\"unknown_namespace\"")
                .contains("\"sub\":\"y\",\"ok\":false,\"error\":{\"code\":\"unknown_namespace\"");
    }

    @Test
    void an_owner_channel_of_somebody_else_is_refused_and_brings_nothing() {
        Received alice = channels.open("a", "alice", join("mine", "notify:alice"), join("his", "notify:bob"));
        assertThat(alice.only("ready"))
                .contains("{\"sub\":\"mine\",\"ok\":true}")
                .contains("\"sub\":\"his\",\"ok\":false,\"error\":{\"code\":\"channel_not_authorized\"");

        say("sluice:notify:bob", "secret");
        say("sluice:notify:alice", "hello");

        assertThat(alice.broadcasts()).hasSize(1).first().asString().contains("\"sub\":\"mine\"", "hello");
    }

    @Test
    void labels_are_unique_across_shapes_and_channels_and_a_channel_is_joined_once() {
        Received alice = channels.open(
                "a",
                "alice",
                notesShape("s"),
                join("s", "room:1"),
                join("r", "room:2"),
                join("again", "room:2"),
                notesShape("r"));

        assertThat(codes(alice.only("ready")))
                .containsExactly("ok", "duplicate_sub", "ok", "duplicate_sub", "duplicate_sub");

        assertThat(results("a", join("s", "room:3"), join("other", "room:2"), notesShape("r"), join("new", "room:4")))
                .containsExactly("duplicate_sub", "duplicate_sub", "duplicate_sub", "ok");
    }

    @Test
    void channels_count_against_the_limit_of_subscriptions_and_not_of_shapes() {
        ChannelWorld full = new ChannelWorld();
        var many = new SubscriptionRequest[101];
        for (int i = 0; i < many.length; i++) {
            many[i] = join("c" + i, "room:" + i);
        }

        assertThat(codes(full.open("a", "alice", many).only("ready")))
                .hasSize(101)
                .endsWith("ok", "too_many_subscriptions");
    }

    @Test
    void a_channel_joined_later_receives_what_is_said_after_the_answer() {
        Received alice = channels.open("a", "alice");
        say("sluice:room:1", "before");
        assertThat(results("a", join("r", "room:1"))).containsExactly("ok");
        say("sluice:room:1", "after");

        assertThat(alice.broadcasts()).hasSize(1).first().asString().contains("after");
    }

    // ---- broadcasts of clients

    @Test
    void a_broadcast_reaches_everybody_in_the_channel_and_its_sender_only_on_wish() {
        Received alice = channels.open("a", "alice", join("r", "room:1"));
        Received bob = channels.open("b", "bob", join("mine", "room:1"));
        Received carol = channels.open("c", "carol", join("r", "room:2"));

        assertThat(channels.ask("a", "alice", publish("room:1", "{\"n\":1.50}", Echo.TO_OTHERS)))
                .isEqualTo(new ControlAnswer.Delivered(1));
        assertThat(channels.ask("a", "alice", publish("room:1", "2", Echo.TO_SELF)))
                .isEqualTo(new ControlAnswer.Delivered(2));

        assertThat(alice.broadcasts()).hasSize(1);
        assertThat(bob.broadcasts().getFirst())
                .isEqualTo("event: broadcast\ndata: {\"sub\":\"mine\",\"channel\":\"room:1\",\"event\":\"said\","
                        + "\"payload\":{\"n\":1.50},\"from\":\"alice\",\"origin\":\"client\","
                        + "\"at\":\"2026-01-01T00:00:00Z\"}");
        assertThat(bob.broadcasts()).hasSize(2);
        assertThat(carol.broadcasts()).isEmpty();
        assertThat(world.counts.of("broadcast room CLIENT")).isEqualTo(2);
    }

    @Test
    void only_who_joined_may_speak() {
        channels.open("a", "alice");
        Received bob = channels.open("b", "bob", join("r", "room:1"));

        refuses(ErrorCode.CHANNEL_NOT_SUBSCRIBED, "a", "alice", publish("room:1", "1", Echo.TO_OTHERS));
        refuses(ErrorCode.CHANNEL_NOT_SUBSCRIBED, "a", "alice", presence("room:1", Action.TRACK, "1"));
        // somebody else's stream that joined is not mine to speak on
        refuses(ErrorCode.FORBIDDEN, "b", "alice", publish("room:1", "1", Echo.TO_SELF));
        refuses(ErrorCode.FORBIDDEN, "b", "alice", presence("room:1", Action.TRACK, "1"));

        world.pass(Duration.ofSeconds(2));
        assertThat(bob.broadcasts()).isEmpty();
        assertThat(bob.presence()).isEmpty();
    }

    @Test
    void who_left_receives_nothing_more_and_may_not_speak() {
        Received alice = channels.open("a", "alice", join("r", "room:1"), notesShape("s"));
        channels.open("b", "bob", join("r", "room:1"));

        assertThat(channels.ask("a", "alice", new ControlRequest.Unsubscribe(List.of("r", "nobody", "s"))))
                .isEqualTo(new ControlAnswer.Removed(2));
        assertThat(channels.ask("b", "bob", publish("room:1", "1", Echo.TO_OTHERS)))
                .isEqualTo(new ControlAnswer.Delivered(0));
        say("sluice:room:1", "x");

        assertThat(alice.broadcasts()).isEmpty();
        refuses(ErrorCode.CHANNEL_NOT_SUBSCRIBED, "a", "alice", publish("room:1", "1", Echo.TO_SELF));
        assertThat(results("a", join("r", "room:1"))).containsExactly("ok");
    }

    @Test
    void a_stream_publishes_so_often_and_is_told_when_it_may_again() {
        channels.open("a", "alice", join("r", "room:1"));
        channels.open("b", "bob", join("r", "room:1"));
        for (int i = 0; i < 5; i++) {
            channels.ask("a", "alice", publish("room:1", "1", Echo.TO_OTHERS));
        }

        ControlAnswer refused = channels.ask("a", "alice", publish("room:1", "1", Echo.TO_OTHERS));
        assertThat(refused).isInstanceOfSatisfying(ControlAnswer.Refused.class, answer -> {
            assertThat(answer.code()).isEqualTo(ErrorCode.RATE_LIMITED);
            assertThat(answer.retryAfterMillis()).isEqualTo(200);
        });
        // what is not joined is told first, and costs nothing
        refuses(ErrorCode.CHANNEL_NOT_SUBSCRIBED, "a", "alice", publish("room:2", "1", Echo.TO_OTHERS));
        assertThat(channels.ask("b", "bob", publish("room:1", "1", Echo.TO_OTHERS)))
                .isEqualTo(new ControlAnswer.Delivered(1));
        world.pass(Duration.ofMillis(200));
        assertThat(channels.ask("a", "alice", publish("room:1", "1", Echo.TO_OTHERS)))
                .isEqualTo(new ControlAnswer.Delivered(1));
    }

    @Test
    void a_stream_whose_token_has_run_out_receives_nothing() {
        Received alice =
                world.open("a", ChannelWorld.caller("alice", world.now().plusSeconds(10)), joinListed("r", "room:1"));
        channels.open("b", "bob", join("r", "room:1"));
        world.pass(Duration.ofSeconds(10));

        assertThat(channels.ask("b", "bob", publish("room:1", "1", Echo.TO_OTHERS)))
                .isEqualTo(new ControlAnswer.Delivered(0));
        say("sluice:room:1", "x");

        assertThat(alice.broadcasts()).isEmpty();
    }

    // ---- broadcasts of the database

    @Test
    void a_message_of_a_commit_comes_after_its_rows_and_before_the_next_commit() {
        Received alice = channels.open("a", "alice", notesShape("s"), join("r", "room:1"));
        world.commit(
                List.of(),
                List.of(message("sluice:room:1", "{\"event\":\"paid\",\"payload\":{\"id\":1}}")),
                insert("1", "alice", "x"));
        world.commit(insert("2", "alice", "y"));

        assertThat(kinds(alice)).containsExactly("change", "broadcast", "change");
        assertThat(alice.broadcasts().getFirst())
                .contains("\"event\":\"paid\",\"payload\":{\"id\":1},\"origin\":\"database\",\"commit_lsn\":\"0/1100\"")
                .doesNotContain("\"from\"");
        assertThat(world.counts.of("broadcast room DATABASE")).isEqualTo(1);
    }

    @Test
    void a_message_outside_a_transaction_goes_at_once_and_has_no_commit() {
        Received alice = channels.open("a", "alice", join("r", "room:1"));
        say("sluice:room:1", "hello");

        assertThat(alice.broadcasts().getFirst())
                .contains("\"event\":\"message\",\"payload\":\"hello\"")
                .doesNotContain("commit_lsn");
    }

    @Test
    void messages_with_another_prefix_or_for_a_channel_nobody_joined_go_nowhere() {
        Received alice = channels.open("a", "alice", join("r", "room:1"));
        say("other:room:1", "x");
        say("sluice:room:2", "x");
        say("sluice:undeclared:1", "x");

        assertThat(alice.broadcasts()).isEmpty();
        assertThat(world.counts.of("broadcast undeclared DATABASE")).isEqualTo(1);
    }

    @Test
    void a_message_waits_with_the_rows_of_its_commit_for_postgresql() {
        world.plan = World.granted(World.probed());
        Received alice = channels.open("a", "alice", notesShape("s"), join("r", "room:1"));
        Received bob = channels.open("b", "bob", join("r", "room:1"));
        world.commit(List.of(), List.of(message("sluice:room:1", "one")), insert("1", "alice", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);
        world.commit(List.of(), List.of(message("sluice:room:1", "two")));

        assertThat(bob.broadcasts()).hasSize(2);
        assertThat(alice.broadcasts()).isEmpty();

        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));
        assertThat(kinds(alice)).containsExactly("change", "broadcast", "broadcast");
        assertThat(alice.broadcasts().getFirst()).contains("one");
    }

    @Test
    void what_waits_for_a_channel_that_was_left_meanwhile_is_not_sent() {
        world.plan = World.granted(World.probed());
        Received alice = channels.open("a", "alice", notesShape("s"), join("r", "room:1"));
        world.commit(List.of(), List.of(message("sluice:room:1", "one")), insert("1", "alice", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);
        channels.ask("a", "alice", new ControlRequest.Unsubscribe(List.of("r")));

        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(kinds(alice)).containsExactly("change");
    }

    @Test
    void more_messages_than_may_wait_follow_from_the_buffer_and_the_rows_they_wait_for_are_not_harmed() {
        world.plan = World.granted(World.probed());
        Received alice = channels.open("a", "alice", notesShape("s"), join("r", "room:1"));
        world.commit(insert("1", "alice", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);
        for (int i = 0; i < 20; i++) {
            world.commit(List.of(), List.of(message("sluice:room:1", "m" + i)));
        }

        assertThat(alice.closed).isNull();
        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(alice.changes()).hasSize(1);
        world.pass(Duration.ofMillis(50));

        assertThat(kinds(alice)).first().isEqualTo("change");
        assertThat(alice.broadcasts()).hasSize(20);
        assertThat(alice.broadcasts().getLast()).contains("m19");
        assertThat(world.counts.of("dropped BROADCAST")).isZero();
    }

    @Test
    void a_message_larger_than_a_queue_is_told_of_in_the_log_without_what_it_says() {
        Received alice = channels.open("a", "alice", join("r", "room:1"));
        world.forgetEffects();
        say("sluice:room:1", "x".repeat(10_001));

        Notice notice = world.take(Effect.Log.class).notice();
        assertThat(notice.level()).isEqualTo(Notice.Level.WARN);
        assertThat(notice.fields()).contains("room:1", "10001").noneMatch(field -> field.contains("xxx"));
        assertThat(alice.broadcasts()).isEmpty();
    }

    // ---- presence

    @Test
    void a_state_comes_with_the_join_for_who_asked_and_differences_for_everybody() {
        channels.open("a", "alice", join("r", "room:1"));
        track("a", "alice", "{\"tab\":1}");
        Received bob = channels.open("b", "bob", joinListed("r", "room:1"));
        Received carol = channels.open("c", "carol", join("r", "room:1"));

        assertThat(kinds(bob)).containsExactly("ready", "presence");
        assertThat(bob.presence().getFirst())
                .contains("\"type\":\"state\",\"members\":{\"alice\":{\"meta\":{\"tab\":1},\"since\":");
        assertThat(carol.presence()).isEmpty();

        world.pass(Duration.ofMillis(1500));
        assertThat(bob.presence().getLast()).contains("\"type\":\"diff\",\"joins\":{\"alice\"");
        assertThat(carol.presence()).hasSize(1);
    }

    @Test
    void a_stream_that_ends_takes_its_own_entry_along_and_nobody_elses() {
        Received first = channels.open("a1", "alice", join("r", "room:1"));
        channels.open("a2", "alice", join("r", "room:1"));
        Received bob = channels.open("b", "bob", joinListed("r", "room:1"));
        track("a1", "alice", "1");
        track("a2", "alice", "2");
        world.pass(Duration.ofMillis(1500));
        assertThat(bob.presence().getLast()).contains("\"alice\":{\"meta\":2");

        world.hangUp(first);
        world.pass(Duration.ofMillis(1500));
        assertThat(bob.presence()).hasSize(2);

        channels.ask("a2", "alice", new ControlRequest.Unsubscribe(List.of("r")));
        world.pass(Duration.ofMillis(1500));
        assertThat(bob.presence().getLast()).contains("\"leaves\":{\"alice\"").doesNotContain("joins");
    }

    @Test
    void a_key_is_the_tokens_subject_and_no_other() {
        channels.open("a", "alice", join("r", "room:1"));
        channels.open("n", null, join("r", "room:1"));
        Received bob = channels.open("b", "bob", joinListed("r", "room:1"));

        refuses(ErrorCode.PRESENCE_KEY_NOT_ALLOWED, "a", "alice", presence("room:1", Action.TRACK, "bob", "1"));
        refuses(ErrorCode.PRESENCE_KEY_NOT_ALLOWED, "a", "alice", presence("room:1", Action.UNTRACK, "bob", "1"));
        refuses(ErrorCode.PRESENCE_KEY_NOT_ALLOWED, "n", null, presence("room:1", Action.TRACK, "1"));
        assertThat(channels.ask("a", "alice", presence("room:1", Action.TRACK, "alice", "1")))
                .isEqualTo(new ControlAnswer.Done());

        world.pass(Duration.ofMillis(1500));
        assertThat(bob.presence().getLast()).contains("\"alice\"").doesNotContain("\"bob\":{");
    }

    @Test
    void what_is_wrong_with_a_presence_request_is_told_in_order() {
        channels.open("a", "alice", join("r", "room:1"));
        refuses(ErrorCode.BAD_REQUEST, "a", "alice", presence("room:1", Action.UNKNOWN, "1"));
        for (int i = 1; i < 5; i++) {
            track("a", "alice", String.valueOf(i));
        }
        refuses(ErrorCode.RATE_LIMITED, "a", "alice", presence("room:1", Action.UNKNOWN, "1"));
        refuses(ErrorCode.PRESENCE_KEY_NOT_ALLOWED, "a", "alice", presence("room:1", Action.UNKNOWN, "bob", "1"));
        refuses(ErrorCode.CHANNEL_NOT_SUBSCRIBED, "a", "alice", presence("room:2", Action.UNKNOWN, "bob", "1"));

        world.pass(Duration.ofSeconds(6));
        track("a", "alice", "6");
        refuses(ErrorCode.RATE_LIMITED, "a", "alice", presence("room:1", Action.TRACK, "1"));
    }

    @Test
    void a_stream_whose_token_ended_is_over_and_no_new_token_brings_it_back_after_what_it_missed() {
        Received alice =
                world.open("a", ChannelWorld.caller("alice", world.now().plusSeconds(10)), join("r", "room:1"));
        world.passUnnoticed(Duration.ofSeconds(10));
        world.step(new Input.Wal(new WalEvent.LoneMessage(new Lsn(0x900), message("sluice:room:1", "missed"))));

        ControlAnswer answer = channels.ask("a", "alice", new ControlRequest.Token());

        assertThat(alice.broadcasts()).isEmpty();
        assertThat(answer)
                .isInstanceOfSatisfying(
                        ControlAnswer.Refused.class,
                        refused -> assertThat(refused.code()).isEqualTo(ErrorCode.UNKNOWN_STREAM));
        assertThat(alice.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
        assertThat(alice.only("error")).contains("token_expired");
    }

    @Test
    void a_channel_shows_so_many_keys() {
        for (String subject : List.of("a", "b", "c")) {
            channels.open(subject, subject, join("r", "room:1"));
            track(subject, subject, "1");
        }
        channels.open("d", "d", join("r", "room:1"));

        refuses(ErrorCode.PRESENCE_TOO_MANY_KEYS, "d", "d", presence("room:1", Action.TRACK, "1"));
        assertThat(world.counts.of("presence room TRACK")).isEqualTo(3);
    }

    private void say(String prefix, String content) {
        world.step(new Input.Wal(new WalEvent.LoneMessage(new Lsn(0x900), message(prefix, content))));
    }

    private void track(String streamId, String subject, String meta) {
        assertThat(channels.ask(streamId, subject, presence("room:1", Action.TRACK, meta)))
                .isEqualTo(new ControlAnswer.Done());
    }

    private void refuses(ErrorCode code, String streamId, @Nullable String subject, ControlRequest request) {
        assertThat(channels.ask(streamId, subject, request))
                .isInstanceOfSatisfying(
                        ControlAnswer.Refused.class,
                        refused -> assertThat(refused.code()).isEqualTo(code));
    }

    private List<String> results(String streamId, SubscriptionRequest... requests) {
        return ChannelHooksTest.codes(channels.ask(streamId, "alice", subscribe(requests)));
    }

    private static List<String> codes(String ready) {
        return List.of(ready.split("\\{\"sub\":")).stream()
                .skip(1)
                .map(result -> result.contains("\"ok\":true")
                        ? "ok"
                        : result.replaceAll("(?s).*\"code\":\"([a-z_]+)\".*", "$1"))
                .filter(code -> !code.equals("unindexed_shape"))
                .toList();
    }

    private static List<String> kinds(Received received) {
        return received.frames.stream()
                .map(frame -> frame.startsWith("change ")
                        ? "change"
                        : frame.substring("event: ".length(), frame.indexOf('\n')))
                .filter(kind -> !kind.equals("warning"))
                .filter(kind -> !kind.equals("ready") || received.changes().isEmpty())
                .toList();
    }
}
