package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOTES_DEFINITION;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.versions;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.Relation.Feed;
import sluice.core.catalog.ReplicaIdentity;

/// Rows that may have moved without a row in the stream: the shapes end and say so.
class FeedTest {
    private static final ReplicaIdentity BY_KEY = new ReplicaIdentity.Default(List.of(1));

    private final World world = new World();

    @Test
    void a_publication_entry_that_is_another_by_now_ends_the_shapes() {
        Received stream = opened();
        move(new Feed("entry 2", "file 1", versions("1")), BY_KEY);

        poll();

        assertThat(stream.only("error")).contains("schema_changed", "resnapshot");
        world.commit(insert("1", "alice", "x"));
        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void it_ends_them_before_the_commit_that_announces_the_table_is_dispatched() {
        Received stream = opened();
        move(new Feed("entry 2", "file 1", versions("1")), BY_KEY);

        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));
        answer();

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("error")).contains("schema_changed");
    }

    @Test
    void a_rewrite_of_a_column_ends_the_shapes() {
        Received stream = opened();
        move(new Feed("entry 1", "file 2", versions("2")), BY_KEY);

        poll();

        assertThat(stream.only("error")).contains("schema_changed");
    }

    @Test
    void storage_that_moves_under_the_same_columns_ends_nothing() {
        // TRUNCATE is in the stream, VACUUM FULL changes no row
        Received stream = opened();
        move(new Feed("entry 1", "file 2", versions("1")), BY_KEY);

        poll();
        world.commit(insert("1", "alice", "x"));

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void columns_that_move_over_the_same_storage_end_nothing() {
        Received stream = opened();
        move(new Feed("entry 1", "file 1", versions("2")), BY_KEY);

        poll();
        world.commit(insert("1", "alice", "x"));

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_column_that_is_new_is_no_rewrite_of_the_others() {
        var more = versions("1");
        more.put(4, "7");

        assertThat(World.FEED.reaches(new Feed("entry 1", "file 2", more))).isTrue();
    }

    @Test
    void a_root_with_an_uneven_partition_is_refused_with_what_to_run() {
        move(World.FEED, new ReplicaIdentity.Uneven("public.notes_1"));
        poll();

        Received stream = opened();

        assertThat(stream.frames.getFirst())
                .contains(
                        "replica_identity_insufficient",
                        "public.notes_1",
                        "ALTER TABLE public.notes_1 REPLICA IDENTITY FULL");
    }

    @Test
    void a_partition_that_becomes_uneven_ends_the_shapes_of_the_root() {
        Received stream = opened();
        move(
                new Feed("entry 1", "file 1", versions("1")),
                new ReplicaIdentity.Uneven("public.notes_1"),
                "another definition");

        poll();

        assertThat(stream.only("error")).contains("replica_identity_insufficient");
    }

    private Received opened() {
        return world.open("alice", notesShape("a"));
    }

    private void move(Feed feed, ReplicaIdentity identity) {
        world.feed(feed, identity, "v1");
    }

    private void move(Feed feed, ReplicaIdentity identity, String fingerprint) {
        world.feed(feed, identity, fingerprint);
    }

    private void poll() {
        world.step(new Input.RightsAnswer("moved"));
        answer();
    }

    private void answer() {
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
    }
}
