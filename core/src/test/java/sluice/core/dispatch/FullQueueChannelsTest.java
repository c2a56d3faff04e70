package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.ChannelWorld.join;
import static sluice.core.dispatch.ChannelWorld.joinListed;
import static sluice.core.dispatch.ChannelWorld.message;
import static sluice.core.dispatch.ChannelWorld.presence;
import static sluice.core.dispatch.ChannelWorld.publish;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.dispatch.ControlRequest.Echo;
import sluice.core.dispatch.ControlRequest.Presence.Action;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

/// Broadcasts and presence where a stream's queue, of eight frames here, is full.
class FullQueueChannelsTest {
    private final ChannelWorld channels = new ChannelWorld();
    private final World world = channels.world;

    @Test
    void a_broadcast_without_room_is_dropped_and_counted_and_ends_nothing() {
        Received alice = channels.open("a", "alice", join("r", "room:1"));
        channels.open("b", "bob", join("r", "room:1"));
        world.stopReading(alice);
        fill();

        assertThat(channels.ask("b", "bob", publish("room:1", "1", Echo.TO_SELF)))
                .isEqualTo(new ControlAnswer.Delivered(1));
        assertThat(alice.broadcasts()).hasSize(8);
        assertThat(world.counts.of("dropped BROADCAST")).isEqualTo(5);
        assertThat(alice.closed).isNull();

        world.read(alice);
        say("room after");
        assertThat(alice.broadcasts().getLast()).contains("room after");
    }

    @Test
    void broadcasts_cost_no_change_its_place() {
        Received alice = channels.open("a", "alice", notesShape("s"), join("r", "room:1"));
        world.stopReading(alice);
        fill();
        for (int i = 1; i <= 5; i++) {
            world.commit(List.of(), List.of(message("sluice:room:1", "of " + i)), insert("" + i, "alice", "x"));
        }
        assertThat(alice.closed).isNull();

        world.read(alice);
        world.pass(Duration.ofMillis(100));

        assertThat(alice.changes()).hasSize(5);
        assertThat(alice.closed).isNull();
    }

    @Test
    void who_missed_a_difference_is_given_the_list_as_soon_as_there_is_room() {
        Received alice = channels.open("a", "alice", joinListed("r", "room:1"));
        Received carol = channels.open("c", "carol", join("r", "room:1"));
        channels.open("b", "bob", join("r", "room:1"));
        world.stopReading(alice);
        world.stopReading(carol);
        fill();
        channels.ask("b", "bob", presence("room:1", Action.TRACK, "7"));
        world.pass(Duration.ofMillis(1500));
        assertThat(alice.presence()).hasSize(1);
        assertThat(world.counts.of("dropped PRESENCE")).isEqualTo(2);

        world.read(alice);
        world.read(carol);
        world.pass(Duration.ofMillis(50));

        assertThat(alice.presence()).hasSize(2);
        assertThat(alice.presence().getLast()).contains("\"type\":\"state\",\"members\":{\"bob\":{\"meta\":7");
        assertThat(carol.presence()).isEmpty();
        world.pass(Duration.ofMillis(50));
        assertThat(alice.presence()).hasSize(2);
    }

    @Test
    void nothing_is_owed_to_who_left_meanwhile() {
        Received alice = channels.open("a", "alice", joinListed("r", "room:1"));
        channels.open("b", "bob", join("r", "room:1"));
        world.stopReading(alice);
        fill();
        channels.ask("b", "bob", presence("room:1", Action.TRACK, "7"));
        world.pass(Duration.ofMillis(1500));
        channels.ask("a", "alice", new ControlRequest.Unsubscribe(List.of("r")));
        world.read(alice);
        world.pass(Duration.ofMillis(50));

        assertThat(alice.presence()).hasSize(1);
    }

    @Test
    void a_list_that_is_owed_costs_next_to_nothing_while_there_is_no_room_for_it() {
        Received alice = channels.open("a", "alice", joinListed("r", "room:1"));
        world.stopReading(alice);
        fill();
        String meta = "\"" + "x".repeat(4_000) + "\"";
        for (String subject : List.of("bob", "carol", "dave")) {
            channels.open(subject, subject, join("r", "room:1"));
            channels.ask(subject, subject, presence("room:1", Action.TRACK, meta));
        }
        world.pass(Duration.ofMillis(1500));
        assertThat(world.counts.of("dropped PRESENCE")).isEqualTo(1);

        long before = allocatedBytes();
        for (int i = 0; i < 200; i++) {
            world.pass(Duration.ofMillis(1));
        }
        assertThat(allocatedBytes() - before).isLessThan(200L * 3 * meta.length());

        world.read(alice);
        world.pass(Duration.ofMillis(1));
        assertThat(alice.presence().getLast()).contains("\"type\":\"state\"", "bob", "carol", "dave");
    }

    private static long allocatedBytes() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.ThreadMXBean.class)
                .getCurrentThreadAllocatedBytes();
    }

    /// More than a queue that nobody reads from holds.
    private void fill() {
        for (int i = 0; i < 12; i++) {
            say("m" + i);
        }
    }

    private void say(String content) {
        world.step(new Input.Wal(new WalEvent.LoneMessage(new Lsn(0x900), message("sluice:room:1", content))));
    }
}
