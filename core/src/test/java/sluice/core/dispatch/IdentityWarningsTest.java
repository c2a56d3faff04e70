package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.notesShape;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.ReplicaIdentity;

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
}
