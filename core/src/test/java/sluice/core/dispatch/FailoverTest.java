package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOTES_DEFINITION;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.probed;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.WalEvent;
import sluice.core.value.Oid;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition.Scope;

/// Another timeline answers: what was delivered is part of it, or it is not.
class FailoverTest {
    private final World world = new World();

    @Test
    void a_failover_that_lost_nothing_goes_unnoticed() {
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "alice", "x"));

        world.failOver(0);
        world.commit(insert("2", "alice", "x"));

        assertThat(world.engine.acceptsWal()).isTrue();
        assertThat(stream.changes()).hasSize(2);
        assertThat(stream.closed).isNull();
    }

    @Test
    void a_position_that_may_be_of_the_timeline_that_was_left_is_not_resumed() {
        world.open("alice", notesShape("a"));
        world.commit(insert("1", "alice", "x"));
        Lsn end = world.engine.position();
        world.idle();
        Lsn told = world.engine.position();

        world.step(new Input.Wal(new WalEvent.TimelineLeft(end)));
        var meanwhile = world.open("bob", notesShape("a"));
        world.commit(insert("2", "alice", "x"));
        Lsn after = world.engine.position();

        assertThat(meanwhile.frames.getFirst()).contains("\"wal_lsn\":\"" + end + "\"");
        assertThat(resumed("a", end)).isTrue();
        assertThat(resumed("b", told)).isFalse();
        assertThat(resumed("c", after)).isTrue();
    }

    private boolean resumed(String streamId, Lsn position) {
        var stream = world.open(streamId, ResumeTest.resuming("r", position, null, Scope.SHAPE));
        return stream.frames.getFirst().contains("\"resumed\":true");
    }

    @Test
    void a_lost_commit_that_was_delivered_ends_every_stream_and_says_that_rows_must_be_read_again() {
        var alice = world.open("alice", notesShape("a"));
        var bob = world.open("bob", notesShape("b"));
        world.commit(insert("1", "alice", "x"));

        world.failOver(1);

        assertThat(alice.closed).isEqualTo(CloseReason.HISTORY_LOST);
        assertThat(alice.only("error")).contains("history_lost", "\"action\":\"resnapshot\"");
        assertThat(bob.closed).isEqualTo(CloseReason.HISTORY_LOST);
        assertThat(world.engine.streamCount()).isZero();
    }

    @Test
    void what_is_held_of_a_lost_commit_goes_with_it() {
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(World.probed());
        world.step(new Input.Control(
                1,
                "alice",
                new sluice.core.session.Identity(
                        "alice", "authenticated", "{}", world.now().plusSeconds(3600)),
                new ControlRequest.Subscribe(List.of(notesShape("b")))));
        world.commit(insert("1", "alice", "x"));
        assertThat(stream.changes()).isEmpty();

        world.failOver(1);

        assertThat(stream.closed).isEqualTo(CloseReason.HISTORY_LOST);
        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void the_new_history_is_dispatched_from_where_it_begins_under_a_catalog_of_its_own() {
        world.commit(insert("1", "alice", "x"));
        world.commit(insert("2", "alice", "x"));

        Lsn at = world.failOver(1);
        assertThat(world.engine.acceptsWal()).isFalse();
        assertThat(world.engine.position()).isEqualTo(at);
        var early = world.open("alice", notesShape("a"));
        assertThat(early.refusal).isEqualTo(ErrorCode.NOT_REPLICATING);
        loadNewHistory();

        var stream = world.open("alice", notesShape("a"));
        assertThat(stream.only("ready")).contains("\"wal_lsn\":\"" + at + "\"");
        // the same position as the commit that was lost: no commit sent twice, but another one
        world.commit(insert("3", "alice", "x"));
        assertThat(stream.changes()).singleElement().asString().contains("\"id\":3");
    }

    @Test
    void a_catalog_asked_for_before_the_failover_is_not_taken_for_the_new_history() {
        world.pass(Duration.ofHours(2));
        long before = world.take(Effect.LoadCatalog.class).requestId();
        world.commit(insert("1", "alice", "x"));

        world.failOver(1);
        world.step(new Input.CatalogAnswer(before, world.imageAt(world.stamp())));

        assertThat(world.engine.acceptsWal()).isFalse();
        loadNewHistory();
        assertThat(world.engine.acceptsWal()).isTrue();
    }

    @Test
    void a_catalog_that_cannot_be_read_is_asked_for_again() {
        world.commit(insert("1", "alice", "x"));
        world.failOver(1);
        world.pass(Duration.ofMillis(50));
        world.step(new Input.CatalogAnswer(world.take(Effect.LoadCatalog.class).requestId(), null));
        assertThat(world.engine.acceptsWal()).isFalse();

        world.step(new Input.RightsAnswer("any"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));

        assertThat(world.engine.acceptsWal()).isTrue();
    }

    /// A policy made on the server that was lost would otherwise decide on, though it never was.
    @Test
    void rights_read_after_the_histories_parted_end_every_stream_too() {
        var stream = world.open("alice", notesShape("a"));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stampAhead())));
        assertThat(stream.changes()).hasSize(1);

        world.failOver(0);

        assertThat(stream.closed).isEqualTo(CloseReason.HISTORY_LOST);
    }

    @Test
    void an_answer_of_the_server_that_was_left_decides_nothing() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "alice", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);

        world.failOver(0);
        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));
        world.idle();
        world.pass(Duration.ofSeconds(11));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.warned("changes_withheld")).isTrue();
        assertThat(stream.closed).isNull();
    }

    @Test
    void what_a_function_said_on_the_server_that_was_left_is_asked_again() {
        Fold fold = new Fold("f()", Oid.BOOL);
        world.plan = granted(everything(), fold);
        world.open("alice", notesShape("a"));
        long asked = world.take(Effect.AskFolds.class).questionId();
        world.step(new Input.FoldsAnswer(asked, List.of(new FoldAnswer.Value("true"))));
        world.forgetEffects();

        world.failOver(0);
        world.open("alice too", notesShape("a"));

        assertThat(world.asked(Effect.AskFolds.class)).isTrue();
    }

    private void loadNewHistory() {
        world.pass(Duration.ofMillis(50));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
    }
}
