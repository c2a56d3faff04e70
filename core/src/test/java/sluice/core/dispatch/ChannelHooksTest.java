package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.ChannelWorld.RECHECK;
import static sluice.core.dispatch.ChannelWorld.allow;
import static sluice.core.dispatch.ChannelWorld.deny;
import static sluice.core.dispatch.ChannelWorld.join;
import static sluice.core.dispatch.ChannelWorld.message;
import static sluice.core.dispatch.ChannelWorld.none;
import static sluice.core.dispatch.ChannelWorld.subscribe;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.event.SubscriptionResult;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.transaction.WalEvent;
import sluice.core.value.Oid;
import sluice.core.wal.Lsn;

/// Channels that an endpoint decides about.
class ChannelHooksTest {
    private static final Fold FOLD = new Fold("app.tenant()", Oid.TEXT);

    private final ChannelWorld channels = new ChannelWorld();
    private final World world = channels.world;

    @Test
    void a_join_waits_for_the_verdict_and_nothing_else_does() {
        Received bob = channels.open("b", "bob", notesShape("s"));
        Received alice = channels.open("a", "alice", notesShape("s"), join("t", "team:1"));
        Effect.AskHook asked = channels.asked();
        world.commit(insert("1", "x", "y"));

        assertThat(bob.changes()).hasSize(1);
        assertThat(alice.frames).isEmpty();

        channels.answer(asked, allow(60));
        assertThat(alice.only("ready")).contains("{\"sub\":\"t\",\"ok\":true}");
        say("team:1", "hello");
        assertThat(alice.broadcasts()).hasSize(1);
    }

    @Test
    void a_denial_refuses_the_join_and_only_that() {
        Received alice = channels.open("a", "alice", join("t", "team:1"), join("r", "room:1"));
        channels.answer(channels.asked(), deny());

        assertThat(alice.only("ready"))
                .contains("\"sub\":\"t\",\"ok\":false,\"error\":{\"code\":\"channel_not_authorized\"")
                .contains("left the team")
                .contains("{\"sub\":\"r\",\"ok\":true}");
        say("team:1", "secret");
        assertThat(alice.broadcasts()).isEmpty();
    }

    @Test
    void a_join_that_is_denied_leaves_its_label_and_its_room_to_a_later_entry() {
        Received alice = channels.open("a", "alice", join("t", "team:1"), join("t", "room:1"), notesShape("t"));
        channels.answer(channels.asked(), deny());

        assertThat(alice.only("ready"))
                .contains("\"sub\":\"t\",\"ok\":false,\"error\":{\"code\":\"channel_not_authorized\"")
                .contains(
                        "{\"sub\":\"t\",\"ok\":true},{\"sub\":\"t\",\"ok\":false,\"error\":{\"code\":\"duplicate_sub\"");
        say("room:1", "hello");
        assertThat(alice.broadcasts()).hasSize(1);
    }

    @Test
    void no_verdict_refuses_the_join_for_a_while() {
        Received alice = channels.open("a", "alice", join("t", "team:1"));
        channels.answer(channels.asked(), none());

        assertThat(alice.only("ready"))
                .contains("\"code\":\"channel_hook_unavailable\"")
                .contains("\"retryable\":true,\"retry_after_ms\":2001");
        say("team:1", "secret");
        assertThat(alice.broadcasts()).isEmpty();
        assertThat(world.take(Effect.Log.class).notice().level()).isEqualTo(Notice.Level.WARN);
    }

    @Test
    void a_verdict_that_stands_answers_other_joins_of_the_same_caller_and_of_nobody_else() {
        channels.open("a1", "alice", join("t", "team:1"));
        channels.answer(channels.asked(), allow(60));

        Received again = channels.open("a2", "alice", join("t", "team:1"));
        assertThat(again.only("ready")).contains("{\"sub\":\"t\",\"ok\":true}");
        assertThat(world.asked(Effect.AskHook.class)).isFalse();

        Received bob = channels.open("b", "bob", join("t", "team:1"));
        assertThat(bob.frames).isEmpty();
        channels.answer(channels.asked(), deny());
        assertThat(bob.only("ready")).contains("channel_not_authorized");
    }

    @Test
    void joins_that_wait_for_the_same_verdict_share_a_question() {
        Received first = channels.open("a1", "alice", join("t", "team:1"));
        Received second = channels.open("a2", "alice", join("t", "team:1"));
        Effect.AskHook asked = channels.asked();
        assertThat(world.asked(Effect.AskHook.class)).isFalse();

        channels.answer(asked, allow(0));

        assertThat(first.only("ready")).contains("\"ok\":true");
        assertThat(second.only("ready")).contains("\"ok\":true");
    }

    @Test
    void a_join_is_asked_about_on_the_first_tick_after_its_verdict_and_not_before() {
        Received alice = joined("a", "alice", 60);

        world.pass(RECHECK);
        assertThat(world.asked(Effect.AskHook.class)).isFalse();
        world.pass(RECHECK);
        Effect.AskHook again = channels.asked();
        assertThat(again.question().requestId()).isNull();

        channels.answer(again, allow(60));
        world.pass(RECHECK);
        assertThat(world.asked(Effect.AskHook.class)).isFalse();
        say("team:1", "still here");
        assertThat(alice.broadcasts()).hasSize(1);
        assertThat(world.counts.of("hook HELD")).isEqualTo(1);
    }

    @Test
    void a_verdict_without_validity_is_asked_for_on_every_tick() {
        joined("a", "alice", 0);
        for (int i = 0; i < 3; i++) {
            world.pass(RECHECK);
            channels.answer(channels.asked(), allow(0));
        }
        assertThat(world.counts.of("hook HELD")).isEqualTo(3);
    }

    @Test
    void a_denial_on_the_tick_ends_the_join_of_every_stream_that_lives_on_it() {
        Received first = joined("a1", "alice", 60);
        Received second = channels.open("a2", "alice", join("t", "team:1"), join("r", "room:1"));
        Received bob = joined("b", "bob", 3600);
        world.pass(Duration.ofSeconds(60));
        Effect.AskHook asked = channels.asked();
        assertThat(world.asked(Effect.AskHook.class)).isFalse();

        channels.answer(asked, deny());
        say("team:1", "secret");

        for (Received received : List.of(first, second)) {
            assertThat(received.only("error"))
                    .contains("\"sub\":\"t\",\"code\":\"channel_not_authorized\"")
                    .contains("\"retryable\":false");
            assertThat(received.broadcasts()).isEmpty();
            assertThat(received.closed).isNull();
        }
        assertThat(bob.broadcasts()).hasSize(1);
        assertThat(world.counts.of("hook REVOKED")).isEqualTo(2);
        say("room:1", "public");
        assertThat(second.broadcasts()).hasSize(1);
    }

    @Test
    void an_outage_keeps_who_is_in_and_asks_again_on_the_next_tick() {
        Received alice = joined("a", "alice", 60);
        world.pass(Duration.ofSeconds(60));
        channels.answer(channels.asked(), none());

        say("team:1", "still here");
        assertThat(alice.broadcasts()).hasSize(1);
        assertThat(world.counts.of("hook UNAVAILABLE")).isEqualTo(1);

        world.pass(RECHECK);
        channels.answer(channels.asked(), deny());
        assertThat(alice.only("error")).contains("channel_not_authorized");
    }

    @Test
    void at_most_sixteen_verdicts_are_asked_for_at_once_on_a_tick() {
        for (int i = 0; i < 40; i++) {
            joined("s" + i, "subject " + i, 60);
        }
        world.forgetEffects();
        world.pass(Duration.ofSeconds(60));

        List<Effect.AskHook> asked = allAsked();
        assertThat(asked).hasSize(16);
        // a round is not begun again while it runs
        world.pass(RECHECK);
        assertThat(allAsked()).isEmpty();
        channels.answer(asked.getFirst(), allow(60));
        assertThat(allAsked()).hasSize(1);
    }

    @Test
    void a_new_token_asks_again_whatever_stands_and_a_denial_ends_the_join() {
        Received alice = joined("a", "alice", 3600);
        Identity refreshed =
                new Identity("alice", "authenticated", "{}", world.now().plusSeconds(7200), "session 1", null);
        channels.send("a", refreshed, new ControlRequest.Token());
        Effect.AskHook asked = channels.asked();
        assertThat(asked.question().caller()).isEqualTo(refreshed);
        assertThat(world.asked(Effect.Answered.class)).isFalse();

        channels.answer(asked, deny());

        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(1));
        assertThat(alice.only("error")).contains("channel_not_authorized");
        say("team:1", "secret");
        assertThat(alice.broadcasts()).isEmpty();
    }

    @Test
    void a_new_token_without_a_verdict_keeps_the_join_and_says_so_in_the_log() {
        Received alice = joined("a", "alice", 3600);
        channels.send("a", channels.caller("alice"), new ControlRequest.Token());
        Effect.AskHook asked = channels.asked();
        world.forgetEffects();
        channels.answer(asked, none());

        Notice notice = world.take(Effect.Log.class).notice();
        assertThat(notice.message()).isEqualTo("channel hook re-check got no verdict; the stream keeps the channel");
        assertThat(notice.level()).isEqualTo(Notice.Level.WARN);
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(0));
        say("team:1", "still here");
        assertThat(alice.broadcasts()).hasSize(1);
        world.pass(RECHECK);
        assertThat(world.asked(Effect.AskHook.class)).isTrue();
    }

    @Test
    void an_answer_to_an_older_question_does_not_bring_a_denied_join_back() {
        Received alice = joined("a", "alice", 60);
        world.pass(Duration.ofSeconds(60));
        Effect.AskHook older = channels.asked();
        channels.send("a", channels.caller("alice"), new ControlRequest.Token());
        Effect.AskHook newer = channels.asked();
        channels.answer(newer, deny());
        channels.answer(older, allow(60));

        say("team:1", "secret");
        assertThat(alice.broadcasts()).isEmpty();
        Received again = channels.open("a2", "alice", join("t", "team:1"));
        assertThat(again.only("ready")).contains("channel_not_authorized");
    }

    @Test
    void a_join_under_way_when_the_token_changes_is_decided_for_the_new_one() {
        Received alice = channels.open("a", "alice");
        channels.send("a", channels.caller("alice"), subscribe(join("t", "team:1")));
        Effect.AskHook asked = channels.asked();
        Identity refreshed = new Identity(
                "alice", "authenticated", "{\"plan\":\"free\"}", world.now().plusSeconds(7200), null, null);
        channels.send("a", refreshed, new ControlRequest.Token());
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(0));

        channels.answer(asked, allow(60));
        Effect.AskHook anew = channels.asked();
        assertThat(anew.question().caller()).isEqualTo(refreshed);
        channels.answer(anew, deny());

        assertThat(codes(world.take(Effect.Answered.class).answer())).containsExactly("channel_not_authorized");
        say("team:1", "secret");
        assertThat(alice.broadcasts()).isEmpty();
    }

    @Test
    void a_join_under_way_is_decided_for_the_new_token_of_the_same_session_too() {
        Identity before = ofSession("{\"plan\":\"pro\"}");
        world.open("a", before);
        channels.send("a", before, subscribe(join("t", "team:1")));
        Effect.AskHook asked = channels.asked();
        Identity refreshed = ofSession("{\"plan\":\"free\"}");
        channels.send("a", refreshed, new ControlRequest.Token());
        channels.answer(asked, allow(60));

        Effect.AskHook anew = channels.asked();
        assertThat(anew.question().key()).isEqualTo(asked.question().key());
        assertThat(anew.question().caller()).isEqualTo(refreshed);
        world.forgetEffects();
        channels.answer(anew, deny());
        assertThat(codes(world.take(Effect.Answered.class).answer())).containsExactly("channel_not_authorized");
    }

    @Test
    void a_verdict_about_the_token_before_lets_nobody_in_though_postgresql_did_not_answer_about_the_shapes() {
        Received alice = channels.open("a", "alice");
        world.plan = granted(everything(), FOLD);
        channels.send("a", channels.caller("alice"), subscribe(notesShape("s"), join("t", "team:1")));
        Effect.AskHook asked = channels.asked();
        world.step(new Input.FoldsAnswer(world.take(Effect.AskFolds.class).questionId(), null));
        Identity refreshed = new Identity(
                "alice", "authenticated", "{\"plan\":\"free\"}", world.now().plusSeconds(7200), null, null);
        channels.send("a", refreshed, new ControlRequest.Token());
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(0));

        channels.answer(asked, allow(60));

        assertThat(codes(world.take(Effect.Answered.class).answer()))
                .containsExactly("catalog_unavailable", "channel_hook_unavailable");
        say("team:1", "secret");
        assertThat(alice.broadcasts()).isEmpty();
    }

    @Test
    void a_join_that_still_waits_for_its_shapes_is_refused_when_the_endpoint_has_denied_meanwhile() {
        world.pass(Duration.ofMillis(1));
        world.pass(RECHECK.minusSeconds(1));
        Received first = joined("a1", "alice", 1);
        world.plan = granted(everything(), FOLD);
        Received second = channels.open("a2", "alice", notesShape("s"), join("t", "team:1"));
        Effect.AskFolds shapes = world.take(Effect.AskFolds.class);

        world.pass(Duration.ofSeconds(2));
        channels.answer(channels.asked(), deny());
        world.step(new Input.FoldsAnswer(shapes.questionId(), List.of(new FoldAnswer.Value("x"))));

        assertThat(first.only("error")).contains("channel_not_authorized");
        assertThat(second.only("ready")).contains("\"sub\":\"t\",\"ok\":false", "channel_not_authorized");
        say("team:1", "secret");
        assertThat(second.broadcasts()).isEmpty();
    }

    @Test
    void a_denial_counts_for_a_join_that_waits_though_the_endpoint_gave_no_verdict_after_it() {
        joined("a1", "alice", 3600);
        Received other = channels.open("a2", "alice", join("t", "team:1"));
        world.plan = granted(everything(), FOLD);
        Received waiting = channels.open("a3", "alice", notesShape("s"), join("t", "team:1"));
        Effect.AskFolds shapes = world.take(Effect.AskFolds.class);

        channels.send("a1", channels.caller("alice"), new ControlRequest.Token());
        channels.send("a2", channels.caller("alice"), new ControlRequest.Token());
        channels.answer(channels.asked(), deny());
        channels.answer(channels.asked(), none());
        world.step(new Input.FoldsAnswer(shapes.questionId(), List.of(new FoldAnswer.Value("x"))));

        assertThat(other.only("error")).contains("channel_not_authorized");
        assertThat(waiting.only("ready")).contains("\"sub\":\"t\",\"ok\":false", "channel_not_authorized");
        say("team:1", "secret");
        assertThat(waiting.broadcasts()).isEmpty();
    }

    @Test
    void a_join_that_waits_for_a_later_entry_to_be_decided_is_refused_when_the_endpoint_has_denied_meanwhile() {
        world.pass(Duration.ofMillis(1));
        world.pass(RECHECK.minusSeconds(1));
        Received first = joined("a1", "alice", 1);
        world.plan = granted(everything(), FOLD);
        Received second = channels.open(
                "a2", "alice", join("t", "team:1"), join("u", "team:2"), notesShape("u"), join("v", "room:1"));
        channels.answer(channels.asked(), deny());
        Effect.AskFolds shapes = world.take(Effect.AskFolds.class);

        world.pass(Duration.ofSeconds(2));
        channels.answer(channels.asked(), deny());
        world.step(new Input.FoldsAnswer(shapes.questionId(), List.of(new FoldAnswer.Value("x"))));

        assertThat(first.only("error")).contains("channel_not_authorized");
        assertThat(second.only("ready"))
                .contains("\"sub\":\"t\",\"ok\":false,\"error\":{\"code\":\"channel_not_authorized\"")
                .contains("{\"sub\":\"v\",\"ok\":true}");
        say("team:1", "secret");
        assertThat(second.broadcasts()).isEmpty();
    }

    @Test
    void a_verdict_about_the_token_before_lets_nobody_in_when_later_entries_were_not_decided_in_time() {
        Received alice = channels.open("a", "alice");
        world.plan = granted(everything(), FOLD);
        channels.send(
                "a",
                channels.caller("alice"),
                subscribe(
                        join("t", "team:1"),
                        join("u", "team:2"),
                        join("v", "team:3"),
                        notesShape("u"),
                        join("v", "team:4")));
        List<Effect.AskHook> first = allAsked();
        channels.answer(first.get(0), allow(60));
        channels.answer(first.get(1), deny());
        channels.answer(first.get(2), deny());
        Effect.AskHook last = channels.asked();
        world.step(new Input.FoldsAnswer(world.take(Effect.AskFolds.class).questionId(), null));
        Identity refreshed = new Identity(
                "alice", "authenticated", "{\"plan\":\"free\"}", world.now().plusSeconds(7200), null, null);
        channels.send("a", refreshed, new ControlRequest.Token());
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(0));

        channels.answer(last, allow(60));

        assertThat(codes(world.take(Effect.Answered.class).answer()))
                .containsExactly(
                        "channel_hook_unavailable",
                        "channel_not_authorized",
                        "channel_not_authorized",
                        "catalog_unavailable",
                        "channel_hook_unavailable");
        say("team:1", "secret");
        assertThat(alice.broadcasts()).isEmpty();
    }

    @Test
    void tokens_in_a_row_put_one_question_at_a_time_about_a_channel() {
        Received alice = joined("a", "alice", 3600);
        for (int i = 0; i < 20; i++) {
            channels.send("a", channels.caller("alice"), new ControlRequest.Token());
        }
        List<Effect.AskHook> first = allAsked();
        assertThat(first).hasSize(1);

        channels.answer(first.getFirst(), allow(60));
        Effect.AskHook second = channels.asked();
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(0));
        assertThat(world.asked(Effect.Answered.class)).isFalse();

        channels.answer(second, deny());
        for (int i = 1; i < 20; i++) {
            assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(1));
        }
        assertThat(world.asked(Effect.AskHook.class)).isFalse();
        assertThat(alice.only("error")).contains("channel_not_authorized");
    }

    private Identity ofSession(String claims) {
        return new Identity("alice", "authenticated", claims, world.now().plusSeconds(3600), "session 1", null);
    }

    @Test
    void a_stream_that_ends_while_a_verdict_is_waited_for_joins_nothing() {
        Received alice = channels.open("a", "alice", join("t", "team:1"));
        Effect.AskHook asked = channels.asked();
        world.hangUp(alice);
        channels.answer(asked, allow(60));

        say("team:1", "secret");
        assertThat(alice.frames).isEmpty();
        world.pass(Duration.ofMinutes(2));
        assertThat(world.asked(Effect.AskHook.class)).isFalse();
    }

    private Received joined(String streamId, String subject, int ttl) {
        Received received = channels.open(streamId, subject, join("t", "team:1"));
        channels.answer(channels.asked(), allow(ttl));
        assertThat(received.only("ready")).contains("\"ok\":true");
        return received;
    }

    private List<Effect.AskHook> allAsked() {
        List<Effect.AskHook> asked = new ArrayList<>();
        while (world.asked(Effect.AskHook.class)) {
            asked.add(channels.asked());
        }
        return asked;
    }

    private void say(String channel, String content) {
        world.step(new Input.Wal(new WalEvent.LoneMessage(new Lsn(0x900), message("sluice:" + channel, content))));
    }

    static List<String> codes(ControlAnswer answer) {
        return ((ControlAnswer.Subscribed) answer)
                .results().stream()
                        .map(result -> result.outcome() instanceof SubscriptionResult.Refused(var code, var _, var _)
                                ? code.wireName()
                                : "ok")
                        .toList();
    }
}
