package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOTES_DEFINITION;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;
import sluice.core.wal.Xid;

/// Rights that may have been others in between: the catalog says the same, and that it was written anew.
///
/// The rule shows everything throughout, so what withholds a row is the version alone.
class RightVersionsTest {
    /// A transaction of which the log brings nothing, seen by every snapshot.
    private static final int ELSEWHERE = 900;

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
        Xid writer = new Xid(1001 + 1);
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
