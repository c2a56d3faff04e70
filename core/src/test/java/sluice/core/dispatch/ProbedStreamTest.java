package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOTES_DEFINITION;
import static sluice.core.dispatch.World.NOT_SENT;
import static sluice.core.dispatch.World.delete;
import static sluice.core.dispatch.World.filtered;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.probed;
import static sluice.core.dispatch.World.refused;
import static sluice.core.dispatch.World.tuple;
import static sluice.core.dispatch.World.update;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Rule;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.shape.ShapeRequest;
import sluice.core.value.Oid;
import sluice.core.wal.Lsn;

/// Streams that wait for PostgreSQL to say whether they may see a row: the answer comes late, comes twice, says no,
/// fails or never comes.
class ProbedStreamTest {
    private static final List<Integer> ALL_COLUMNS = List.of(1, 2, 3);

    private final World world = new World();

    @Test
    void a_probed_row_is_sent_after_a_yes_and_later_commits_wait_behind_it() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        Effect.Probe first = world.take(Effect.Probe.class);
        world.commit(insert("2", "bob", "x"));
        Effect.Probe second = world.take(Effect.Probe.class);

        world.step(new Input.ProbeAnswer(second.probeId(), new ProbeOutcome.Visible(world.stamp())));
        assertThat(stream.changes()).isEmpty();
        world.step(new Input.ProbeAnswer(first.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(stream.changes()).hasSize(2);
        assertThat(stream.changes().get(0)).contains("\"id\":1");
    }

    @Test
    void a_no_and_a_failure_send_nothing_and_only_the_failure_is_counted() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        Effect.Probe no = world.take(Effect.Probe.class);
        world.commit(insert("2", "bob", "x"));
        Effect.Probe failed = world.take(Effect.Probe.class);

        world.step(new Input.ProbeAnswer(no.probeId(), new ProbeOutcome.Hidden(world.stamp())));
        assertThat(world.counts.of("withheld INSERT")).isZero();
        world.step(new Input.ProbeAnswer(failed.probeId(), new ProbeOutcome.Failed("42501")));

        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        assertThat(stream.warned("changes_withheld")).isTrue();
    }

    @Test
    void an_answer_older_than_the_commit_is_asked_again() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));

        world.step(new Input.ProbeAnswer(
                world.take(Effect.Probe.class).probeId(), new ProbeOutcome.Visible(world.stampBeforeLatest())));
        assertThat(stream.changes()).isEmpty();
        world.pass(Duration.ofMillis(50));
        world.step(new Input.ProbeAnswer(
                world.take(Effect.Probe.class).probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void an_answer_newer_than_the_position_waits_for_it() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));

        world.step(new Input.ProbeAnswer(
                world.take(Effect.Probe.class).probeId(), new ProbeOutcome.Visible(world.stampAhead())));
        assertThat(stream.changes()).isEmpty();
        world.idle();
        world.idle();

        assertThat(stream.changes()).hasSize(1);
    }

    /// The log may stand before an answer for long, on a database where nobody commits.
    @Test
    void the_log_is_moved_when_it_does_not_pass_an_answer_by_itself() {
        world.plan = granted(probed());
        world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        world.step(new Input.ProbeAnswer(
                world.take(Effect.Probe.class).probeId(), new ProbeOutcome.Visible(world.stampAhead())));
        assertThat(world.asked(Effect.MoveLog.class)).isFalse();

        world.pass(Duration.ofMillis(200));
        assertThat(world.take(Effect.MoveLog.class)).isNotNull();
        world.pass(Duration.ofMillis(200));
        assertThat(world.asked(Effect.MoveLog.class))
                .as("the one under way serves all")
                .isFalse();
        world.pass(Duration.ofSeconds(1));
        assertThat(world.take(Effect.MoveLog.class)).isNotNull();

        world.idle();
        world.idle();
        world.pass(Duration.ofSeconds(2));
        assertThat(world.asked(Effect.MoveLog.class)).as("nobody waits").isFalse();
    }

    @Test
    void an_image_that_a_later_commit_replaced_is_superseded() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "secret"));
        Effect.Probe first = world.take(Effect.Probe.class);
        world.commit(update(null, tuple("1", "bob", "redacted")));
        Effect.Probe second = world.take(Effect.Probe.class);

        world.step(new Input.ProbeAnswer(first.probeId(), new ProbeOutcome.Visible(world.stamp())));
        world.step(new Input.ProbeAnswer(second.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(stream.changes()).hasSize(1).first().asString().contains("redacted");
    }

    @Test
    void an_answer_that_never_comes_withholds_the_row_and_frees_the_stream() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));

        world.pass(Duration.ofSeconds(60));

        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void an_old_tuple_under_a_probed_rule_is_never_shown() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));

        world.commit(delete(tuple("1", "bob", "x")));

        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld DELETE")).isEqualTo(1);
    }

    /// PostgreSQL decides by the owner and another table.
    private static Rule ofOwners() {
        return new Rule(new Rule.Decision.Probed("is_friend(owner)"), "reads another table", List.of(2));
    }

    @Test
    void a_row_that_may_have_left_by_a_no_is_counted_and_told_where_leaves_are_asked_for() {
        world.plan = granted(ofOwners());
        var stream = world.open("alice", notesShape("a", ShapeRequest.Transitions.REPORTED));
        var others = world.open("bob", notesShape("b"));
        world.commit(update(tuple("1", "alice", "x"), tuple("1", "bob", "x")));

        answer(new ProbeOutcome.Hidden(world.stamp()));
        answer(new ProbeOutcome.Hidden(world.stamp()));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.warned("changes_withheld")).isTrue();
        assertThat(others.warned("changes_withheld")).isFalse();
        assertThat(world.counts.of("withheld UPDATE")).isEqualTo(1);
    }

    @Test
    void a_row_that_was_outside_the_filter_did_not_leave_by_a_no() {
        world.plan = granted(ofOwners());
        var stream = world.open("alice", filtered("a", "body=eq.y", ShapeRequest.Transitions.REPORTED));
        Effect.AskFolds literal = world.take(Effect.AskFolds.class);
        world.step(new Input.FoldsAnswer(literal.questionId(), List.of(new FoldAnswer.Value("y"))));
        world.commit(update(tuple("1", "alice", "x"), tuple("1", "bob", "y")));

        answer(new ProbeOutcome.Hidden(world.stamp()));

        assertThat(stream.warned("changes_withheld")).isFalse();
    }

    @Test
    void a_row_whose_updates_are_not_asked_for_is_asked_about_because_it_may_have_left() {
        world.plan = granted(ofOwners());
        var stream = world.open("alice", notesShape("a", ShapeRequest.Transitions.REPORTED, "DELETE"));
        world.commit(update(tuple("1", "carol", "x"), tuple("1", "alice", "x")));
        answer(new ProbeOutcome.Visible(world.stamp()));
        assertThat(stream.changes()).isEmpty();
        assertThat(stream.warned("changes_withheld")).isFalse();

        world.commit(update(tuple("1", "alice", "x"), tuple("1", "bob", "x")));
        answer(new ProbeOutcome.Hidden(world.stamp()));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.warned("changes_withheld")).isTrue();
    }

    @Test
    void a_row_in_which_nothing_moved_that_postgresql_reads_did_not_leave_by_a_no() {
        world.plan = granted(ofOwners());
        var stream = world.open("alice", notesShape("a", ShapeRequest.Transitions.REPORTED));
        world.commit(update(tuple("1", "bob", "x"), tuple("1", "bob", "y")));

        answer(new ProbeOutcome.Hidden(world.stamp()));

        assertThat(stream.warned("changes_withheld")).isFalse();
    }

    @Test
    void the_old_key_of_a_row_that_waited_for_its_rule_is_counted_and_told() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(probed(), new Fold("auth.uid()", Oid.TEXT));
        world.moveRights("r2", ALL_COLUMNS);
        world.step(new Input.RightsAnswer("moved"));
        answerReload();
        world.commit(update(tuple("1", NOT_SENT, NOT_SENT), tuple("2", "alice", "x")));
        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Value("alice"))));

        answer(new ProbeOutcome.Visible(world.stamp()));

        assertThat(stream.changes()).singleElement().asString().contains("INSERT", "\"id\":2");
        assertThat(world.counts.of("withheld DELETE")).isEqualTo(1);
        assertThat(stream.warned("changes_withheld")).isTrue();
    }

    private void answer(ProbeOutcome outcome) {
        world.step(new Input.ProbeAnswer(world.take(Effect.Probe.class).probeId(), outcome));
    }

    @Test
    void a_probe_that_begins_late_takes_every_later_commit_of_the_table_for_one_of_its_row() {
        TableState table = new TableState(NotesTable.notes("v1", "r1", ALL_COLUMNS), world.stamp());
        table.committed(new Lsn(0x100));
        table.committed(new Lsn(0x200));

        table.probeStarted();

        assertThat(table.touchedAfter("1:1", new Lsn(0x100))).isTrue();
        assertThat(table.touchedAfter("1:1", new Lsn(0x200))).isFalse();
        table.touched("", new Lsn(0x300));
        assertThat(table.touchedAfter("1:1", new Lsn(0x200))).isTrue();
    }

    @Test
    void a_truncate_stays_behind_the_commits_that_wait() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        world.commit(new sluice.core.transaction.Change.Truncate(NOTES_DEFINITION));
        assertThat(stream.warned("table_truncated")).isFalse();

        world.step(new Input.ProbeAnswer(
                world.take(Effect.Probe.class).probeId(), new ProbeOutcome.Hidden(world.stamp())));

        assertThat(stream.warned("table_truncated")).isTrue();
    }

    @Test
    void a_shape_revoked_while_its_probe_is_out_gets_nothing_for_it() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);
        world.plan = refused();
        world.moveRights("r2", ALL_COLUMNS);
        world.step(new Input.RightsAnswer("moved"));
        answerReload();

        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("error")).contains("shape_not_authorized");
    }

    private void answerReload() {
        Effect.LoadCatalog load = world.take(Effect.LoadCatalog.class);
        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));
    }
}
