package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.ChannelWorld.join;
import static sluice.core.dispatch.ChannelWorld.message;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.tuple;
import static sluice.core.dispatch.World.update;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.core.resume.ResumeBuffer;
import sluice.core.session.Identity;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.Change;
import sluice.core.transaction.MemorySpillStore;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition.Scope;

/// Commits too large for memory, and streams that cannot take them at once. The world's queues hold eight frames; a
/// piece of a kept commit holds one change.
class KeptCommitTest {
    private final MemorySpillStore store = new MemorySpillStore(1_000_000);
    private final World world = new World();

    private static Change[] rows(int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(id -> insert(String.valueOf(id), "alice", "x"))
                .toArray(Change[]::new);
    }

    private static List<String> ids(Received stream) {
        List<String> ids = new ArrayList<>();
        for (String change : stream.changes()) {
            ids.add(change.replaceAll(".*\"id\":(\\d+).*", "$1"));
        }
        return ids;
    }

    private static List<String> numbers(int from, int count) {
        return IntStream.range(from, from + count).mapToObj(String::valueOf).toList();
    }

    /// Answers one question for a piece.
    private void readOne() {
        Effect.ReadPiece asked = world.take(Effect.ReadPiece.class);
        world.step(new Input.PieceRead(asked.readId(), asked.kept().read(asked.piece())));
    }

    private void readAll() {
        while (world.asked(Effect.ReadPiece.class)) {
            readOne();
        }
    }

    @Test
    void one_reaches_a_stream_with_a_smaller_queue_whole_and_in_order() {
        var stream = world.openFramed("alice", notesShape("a"));
        world.kept(store, rows(0, 30));
        assertThat(ids(stream)).isEmpty();
        readAll();
        world.commit(rows(30, 1));

        assertThat(ids(stream)).isEqualTo(numbers(0, 31));
        assertThat(stream.frames.stream().filter(frame -> frame.startsWith("event: commit")))
                .hasSize(2);
        assertThat(stream.closed).isNull();
    }

    @Test
    void a_stream_that_is_behind_gets_one_between_the_commits_around_it() {
        World channels = world;
        var stream = channels.open("alice", notesShape("a"), join("r", "room:1"));
        world.stopReading(stream);
        world.commit(rows(0, 1));
        world.commit(rows(1, 8));
        world.kept(store, rows(9, 12));
        world.commit(List.of(), List.of(message("sluice:room:1", "after")), rows(21, 1));

        world.read(stream);
        readAll();

        assertThat(ids(stream)).isEqualTo(numbers(0, 22));
        assertThat(stream.broadcasts()).hasSize(1);
    }

    @Test
    void what_is_not_for_the_stream_does_not_come_from_a_file_either() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 8));
        world.kept(store, insert("8", "bob", "secret"), insert("9", "alice", "x"));
        world.commit(rows(10, 8));

        world.read(stream);
        readAll();

        assertThat(stream.frames).noneMatch(frame -> frame.contains("secret"));
        assertThat(ids(stream)).contains("9").hasSize(17);
    }

    @Test
    void a_client_resumes_across_one() {
        world.open("before", notesShape("a"));
        world.commit(rows(0, 1));
        world.kept(store, rows(1, 20));

        var stream = world.open("alice", ResumeTest.resuming("a", new Lsn(0x1100), null, Scope.SHAPE));
        readAll();

        assertThat(stream.frames.getFirst()).contains("\"resumed\":true");
        assertThat(ids(stream)).isEqualTo(numbers(0, 21));
        assertThat(stream.frames.getLast()).startsWith("event: live");
    }

    @Test
    void who_subscribes_in_the_middle_of_one_gets_it_from_the_file_or_nothing_of_it() {
        world.open("before", notesShape("a"));
        world.commit(rows(0, 1));
        var resumed = new AtomicReference<Received>();
        var live = world.kept(
                store,
                () -> {
                    resumed.set(world.open("resumed", ResumeTest.resuming("a", new Lsn(0x1100), null, Scope.SHAPE)));
                    return world.open("live", notesShape("a"));
                },
                List.of(),
                rows(1, 5));
        world.commit(rows(6, 1));
        readAll();

        assertThat(ids(live)).isEqualTo(numbers(6, 1));
        assertThat(ids(resumed.get())).isEqualTo(numbers(0, 7));
        assertThat(resumed.get().frames.getFirst()).contains("\"resumed\":true");
    }

    @Test
    void the_next_one_follows_for_a_stream_that_is_in_the_middle_of_one_and_each_ends_once() {
        var stream = world.openFramed("alice", notesShape("a"), join("r", "room:1"));
        world.stopReading(stream);
        world.kept(store, () -> "", List.of(message("sluice:room:1", "first")), rows(0, 12));
        readAll();
        assertThat(ids(stream)).isEqualTo(numbers(0, 8));
        world.kept(store, () -> "", List.of(message("sluice:room:1", "second")), rows(12, 12));

        world.read(stream);
        readAll();

        List<String> kinds = stream.frames.stream()
                .map(frame -> frame.replaceAll("(?s)^(event: )?(\\w+).*", "$2"))
                .filter(kind -> !kind.equals("ready") && !kind.equals("warning"))
                .toList();
        List<String> one = new ArrayList<>(Collections.nCopies(12, "change"));
        one.addAll(List.of("broadcast", "commit"));
        List<String> both = new ArrayList<>(one);
        both.addAll(one);
        assertThat(kinds).isEqualTo(both);
        assertThat(ids(stream)).isEqualTo(numbers(0, 24));
    }

    @Test
    void what_replays_one_is_told_its_end_under_its_name() {
        world.open("before", notesShape("a"));
        world.commit(rows(0, 1));
        world.kept(store, rows(1, 20));

        var stream = world.openFramed("alice", ResumeTest.resuming("r", new Lsn(0x1100), null, Scope.SHAPE));
        readAll();

        List<String> ends = stream.frames.stream()
                .filter(frame -> frame.startsWith("event: commit"))
                .toList();
        assertThat(ends).hasSize(2).allMatch(end -> end.contains("\"sub\":\"r\""));
        assertThat(stream.frames.subList(stream.frames.size() - 2, stream.frames.size()))
                .satisfiesExactly(
                        last -> assertThat(last).isEqualTo(ends.getLast()),
                        live -> assertThat(live).startsWith("event: live"));
    }

    @Test
    void a_file_goes_with_its_place_in_the_buffer_but_not_under_whoever_is_in_the_middle_of_it() {
        World small = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 12_000)));
        var stream = small.open("alice", notesShape("a"));
        small.kept(store, rows(0, 12));
        Effect.ReadPiece first = small.take(Effect.ReadPiece.class);
        small.step(new Input.PieceRead(first.readId(), first.kept().read(first.piece())));
        assertThat(ids(stream)).isEqualTo(List.of("0"));
        for (int i = 0; i < 60; i++) {
            small.commit(insert("99", "bob", "x".repeat(400)));
        }
        assertThat(store.kept).hasSize(1);

        while (small.asked(Effect.ReadPiece.class)) {
            Effect.ReadPiece asked = small.take(Effect.ReadPiece.class);
            small.step(new Input.PieceRead(asked.readId(), asked.kept().read(asked.piece())));
        }

        assertThat(ids(stream)).isEqualTo(numbers(0, 12));
        small.take(Effect.DropKept.class).kept().delete();
        assertThat(store.kept).isEmpty();
        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
    }

    @Test
    void the_oldest_goes_when_all_take_too_much_of_the_disk_and_the_newest_never_does() {
        World small = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 1_000_000, 3_000)));
        var behind = small.open("alice", notesShape("a"));
        small.stopReading(behind);
        small.commit(rows(0, 1));
        small.kept(store, rows(1, 40));
        small.commit(rows(41, 1));
        assertThat(small.asked(Effect.DropKept.class)).isFalse();

        small.kept(store, rows(42, 40));
        small.take(Effect.DropKept.class).kept().delete();
        assertThat(store.kept).hasSize(1);
        small.pass(Duration.ofMillis(50));
        assertThat(behind.closed).isEqualTo(CloseReason.STREAM_LAGGING);

        var late = small.open("late", ResumeTest.resuming("a", new Lsn(0x1300), null, Scope.SHAPE));
        assertThat(late.frames.getFirst()).contains("\"resumed\":true");
        var early = small.open("early", ResumeTest.resuming("a", new Lsn(0x1100), null, Scope.SHAPE));
        assertThat(early.frames.getFirst()).contains("\"resumed\":false");
        small.hangUp(late);
        small.kept(store, rows(82, 200));
        small.take(Effect.DropKept.class).kept().delete();
        assertThat(store.kept).hasSize(1);
        assertThat(small.asked(Effect.DropKept.class)).isFalse();
    }

    @Test
    void a_file_that_cannot_be_read_ends_the_stream_and_it_is_told() {
        var stream = world.open("alice", notesShape("a"));
        world.kept(store, rows(0, 12));
        world.step(new Input.PieceRead(world.take(Effect.ReadPiece.class).readId(), null));

        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
        assertThat(stream.only("error")).contains("could not be read");
        assertThat(world.asked(Effect.ReadPiece.class)).isFalse();
    }

    @Test
    void one_that_found_no_room_ends_a_stream_that_had_none_for_it_and_nothing_of_it_is_given() {
        var stream = world.open("alice", notesShape("a"));
        world.spilled(() -> "", rows(0, 12));

        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
        assertThat(stream.only("error")).contains("stream_lagging");
        assertThat(ids(stream)).isEmpty();
    }

    @Test
    void every_image_comes_from_a_file_to_a_role_that_bypasses_and_net_images_to_others() {
        var alice = world.open("alice", notesShape("a"));
        var service = world.open(
                "service", new Identity("service", "service", "{}", world.now().plusSeconds(3600)), notesShape("a"));
        List<Change> images = new ArrayList<>(List.of(rows(0, 12)));
        images.add(update(null, tuple("3", "alice", "between")));
        images.add(update(null, tuple("3", "alice", "last")));
        Change[] net = rows(0, 12);
        net[3] = insert("3", "alice", "last");

        world.keptWithImages(store, images, net);
        world.commit(rows(12, 1));
        readAll();

        assertThat(ids(alice)).isEqualTo(numbers(0, 13));
        assertThat(alice.frames).noneMatch(frame -> frame.contains("between"));
        List<String> every = new ArrayList<>(numbers(0, 12));
        every.addAll(List.of("3", "3", "12"));
        assertThat(ids(service)).isEqualTo(every);
        assertThat(service.changes().get(12)).contains("between");
        assertThat(service.closed).isNull();
    }

    @Test
    void a_truncation_comes_from_a_file_in_its_place() {
        var stream = world.openFramed("alice", notesShape("a", "INSERT", "TRUNCATE"));
        List<Change> changes = new ArrayList<>(List.of(new Change.Truncate(World.NOTES_DEFINITION)));
        changes.addAll(List.of(rows(1, 11)));
        world.commit(rows(0, 1));
        world.kept(store, changes.toArray(Change[]::new));
        readAll();

        assertThat(stream.changes()).hasSize(13);
        assertThat(stream.changes().get(1)).contains("TRUNCATE");
        assertThat(stream.frames.stream().filter(frame -> frame.startsWith("event: commit")))
                .hasSize(2);
        assertThat(stream.frames.getLast()).startsWith("event: commit");
    }

    @Test
    void a_client_that_takes_nothing_holds_no_piece_from_others() {
        List<Received> slow = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            slow.add(world.open("slow " + i, notesShape("a")));
        }
        var quick = world.open("quick", notesShape("a"));
        slow.forEach(world::stopReading);
        world.kept(store, rows(0, 12));
        readAll();
        assertThat(ids(quick)).isEqualTo(numbers(0, 12));
        assertThat(slow).allMatch(stream -> ids(stream).size() == 8 && stream.closed == null);

        slow.forEach(world::read);
        readAll();
        assertThat(slow).allMatch(stream -> ids(stream).equals(numbers(0, 12)));
    }

    @Test
    void a_stream_that_goes_while_its_piece_is_read_leaves_nothing_behind() {
        World small = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ofSeconds(1), 1_000_000)));
        var stream = small.open("alice", notesShape("a"));
        small.kept(store, rows(0, 12));
        Effect.ReadPiece asked = small.take(Effect.ReadPiece.class);
        small.hangUp(stream);
        small.step(new Input.PieceRead(asked.readId(), asked.kept().read(asked.piece())));
        small.step(new Input.RightsAnswer("r1", small.stamp()));
        small.pass(Duration.ofSeconds(2));
        small.pass(Duration.ofSeconds(2));

        small.take(Effect.DropKept.class).kept().delete();
        assertThat(store.kept).isEmpty();
        assertThat(small.asked(Effect.ReadPiece.class)).isFalse();
    }
}
