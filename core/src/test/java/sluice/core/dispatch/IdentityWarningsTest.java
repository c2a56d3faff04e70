package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.notesShape;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.shape.ShapeRequest;

/// What a subscriber is told of a replica identity that costs too much, or does not work.
class IdentityWarningsTest {
    private final World world = new World();

    private Received openUnder(ReplicaIdentity identity) {
        world.feed(World.FEED, identity, "v2");
        world.commit(List.of(World.NOTES_DEFINITION));
        Received alice = world.open("alice", notesShape("a", "INSERT"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
        return alice;
    }

    @Test
    void an_identity_of_the_key_is_nothing_to_be_told_of() {
        Received alice = world.open("alice", notesShape("a", "INSERT"));
        assertThat(alice.only("ready")).doesNotContain("replica_identity");
    }

    @Test
    void long_values_in_a_whole_old_row_are_told_in_the_result_and_by_an_event_with_their_remedy() {
        Received alice = openUnder(new ReplicaIdentity.Full());
        assertThat(alice.only("ready"))
                .contains("\"ok\":true", "replica_identity_full_with_toast", "REPLICA IDENTITY DEFAULT");
        assertThat(alice.warned("replica_identity_full_with_toast")).isTrue();
        assertThat(alice.only("ready").indexOf("unindexed_shape"))
                .isLessThan(alice.only("ready").indexOf("replica_identity_full_with_toast"));
    }

    @Test
    void an_identity_that_does_not_work_is_told_of() {
        Received alice = openUnder(new ReplicaIdentity.UsingIndex("gone", List.of()));
        assertThat(alice.only("ready")).contains("\"ok\":true", "replica_identity_broken", "REPLICA IDENTITY DEFAULT");
        assertThat(alice.warned("replica_identity_broken")).isTrue();
    }

    private Received openOwnUnderFull(String... ops) {
        world.plan = World.granted(World.ownedBy("alice"));
        world.feed(World.FEED, new ReplicaIdentity.Full(), "v2");
        world.commit(List.of(World.NOTES_DEFINITION));
        Received alice = world.open("alice", notesShape("a", ShapeRequest.Transitions.REPORTED, ops));
        reload();
        assertThat(alice.only("ready")).contains("\"ok\":true").doesNotContain("replica_identity_insufficient");
        return alice;
    }

    private void reload() {
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
    }

    @Test
    void an_identity_that_becomes_narrow_under_an_open_shape_is_told_of_once() {
        Received alice = openOwnUnderFull();
        for (String fingerprint : List.of("v3", "v4")) {
            world.feed(World.FEED, new ReplicaIdentity.Default(List.of(1)), fingerprint);
            world.commit(List.of(World.NOTES_DEFINITION));
            reload();
        }
        world.commit(World.update(null, World.tuple("1", "bob", "x")));
        world.commit(World.delete(World.tuple("2", World.NOT_SENT, World.NOT_SENT)));

        assertThat(alice.frames.stream().filter(frame -> frame.contains("replica_identity_insufficient")))
                .singleElement()
                .asString()
                .contains("event: warning", "lacks owner", "REPLICA IDENTITY");
        assertThat(alice.warned("changes_withheld")).isFalse();
    }

    @Test
    void a_shape_that_reads_no_old_row_is_told_nothing_of_an_identity_that_became_narrow() {
        world.plan = World.granted(World.ownedBy("alice"));
        Received alice = world.open("alice", notesShape("a", "INSERT"));
        world.feed(World.FEED, new ReplicaIdentity.Nothing(), "v3");
        world.commit(List.of(World.NOTES_DEFINITION));
        reload();

        assertThat(alice.warned("replica_identity_insufficient")).isFalse();
    }

    @Test
    void a_row_that_may_have_left_while_the_identity_was_narrow_is_told_as_withheld() {
        Received alice = openOwnUnderFull();
        // the catalog says FULL still, or again
        world.commit(World.update(null, World.tuple("1", "bob", "x")));

        assertThat(alice.changes()).isEmpty();
        assertThat(alice.warned("changes_withheld")).isTrue();
    }
}
