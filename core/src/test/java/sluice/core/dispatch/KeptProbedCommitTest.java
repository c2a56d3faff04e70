package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.delete;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.probed;
import static sluice.core.dispatch.World.tuple;
import static sluice.core.dispatch.World.update;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.resume.ResumeBuffer;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.Change;
import sluice.core.transaction.MemorySpillStore;
import sluice.core.value.Oid;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition.Scope;

/// Commits too large for memory whose rows PostgreSQL decides, and streams that cannot take them at once. It is asked
/// about each row as it is now, so only the newest image of a row may be asked about. The world's queues hold eight
/// frames; a piece of a kept commit holds one change.
class KeptProbedCommitTest {
    private final MemorySpillStore store = new MemorySpillStore(1_000_000);
    private World world = new World();
    private boolean keysAreKnown = true;

    /// Images that PostgreSQL was asked about.
    private final List<String> askedAbout = new ArrayList<>();

    private final List<Effect.Probe> unanswered = new ArrayList<>();

    private static Change[] rows(int from, int count, String body) {
        return IntStream.range(from, from + count)
                .mapToObj(id -> insert(String.valueOf(id), "alice", body))
                .toArray(Change[]::new);
    }

    private static List<String> rowsOf(Received stream) {
        return stream.changes().stream()
                .map(change -> change.replaceAll(".*\"id\":(\\d+).*\"body\":\"([^\"]*)\".*", "$1 $2"))
                .toList();
    }

    private static List<String> numbered(int from, int count, String body) {
        return IntStream.range(from, from + count)
                .mapToObj(id -> id + " " + body)
                .toList();
    }

    /// Answers everything that is asked, PostgreSQL showing rows with such ids.
    private void answerAll(Predicate<Integer> shown) {
        for (int i = 0; i < 20; i++) {
            answer(shown);
            world.pass(Duration.ofMillis(50));
        }
    }

    private static Predicate<Integer> all() {
        return _ -> true;
    }

    private void answer(Predicate<Integer> shown) {
        List<Effect.Probe> waited = List.copyOf(unanswered);
        unanswered.clear();
        waited.forEach(probe -> answer(probe, shown));
        while (world.asked(Effect.Probe.class)
                || world.asked(Effect.ReadPiece.class)
                || world.asked(Effect.ReadKeys.class)) {
            switch (world.take(Effect.class)) {
                case Effect.Probe probe -> answer(probe, shown);
                case Effect.ReadPiece piece -> answer(piece);
                case Effect.ReadKeys keys ->
                    world.step(new Input.KeysRead(
                            keys.readId(), keysAreKnown ? keys.kept().keys(keys.relation(), keys.most()) : null));
                case Effect other -> assertThat(other).isNotNull();
            }
        }
    }

    /// A stream whose client takes nothing until it reads: its queue has a row, so what does not fit beside it
    /// waits.
    private Received slow(String... ops) {
        world.plan = granted(probed());
        Received stream = world.open("alice", notesShape("a", ops));
        world.stopReading(stream);
        world.commit(rows(100, 1, "first"));
        answer(all());
        askedAbout.clear();
        return stream;
    }

    /// The client takes what there is and goes on; what was asked before nobody answers.
    private void read(Received stream) {
        world.forgetEffects();
        world.read(stream);
    }

    private void answer(Effect.Probe probe, Predicate<Integer> shown) {
        String id = probe.image().tuple().text(0);
        askedAbout.add(id + " " + probe.image().tuple().text(2));
        world.step(new Input.ProbeAnswer(
                probe.probeId(),
                shown.test(Integer.valueOf(id))
                        ? new Input.ProbeOutcome.Visible(world.stamp())
                        : new Input.ProbeOutcome.Hidden(world.stamp())));
    }

    private void answer(Effect.ReadPiece piece) {
        world.step(new Input.PieceRead(piece.readId(), piece.kept().read(piece.piece())));
    }

    /// Pieces are read, and PostgreSQL does not answer yet.
    private void readPieces() {
        while (world.asked(Effect.ReadPiece.class) || world.asked(Effect.Probe.class)) {
            switch (world.take(Effect.class)) {
                case Effect.Probe probe -> unanswered.add(probe);
                case Effect.ReadPiece piece -> answer(piece);
                case Effect other -> assertThat(other).isNotNull();
            }
        }
    }

    @Test
    void one_reaches_a_stream_with_a_smaller_queue_as_far_as_postgresql_says_yes() {
        world.plan = granted(probed());
        var stream = world.openFramed("alice", notesShape("a"));
        world.kept(store, rows(0, 30, "x"));
        world.commit(rows(30, 1, "x"));

        answerAll(id -> id % 3 == 0);

        assertThat(rowsOf(stream))
                .isEqualTo(numbered(0, 31, "x").stream()
                        .filter(row -> Integer.parseInt(row.substring(0, row.length() - 2)) % 3 == 0)
                        .toList());
        assertThat(stream.frames.stream().filter(frame -> frame.startsWith("event: commit")))
                .hasSize(2);
        assertThat(stream.closed).isNull();
    }

    @Test
    void a_row_that_a_later_commit_changed_again_is_not_asked_about() {
        var stream = slow();
        world.kept(store, rows(0, 12, "secret"));
        world.commit(update(null, tuple("4", "alice", "redacted")));
        read(stream);

        answerAll(all());

        assertThat(rowsOf(stream)).hasSize(13).doesNotContain("4 secret").last().isEqualTo("4 redacted");
        assertThat(askedAbout).doesNotContain("4 secret");
    }

    @Test
    void a_row_that_a_later_commit_too_large_for_memory_changed_again_is_not_asked_about() {
        var stream = slow();
        world.commit(rows(0, 9, "secret"));
        world.kept(store, update(null, tuple("4", "alice", "redacted")), delete(tuple("5", null, null)));
        read(stream);

        answerAll(all());

        assertThat(askedAbout).doesNotContain("4 secret", "5 secret").contains("3 secret", "6 secret");
        assertThat(rowsOf(stream)).hasSize(9).last().isEqualTo("4 redacted");
        assertThat(stream.closed).isNull();
    }

    @Test
    void a_row_of_one_that_the_next_changed_again_is_not_asked_about() {
        var stream = slow();
        world.kept(store, rows(0, 12, "secret"));
        world.kept(store, update(null, tuple("4", "alice", "redacted")));
        world.kept(store, update(tuple("5", null, null), tuple("50", "alice", "moved")));
        read(stream);

        answerAll(all());

        assertThat(askedAbout).doesNotContain("4 secret", "5 secret");
        assertThat(rowsOf(stream))
                .hasSize(13)
                .contains("3 secret", "4 redacted")
                .last()
                .isEqualTo("50 moved");
    }

    @Test
    void nothing_before_a_truncation_in_one_is_asked_about() {
        var stream = slow();
        world.commit(rows(0, 9, "secret"));
        world.kept(store, new Change.Truncate(World.NOTES_DEFINITION), insert("20", "alice", "x"));
        read(stream);

        answerAll(all());

        assertThat(askedAbout).containsExactly("20 x");
        assertThat(rowsOf(stream)).containsExactly("100 first", "20 x");
        assertThat(stream.warned("table_truncated")).isTrue();
    }

    @Test
    void a_row_that_a_later_commit_may_have_changed_again_without_saying_which_is_withheld_and_its_stream_told() {
        var stream = slow("INSERT");
        world.commit(rows(0, 9, "secret"));
        world.commit(delete(tuple(null, "alice", null)), insert("20", "alice", "x"));
        assertOnlyTheLastIsAskedAbout(stream);
    }

    @Test
    void a_row_that_one_may_have_changed_again_without_saying_which_is_withheld_and_its_stream_told() {
        var stream = slow("INSERT");
        world.commit(rows(0, 9, "secret"));
        world.kept(store, delete(tuple(null, "alice", null)), insert("20", "alice", "x"));
        assertOnlyTheLastIsAskedAbout(stream);
    }

    private void assertOnlyTheLastIsAskedAbout(Received stream) {
        read(stream);

        answerAll(all());

        assertThat(askedAbout).containsExactly("20 x");
        assertThat(stream.warned("changes_withheld")).isTrue();
        assertThat(stream.closed).isNull();
    }

    @Test
    void a_row_without_a_key_that_no_later_commit_can_have_changed_is_asked_about() {
        world.plan = granted(World.probedOfTheCaller());
        var stream = world.open("alice", notesShape("a"));
        world.stopReading(stream);
        world.commit(keyless("alice", "first"));
        answer(all());
        world.commit(
                IntStream.range(0, 9).mapToObj(_ -> keyless("alice", "before")).toArray(Change[]::new));
        world.commit(keyless("alice", "last"));
        askedAbout.clear();
        read(stream);

        answerAll(all());

        assertThat(askedAbout).containsExactly("0 last");
        assertThat(stream.changes()).last().asString().contains("last");
        assertThat(stream.warned("changes_withheld")).isTrue();
    }

    /// Of a definition by which the catalog finds no key in it.
    private static Change keyless(String owner, String body) {
        var asText = new RelationDefinition(
                World.NOTES,
                "public",
                "notes",
                'f',
                List.of(
                        new RelationDefinition.Column("id", Oid.TEXT, -1, true),
                        new RelationDefinition.Column("owner", Oid.TEXT, -1, true),
                        new RelationDefinition.Column("body", Oid.TEXT, -1, true)));
        return new Change.Insert(asText, tuple("0", owner, body));
    }

    @Test
    void a_client_resumes_across_one() {
        world.plan = granted(probed());
        world.open("before", notesShape("a"));
        world.commit(rows(0, 1, "x"));
        world.kept(store, rows(1, 20, "x"));
        world.commit(update(null, tuple("7", "alice", "newer")));
        world.forgetEffects();

        var stream = world.open("alice", ResumeTest.resuming("a", new Lsn(0x1100), null, Scope.SHAPE));
        answerAll(all());

        assertThat(stream.frames.getFirst()).contains("\"resumed\":true");
        assertThat(rowsOf(stream)).hasSize(21).contains("0 x", "20 x").doesNotContain("7 x");
        assertThat(stream.frames.getLast()).startsWith("event: live");
        assertThat(stream.warned("changes_withheld")).isFalse();
    }

    @Test
    void one_whose_rows_nobody_can_know_ends_a_stream_before_it_and_the_stream_is_told() {
        var stream = slow();
        world.commit(rows(0, 9, "secret"));
        world.kept(store, rows(10, 1, "x"));
        read(stream);
        world.step(new Input.KeysRead(world.take(Effect.ReadKeys.class).readId(), null));

        answerAll(all());

        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
        assertThat(stream.only("error")).contains("stream_lagging", "resnapshot");
        assertThat(askedAbout).isEmpty();
    }

    @Test
    void one_of_more_rows_than_may_be_known_ends_a_stream_before_it() {
        world = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 6_400)));
        var stream = slow();
        world.commit(rows(0, 9, "x"));
        world.kept(store, rows(10, 7, "x"));
        read(stream);
        Effect.ReadKeys asked = world.take(Effect.ReadKeys.class);

        assertThat(asked.most()).isEqualTo(200);
        assertThat(asked.kept().keys(asked.relation(), 6)).isNull();
        assertThat(asked.kept().keys(asked.relation(), 7)).isNotNull();
        world.step(new Input.KeysRead(asked.readId(), null));
        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
    }

    @Test
    void what_a_commit_that_is_gone_may_have_changed_again_is_withheld_and_the_stream_ends_after_the_commit() {
        world = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 12_000)));
        var stream = slow();
        world.kept(store, rows(0, 12, "secret"));
        read(stream);
        readPieces();

        world.commit(update(null, tuple("11", "alice", "redacted")));
        for (int i = 0; i < 60; i++) {
            world.commit(insert("99", "bob", "x".repeat(400)));
        }

        assertIsGoneAfterTheCommit(stream);
    }

    @Test
    void what_a_commit_that_is_not_kept_may_have_changed_again_is_withheld_and_the_stream_ends_after_the_commit() {
        var stream = slow();
        world.commit(rows(0, 12, "secret"));
        read(stream);
        readPieces();

        world.spilled(() -> "", update(null, tuple("11", "alice", "redacted")));

        assertIsGoneAfterTheCommit(stream);
    }

    @Test
    void what_the_next_may_have_changed_again_is_withheld_when_nobody_can_know_and_the_stream_ends_after_the_commit() {
        var stream = slow();
        world.kept(store, rows(0, 12, "secret"));
        read(stream);
        readPieces();

        world.kept(store, update(null, tuple("11", "alice", "redacted")));
        keysAreKnown = false;

        assertIsGoneAfterTheCommit(stream);
        assertThat(rowsOf(stream)).doesNotContain("11 redacted");
    }

    /// Eight rows of the commit wait for their answers.
    private void assertIsGoneAfterTheCommit(Received stream) {
        assertThat(unanswered).hasSize(8);
        answerAll(all());

        assertThat(askedAbout).doesNotContain("11 secret");
        assertThat(rowsOf(stream)).contains("7 secret").doesNotContain("11 secret");
        assertThat(stream.warned("changes_withheld")).isTrue();
        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
    }

    @Test
    void half_of_what_may_be_asked_is_left_to_rows_that_cannot_wait() {
        world.plan = granted(probed());
        var stream = world.open("alice", notesShape("a"));
        world.kept(store, rows(0, 1_200, "x"));
        answer(all());
        for (int i = 0; i < 10; i++) {
            world.pass(Duration.ofMillis(50));
            answer(all());
        }
        assertThat(askedAbout).hasSizeLessThanOrEqualTo(500);

        for (int i = 0; i < 200; i++) {
            world.pass(Duration.ofMillis(50));
            answer(all());
        }
        assertThat(rowsOf(stream)).hasSize(1_200).isEqualTo(numbered(0, 1_200, "x"));
        assertThat(stream.warned("changes_withheld")).isFalse();
    }
}
