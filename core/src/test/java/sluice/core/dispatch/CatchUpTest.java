package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.filtered;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.probed;
import static sluice.core.dispatch.World.tuple;
import static sluice.core.dispatch.World.update;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.core.expression.FoldAnswer;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.resume.BufferedCommit;
import sluice.core.resume.ResumeBuffer;
import sluice.core.shape.ShapeRequest;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.Change;
import sluice.core.transaction.Transaction;

/// What becomes of streams whose clients do not take a commit at once. The world's queues hold eight frames.
class CatchUpTest {
    private final World world = new World();

    private static Change[] rows(int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(i -> insert(String.valueOf(i), "alice", "x"))
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

    @Test
    void a_commit_of_a_thousand_rows_reaches_a_queue_of_eight_whole_and_in_order() {
        var stream = world.open("alice", notesShape("a"));

        world.commit(rows(0, 1000));
        world.commit(rows(1000, 1));

        assertThat(ids(stream)).isEqualTo(numbers(0, 1001));
        assertThat(stream.closed).isNull();
        assertThat(stream.changes().getLast()).startsWith("change \"a\" 1001 ");
    }

    @Test
    void a_commit_that_does_not_fit_is_given_later_and_no_part_of_it_before() {
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 5));

        world.commit(rows(5, 4));
        assertThat(ids(stream)).isEqualTo(numbers(0, 5));

        world.commit(rows(9, 1));
        assertThat(ids(stream)).isEqualTo(numbers(0, 5));

        world.read(stream);
        assertThat(ids(stream)).isEqualTo(numbers(0, 10));
        world.commit(rows(10, 1));
        assertThat(ids(stream)).isEqualTo(numbers(0, 11));
    }

    @Test
    void rows_that_are_not_for_the_stream_do_not_arrive_by_catching_up_either() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 9));
        world.commit(insert("9", "bob", "secret"), insert("10", "alice", "x"));

        world.read(stream);

        assertThat(ids(stream)).isEqualTo(List.of("0", "1", "2", "3", "4", "5", "6", "7", "8", "10"));
    }

    @Test
    void a_client_that_takes_nothing_does_not_keep_others_from_their_rows() {
        var slow = world.open("alice", notesShape("a"));
        var quick = world.open("bob", notesShape("b"));
        world.stopReading(slow);

        for (int i = 0; i < 50; i++) {
            world.commit(rows(i * 10, 10));
        }

        assertThat(ids(quick)).isEqualTo(numbers(0, 500));
        assertThat(slow.closed).isNull();
    }

    @Test
    void a_stream_that_falls_out_of_the_buffer_is_told_and_closed() {
        World small = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 4_000)));
        var stream = small.open("alice", notesShape("a"));
        small.stopReading(stream);
        small.commit(rows(0, 6));
        small.commit(rows(6, 6));

        for (int i = 2; i < 20; i++) {
            small.commit(rows(i * 6, 6));
        }
        small.pass(Duration.ofMillis(50));

        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
        assertThat(stream.only("error")).contains("stream_lagging", "resnapshot");
        assertThat(ids(stream)).isEqualTo(numbers(0, 6));
    }

    @Test
    void age_alone_takes_nothing_from_a_stream_that_is_behind() {
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 9));
        world.commit(rows(9, 1));

        world.pass(Duration.ofMinutes(10));
        world.commit(rows(10, 1));
        world.read(stream);

        assertThat(ids(stream)).isEqualTo(numbers(0, 11));
    }

    @Test
    void a_commit_too_large_to_keep_ends_a_stream_that_is_behind() {
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 1));
        world.commit(rows(1, 8));

        world.spilled(() -> "", rows(9, 2));
        world.read(stream);

        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
        assertThat(ids(stream)).isEqualTo(numbers(0, 1));
    }

    @Test
    void a_stream_that_is_behind_is_told_of_another_rule_and_gets_nothing_of_before_under_either() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 1));
        world.commit(rows(1, 8));

        world.plan = granted(ownedBy("bob"));
        world.moveRights("r2", List.of(1, 2, 3));
        world.commit(List.of(World.NOTES_DEFINITION), insert("9", "alice", "x"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));
        world.read(stream);

        assertThat(ids(stream)).isEqualTo(numbers(0, 1));
        assertThat(stream.only("error")).contains("rights_changed");
        world.subscribe("alice", notesShape("a"));
        world.commit(insert("10", "bob", "x"), insert("11", "alice", "x"));
        assertThat(ids(stream)).isEqualTo(List.of("0", "10"));
    }

    @Test
    void only_the_newest_image_of_a_row_is_asked_about_when_it_is_given_late() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 9));
        world.commit(update(null, tuple("1", "alice", "newest")));

        world.read(stream);
        while (world.asked(Effect.Probe.class)) {
            Effect.Probe probe = world.take(Effect.Probe.class);
            world.step(new Input.ProbeAnswer(probe.probeId(), new Input.ProbeOutcome.Visible(world.stamp())));
        }
        for (int i = 0; i < 20; i++) {
            world.idle();
            world.pass(Duration.ofMillis(50));
            while (world.asked(Effect.Probe.class)) {
                Effect.Probe probe = world.take(Effect.Probe.class);
                world.step(new Input.ProbeAnswer(probe.probeId(), new Input.ProbeOutcome.Visible(world.stamp())));
            }
        }

        assertThat(stream.changes().stream().filter(change -> change.contains("\"id\":1,")))
                .hasSize(1);
        assertThat(stream.changes().getLast()).contains("newest");
        assertThat(ids(stream)).containsExactlyInAnyOrder("0", "2", "3", "4", "5", "6", "7", "8", "1");
    }

    @Test
    void a_row_that_left_and_was_changed_again_before_it_is_given_late_is_told_of() {
        world.plan = granted(probed());
        var stream = world.open("alice", filtered("a", "body=eq.x", ShapeRequest.Transitions.REPORTED));
        Effect.AskFolds literal = world.take(Effect.AskFolds.class);
        world.step(new Input.FoldsAnswer(literal.questionId(), List.of(new FoldAnswer.Value("x"))));
        world.stopReading(stream);
        world.commit(rows(0, 9));
        world.commit(update(tuple("100", "alice", "x"), tuple("100", "alice", "y")));
        world.commit(update(tuple("100", "alice", "y"), tuple("100", "alice", "z")));

        world.read(stream);
        answerProbes();

        assertThat(stream.changes()).hasSize(9);
        assertThat(stream.warned("changes_withheld")).isTrue();
    }

    @Test
    void a_row_that_took_another_key_and_was_changed_again_before_it_is_given_late_is_told_of() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 9));
        world.commit(update(tuple("100", "alice", "x"), tuple("101", "alice", "x")));
        world.commit(update(tuple("101", "alice", "x"), tuple("101", "alice", "newest")));

        world.read(stream);
        answerProbes();

        assertThat(stream.changes()).hasSize(10).last().asString().contains("newest");
        assertThat(world.counts.of("withheld DELETE")).isEqualTo(1);
        assertThat(stream.warned("changes_withheld")).isTrue();
    }

    private void answerProbes() {
        for (int i = 0; i < 20; i++) {
            while (world.asked(Effect.Probe.class)) {
                Effect.Probe probe = world.take(Effect.Probe.class);
                world.step(new Input.ProbeAnswer(probe.probeId(), new Input.ProbeOutcome.Visible(world.stamp())));
            }
            world.idle();
            world.pass(Duration.ofMillis(50));
        }
    }

    @Test
    void a_stream_that_expires_while_it_is_behind_gets_nothing_more() {
        var stream = world.open("alice", world.now().plusSeconds(60), notesShape("a"));
        world.stopReading(stream);
        world.commit(rows(0, 1));
        world.commit(rows(1, 8));

        world.pass(Duration.ofSeconds(61));
        world.read(stream);

        assertThat(ids(stream)).isEqualTo(numbers(0, 1));
        assertThat(stream.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
    }

    @Test
    void changes_of_two_tables_keep_their_places_in_a_commit_however_they_are_mixed() {
        RelationDefinition other = new RelationDefinition(17_000, "public", "other", 'd', List.of());
        ResumeBuffer buffer = new ResumeBuffer(new ResumeBuffer.Bounds(Duration.ZERO, 1_000_000));
        Transaction transaction = world.commit(
                        insert("1", "alice", "x"),
                        insert("2", "alice", "x"),
                        new Change.Truncate(other),
                        insert("3", "alice", "x"))
                .transaction();

        buffer.append(
                new BufferedCommit(0, transaction.xid(), transaction.commitLsn(), transaction.commitTime()),
                transaction,
                _ -> true,
                world.now());

        var part = buffer.next(World.NOTES, 0);
        assertThat(part).isNotNull();
        assertThat(IntStream.range(0, 3).map(part::place)).containsExactly(0, 1, 3);
        var ofOther = buffer.next(17_000, 0);
        assertThat(ofOther).isNotNull();
        assertThat(ofOther.place(0)).isEqualTo(2);
    }
}
