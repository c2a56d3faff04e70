package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOTES_DEFINITION;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.probed;
import static sluice.core.dispatch.World.refused;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.Stamp;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.wal.TransactionSnapshot;
import sluice.core.wal.Xid;

/// An SQL answer that shows a commit may be older than a commit before it: PostgreSQL shows commits in another order
/// than the log brings them when one of them waits for a synchronous standby.
class StampsTest {
    private final World world = new World();

    // ---- probes

    @Test
    void an_answer_that_sees_its_commit_and_not_an_earlier_one_is_asked_again() {
        Received stream = revokedThenProbed();

        answer(world.stampWithoutTheOneBefore());
        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isZero();
        world.pass(Duration.ofMillis(50));
        answer(world.stamp());

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_yes_of_before_the_earlier_commit_is_not_a_yes() {
        Received stream = revokedThenProbed();
        answer(world.stampWithoutTheOneBefore());
        world.pass(Duration.ofMillis(50));

        world.step(new Input.ProbeAnswer(
                world.take(Effect.Probe.class).probeId(), new ProbeOutcome.Hidden(world.stamp())));

        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void a_row_is_withheld_and_counted_when_the_earlier_commit_stays_unseen_for_the_stamp_wait() {
        Received stream = revokedThenProbed();
        for (int second = 0; second < 12; second++) {
            if (world.asked(Effect.Probe.class)) {
                answer(world.stampWithoutTheOneBefore());
            }
            world.pass(Duration.ofSeconds(1));
        }

        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        assertThat(world.counts.of("probe withheld")).isEqualTo(1);
        assertThat(stream.warned("changes_withheld")).isTrue();
    }

    @Test
    void a_commit_that_an_earlier_answer_has_shown_need_not_be_looked_for_again() {
        Received stream = opened();
        world.commit(insert("1", "bob", "x"));
        answer(world.stamp());
        world.commit(insert("2", "bob", "x"));
        Effect.Probe late = world.take(Effect.Probe.class);
        world.commit(insert("3", "bob", "x"));

        // commits that came after the question need not be in its answer
        world.step(new Input.ProbeAnswer(late.probeId(), new ProbeOutcome.Visible(world.stampBeforeLatest())));

        assertThat(stream.changes()).hasSize(2);
    }

    @Test
    void an_answer_overtaken_by_that_to_a_later_question_is_still_too_old() {
        Received stream = opened();
        world.commit(insert("1", "bob", "x"));
        Stamp before = world.stamp();
        world.commit(insert("2", "bob", "x"));
        Stamp withoutSecond = world.stampBeforeLatest();
        world.take(Effect.Probe.class);
        Effect.Probe second = world.take(Effect.Probe.class);
        world.commit(insert("3", "bob", "x"));
        Effect.Probe third = world.take(Effect.Probe.class);

        world.step(new Input.ProbeAnswer(third.probeId(), new ProbeOutcome.Visible(world.stamp())));
        world.step(new Input.ProbeAnswer(second.probeId(), new ProbeOutcome.Visible(withoutSecond)));

        assertThat(before.isOlderThan(withoutSecond)).isTrue();
        assertThat(stream.changes()).isEmpty();
        world.pass(Duration.ofMillis(50));
        assertThat(world.asked(Effect.Probe.class)).isTrue();
    }

    @Test
    void while_it_is_unknown_which_commits_are_unseen_a_probed_row_is_withheld_and_counted() {
        Received stream = opened();
        for (int i = 0; i < UnseenCommits.KEPT_MAX + 1; i++) {
            world.commit();
        }

        world.commit(insert("1", "bob", "x"));
        assertThat(world.asked(Effect.Probe.class)).isFalse();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        // the rights poll shows all of them: what comes next is asked about again
        world.step(new Input.RightsAnswer("same", world.stamp()));
        world.commit(insert("2", "bob", "x"));
        answer(world.stamp());

        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":2");
    }

    // ---- the catalog

    @Test
    void a_reload_that_does_not_see_an_earlier_commit_is_asked_again() {
        world.plan = granted(everything());
        Received stream = world.open("alice", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        world.commit(List.of(NOTES_DEFINITION), insert("2", "bob", "x"));
        Effect.LoadCatalog early = world.take(Effect.LoadCatalog.class);

        world.step(new Input.CatalogAnswer(early.requestId(), world.imageAt(world.stampWithoutTheOneBefore())));
        assertThat(world.engine.acceptsWal()).isFalse();
        world.plan = refused();
        world.moveRights("r2", List.of(1, 2, 3));
        world.pass(Duration.ofMillis(50));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));

        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":1");
        assertThat(stream.only("error")).contains("shape_not_authorized");
    }

    @Test
    void a_stale_table_is_not_served_from_a_catalog_that_misses_a_commit_before_the_announcement() {
        Received stream = openedOnWhatNoQueryShows();
        assertThat(stream.frames).isEmpty();
        world.pass(Duration.ofMillis(200));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stampWithoutTheOneBefore())));
        assertThat(stream.frames).isEmpty();
        world.pass(Duration.ofMinutes(1));

        assertThat(stream.frames.getFirst()).contains("catalog_unavailable");
    }

    @Test
    void a_stale_table_is_served_once_the_catalog_shows_what_announced_it() {
        Received stream = openedOnWhatNoQueryShows();
        world.pass(Duration.ofMillis(200));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stamp())));

        assertThat(stream.frames.getFirst()).contains("\"ok\":true");
    }

    /// Asks for a table that a commit announced, and gets a catalog that misses the commit before it.
    private Received openedOnWhatNoQueryShows() {
        world.commit(insert("1", "bob", "x"));
        world.commit(List.of(NOTES_DEFINITION), insert("2", "bob", "x"));

        Received stream = world.open("alice", notesShape("a"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stampWithoutTheOneBefore())));
        return stream;
    }

    // ---- what is kept

    @Test
    void a_window_begins_with_the_first_commit_no_answer_has_shown() {
        UnseenCommits unseen = new UnseenCommits(4);
        unseen.dispatched(new Xid(10));
        unseen.dispatched(new Xid(11));
        unseen.shown(snapshot(12, 11L));
        UnseenCommits.Window window = unseen.window(unseen.count());

        assertThat(window).isEqualTo(new UnseenCommits.Window(1, 2));
        assertThat(unseen.shows(snapshot(12, 11L), window)).isFalse();
        assertThat(unseen.shows(snapshot(12, 10L), window)).isTrue();
    }

    @Test
    void forgotten_commits_count_as_unseen_until_a_snapshot_shows_their_whole_range() {
        UnseenCommits unseen = new UnseenCommits(2);
        for (int xid : new int[] {21, 20, 22, 23}) {
            unseen.dispatched(new Xid(xid));
        }
        assertThat(unseen.isOverrun()).isTrue();
        assertThat(unseen.shows(snapshot(30), unseen.window(unseen.count()))).isFalse();
        unseen.shown(snapshot(30, 20L));
        assertThat(unseen.isOverrun()).isTrue();

        unseen.shown(snapshot(30, 19L, 25L));

        assertThat(unseen.isOverrun()).isFalse();
        assertThat(unseen.shows(snapshot(30), unseen.window(unseen.count()))).isTrue();
    }

    @Test
    void ids_that_wrap_are_told_apart() {
        UnseenCommits unseen = new UnseenCommits(1);
        unseen.dispatched(new Xid(-1));
        unseen.dispatched(new Xid(3));
        unseen.dispatched(new Xid(4));
        long epoch = 1L << 32;

        unseen.shown(snapshot(epoch + 5, epoch + 3));
        assertThat(unseen.isOverrun()).isTrue();
        unseen.shown(snapshot(epoch + 5, epoch - 2));

        assertThat(unseen.isOverrun()).isFalse();
    }

    private Received opened() {
        world.plan = granted(probed());
        return world.open("alice", notesShape("a"));
    }

    /// A commit that may have taken the right away, then one with a row that PostgreSQL is asked about.
    private Received revokedThenProbed() {
        Received stream = opened();
        world.commit();
        world.commit(insert("1", "bob", "x"));
        return stream;
    }

    private void answer(Stamp stamp) {
        world.step(new Input.ProbeAnswer(world.take(Effect.Probe.class).probeId(), new ProbeOutcome.Visible(stamp)));
    }

    private static TransactionSnapshot snapshot(long xmax, Long... inProgress) {
        return new TransactionSnapshot(inProgress.length == 0 ? xmax : inProgress[0], xmax, List.of(inProgress));
    }
}
