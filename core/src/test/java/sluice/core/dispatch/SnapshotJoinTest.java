package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.probed;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.Stamp;
import sluice.core.event.EventBody;
import sluice.core.resume.ResumeBuffer;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.snapshot.SnapshotOutcome.Truncated;
import sluice.core.snapshot.SnapshotSpool;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.MemorySpillStore;

/// Rows first, then what the snapshot does not show, then live: never in neither, never twice, never out of order.
class SnapshotJoinTest {
    private record Spool(String name) implements SnapshotSpool {}

    private static final Spool SPOOL = new Spool("rows");

    private World world = new World();

    private static SubscriptionRequest snapshot(String label) {
        ShapeRequest shape = notesShape(label).shape();
        assertThat(shape).isNotNull();
        return new SubscriptionRequest(
                label,
                new ShapeRequest(
                        shape.schema(),
                        shape.table(),
                        null,
                        null,
                        null,
                        shape.transitions(),
                        ShapeRequest.Initial.SNAPSHOT,
                        null,
                        List.of()),
                null);
    }

    private static EventBody row(int id) {
        return new EventBody(new byte[0], ("row " + id).getBytes(StandardCharsets.UTF_8));
    }

    private long read(Stamp stamp, int rows) {
        long id = world.take(Effect.ReadSnapshot.class).joinId();
        read(id, stamp, rows);
        return id;
    }

    private void read(long id, Stamp stamp, int rows) {
        world.step(new Input.SnapshotRead(id, new SnapshotOutcome.Read(stamp, rows, Truncated.COMPLETE, SPOOL)));
    }

    /// Gives all rows, as many at once as are asked for.
    private void giveRows(long id, int rows) {
        int given = 0;
        while (world.asked(Effect.TakeRows.class)) {
            int most = world.take(Effect.TakeRows.class).rowsMax();
            assertThat(most).isPositive();
            List<EventBody> some = new ArrayList<>();
            while (given < rows && some.size() < most) {
                some.add(row(given++));
            }
            world.step(new Input.SnapshotRows(id, some));
        }
        assertThat(given).isEqualTo(rows);
    }

    /// What the client saw, in short: `row N`, `end`, `id N`, `live`.
    private static List<String> story(Received stream) {
        List<String> story = new ArrayList<>();
        for (String frame : stream.frames) {
            if (frame.matches("change .* row \\d+")) {
                story.add(frame.replaceAll("(?s).* (row \\d+)", "$1"));
            } else if (frame.startsWith("event: snapshot_end")) {
                story.add("end");
            } else if (frame.startsWith("event: live")) {
                story.add("live");
            } else if (frame.startsWith("change")) {
                story.add(frame.replaceAll("(?s).*\"id\":(\\d+).*", "id $1"));
            } else if (frame.startsWith("event: error")) {
                story.add(frame.replaceAll("(?s).*\"code\":\"([a-z_]*)\".*", "$1"));
            }
        }
        return story;
    }

    @Test
    void rows_come_first_and_then_what_the_snapshot_does_not_show_and_then_what_is_live() {
        world.commit(insert("1", "alice", "x"));
        var stream = world.open("alice", snapshot("a"));
        world.commit(insert("2", "alice", "x"));
        Stamp stamp = world.stamp();
        world.commit(insert("3", "alice", "x"));
        long id = read(stamp, 2);
        world.commit(insert("4", "alice", "x"));
        giveRows(id, 2);
        world.commit(insert("5", "alice", "x"));

        assertThat(story(stream)).containsExactly("row 0", "row 1", "end", "id 3", "id 4", "live", "id 5");
        assertThat(stream.only("snapshot_end")).contains("\"rows\":2", "\"floor_lsn\":\"" + stamp.insertLsn() + "\"");
        assertThat(world.asked(Effect.DropSpool.class)).isTrue();
    }

    @Test
    void a_commit_too_large_for_memory_comes_after_the_rows_where_they_do_not_show_it() {
        MemorySpillStore store = new MemorySpillStore(1_000_000);
        var stream = world.open("alice", snapshot("a"));
        world.kept(store, insert("1", "alice", "in the rows"));
        Stamp stamp = world.stamp();
        world.kept(store, insert("2", "alice", "x"), insert("3", "alice", "x"));
        giveRows(read(stamp, 1), 1);
        while (world.asked(Effect.ReadPiece.class)) {
            Effect.ReadPiece piece = world.take(Effect.ReadPiece.class);
            world.step(new Input.PieceRead(piece.readId(), piece.kept().read(piece.piece())));
        }

        assertThat(story(stream)).containsExactly("row 0", "end", "id 2", "id 3", "live");
    }

    @Test
    void a_commit_that_was_dispatched_before_but_that_sql_does_not_show_yet_comes_after_the_rows() {
        world.commit(insert("1", "alice", "hangs on a standby"));
        Stamp stamp = world.stampBeforeLatest();
        var stream = world.open("alice", snapshot("a"));

        long id = read(stamp, 1);
        giveRows(id, 1);

        assertThat(story(stream)).containsExactly("row 0", "end", "id 1", "live");
    }

    @Test
    void a_commit_that_another_answer_has_shown_meanwhile_is_not_lost_to_a_snapshot_before_it() {
        world.commit(insert("1", "alice", "x"));
        Stamp stamp = world.stampBeforeLatest();
        var stream = world.open("alice", snapshot("a"));
        long id = world.take(Effect.ReadSnapshot.class).joinId();
        world.step(new Input.RightsAnswer("x", world.stamp()));
        world.pass(Duration.ofMinutes(5));

        read(id, stamp, 1);
        giveRows(id, 1);

        assertThat(story(stream)).containsExactly("row 0", "end", "id 1", "live");
    }

    @Test
    void no_row_is_sent_before_the_log_has_passed_the_snapshot() {
        var stream = world.open("alice", snapshot("a"));
        long id = read(world.stampAhead(), 1);
        assertThat(world.asked(Effect.TakeRows.class)).isFalse();

        world.idle();
        world.idle();
        giveRows(id, 1);

        assertThat(story(stream)).containsExactly("row 0", "end", "live");
    }

    @Test
    void a_client_that_does_not_read_is_given_half_its_queue_and_the_rest_when_it_reads() {
        var stream = world.open("alice", snapshot("a"));
        world.stopReading(stream);
        long id = read(world.stamp(), 20);
        world.idle();
        assertThat(world.take(Effect.TakeRows.class).rowsMax()).isEqualTo(4);
        world.step(new Input.SnapshotRows(id, List.of(row(0), row(1), row(2), row(3))));
        assertThat(world.asked(Effect.TakeRows.class)).isFalse();

        world.read(stream);
        assertThat(world.asked(Effect.TakeRows.class)).isTrue();
    }

    @Test
    void several_snapshots_and_live_changes_share_one_queue_without_overfilling_it() {
        var stream = world.open("alice", snapshot("a"), snapshot("b"), notesShape("c"));
        world.stopReading(stream);
        read(world.take(Effect.ReadSnapshot.class).joinId(), world.stamp(), 20);
        read(world.take(Effect.ReadSnapshot.class).joinId(), world.stamp(), 20);
        world.idle();

        var first = world.take(Effect.TakeRows.class);
        assertThat(world.asked(Effect.TakeRows.class)).isFalse();
        for (int i = 0; i < 8; i++) {
            world.commit(insert(String.valueOf(i), "alice", "x"));
        }
        world.step(new Input.SnapshotRows(
                first.joinId(),
                java.util.stream.IntStream.range(0, first.rowsMax())
                        .mapToObj(SnapshotJoinTest::row)
                        .toList()));

        assertThat(stream.changes()).hasSizeLessThanOrEqualTo(8);
        assertThat(stream.closed).isNull();
    }

    @Test
    void a_live_subscription_beside_it_does_not_wait() {
        var stream = world.open("alice", snapshot("a"), notesShape("b"));
        world.commit(insert("1", "alice", "x"));

        assertThat(stream.changes()).singleElement().asString().startsWith("change \"b\"");
    }

    @Test
    void a_failed_snapshot_ends_its_subscription_and_may_be_asked_for_again() {
        var stream = world.open("alice", snapshot("a"));
        long id = world.take(Effect.ReadSnapshot.class).joinId();

        world.step(new Input.SnapshotRead(id, new SnapshotOutcome.Failed("timeout", "the query took too long")));
        world.commit(insert("1", "alice", "x"));

        assertThat(stream.only("error"))
                .contains("snapshot_failed", "\"sub\":\"a\"", "\"retryable\":true", "resnapshot", "took too long");
        assertThat(stream.changes()).isEmpty();
        assertThat(stream.closed).isNull();
    }

    @Test
    void rows_read_under_rights_that_have_moved_since_are_never_sent_but_read_again() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", snapshot("a"));
        long before = world.take(Effect.ReadSnapshot.class).joinId();
        Stamp stamp = world.stamp();
        world.moveRights("r2", List.of(1, 2));
        world.commit(List.of(World.NOTES_DEFINITION), insert("1", "alice", "x"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
        world.forgetEffects();

        read(before, stamp, 1);
        assertThat(world.asked(Effect.TakeRows.class)).isFalse();
        assertThat(story(stream)).isEmpty();

        long again = read(world.stamp(), 1);
        giveRows(again, 1);
        assertThat(story(stream)).containsExactly("row 0", "end", "live");
    }

    @Test
    void rights_that_move_while_rows_are_being_sent_end_the_subscription() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", snapshot("a"));
        long id = read(world.stamp(), 20);
        world.step(new Input.SnapshotRows(id, List.of(row(0))));
        world.moveRights("r2", List.of(1, 2));
        world.commit(List.of(World.NOTES_DEFINITION), insert("1", "alice", "x"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));

        world.step(new Input.SnapshotRows(id, List.of(row(1))));

        assertThat(story(stream)).containsExactly("row 0", "snapshot_failed");
    }

    @Test
    void another_rule_while_rows_are_read_or_sent_ends_the_subscription_and_nothing_more_is_sent() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", snapshot("read"), snapshot("sent"));
        long read = world.take(Effect.ReadSnapshot.class).joinId();
        long sent = read(world.stamp(), 20);
        world.step(new Input.SnapshotRows(sent, List.of(row(0))));
        world.plan = granted(ownedBy("bob"));
        world.moveRights("r2", List.of(1, 2, 3));
        world.commit(List.of(World.NOTES_DEFINITION), insert("1", "bob", "x"), insert("2", "alice", "x"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
        world.forgetEffects();

        read(read, world.stamp(), 1);
        world.step(new Input.SnapshotRows(sent, List.of(row(1))));
        world.commit(insert("3", "bob", "x"), insert("4", "alice", "x"));

        assertThat(story(stream)).containsExactly("row 0", "rights_changed", "rights_changed");
        assertThat(world.asked(Effect.TakeRows.class)).isFalse();
    }

    @Test
    void rows_that_postgresql_decided_are_not_sent_when_they_have_lain_too_long() {
        world.plan = granted(probed());
        var stream = world.open("alice", snapshot("a"));
        long id = read(world.stamp(), 20);
        world.step(new Input.SnapshotRows(id, List.of(row(0))));
        world.stopReading(stream);
        world.pass(Duration.ofSeconds(61));

        world.step(new Input.SnapshotRows(id, List.of(row(1))));

        assertThat(story(stream)).containsExactly("row 0", "snapshot_failed");
    }

    @Test
    void a_lost_connection_makes_what_was_read_worthless() {
        var stream = world.open("alice", snapshot("a"));
        long before = read(world.stampAhead(), 1);
        world.step(new Input.Interrupted());
        world.idle();
        world.idle();
        world.step(new Input.SnapshotRows(before, List.of(row(9))));

        long again = read(world.stamp(), 1);
        world.idle();
        giveRows(again, 1);

        assertThat(story(stream)).containsExactly("row 0", "end", "live");
    }

    @Test
    void commits_let_go_of_before_the_rows_were_sent_end_the_subscription_and_say_so() {
        world = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 1_500)));
        var stream = world.open("alice", snapshot("a"));
        Stamp stamp = world.stamp();
        for (int i = 0; i < 20; i++) {
            world.commit(insert(String.valueOf(i), "alice", "x"));
        }

        long id = read(stamp, 1);
        giveRows(id, 1);

        assertThat(story(stream)).containsExactly("row 0", "end", "resume_too_old");
    }

    @Test
    void the_rows_of_a_stream_that_is_gone_are_dropped() {
        var stream = world.open("alice", snapshot("a"));
        long id = world.take(Effect.ReadSnapshot.class).joinId();
        world.hangUp(stream);

        read(id, world.stamp(), 1);

        assertThat(world.take(Effect.DropSpool.class).spool()).isSameAs(SPOOL);
    }

    @Test
    void b49_a_token_that_ends_while_rows_are_sent_ends_the_stream_and_no_more_of_them_is_sent() {
        var stream = world.open("alice", world.now().plusSeconds(10), snapshot("a"));
        world.stopReading(stream);
        long id = read(world.stamp(), 20);
        world.idle();
        world.take(Effect.TakeRows.class);
        world.step(new Input.SnapshotRows(id, List.of(row(0), row(1), row(2), row(3))));

        world.pass(Duration.ofSeconds(10));
        assertThat(stream.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
        assertThat(world.take(Effect.DropSpool.class).spool()).isSameAs(SPOOL);
        world.step(new Input.SnapshotRows(id, List.of(row(4))));
        assertThat(story(stream)).doesNotContain("row 4");
        assertThat(world.asked(Effect.TakeRows.class)).isFalse();
    }

    @Test
    void a_snapshot_without_rows_ends_at_once() {
        var stream = world.open("alice", snapshot("a"));
        long id = read(world.stamp(), 0);
        world.idle();
        giveRows(id, 0);

        assertThat(story(stream)).containsExactly("end", "live");
    }
}
