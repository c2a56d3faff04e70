package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.ChannelWorld.join;
import static sluice.core.dispatch.ChannelWorld.presence;
import static sluice.core.dispatch.ChannelWorld.publish;
import static sluice.core.dispatch.ChannelWorld.subscribe;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.dispatch.ControlRequest.Presence.Action;
import sluice.core.error.ErrorCode;
import sluice.core.event.SubscriptionResult;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;

/// Each limit admits as many as it says and not one more, and says which setting it is and what to do.
class LimitsTest {
    private final ChannelWorld channels = new ChannelWorld();
    private final World world = channels.world;

    private static SubscriptionRequest[] shapes(String prefix, int count) {
        var requests = new SubscriptionRequest[count];
        for (int i = 0; i < count; i++) {
            requests[i] = notesShape(prefix + i);
        }
        return requests;
    }

    private List<SubscriptionResult> results(String streamId, SubscriptionRequest... requests) {
        ControlAnswer answer = channels.ask(streamId, streamId, subscribe(requests));
        assertThat(answer).isInstanceOf(ControlAnswer.Subscribed.class);
        return ((ControlAnswer.Subscribed) answer).results();
    }

    private static void refused(SubscriptionResult result, ErrorCode code, String... words) {
        assertThat(result.outcome()).isInstanceOfSatisfying(SubscriptionResult.Refused.class, refused -> {
            assertThat(refused.code()).isEqualTo(code);
            assertThat(refused.message()).contains(words);
        });
    }

    private static void refused(ControlAnswer answer, ErrorCode code, String... words) {
        assertThat(answer).isInstanceOfSatisfying(ControlAnswer.Refused.class, refused -> {
            assertThat(refused.code()).isEqualTo(code);
            assertThat(refused.message()).contains(words);
        });
    }

    @Test
    void the_twenty_first_shape_of_a_stream_is_refused_by_the_name_of_its_limit() {
        Received alice = channels.open("alice", "alice", shapes("a", 20));
        assertThat(alice.only("ready")).doesNotContain("\"ok\":false");
        refused(
                results("alice", notesShape("b")).getFirst(),
                ErrorCode.TOO_MANY_SHAPES,
                "at most 20 shapes",
                "SLUICE_MAX_SHAPES_PER_STREAM",
                "open another stream");
    }

    @Test
    void the_hundred_and_first_subscription_of_a_stream_is_refused_by_the_name_of_its_limit() {
        var joins = new SubscriptionRequest[99];
        for (int i = 0; i < joins.length; i++) {
            joins[i] = join("c" + i, "room:" + i);
        }
        channels.open("alice", "alice", joins);
        List<SubscriptionResult> results = results("alice", notesShape("last"), join("more", "room:more"));
        assertThat(results.getFirst().outcome()).isInstanceOf(SubscriptionResult.Granted.class);
        refused(
                results.getLast(),
                ErrorCode.TOO_MANY_SUBSCRIPTIONS,
                "at most 100 subscriptions",
                "SLUICE_MAX_SUBS_PER_STREAM",
                "open another stream");
    }

    @Test
    void the_two_hundred_and_first_shape_without_an_equality_is_refused_and_logged_as_the_servers_own_matter() {
        for (int i = 0; i < 10; i++) {
            channels.open("s" + i, "s" + i, shapes("a", 20));
        }
        channels.open("alice", "alice");
        world.forgetEffects();
        SubscriptionResult result = results("alice", notesShape("b")).getFirst();
        refused(
                result,
                ErrorCode.TOO_MANY_UNINDEXED_SHAPES,
                "200 shapes without an equality",
                "SLUICE_UNINDEXED_SHAPES_MAX",
                "add eq or in");

        channels.send("alice", channels.caller("alice"), subscribe(notesShape("c")));
        Notice notice = world.take(Effect.Log.class).notice();
        assertThat(notice.level()).isEqualTo(Notice.Level.WARN);
        assertThat(notice.fields()).containsSubsequence("sub", "c", "code", "too_many_unindexed_shapes");
        assertThat(notice.field("table")).isEqualTo("public.notes");
    }

    @Test
    void more_columns_than_a_table_can_have_and_more_operations_than_there_are_words_for_are_refused() {
        channels.open("alice", "alice");
        List<SubscriptionResult> results = results(
                "alice",
                naming("a", columns(ShapeReader.COLUMNS_MAX), null),
                naming("b", columns(ShapeReader.COLUMNS_MAX + 1), null),
                naming("c", null, Collections.nCopies(16, "INSERT")),
                naming("d", null, Collections.nCopies(17, "INSERT")));
        assertThat(results.get(0).outcome()).isInstanceOf(SubscriptionResult.Granted.class);
        refused(results.get(1), ErrorCode.INVALID_COLUMNS, "more than 1600");
        assertThat(results.get(2).outcome()).isInstanceOf(SubscriptionResult.Granted.class);
        refused(results.get(3), ErrorCode.INVALID_OPS, "more than 16");
    }

    private static List<String> columns(int count) {
        return Collections.nCopies(count, "id");
    }

    private static SubscriptionRequest naming(
            String label, @Nullable List<String> columns, @Nullable List<String> operations) {
        return new SubscriptionRequest(
                label,
                new ShapeRequest(
                        "public", "notes", null, columns, operations, ShapeRequest.Transitions.NOT_REPORTED, List.of()),
                null);
    }

    @Test
    void a_rate_admits_as_many_as_it_says_and_names_itself_to_the_next() {
        channels.open("alice", "alice", join("r", "room:1"));
        for (int i = 0; i < 5; i++) {
            assertThat(channels.ask("alice", "alice", publish("room:1", "1", ControlRequest.Echo.TO_OTHERS)))
                    .isEqualTo(new ControlAnswer.Delivered(0));
            assertThat(channels.ask("alice", "alice", presence("room:1", Action.TRACK, "1")))
                    .isEqualTo(new ControlAnswer.Done());
        }
        refused(
                channels.ask("alice", "alice", publish("room:1", "1", ControlRequest.Echo.TO_OTHERS)),
                ErrorCode.RATE_LIMITED,
                "SLUICE_PUBLISH_RATE",
                "Retry-After");
        refused(
                channels.ask("alice", "alice", presence("room:1", Action.TRACK, "1")),
                ErrorCode.RATE_LIMITED,
                "SLUICE_PRESENCE_RATE",
                "Retry-After");
        assertThat(world.counts.of("broadcast room CLIENT")).isEqualTo(5);
        assertThat(world.counts.of("presence room TRACK")).isEqualTo(5);
    }

    /// The world admits 1,000 a second.
    @Test
    void the_probe_past_those_of_a_second_is_not_put_and_the_change_is_withheld_and_counted() {
        world.plan = World.granted(World.probed());
        Received alice = channels.open("alice", "alice", notesShape("a"));
        for (int i = 0; i < 1_000; i++) {
            world.commit(insert(String.valueOf(i), "alice", "x"));
            Effect.Probe probe = world.take(Effect.Probe.class);
            world.step(new Input.ProbeAnswer(probe.probeId(), new Input.ProbeOutcome.Visible(world.stamp())));
        }
        assertThat(alice.changes()).hasSize(1_000);
        assertThat(world.counts.of("probe withheld")).isZero();

        world.forgetEffects();
        world.commit(insert("1000", "alice", "x"));
        assertThat(world.asked(Effect.Probe.class)).isFalse();
        assertThat(world.counts.of("probe withheld")).isEqualTo(1);
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        assertThat(alice.changes()).hasSize(1_000);
        assertThat(alice.warned("changes_withheld")).isTrue();

        world.pass(Duration.ofSeconds(1));
        world.commit(insert("1001", "alice", "x"));
        assertThat(world.asked(Effect.Probe.class)).isTrue();
    }

    @Test
    void the_question_past_those_a_server_has_unanswered_is_not_put_and_its_join_may_be_tried_again() {
        for (int stream = 0; stream < HookDesk.QUESTIONS_MAX / 100; stream++) {
            var joins = new SubscriptionRequest[100];
            for (int i = 0; i < joins.length; i++) {
                joins[i] = join("c" + i, "team:" + stream + "-" + i);
            }
            assertThat(channels.open("s" + stream, "s" + stream, joins).frames).isEmpty();
        }
        Received late = channels.open("late", "late", join("r", "team:late"));
        assertThat(late.only("ready")).contains("channel_hook_unavailable", "\"retryable\":true", "retry_after_ms");
        assertThat(channels.open("known", "known", join("r", "room:1")).only("ready"))
                .contains("\"ok\":true");
    }

    @Test
    void whoever_comes_and_goes_between_two_differences_does_not_make_them_longer_than_twice_the_keys() {
        Received watcher = channels.open("w", "w", join("r", "room:1"));
        List<String> subjects = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            String subject = "s" + i;
            subjects.add(subject);
            present(subject);
            assertThat(channels.ask(subject, subject, presence("room:1", Action.UNTRACK, "1")))
                    .isEqualTo(new ControlAnswer.Done());
        }
        world.pass(Duration.ofMillis(1500));

        List<String> diffs = watcher.presence();
        assertThat(diffs)
                .hasSizeGreaterThan(2)
                .allSatisfy(diff -> assertThat(diff.split("\"ref\"", -1)).hasSizeLessThanOrEqualTo(1 + 6));
        for (String subject : subjects) {
            assertThat(diffs.stream().filter(diff -> diff.contains('"' + subject + '"')))
                    .as(subject)
                    .isNotEmpty();
        }
    }

    @Test
    void a_member_that_leaves_fills_a_difference_too() {
        Received watcher = channels.open("w", "w", join("r", "room:1"));
        List<Received> members = new ArrayList<>();
        for (String subject : List.of("a", "b", "c")) {
            members.add(present(subject));
        }
        world.pass(Duration.ofMillis(1500));
        world.hangUp(members.get(0));
        for (String subject : List.of("d", "e", "f", "g")) {
            world.hangUp(present(subject));
        }
        assertThat(watcher.presence()).hasSize(1);

        world.hangUp(members.get(1));
        world.commit(insert("1", "alice", "x"));

        assertThat(watcher.presence()).hasSize(2).last().asString().contains("\"a\"", "\"g\"", "\"b\"");
    }

    private Received present(String subject) {
        Received stream = channels.open(subject, subject, join("r", "room:1"));
        assertThat(channels.ask(subject, subject, presence("room:1", Action.TRACK, "1")))
                .isEqualTo(new ControlAnswer.Done());
        return stream;
    }
}
