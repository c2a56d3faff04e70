package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.ChannelWorld.join;
import static sluice.core.dispatch.ChannelWorld.message;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.session.Identity;
import sluice.core.transaction.Change;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition.Scope;

/// Streams that asked to be told where each transaction ends.
class TransactionEndsTest {
    private final World world = new World();

    /// The stream's changes by their row's id, and `end XID` for the end of a transaction.
    private static List<String> told(Received stream) {
        return stream.frames.stream()
                .filter(frame -> frame.startsWith("change ") || frame.startsWith("event: commit"))
                .map(frame -> frame.startsWith("change ")
                        ? frame.replaceAll("(?s).*\"id\":(\\d+).*", "$1")
                        : frame.replaceAll("(?s).*\"xid\":(\\d+).*", "end $1"))
                .toList();
    }

    private static Change[] rows(int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(id -> insert(Integer.toString(id), "alice", "x"))
                .toArray(Change[]::new);
    }

    @Test
    void each_transaction_that_brought_the_stream_something_ends_with_an_event_and_no_other_does() {
        world.plan = granted(ownedBy("alice"));
        var framed = world.openFramed("alice", notesShape("a"), notesShape("b"));
        var plain = world.open("carol", notesShape("a"));

        world.commit(insert("1", "alice", "x"), insert("2", "alice", "x"));
        world.commit(insert("3", "bob", "x"));
        world.commit(insert("4", "alice", "x"));

        assertThat(told(framed)).containsExactly("1", "1", "2", "2", "end 1001", "4", "4", "end 1003");
        assertThat(plain.frames).noneMatch(frame -> frame.startsWith("event: commit"));
    }

    @Test
    void the_event_names_the_transaction() {
        var stream = world.openFramed("alice", notesShape("a"));
        world.commit(insert("1", "alice", "x"));

        assertThat(stream.only("commit"))
                .isEqualTo("event: commit\ndata: {\"commit_lsn\":\"0/1100\",\"commit_time\":\"2026-01-01T00:00:00Z\","
                        + "\"xid\":1001}");
        assertThat(stream.changes().getFirst()).contains("\"commit_lsn\":\"0/1100\"");
    }

    @Test
    void a_transaction_that_waits_for_an_answer_ends_when_all_of_it_has_been_given() {
        world.plan = granted(everything());
        var stream = world.openFramed("alice", notesShape("quick"));
        world.plan = granted(World.probed());
        world.step(new Input.Control(
                1,
                "alice",
                new Identity("alice", "authenticated", "{}", world.now().plusSeconds(60)),
                new ControlRequest.Subscribe(List.of(notesShape("slow")))));
        world.commit(insert("1", "alice", "x"));
        world.commit(insert("2", "alice", "x"));
        assertThat(told(stream)).isEmpty();

        Effect.Probe first = world.take(Effect.Probe.class);
        Effect.Probe second = world.take(Effect.Probe.class);
        world.step(new Input.ProbeAnswer(second.probeId(), new ProbeOutcome.Hidden(world.stamp())));
        assertThat(told(stream)).isEmpty();
        world.step(new Input.ProbeAnswer(first.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(told(stream)).containsExactly("1", "1", "end 1001", "2", "end 1002");
    }

    @Test
    void a_transaction_of_which_nothing_is_left_after_an_answer_has_no_end() {
        world.plan = granted(World.probed());
        var stream = world.openFramed("alice", notesShape("slow"));
        world.commit(insert("1", "alice", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);
        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Hidden(world.stamp())));

        assertThat(told(stream)).isEmpty();
    }

    @Test
    void a_transaction_larger_than_the_queue_ends_once_after_its_last_row() {
        var stream = world.openFramed("alice", notesShape("a"));

        world.commit(rows(0, 100));
        world.commit(rows(100, 1));

        List<String> told = told(stream);
        assertThat(told).hasSize(103);
        assertThat(told.get(99)).isEqualTo("99");
        assertThat(told.subList(100, 103)).containsExactly("end 1001", "100", "end 1002");
        assertThat(stream.closed).isNull();
    }

    @Test
    void a_transaction_that_is_taken_back_and_given_later_ends_once() {
        var stream = world.openFramed("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 5));
        world.commit(rows(5, 4));
        assertThat(told(stream)).containsExactly("0", "1", "2", "3", "4", "end 1001");

        world.read(stream);

        assertThat(told(stream).subList(6, 11)).containsExactly("5", "6", "7", "8", "end 1002");
        assertThat(told(stream)).hasSize(11);
    }

    @Test
    void a_transaction_given_in_pieces_that_wait_for_answers_ends_after_the_last() {
        world.plan = granted(World.probed());
        var stream = world.openFramed("alice", notesShape("slow"));

        world.commit(rows(0, 12));
        // the first of them were asked for a queue that had no room, and decide nothing any more
        for (int step = 0; step < 60 && told(stream).size() < 13; step++) {
            assertThat(told(stream)).noneMatch(event -> event.startsWith("end"));
            world.pass(Duration.ofMillis(100));
            if (world.asked(Effect.Probe.class)) {
                Effect.Probe probe = world.take(Effect.Probe.class);
                world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));
            }
        }

        assertThat(told(stream)).hasSize(13).last().isEqualTo("end 1001");
    }

    /// The same with the label of a subscription that is apart, as `end XID LABEL`.
    private static List<String> toldApart(Received stream) {
        return stream.frames.stream()
                .map(frame -> frame.replaceAll("(?s)^change \"(\\w+)\".*\"id\":(\\d+).*", "$1$2")
                        .replaceAll("(?s)^event: commit\ndata: \\{\"sub\":\"(\\w+)\".*\"xid\":(\\d+).*", "end $2 $1")
                        .replaceAll("(?s)^event: commit\n.*\"xid\":(\\d+).*", "end $1")
                        .replaceAll("(?s)^event: live\ndata: \\{\"sub\":\"(\\w+)\".*", "live $1"))
                .filter(frame -> frame.matches("(live|end) [\\w ]+|[a-z]+\\d+"))
                .toList();
    }

    @Test
    void what_is_replayed_to_one_that_resumes_ends_under_its_name_and_before_it_is_live() {
        var before = world.open("before", notesShape("a"));
        world.commit(insert("1", "alice", "x"));
        world.commit(insert("2", "alice", "x"), insert("3", "alice", "x"));
        String history = before.frames.getFirst().replaceAll("(?s).*\"history\":\"([^\"]*)\".*", "$1");

        var stream = world.openFramed(
                "alice", notesShape("l"), ResumeTest.resuming("r", new Lsn(0x1100), history, Scope.SHAPE));
        world.commit(insert("4", "alice", "x"));

        assertThat(toldApart(stream))
                .containsExactly("r1", "end 1001 r", "r2", "r3", "end 1002 r", "live r", "l4", "r4", "end 1003");
    }

    @Test
    void a_transaction_that_was_live_for_one_ends_again_for_the_one_that_catches_up_with_it() {
        var stream = world.openFramed("alice", notesShape("l"));
        world.stopReading(stream);
        world.commit(rows(0, 3));
        world.subscribe("alice", ResumeTest.resuming("r", new Lsn(0x1100), null, Scope.SHAPE));
        world.commit(rows(3, 2));
        assertThat(toldApart(stream)).containsExactly("l0", "l1", "l2", "end 1001", "l3", "l4", "end 1002");

        world.read(stream);
        world.commit(rows(5, 1));

        assertThat(toldApart(stream).subList(7, 18))
                .containsExactly(
                        "r0", "r1", "r2", "end 1001 r", "r3", "r4", "end 1002 r", "live r", "l5", "r5", "end 1003");
    }

    @Test
    void a_replayed_transaction_larger_than_the_queue_ends_once_after_its_last_row() {
        world.open("before", notesShape("a"));
        world.commit(rows(0, 40));
        world.commit(rows(40, 1));

        var stream = world.openFramed("alice", ResumeTest.resuming("r", new Lsn(0x1100), null, Scope.SHAPE));

        List<String> told = toldApart(stream);
        assertThat(told).hasSize(44);
        assertThat(told.subList(39, 44)).containsExactly("r39", "end 1001 r", "r40", "end 1002 r", "live r");
    }

    @Test
    void a_replayed_transaction_of_which_a_part_waits_for_an_answer_ends_after_that_part() {
        world.plan = granted(World.probed());
        world.open("before", notesShape("a"));
        world.commit(rows(0, 2));
        world.forgetEffects();
        var stream = world.openFramed("alice", ResumeTest.resuming("r", new Lsn(0x1100), null, Scope.SHAPE));
        assertThat(toldApart(stream)).isEmpty();

        for (int i = 0; i < 2; i++) {
            assertThat(toldApart(stream)).isEmpty();
            Effect.Probe probe = world.take(Effect.Probe.class);
            world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));
        }
        world.pass(Duration.ofMillis(50));

        assertThat(toldApart(stream)).containsExactly("r0", "r1", "end 1001 r", "live r");
    }

    @Test
    void a_transaction_too_large_for_memory_ends_once() {
        var stream = world.openFramed("alice", notesShape("a"));

        world.spilled(() -> "between", rows(0, 3));

        assertThat(told(stream)).containsExactly("0", "1", "2", "end 1001");
    }

    @Test
    void a_truncation_that_is_only_warned_of_belongs_to_its_transaction() {
        var stream = world.openFramed("alice", notesShape("a"));

        world.commit(new Change.Truncate(World.NOTES_DEFINITION));

        assertThat(stream.warned("table_truncated")).isTrue();
        assertThat(told(stream)).containsExactly("end 1001");
        assertThat(stream.frames.getLast()).startsWith("event: commit");
    }

    @Test
    void what_the_database_says_in_a_transaction_comes_before_its_end_and_what_it_says_beside_has_none() {
        ChannelWorld channels = new ChannelWorld();
        var stream = channels.world.openFramed("alice", notesShape("a"), join("r", "room:1"));

        channels.world.commit(List.of(), List.of(message("sluice:room:1", "one")), insert("1", "alice", "x"));
        channels.world.commit(List.of(), List.of(message("sluice:room:1", "two")));
        channels.world.step(
                new Input.Wal(new WalEvent.LoneMessage(new Lsn(0x9000), message("sluice:room:1", "three"))));

        List<String> kinds = stream.frames.stream()
                .map(frame -> frame.replaceAll("(?s)^(event: )?(\\w+).*", "$2"))
                .filter(kind -> !kind.equals("ready") && !kind.equals("warning"))
                .toList();
        assertThat(kinds).containsExactly("change", "broadcast", "commit", "broadcast", "commit", "broadcast");
    }
}
