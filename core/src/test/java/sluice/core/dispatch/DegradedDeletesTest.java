package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOT_SENT;
import static sluice.core.dispatch.World.delete;
import static sluice.core.dispatch.World.filtered;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.tuple;
import static sluice.core.dispatch.World.update;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Rule;
import sluice.core.expression.FoldAnswer;
import sluice.core.shape.ShapeRequest.Transitions;
import sluice.core.value.Truth;

/// Deletes that cannot be decided, where the operator wants them sent.
class DegradedDeletesTest {
    private final World world = new World(World.degradedDeletes());

    @Test
    void a_delete_that_cannot_be_decided_comes_with_its_key_and_nothing_else_and_says_so() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(delete(tuple("7", NOT_SENT, "secret of the row")));

        assertThat(alice.changes()).hasSize(1);
        assertThat(alice.changes().getFirst())
                .contains("\"op\":\"DELETE\"", "\"old\":{\"id\":7}", "\"degraded\":\"delete_authz_unavailable\"")
                .doesNotContain("secret", "record");
        assertThat(world.counts.of("withheld DELETE")).isZero();
        assertThat(world.counts.of("degraded delete")).isEqualTo(1);
        assertThat(alice.warned("changes_withheld")).isFalse();
        assertThat(alice.frames.getFirst())
                .contains("replica_identity_insufficient", "deletes come with their key only");
    }

    @Test
    void a_delete_that_is_decided_is_as_ever() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(delete(tuple("1", "alice", "x")), delete(tuple("2", "bob", "x")));

        assertThat(alice.changes()).hasSize(1);
        assertThat(alice.changes().getFirst()).contains("\"body\":\"x\"").doesNotContain("degraded");
        assertThat(world.counts.of("degraded delete")).isZero();
    }

    @Test
    void rows_that_may_have_left_are_withheld_still() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a", Transitions.REPORTED));

        world.commit(update(tuple("1", NOT_SENT, NOT_SENT), tuple("1", "bob", "x")));

        assertThat(alice.changes()).isEmpty();
        assertThat(world.counts.of("withheld UPDATE")).isEqualTo(1);
    }

    @Test
    void a_rule_of_postgresql_decides_no_delete_so_its_keys_come_too() {
        world.plan = granted(World.probed());
        var alice = world.open("alice", notesShape("a"));

        world.commit(delete(tuple("1", "alice", "x")));

        assertThat(alice.changes()).hasSize(1).first().asString().contains("\"old\":{\"id\":1}", "degraded");
    }

    @Test
    void a_delete_under_rights_that_are_not_known_is_withheld() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));
        world.moveRights("r2", List.of(1, 2, 3));
        world.commit(List.of(World.NOTES_DEFINITION), delete(tuple("1", NOT_SENT, NOT_SENT)));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));

        assertThat(alice.closed).isNull();
        assertThat(alice.changes()).isEmpty();
        assertThat(world.counts.of("withheld DELETE")).isEqualTo(1);
    }

    @Test
    void whoever_did_not_ask_for_deletes_gets_none() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a", "INSERT", "UPDATE"));

        world.commit(delete(tuple("1", NOT_SENT, NOT_SENT)));

        assertThat(alice.changes()).isEmpty();
    }

    /// What is NULL is no yes, so the row was not in the shape.
    @Test
    void a_rule_that_says_nothing_hides_the_key_whatever_the_filter_would_say() {
        world.plan = granted(new Rule(new Rule.Decision.Compiled(_ -> Truth.NULL), "never", List.of(3)));
        var hidden = openFiltered("bob");
        world.commit(delete(tuple("1", NOT_SENT, NOT_SENT)));
        assertThat(hidden.changes()).isEmpty();

        world.plan = granted(ownedBy("alice"));
        var alice = openFiltered("alice");
        world.commit(delete(tuple("2", NOT_SENT, NOT_SENT)));
        assertThat(alice.changes()).hasSize(1).first().asString().contains("\"old\":{\"id\":2}");
    }

    /// Of rows whose body is `x`.
    private Received openFiltered(String subject) {
        Received stream = world.open(subject, filtered("a", "body=eq.x"));
        if (stream.frames.isEmpty()) {
            // the literal's meaning is asked for once
            Effect.AskFolds asked = world.take(Effect.AskFolds.class);
            world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Value("x"))));
        }
        assertThat(stream.only("ready")).contains("\"ok\":true");
        return stream;
    }

    @Test
    void no_delete_is_told_of_to_a_role_that_may_not_read_the_key() {
        world.moveRights("r2", List.of(2, 3));
        world.step(new Input.RightsAnswer("moved"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(delete(tuple("1", NOT_SENT, NOT_SENT)));

        assertThat(alice.changes()).isEmpty();
        assertThat(world.counts.of("withheld DELETE")).isEqualTo(1);
    }
}
