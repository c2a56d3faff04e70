package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.core.transaction.Change;

/// Streams are told when changes begin to arrive late and when they arrive on time again. The world's queues hold
/// eight frames.
class LagTest {
    private final World world = new World();

    private void late(long millis) {
        world.step(new Input.Lagging(Duration.ofMillis(millis)));
    }

    private static List<String> delays(Received stream) {
        return stream.frames.stream()
                .filter(frame -> frame.startsWith("event: delay"))
                .map(frame -> frame.replaceAll("(?s).*\"lag_ms\":(\\d+).*", "$1"))
                .toList();
    }

    @Test
    void every_stream_is_told_once_when_changes_become_late_and_once_when_they_are_on_time_again() {
        var alice = world.open("alice", notesShape("a"));
        var bob = world.open("bob");
        assertThat(alice.only("ready")).doesNotContain("lag_ms");

        late(6000);
        late(7000);
        late(0);
        late(0);

        assertThat(alice.frames).contains("event: delay\ndata: {\"lag_ms\":6000}");
        assertThat(delays(alice)).containsExactly("6000", "0");
        assertThat(delays(bob)).containsExactly("6000", "0");
    }

    @Test
    void a_stream_that_opens_while_changes_are_late_learns_it_from_ready_as_late_as_they_are_then() {
        world.open("alice");
        late(6000);
        late(8000);

        var bob = world.open("bob");
        assertThat(bob.only("ready")).contains("\"lag_ms\":8000");
        assertThat(delays(bob)).isEmpty();

        late(0);
        assertThat(delays(bob)).containsExactly("0");
        assertThat(world.open("carol").only("ready")).doesNotContain("lag_ms");
    }

    @Test
    void a_full_queue_is_not_made_fuller_and_its_stream_is_told_what_is_true_once_it_has_room() {
        var alice = world.open("alice", notesShape("a"));
        world.stopReading(alice);
        world.commit(IntStream.range(0, 8)
                .mapToObj(id -> insert(String.valueOf(id), "alice", "x"))
                .toArray(Change[]::new));

        late(6000);
        late(0);
        late(9000);
        world.step(new Input.Tick());
        assertThat(delays(alice)).isEmpty();

        world.read(alice);
        world.step(new Input.Tick());
        world.step(new Input.Tick());
        assertThat(delays(alice)).containsExactly("9000");
        assertThat(alice.closed).isNull();
        assertThat(alice.changes()).hasSize(8);
    }

    @Test
    void a_stream_that_closed_meanwhile_is_told_nothing() {
        var alice = world.open("alice", notesShape("a"));
        world.stopReading(alice);
        world.commit(IntStream.range(0, 8)
                .mapToObj(id -> insert(String.valueOf(id), "alice", "x"))
                .toArray(Change[]::new));
        late(6000);
        world.hangUp(alice);
        world.read(alice);
        world.step(new Input.Tick());

        assertThat(delays(alice)).isEmpty();
    }

    @Test
    void nobody_waits_for_the_end_of_a_huge_commit_to_learn_that_changes_are_late() {
        var alice = world.open("alice", notesShape("a"));

        List<String> toldWithin = world.spilled(
                () -> {
                    late(6000);
                    return delays(alice);
                },
                insert("1", "alice", "x"),
                insert("2", "alice", "x"));

        assertThat(toldWithin).containsExactly("6000");
        assertThat(alice.changes()).hasSize(2);
    }
}
