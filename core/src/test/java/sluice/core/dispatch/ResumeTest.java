package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.expression.FoldAnswer;
import sluice.core.resume.ResumeBuffer;
import sluice.core.session.Identity;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.transaction.Change;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.ResumePosition.Scope;

/// Clients that come back to where they were.
class ResumeTest {
    private final World world = new World();

    static SubscriptionRequest resuming(String label, @Nullable Lsn lsn) {
        return resuming(label, lsn, null, Scope.SHAPE);
    }

    static SubscriptionRequest resuming(String label, @Nullable Lsn lsn, @Nullable String history, Scope scope) {
        ShapeRequest shape = notesShape(label).shape();
        assertThat(shape).isNotNull();
        return new SubscriptionRequest(label, shape.resumedAt(new ResumePosition(lsn, history, scope)), null);
    }

    private static String history(Received stream) {
        return stream.frames.getFirst().replaceAll("(?s).*\"history\":\"([^\"]*)\".*", "$1");
    }

    private static Lsn lsn(World.Commit commit) {
        return commit.transaction().commitLsn();
    }

    @Test
    void a_client_that_comes_back_gets_what_it_missed_and_the_commit_it_saw_last_and_then_what_is_live() {
        world.plan = granted(ownedBy("alice"));
        world.commit(insert("1", "alice", "before"));
        World.Commit seen = world.commit(insert("2", "alice", "seen"));
        world.commit(insert("3", "alice", "missed"), insert("4", "bob", "not hers"));

        var stream = world.open("alice", resuming("a", lsn(seen)));
        world.commit(insert("5", "alice", "live"));

        assertThat(stream.only("ready")).contains("\"resumed\":true", "\"wal_lsn\":\"" + lsn(seen) + "\"");
        assertThat(stream.changes()).hasSize(3);
        assertThat(stream.changes().get(0)).contains("seen");
        assertThat(stream.changes().get(1)).contains("missed");
        assertThat(stream.changes().get(2)).contains("live");
        assertThat(stream.only("live")).contains("\"sub\":\"a\"");
        assertThat(world.counts.of("resumed YES")).isEqualTo(1);
    }

    @Test
    void a_replay_is_over_before_its_subscription_sees_anything_live() {
        World.Commit seen = world.commit(insert("0", "alice", "x"));
        for (int i = 1; i < 40; i++) {
            world.commit(insert(String.valueOf(i), "alice", "x"));
        }
        var stream = world.open("alice", resuming("a", lsn(seen)), notesShape("b"));
        world.commit(insert("40", "alice", "x"));

        List<String> ofA = stream.changes().stream()
                .filter(change -> change.startsWith("change \"a\""))
                .map(change -> change.replaceAll(".*\"id\":(\\d+).*", "$1"))
                .toList();
        assertThat(ofA).hasSize(41).first().isEqualTo("0");
        assertThat(ofA).last().isEqualTo("40");
        assertThat(stream.changes().stream().filter(change -> change.startsWith("change \"b\"")))
                .hasSize(1);
    }

    @Test
    void a_position_of_a_quiet_table_resumes_with_nothing_to_replay() {
        world.commit(insert("1", "alice", "x"));
        world.idle();
        Lsn position = world.engine.position();

        var stream = world.open("alice", resuming("a", position));

        assertThat(stream.only("ready")).contains("\"resumed\":true");
        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("live")).contains("\"sub\":\"a\"");
    }

    @Test
    void a_position_before_the_log_was_read_from_is_not_resumed() {
        var stream = world.open("alice", resuming("a", Lsn.parse("0/1")));

        assertThat(stream.only("ready")).contains("\"ok\":true", "\"resumed\":false");
        world.commit(insert("1", "alice", "live"));
        assertThat(stream.changes()).hasSize(1);
        assertThat(world.counts.of("resumed NO")).isEqualTo(1);
    }

    @Test
    void a_position_of_another_table_that_had_the_name_is_not_resumed() {
        rename("archive");
        World.Commit seen = world.commit(insert("1", "alice", "of the other table"));
        rename("notes");

        assertThat(world.open("alice", resuming("a", lsn(seen))).only("ready"))
                .contains("\"ok\":true", "\"resumed\":false");
        Lsn later = lsn(world.commit(insert("2", "alice", "x")));
        assertThat(world.open("a", resuming("a", later)).only("ready")).contains("\"resumed\":true");
    }

    private void rename(String name) {
        world.rename(name);
        world.step(new Input.RightsAnswer("now " + name));
        Effect.LoadCatalog load = world.take(Effect.LoadCatalog.class);
        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));
    }

    @Test
    void a_position_past_the_log_is_not_resumed() {
        world.commit(insert("1", "alice", "x"));

        var stream = world.open("alice", resuming("a", Lsn.parse("FF/0")));

        assertThat(stream.only("ready")).contains("\"resumed\":false");
    }

    @Test
    void a_position_that_is_no_lsn_is_said_to_be_none_and_the_shape_is_live() {
        var stream = world.open("alice", resuming("a", null));

        assertThat(stream.only("ready")).contains("\"ok\":true", "\"resumed\":false");
        assertThat(stream.only("error")).contains("invalid_resume", "\"sub\":\"a\"");
        world.commit(insert("1", "alice", "live"));
        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_position_older_than_what_is_kept_is_not_resumed() {
        World small = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ofSeconds(30), 1_500)));
        World.Commit old = small.commit(insert("0", "alice", "x"));
        for (int i = 1; i < 20; i++) {
            small.commit(insert(String.valueOf(i), "alice", "x"));
        }

        assertThat(small.open("alice", resuming("a", lsn(old))).only("ready")).contains("\"resumed\":false");
    }

    @Test
    void age_lets_go_of_all_but_the_newest_commit_of_a_table() {
        World.Commit first = world.commit(insert("1", "alice", "x"));
        World.Commit second = world.commit(insert("2", "alice", "x"));
        world.step(new Input.RightsAnswer("x", world.stamp()));
        world.pass(Duration.ofMinutes(5));

        assertThat(world.open("alice", resuming("a", lsn(first))).only("ready")).contains("\"resumed\":false");
        assertThat(world.open("bob", resuming("b", lsn(second))).only("ready")).contains("\"resumed\":true");
    }

    @Test
    void without_a_buffer_nothing_is_resumed() {
        World off = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 0)));
        World.Commit seen = off.commit(insert("1", "alice", "x"));

        assertThat(off.open("alice", resuming("a", lsn(seen))).only("ready")).contains("\"resumed\":false");
    }

    @Test
    void a_truncate_is_kept_and_replayed_in_its_place() {
        World.Commit seen = world.commit(insert("1", "alice", "x"));
        world.commit(new Change.Truncate(World.NOTES_DEFINITION));
        world.commit(insert("2", "alice", "y"));

        var stream = world.open("alice", resuming("a", lsn(seen)));

        assertThat(stream.warned("table_truncated")).isTrue();
        assertThat(stream.changes()).hasSize(2);
    }

    @Test
    void a_commit_too_large_to_keep_makes_an_end_of_resuming_across_it() {
        World.Commit before = world.commit(insert("1", "alice", "x"));
        world.spilled(() -> "", insert("2", "alice", "x"));
        World.Commit after = world.commit(insert("3", "alice", "x"));

        assertThat(world.open("alice", resuming("a", lsn(before))).only("ready"))
                .contains("\"resumed\":false");
        assertThat(world.open("bob", resuming("b", lsn(after))).only("ready")).contains("\"resumed\":true");
    }

    @Test
    void rights_that_moved_since_the_position_make_an_end_of_resuming() {
        world.plan = granted(ownedBy("bob"));
        var first = world.open("alice", notesShape("a"));
        World.Commit secret = world.commit(insert("1", "alice", "secret"));
        world.plan = granted(everything());
        world.moveRights("r2", List.of(1, 2, 3));
        world.commit(List.of(World.NOTES_DEFINITION), insert("2", "alice", "redacted"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
        assertThat(first.changes()).noneMatch(change -> change.contains("secret"));

        var stream = world.open("alice", resuming("a", lsn(secret)));

        assertThat(stream.only("ready")).contains("\"resumed\":false");
        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void another_rule_ends_a_replay_and_nothing_more_of_it_is_sent() {
        world.plan = granted(ownedBy("alice"));
        World.Commit seen = world.commit(insert("0", "alice", "x"));
        for (int i = 1; i < 40; i++) {
            world.commit(insert(String.valueOf(i), i % 2 == 0 ? "alice" : "bob", "x"));
        }
        var stream = world.openUnread("alice", resuming("a", lsn(seen)));
        int before = stream.changes().size();
        assertThat(before).isBetween(1, 19);

        world.plan = granted(ownedBy("bob"));
        world.moveRights("r2", List.of(1, 2, 3));
        world.commit(List.of(World.NOTES_DEFINITION), insert("40", "bob", "x"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
        world.read(stream);

        assertThat(stream.changes()).hasSize(before).allMatch(change -> change.contains("alice"));
        assertThat(stream.only("error")).contains("rights_changed");
    }

    @Test
    void a_replay_ends_with_its_subscription_and_a_new_one_of_the_label_gets_nothing_of_it() {
        World.Commit seen = world.commit(insert("0", "alice", "x"));
        for (int i = 1; i < 40; i++) {
            world.commit(insert(String.valueOf(i), "alice", "x"));
        }
        var stream = world.openUnread("alice", resuming("a", lsn(seen)));
        int before = stream.changes().size();
        assertThat(before).isBetween(1, 38);

        world.step(new Input.Control(
                1,
                "alice",
                new Identity("alice", "authenticated", "{}", world.now().plusSeconds(3600)),
                new ControlRequest.Unsubscribe(List.of("a"))));
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.Removed(1));
        world.subscribe("alice", notesShape("a"));
        world.read(stream);
        world.commit(insert("40", "alice", "x"));
        world.read(stream);

        assertThat(stream.changes()).hasSize(before + 1).last().asString().contains("\"id\":40");
    }

    @Test
    void a_position_under_another_history_is_not_resumed() {
        World.Commit seen = world.commit(insert("1", "alice", "x"));
        String own = history(world.open("alice", notesShape("a")));

        assertThat(world.open("alice", resuming("a", lsn(seen), own, Scope.SHAPE))
                        .only("ready"))
                .contains("\"resumed\":true");
        assertThat(world.open("alice", resuming("a", lsn(seen), own + "x", Scope.SHAPE))
                        .only("ready"))
                .contains("\"resumed\":false");
    }

    @Test
    void another_filter_is_another_history() {
        String all = history(world.open("alice", notesShape("a")));
        var filtered = world.open("bob", World.filtered("a", "id=eq.1"));
        world.step(new Input.FoldsAnswer(
                world.take(Effect.AskFolds.class).questionId(), List.of(new FoldAnswer.Value("1"))));
        String some = history(filtered);

        assertThat(all).isNotEqualTo(some);
    }

    @Test
    void a_table_position_of_several_shapes_is_not_resumed() {
        World.Commit seen = world.commit(insert("1", "alice", "x"));

        assertThat(world.open("alice", resuming("a", lsn(seen), null, Scope.TABLE_OF_SEVERAL))
                        .only("ready"))
                .contains("\"resumed\":false");
    }

    @Test
    void after_a_failover_that_lost_commits_no_position_without_its_history_is_resumed() {
        World.Commit kept = world.commit(insert("1", "alice", "x"));
        world.commit(insert("2", "alice", "lost"));
        world.failOver(1);
        world.pass(Duration.ofMillis(50));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
        World.Commit other = world.commit(insert("3", "alice", "other"));

        assertThat(world.open("alice", resuming("a", lsn(kept))).only("ready")).contains("\"resumed\":false");
        assertThat(world.open("bob", resuming("b", lsn(other))).only("ready")).contains("\"resumed\":false");
    }

    @Test
    void a_replay_whose_commits_are_let_go_of_ends_the_subscription_and_says_so() {
        World small = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 6_000)));
        World.Commit seen = small.commit(insert("0", "alice", "x"));
        for (int i = 1; i < 12; i++) {
            small.commit(insert(String.valueOf(i), "alice", "x"));
        }
        var stream = small.openUnread("alice", resuming("a", lsn(seen)));
        for (int i = 12; i < 60; i++) {
            small.commit(insert(String.valueOf(i), "alice", "x"));
        }
        small.pass(Duration.ofMillis(50));
        small.read(stream);

        assertThat(stream.only("error")).contains("resume_too_old", "\"sub\":\"a\"", "resnapshot");
        assertThat(stream.closed).isNull();
    }

    /// Whether hers or not cannot be told: the owner's value was left out of the log.
    private static Change undecidable(String id) {
        return World.update(null, World.tuple(id, World.UNCHANGED, "x"));
    }

    private String resumed(Lsn lsn) {
        var stream = world.open("again", resuming("a", lsn));
        String ready = stream.only("ready");
        world.hangUp(stream);
        return ready.replaceAll("(?s).*\"resumed\":(true|false).*", "$1");
    }

    @Test
    void a_client_that_left_before_it_was_told_of_withheld_changes_is_not_resumed_past_them() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));
        World.Commit before = world.commit(insert("1", "alice", "x"));
        world.commit(undecidable("1"));
        World.Commit told = world.commit(insert("2", "alice", "x"));
        World.Commit untold = world.commit(undecidable("2"));
        World.Commit seen = world.commit(insert("3", "alice", "x"));
        assertThat(warnings(alice)).isEqualTo(1);
        world.hangUp(alice);

        assertThat(resumed(lsn(seen))).isEqualTo("false");
        assertThat(resumed(lsn(untold))).isEqualTo("true");
        assertThat(resumed(lsn(told))).isEqualTo("true");
        assertThat(resumed(lsn(before))).isEqualTo("true");

        world.pass(Duration.ofSeconds(1));
        World.Commit later = world.commit(insert("4", "alice", "x"));
        assertThat(resumed(lsn(seen))).isEqualTo("false");
        assertThat(resumed(lsn(later))).isEqualTo("true");
    }

    private static long warnings(Received stream) {
        return stream.frames.stream()
                .filter(frame -> frame.contains("changes_withheld"))
                .count();
    }

    @Test
    void a_client_that_was_told_of_withheld_changes_is_resumed_from_what_it_was_given_after_that() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));
        world.commit(undecidable("1"));
        world.commit(undecidable("2"));
        World.Commit before = world.commit(insert("3", "alice", "x"));
        world.pass(Duration.ofSeconds(10));
        assertThat(warnings(alice)).isEqualTo(2);
        World.Commit after = world.commit(insert("4", "alice", "x"));
        world.hangUp(alice);

        assertThat(resumed(lsn(before))).isEqualTo("false");
        assertThat(resumed(lsn(after))).isEqualTo("true");
    }

    @Test
    void a_stream_that_is_open_still_counts_as_one_that_was_not_told() {
        world.plan = granted(ownedBy("alice"));
        world.open("alice", notesShape("a"));
        world.commit(undecidable("1"));
        world.commit(undecidable("2"));
        World.Commit seen = world.commit(insert("3", "alice", "x"));

        assertThat(resumed(lsn(seen))).isEqualTo("false");
    }

    @Test
    void a_shape_left_and_subscribed_again_on_its_stream_is_not_resumed_past_what_it_was_not_told_of() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));
        world.commit(undecidable("1"));
        world.commit(undecidable("2"));
        World.Commit seen = world.commit(insert("3", "alice", "x"));
        var caller = new Identity("alice", "authenticated", "{}", world.now().plusSeconds(3600));
        world.step(new Input.Control(1, "alice", caller, new ControlRequest.Unsubscribe(List.of("a"))));
        world.forgetEffects();
        world.subscribe("alice", resuming("a", lsn(seen)));

        var answer =
                (ControlAnswer.Subscribed) world.take(Effect.Answered.class).answer();
        assertThat(answer.results().getFirst().outcome().toString()).contains("resumed=false");
        assertThat(alice.closed).isNull();
    }

    @Test
    void a_new_token_does_not_make_a_withheld_change_forgotten() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));
        world.commit(undecidable("1"));
        world.commit(undecidable("2"));
        World.Commit seen = world.commit(insert("3", "alice", "x"));
        var renewed = new Identity("alice", "authenticated", "{}", world.now().plusSeconds(7200));
        world.step(new Input.Control(1, "alice", renewed, new ControlRequest.Token()));

        assertThat(resumed(lsn(seen))).isEqualTo("false");
        world.pass(Duration.ofSeconds(10));
        assertThat(warnings(alice)).isEqualTo(2);
    }

    @Test
    void who_holds_another_shape_with_its_history_is_resumed() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));
        var filtered = world.open("bob", World.filtered("a", "id=eq.1"));
        world.step(new Input.FoldsAnswer(
                world.take(Effect.AskFolds.class).questionId(), List.of(new FoldAnswer.Value("1"))));
        String other = history(filtered);
        String own = history(alice);
        world.commit(undecidable("2"));
        world.commit(undecidable("3"));
        World.Commit seen = world.commit(insert("4", "alice", "x"));

        assertThat(world.open("again", resuming("a", lsn(seen), own, Scope.SHAPE))
                        .only("ready"))
                .contains("\"resumed\":false");
        ShapeRequest shape = World.filtered("a", "id=eq.1").shape();
        assertThat(shape).isNotNull();
        var bob = world.open(
                "bob2",
                new SubscriptionRequest("a", shape.resumedAt(new ResumePosition(lsn(seen), other, Scope.SHAPE)), null));
        if (world.asked(Effect.AskFolds.class)) {
            world.step(new Input.FoldsAnswer(
                    world.take(Effect.AskFolds.class).questionId(), List.of(new FoldAnswer.Value("1"))));
        }
        assertThat(bob.only("ready")).contains("\"resumed\":true");
    }

    @Test
    void a_change_that_waited_for_an_answer_counts_from_its_own_commit() {
        world.plan = granted(World.probed());
        var alice = world.open("alice", notesShape("a"));
        world.commit(insert("1", "alice", "x"));
        fails(world.take(Effect.Probe.class));
        World.Commit withheld = world.commit(insert("2", "alice", "x"));
        Effect.Probe second = world.take(Effect.Probe.class);
        World.Commit seen = world.commit(insert("3", "alice", "x"));
        Effect.Probe third = world.take(Effect.Probe.class);
        fails(second);
        world.step(new Input.ProbeAnswer(third.probeId(), new Input.ProbeOutcome.Visible(world.stamp())));
        assertThat(alice.changes()).hasSize(1);
        world.hangUp(alice);

        assertThat(resumed(lsn(seen))).isEqualTo("false");
        assertThat(resumed(lsn(withheld))).isEqualTo("true");
    }

    private void fails(Effect.Probe probe) {
        world.step(new Input.ProbeAnswer(probe.probeId(), new Input.ProbeOutcome.Failed("57014")));
    }

    @Test
    void what_a_replay_withheld_is_told_before_its_subscription_is_live() {
        world.plan = granted(ownedBy("alice"));
        World.Commit first = world.commit(undecidable("1"));
        world.commit(undecidable("2"));
        world.commit(undecidable("3"));

        var stream = world.open("alice", resuming("a", lsn(first)));

        assertThat(stream.frames).last().asString().startsWith("event: live");
        assertThat(stream.frames.stream().filter(frame -> frame.contains("changes_withheld")))
                .last()
                .asString()
                .contains("2 changes");
    }
}
