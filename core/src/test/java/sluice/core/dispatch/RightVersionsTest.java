package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOTES_DEFINITION;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;
import sluice.core.catalog.Succession;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.snapshot.SnapshotSpool;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.TransactionSnapshot;
import sluice.core.wal.Xid;

/// Rights that may have been others in between: the catalog says the same, and that it was written anew.
///
/// The rule shows everything throughout, so what withholds a row is the version alone.
class RightVersionsTest {
    /// A transaction of which the log brings nothing, seen by every snapshot.
    private static final int ELSEWHERE = 900;

    /// One that began after the first reading.
    private static final int AHEAD = 5_000;

    private final World world = new World();
    private final Received stream = world.open("alice", notesShape("a"));

    @Test
    void a_row_made_before_a_reading_that_finds_a_right_written_anew_is_withheld_and_told() {
        world.commit(List.of(NOTES_DEFINITION), insert("1", "bob", "between"));
        answerReload("policy1", ELSEWHERE);

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.warned("changes_withheld")).isTrue();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        world.commit(insert("2", "bob", "after"));
        assertThat(stream.changes()).hasSize(1).first().asString().contains("after");
    }

    @Test
    void a_row_of_the_transaction_that_wrote_the_right_last_is_sent() {
        int own = world.commit(List.of(NOTES_DEFINITION), insert("1", "bob", "x"))
                .transaction()
                .xid()
                .bits();
        answerReload("policy1", own);

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_row_made_after_a_transaction_of_the_log_that_wrote_the_right_last_is_sent() {
        int earlier = world.commit(insert("1", "bob", "x")).transaction().xid().bits();
        world.commit(List.of(NOTES_DEFINITION), insert("2", "bob", "y"));
        answerReload("table", earlier);

        assertThat(stream.changes()).hasSize(2);
    }

    @Test
    void a_row_made_after_an_answer_that_shows_the_last_writer_is_sent() {
        world.step(new Input.RightsAnswer(null, world.stamp()));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "bob", "x"));
        answerReload("policy1", ELSEWHERE);

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_row_made_before_the_first_answer_that_shows_the_last_writer_is_withheld_and_one_past_it_is_sent() {
        world.step(new Input.RightsAnswer(null, world.stamp()));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "bob", "before"));
        Xid writer = new Xid(1001 + 5);
        Stamp shows = world.stampAhead();
        world.step(new Input.RightsAnswer(null, new Stamp(seeing(writer), shows.insertLsn())));
        Stamp late = new Stamp(seeing(writer), new Lsn(shows.insertLsn().bits() + 0x10_000));
        answer(image("policy1", writer.bits(), late));

        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        // far from the reading, and past the answer
        world.commit(insert("2", "bob", "before still"));
        world.commit(insert("3", "bob", "past"));
        assertThat(stream.changes()).hasSize(1).first().asString().contains("past");
    }

    @Test
    void a_right_that_is_gone_withholds_what_was_made_before_the_reading() {
        world.commit(List.of(NOTES_DEFINITION), insert("1", "bob", "x"));
        Map<String, Xid> versions = new LinkedHashMap<>();
        versions.put("policy1", xidOfLatest());
        versions.put("policy2", xidOfLatest());
        answer(image(versions, world.stamp()));
        assertThat(stream.changes()).hasSize(1);

        world.commit(List.of(NOTES_DEFINITION), insert("2", "bob", "y"));
        answer(image("policy1", 1001, world.stamp()));

        assertThat(stream.changes()).hasSize(1);
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
    }

    @Test
    void a_subscription_opened_after_such_a_reading_is_not_served_commits_of_before() {
        world.step(new Input.RightsAnswer("moved"));
        answer(image("policy1", ELSEWHERE, world.stampAhead()));
        var late = world.open("bob", notesShape("b"));

        world.commit(insert("1", "bob", "early"));
        world.commit(insert("2", "bob", "late"));

        assertThat(late.changes()).hasSize(1).first().asString().contains("late");
    }

    @Test
    void answers_of_a_server_that_was_left_prove_nothing() {
        world.step(new Input.RightsAnswer(null, world.stamp()));
        world.failOver(0);
        world.commit(List.of(NOTES_DEFINITION), insert("1", "bob", "x"));
        answerReload("policy1", ELSEWHERE);

        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void rows_between_two_readings_are_sent_when_the_one_version_replaced_the_other() {
        readAhead(Map.of("table", List.of(700, AHEAD)), "table", 700, AHEAD);

        world.commit(insert("2", "bob", "between"));
        assertThat(stream.changes()).hasSize(2);
        assertThat(world.counts.of("withheld INSERT")).isZero();
    }

    @Test
    void rows_between_two_readings_are_withheld_when_another_version_lay_between() {
        readAhead(Map.of("table", List.of(AHEAD - 1, AHEAD)), "table", 700, AHEAD);

        world.commit(insert("2", "bob", "between"));
        assertThat(stream.changes()).hasSize(1);
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
    }

    @Test
    void rows_are_withheld_when_the_version_that_was_read_is_another_than_the_last_known() {
        readAhead(Map.of("table", List.of(700, AHEAD - 1)), "table", 700, AHEAD);

        world.commit(insert("2", "bob", "between"));
        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void rows_between_two_readings_are_sent_when_the_version_that_was_read_has_been_replaced_since() {
        readAhead(Map.of("table", List.of(700, AHEAD, AHEAD + 1)), "table", 700, AHEAD);

        world.commit(insert("2", "bob", "between"));
        assertThat(stream.changes()).hasSize(2);
    }

    @Test
    void rows_are_withheld_when_the_version_before_came_after_the_one_that_was_read() {
        readAhead(Map.of("table", List.of(AHEAD, 700)), "table", 700, AHEAD);

        world.commit(insert("2", "bob", "between"));
        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_position_before_a_right_was_written_anew_is_resumed_when_nothing_lay_between() {
        Lsn seen = readAhead(Map.of("table", List.of(700, AHEAD)), "table", 700, AHEAD);
        assertThat(world.open("alice", resuming(seen)).only("ready")).contains("\"resumed\":true");
    }

    @Test
    void a_position_before_a_right_was_written_anew_is_not_resumed_when_another_may_have_lain_between() {
        Lsn seen = readAhead(Map.of(), "table", 700, AHEAD);
        assertThat(world.open("alice", resuming(seen)).only("ready")).contains("\"resumed\":false");
    }

    @Test
    void a_right_that_moved_alone_leaves_rows_to_the_rule_before_and_the_rule_after() {
        bothPoliciesMove(Map.of("policy1", 700, "policy2", AHEAD));

        world.commit(insert("2", "bob", "between"));
        assertThat(stream.changes()).hasSize(1);
        assertThat(world.counts.of("withheld INSERT")).isZero();
    }

    /// In between may have been the one policy of before with the other policy of after.
    @Test
    void two_rights_that_moved_may_have_done_so_one_after_the_other() {
        bothPoliciesMove(Map.of("policy1", AHEAD, "policy2", AHEAD));

        world.commit(insert("2", "bob", "between"));
        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
    }

    private void bothPoliciesMove(Map<String, Integer> after) {
        Map<String, List<Integer>> runs = new LinkedHashMap<>();
        runs.put("policy1", List.of(700, AHEAD));
        runs.put("policy2", List.of(700, AHEAD));
        answerPoll("read", versions(Map.of("policy1", 700, "policy2", 700)), world.stamp(), Map.of());
        world.idle();
        world.moveRights("r2", List.of(1, 2, 3));
        Stamp ahead = new Stamp(seeing(new Xid(AHEAD)), world.stampAhead().insertLsn());
        answerPoll("moved", versions(after), ahead, runs);
    }

    @Test
    void the_doubt_of_a_reading_ahead_ends_with_the_transaction_that_wrote_the_right() {
        int writer = 1003;
        readAhead(Map.of(), "table", 700, writer, new Lsn(0x10_000));
        world.commit(insert("2", "bob", "before the writer"));
        assertThat(stream.changes()).hasSize(1);

        int xid = world.commit(insert("3", "bob", "the writer's"))
                .transaction()
                .xid()
                .bits();
        world.commit(insert("4", "bob", "behind the writer"));
        assertThat(xid).isEqualTo(writer);
        assertThat(stream.changes()).hasSize(3);
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
    }

    @Test
    void a_later_reading_in_doubt_is_not_cleared_by_the_writer_of_an_earlier_one() {
        readAhead(Map.of(), "table", 700, 1002, new Lsn(0x10_000));
        answerPoll(
                "again",
                versions(Map.of("table", AHEAD)),
                new Stamp(seeing(new Xid(AHEAD)), new Lsn(0x20_000)),
                Map.of());

        world.commit(insert("2", "bob", "the first writer's"));
        world.commit(insert("3", "bob", "behind it"));
        assertThat(stream.changes()).hasSize(1);
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(2);
    }

    @Test
    void a_sub_transaction_of_one_in_progress_is_not_shown_by_an_answer() {
        int sub = 1010;
        TransactionSnapshot during = new TransactionSnapshot(1005, sub + 1, List.of(1005L));
        world.step(new Input.RightsAnswer(null, new Stamp(during, world.stamp().insertLsn())));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "bob", "x"));
        answer(image("table", sub, new Stamp(seeing(new Xid(sub)), world.stamp().insertLsn())));

        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
    }

    @Test
    void rows_of_a_snapshot_are_read_again_when_a_right_may_have_been_another_meanwhile() {
        answerPoll("read", versions(Map.of("policy1", 700)), world.stamp(), Map.of());
        var reader = world.open("bob", snapshot());
        long before = world.take(Effect.ReadSnapshot.class).joinId();
        Stamp read = world.stamp();
        Stamp ahead = new Stamp(seeing(new Xid(AHEAD)), world.stampAhead().insertLsn());
        answerPoll("moved", versions(Map.of("policy1", AHEAD)), ahead, Map.of());

        world.idle();
        world.step(new Input.SnapshotRead(before, rows(read)));

        assertThat(world.asked(Effect.TakeRows.class)).isFalse();
        assertThat(world.asked(Effect.ReadSnapshot.class)).isTrue();
        assertThat(reader.changes()).isEmpty();
    }

    @Test
    void rows_of_a_snapshot_are_sent_when_one_right_came_directly_after_the_other() {
        answerPoll("read", versions(Map.of("policy1", 700)), world.stamp(), Map.of());
        world.open("bob", snapshot());
        long before = world.take(Effect.ReadSnapshot.class).joinId();
        Stamp read = world.stamp();
        Stamp ahead = new Stamp(seeing(new Xid(AHEAD)), world.stampAhead().insertLsn());
        answerPoll("moved", versions(Map.of("policy1", AHEAD)), ahead, Map.of("policy1", List.of(700, AHEAD)));

        world.idle();
        world.step(new Input.SnapshotRead(before, rows(read)));

        assertThat(world.asked(Effect.TakeRows.class)).isTrue();
    }

    private static SnapshotOutcome rows(Stamp stamp) {
        return new SnapshotOutcome.Read(stamp, 1, SnapshotOutcome.Truncated.COMPLETE, new SnapshotSpool() {});
    }

    private static SubscriptionRequest snapshot() {
        ShapeRequest shape = new ShapeRequest(
                "public",
                "notes",
                null,
                null,
                null,
                ShapeRequest.Transitions.NOT_REPORTED,
                ShapeRequest.Initial.SNAPSHOT,
                null,
                List.of());
        return new SubscriptionRequest("first", shape, null);
    }

    /// One row is sent; then the catalog is read twice, the second time ahead of the stream, with this right
    /// written anew.
    ///
    /// @param runs which versions came directly one after another
    /// @return the position of the row
    private Lsn readAhead(Map<String, List<Integer>> runs, String right, int before, int after) {
        return readAhead(runs, right, before, after, world.stampAhead().insertLsn());
    }

    private Lsn readAhead(Map<String, List<Integer>> runs, String right, int before, int after, Lsn ahead) {
        answerPoll("read", versions(Map.of(right, before)), world.stamp(), Map.of());
        Lsn sent = world.commit(insert("1", "bob", "sent")).transaction().commitLsn();
        assertThat(stream.changes()).hasSize(1);
        Lsn reading = ahead.max(world.stampAhead().insertLsn());
        answerPoll("moved", versions(Map.of(right, after)), new Stamp(seeing(new Xid(AHEAD)), reading), runs);
        return sent;
    }

    private static Map<String, Xid> versions(Map<String, Integer> writers) {
        Map<String, Xid> versions = new LinkedHashMap<>();
        writers.forEach((right, writer) -> versions.put(right, new Xid(writer)));
        return versions;
    }

    private void answerPoll(
            String fingerprint, Map<String, Xid> versions, Stamp stamp, Map<String, List<Integer>> runs) {
        world.step(new Input.RightsAnswer(fingerprint));
        Map<String, List<Xid>> known = new LinkedHashMap<>();
        runs.forEach((right, run) -> known.put(right, run.stream().map(Xid::new).toList()));
        CatalogImage read = image(versions, stamp);
        answer(new CatalogImage(
                stamp,
                read.relations(),
                read.dictionary(),
                fingerprint,
                new Succession(Collections.singletonMap(World.NOTES, known))));
    }

    private static SubscriptionRequest resuming(Lsn lsn) {
        ShapeRequest shape = notesShape("b").shape();
        assertThat(shape).isNotNull();
        return new SubscriptionRequest(
                "b", shape.resumedAt(new ResumePosition(lsn, null, ResumePosition.Scope.SHAPE)), null);
    }

    private static TransactionSnapshot seeing(Xid xid) {
        return new TransactionSnapshot(xid.bits() + 1, xid.bits() + 1, List.of());
    }

    private Xid xidOfLatest() {
        return new Xid((int) (world.stamp().snapshot().xmax() - 1));
    }

    private void answerReload(String right, int writer) {
        answer(image(right, writer, world.stamp()));
    }

    private CatalogImage image(String right, int writer, Stamp stamp) {
        Map<String, Xid> versions = new LinkedHashMap<>();
        versions.put(right, new Xid(writer));
        return image(versions, stamp);
    }

    private CatalogImage image(Map<String, Xid> versions, Stamp stamp) {
        CatalogImage image = world.imageAt(stamp);
        List<Relation> relations = image.relations().stream()
                .map(relation -> new Relation(
                        relation.oid(),
                        relation.schema(),
                        relation.name(),
                        relation.kind(),
                        relation.ownerOid(),
                        relation.rowSecurity(),
                        relation.identity(),
                        relation.columns(),
                        relation.indexes(),
                        relation.policies(),
                        relation.grantsByRole(),
                        relation.published(),
                        relation.fingerprint(),
                        relation.rightsFingerprint(),
                        versions,
                        relation.feed()))
                .toList();
        return new CatalogImage(stamp, relations, image.dictionary());
    }

    private void answer(CatalogImage image) {
        world.step(new Input.CatalogAnswer(world.take(Effect.LoadCatalog.class).requestId(), image));
    }
}
