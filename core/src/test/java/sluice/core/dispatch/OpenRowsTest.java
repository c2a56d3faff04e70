package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.delete;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.tuple;
import static sluice.core.dispatch.World.update;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Origin;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.Rule;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.shape.ShapeRequest;
import sluice.core.value.Truth;

/// Rows that a rule decided in process has no answer for. The rule of these tests is bob's own rows, and cannot say
/// anything of an owner written `odd`.
class OpenRowsTest {
    private final World world = new World();

    @BeforeEach
    void the_rule_leaves_some_rows_open() {
        world.plan = granted(rule(ProbePermission.ALLOW, Origin.Reach.MOST_ROWS));
    }

    @Test
    void a_row_that_is_not_decided_here_is_sent_when_postgresql_shows_it() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "odd", "x"));
        assertThat(stream.changes()).isEmpty();

        answer(true);

        assertThat(stream.changes()).hasSize(1);
        assertThat(world.counts.of("withheld INSERT")).isZero();
        assertThat(world.counts.of("subscriptions B")).isEqualTo(1);
    }

    @Test
    void a_row_that_postgresql_hides_is_not_sent_and_not_counted_as_withheld() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "odd", "x"));

        answer(false);

        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isZero();
    }

    @Test
    void a_row_that_was_shown_and_that_postgresql_hides_now_has_left() {
        Received stream = world.open("s", notesShape("a", ShapeRequest.Transitions.REPORTED));
        Received deletes = world.open("t", notesShape("b", ShapeRequest.Transitions.REPORTED, "DELETE"));
        Received others = world.open("u", notesShape("c"));
        world.commit(update(tuple("1", "bob", "x"), tuple("1", "odd", "hidden")));

        while (world.asked(Effect.Probe.class)) {
            answer(false);
        }

        assertThat(stream.changes())
                .singleElement()
                .asString()
                .contains("DELETE", "leave", "\"old\":{\"id\":1")
                .doesNotContain("record", "hidden");
        assertThat(deletes.changes()).singleElement().asString().contains("DELETE", "leave");
        assertThat(others.changes()).isEmpty();
        assertThat(world.counts.of("withheld UPDATE")).isZero();
    }

    @Test
    void the_commit_it_is_part_of_arrives_whole_and_in_order() {
        Received stream = world.open("s", notesShape("a"));
        Received other = world.open("other", notesShape("b"));
        world.commit(insert("1", "bob", "x"), insert("2", "odd", "x"), insert("3", "bob", "x"));
        world.commit(insert("4", "bob", "x"));
        assertThat(stream.changes()).isEmpty();

        answer(true);
        assertThat(stream.changes()).hasSize(4);
        assertThat(other.changes()).isEmpty();
        answer(true);

        assertThat(stream.changes())
                .extracting(change -> change.replaceAll(".*\"id\":([0-9]+).*", "$1"))
                .containsExactly("1", "2", "3", "4");
        assertThat(other.changes()).hasSize(4);
    }

    @Test
    void what_is_decided_here_waits_for_nobody() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"), insert("2", "alice", "x"));

        assertThat(stream.changes()).hasSize(1);
        assertThat(world.asked(Effect.Probe.class)).isFalse();
    }

    @Test
    void an_image_that_lacks_a_column_of_the_policies_is_withheld_and_not_asked_about() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(update(null, tuple("1", World.UNCHANGED, "x")));

        assertThat(world.asked(Effect.Probe.class)).isFalse();
        assertThat(world.counts.of("withheld UPDATE")).isEqualTo(1);
        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void an_old_row_is_withheld_because_its_state_is_gone() {
        world.open("s", notesShape("a", "DELETE"));
        world.commit(delete(tuple("1", "odd", "x")));

        assertThat(world.asked(Effect.Probe.class)).isFalse();
        assertThat(world.counts.of("withheld DELETE")).isEqualTo(1);
    }

    @Test
    void where_queries_per_change_are_denied_the_row_is_withheld() {
        world.plan = granted(rule(ProbePermission.DENY, Origin.Reach.MOST_ROWS));
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "odd", "x"));

        assertThat(world.asked(Effect.Probe.class)).isFalse();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        assertThat(stream.warned("changes_withheld")).isTrue();
    }

    @Test
    void a_rule_said_to_answer_every_row_is_never_asked_about() {
        world.plan = granted(rule(ProbePermission.ALLOW, Origin.Reach.EVERY_ROW));
        world.open("s", notesShape("a"));
        world.commit(insert("1", "odd", "x"));

        assertThat(world.asked(Effect.Probe.class)).isFalse();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
    }

    @Test
    void a_row_held_with_its_commit_is_made_again_when_its_rule_moved_meanwhile() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"), insert("2", "odd", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);
        world.plan = World.refused();
        world.moveRights("r2", List.of(1, 2, 3));
        world.commit(List.of(World.NOTES_DEFINITION));
        Effect.LoadCatalog load = world.take(Effect.LoadCatalog.class);
        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));

        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(stream.only("error")).contains("shape_not_authorized");
        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void a_row_held_with_its_commit_loses_a_column_that_was_revoked_meanwhile() {
        world.idle();
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "secret"), insert("2", "odd", "secret"));
        world.moveRights("r2", List.of(1, 2));
        world.commit(List.of(World.NOTES_DEFINITION));
        Effect.LoadCatalog load = world.take(Effect.LoadCatalog.class);
        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));

        assertThat(stream.changes())
                .singleElement()
                .asString()
                .contains("\"id\":1")
                .doesNotContain("secret");
    }

    private static Rule rule(ProbePermission permission, Origin.Reach reach) {
        Rule own = World.ownedBy("bob");
        Origin.Question question = new Origin.Question("sql of own", List.of(2), List.of("own"));
        return new Rule(
                new Rule.Decision.Compiled(row -> row.kind(2) == sluice.core.pgoutput.Tuple.Kind.TEXT
                                && row.tuple().holds(row.mapping().position(2), new byte[] {'o', 'd', 'd'})
                        ? Truth.UNDECIDABLE
                        : java.util.Objects.requireNonNull(own.predicate()).test(row)),
                own.reason(),
                own.readsColumns(),
                Rule.Lasting.UNTIL_THE_ROW_CHANGES,
                new Origin(question, permission, PinnedColumns.NONE, reach));
    }

    private void answer(boolean visible) {
        Effect.Probe probe = world.take(Effect.Probe.class);
        assertThat(probe.sql()).isEqualTo("sql of own");
        world.step(new Input.ProbeAnswer(
                probe.probeId(),
                visible ? new ProbeOutcome.Visible(world.stamp()) : new ProbeOutcome.Hidden(world.stamp())));
    }
}
