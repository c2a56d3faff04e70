package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.ChannelWorld.allow;
import static sluice.core.dispatch.ChannelWorld.deny;
import static sluice.core.dispatch.ChannelWorld.join;
import static sluice.core.dispatch.ChannelWorld.message;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.core.dispatch.ControlRequest.Echo;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.resume.ResumeBuffer;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.Change;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition.Scope;

/// What commits say to streams that cannot take it at once. The world's queues hold eight frames.
class CommitBroadcastsTest {
    private final ChannelWorld channels = new ChannelWorld();
    private final World world = channels.world;

    private static Change[] rows(int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(id -> insert(Integer.toString(id), "alice", "x"))
                .toArray(Change[]::new);
    }

    private static void say(World world, String channel, String content, Change... rows) {
        world.commit(List.of(), List.of(message("sluice:" + channel, content)), rows);
    }

    /// Changes by their row's id, broadcasts by their payload, and `end` for the end of a transaction.
    private static List<String> told(Received stream) {
        return stream.frames.stream()
                .filter(frame -> frame.matches("(?s)(change |event: (broadcast|commit)).*"))
                .map(frame -> frame.startsWith("change ")
                        ? frame.replaceAll("(?s).*\"id\":(\\d+).*", "$1")
                        : frame.startsWith("event: commit")
                                ? "end"
                                : frame.replaceAll("(?s).*\"payload\":\"?([^\",]*)\"?,.*", "$1"))
                .toList();
    }

    @Test
    void a_stream_that_is_behind_hears_what_commits_said_after_their_rows_and_before_the_next() {
        Received alice = world.openFramed("alice", notesShape("s"), join("r", "room:1"));
        Received bob = channels.open("b", "bob", notesShape("s"), join("r", "room:1"));
        world.stopReading(alice);
        say(world, "room:1", "one", rows(0, 2));
        say(world, "room:1", "two", rows(2, 8));
        world.commit(rows(10, 1));
        world.commit(List.of(), List.of(message("sluice:room:1", "three"), message("sluice:room:1", "four")));
        assertThat(told(alice)).containsExactly("0", "1", "one", "end");

        world.read(alice);

        List<String> all =
                List.of("0", "1", "one", "2", "3", "4", "5", "6", "7", "8", "9", "two", "10", "three", "four");
        assertThat(told(bob)).isEqualTo(all);
        assertThat(told(alice).stream().filter(what -> !what.equals("end"))).isEqualTo(all);
        assertThat(told(alice))
                .containsExactly(
                        "0", "1", "one", "end", "2", "3", "4", "5", "6", "7", "8", "9", "two", "end", "10", "end",
                        "three", "four", "end");
        assertThat(world.counts.of("dropped BROADCAST")).isZero();
    }

    @Test
    void what_a_commit_says_goes_with_its_rows_when_there_is_room_for_one_of_them_only() {
        Received alice = channels.open("a", "alice", notesShape("s"), join("r", "room:1"));
        world.stopReading(alice);
        world.commit(rows(0, 1));
        say(world, "room:1", "said", rows(1, 7));
        assertThat(told(alice)).containsExactly("0");

        world.read(alice);
        assertThat(told(alice)).containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "said");
    }

    @Test
    void who_only_listens_falls_behind_and_misses_nothing_either() {
        Received alice = channels.open("a", "alice", join("r", "room:1"));
        world.stopReading(alice);
        for (int i = 0; i < 30; i++) {
            say(world, "room:1", "m" + i);
        }
        assertThat(told(alice)).hasSize(8);

        world.read(alice);

        assertThat(told(alice))
                .isEqualTo(IntStream.range(0, 30).mapToObj(i -> "m" + i).toList());
        say(world, "room:1", "after");
        assertThat(told(alice)).last().isEqualTo("after");
        assertThat(world.counts.of("dropped BROADCAST")).isZero();
    }

    @Test
    void who_joins_while_behind_hears_nothing_of_before_and_who_left_hears_nothing_more() {
        channels.open("b", "bob", join("r", "room:2"));
        Received alice = channels.open("a", "alice", notesShape("s"), join("left", "room:1"));
        world.stopReading(alice);
        say(world, "room:1", "of room 1", rows(0, 8));
        say(world, "room:2", "of room 2, before");
        channels.ask("a", "alice", ChannelWorld.subscribe(join("joined", "room:2")));
        say(world, "room:2", "of room 2");
        channels.ask("a", "alice", new ControlRequest.Unsubscribe(List.of("left")));
        channels.ask("a", "alice", ChannelWorld.subscribe(join("again", "room:1")));
        say(world, "room:1", "of room 1 again");

        world.read(alice);

        assertThat(alice.broadcasts())
                .hasSize(2)
                .satisfiesExactly(
                        first -> assertThat(first).contains("\"sub\":\"joined\"", "\"of room 2\""),
                        second -> assertThat(second).contains("\"sub\":\"again\"", "\"of room 1 again\""));
    }

    @Test
    void who_was_put_out_of_the_channel_while_behind_hears_nothing_of_it() {
        Received alice = channels.open("a", "alice", notesShape("s"), join("t", "team:1"));
        channels.answer(channels.asked(), allow(3600));
        world.stopReading(alice);
        say(world, "team:1", "secret", rows(0, 8));
        channels.send("a", channels.caller("alice"), new ControlRequest.Token());
        channels.answer(channels.asked(), deny());

        world.read(alice);

        assertThat(told(alice))
                .isEqualTo(IntStream.range(0, 8).mapToObj(String::valueOf).toList());
        assertThat(alice.only("error")).contains("channel_not_authorized");
    }

    @Test
    void what_a_commit_said_is_part_of_that_commit_where_an_earlier_one_waits_for_an_answer() {
        world.plan = World.granted(World.probed());
        Received alice = world.openFramed("alice", notesShape("s"), join("r", "room:1"));
        world.commit(rows(1, 1));
        say(world, "room:1", "said");
        assertThat(told(alice)).isEmpty();

        Effect.Probe probe = world.take(Effect.Probe.class);
        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(told(alice)).containsExactly("1", "end", "said", "end");
    }

    @Test
    void what_clients_say_is_kept_for_nobody() {
        Received alice = channels.open("a", "alice", notesShape("s"), join("r", "room:1"));
        channels.open("b", "bob", join("r", "room:1"));
        world.stopReading(alice);
        world.commit(rows(0, 9));
        channels.ask("b", "bob", ChannelWorld.publish("room:1", "1", Echo.TO_SELF));

        world.read(alice);

        assertThat(alice.broadcasts()).isEmpty();
        assertThat(world.counts.of("dropped BROADCAST")).isEqualTo(1);
    }

    @Test
    void a_stream_that_falls_behind_what_is_kept_of_a_channel_is_told_and_closed() {
        World small = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 4_000)));
        Received stream = small.open("alice", join("r", "room:1"));
        small.stopReading(stream);
        for (int i = 0; i < 60; i++) {
            say(small, "room:1", "m" + i);
        }
        small.pass(Duration.ofMillis(50));

        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
        assertThat(stream.only("error")).contains("stream_lagging");
        assertThat(told(stream)).hasSize(8);
        assertThat(small.engine.streamCount()).isZero();
    }

    @Test
    void what_is_said_in_other_channels_pushes_nobody_out() {
        World small = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 4_000)));
        Received other = small.open("bob", join("r", "room:2"));
        Received stream = small.open("alice", join("r", "room:1"));
        small.stopReading(stream);
        for (int i = 0; i < 9; i++) {
            say(small, "room:1", "m" + i);
        }
        // of these nothing is kept: nobody is there
        for (int i = 0; i < 60; i++) {
            say(small, "room:3", "m" + i);
        }
        small.read(stream);
        assertThat(told(stream)).hasSize(9);
        for (int i = 0; i < 60; i++) {
            say(small, "room:2", "m" + i);
        }
        small.pass(Duration.ofMillis(50));
        assertThat(told(other)).hasSize(60);
        assertThat(stream.closed).isNull();
    }

    @Test
    void without_a_buffer_a_stream_without_room_for_what_a_commit_says_is_told_and_closed() {
        World none = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 0)));
        Received stream = none.open("alice", join("r", "room:1"));
        none.stopReading(stream);
        for (int i = 0; i < 10; i++) {
            say(none, "room:1", "m" + i);
        }

        assertThat(told(stream)).hasSize(8);
        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
        assertThat(none.engine.streamCount()).isZero();
    }

    @Test
    void what_a_commit_too_large_for_memory_says_is_kept_as_well() {
        Received alice = channels.open("a", "alice", join("r", "room:1"));
        world.stopReading(alice);
        for (int i = 0; i < 8; i++) {
            say(world, "room:1", "m" + i);
        }
        world.spilled(List.of(message("sluice:room:1", "large")), rows(0, 2));
        say(world, "room:1", "last");

        world.read(alice);

        assertThat(told(alice).subList(8, 10)).containsExactly("large", "last");
    }

    @Test
    void nothing_said_is_replayed_to_who_resumes() {
        Received before = channels.open("a", "alice", notesShape("s"), join("r", "room:1"));
        say(world, "room:1", "said", rows(0, 1));
        String history = before.frames.getFirst().replaceAll("(?s).*\"history\":\"([^\"]*)\".*", "$1");
        String lsn = before.changes().getFirst().replaceAll("(?s).*\"commit_lsn\":\"([^\"]*)\".*", "$1");
        world.hangUp(before);

        Received after = channels.open(
                "a2", "alice", ResumeTest.resuming("s", Lsn.parse(lsn), history, Scope.SHAPE), join("r", "room:1"));

        assertThat(after.frames.getFirst()).contains("\"resumed\":true");
        assertThat(told(after)).containsExactly("0");
    }
}
