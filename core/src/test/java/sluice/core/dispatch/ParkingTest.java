package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOTES_DEFINITION;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.refused;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.value.Oid;

/// Every reason to wait: its answer comes late, wrong, twice, never.
class ParkingTest {
    private static final List<Integer> ALL_COLUMNS = List.of(1, 2, 3);

    private final World world = new World();

    // ---- the line waits for a catalog

    @Test
    void an_announced_table_parks_the_line_until_its_catalog_is_as_new_as_the_commit() {
        var stream = world.open("alice", notesShape("a"));

        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));

        assertThat(world.engine.acceptsWal()).isFalse();
        assertThat(stream.changes()).isEmpty();
        answerReload();
        assertThat(world.engine.acceptsWal()).isTrue();
        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_dropped_policy_takes_effect_at_the_next_change_of_the_table() {
        var stream = world.open("alice", notesShape("a"));
        world.plan = refused();
        world.moveRights("r2", ALL_COLUMNS);

        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));
        answerReload();

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("error")).contains("shape_not_authorized", "\"a\"");
    }

    @Test
    void a_reload_that_does_not_see_the_commit_is_asked_again() {
        var stream = world.open("alice", notesShape("a"));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));
        Effect.LoadCatalog early = world.take(Effect.LoadCatalog.class);

        world.step(new Input.CatalogAnswer(early.requestId(), world.imageAt(world.stampBeforeLatest())));
        assertThat(world.engine.acceptsWal()).isFalse();
        world.pass(Duration.ofMillis(50));
        answerReload();

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_reload_that_fails_is_asked_again() {
        var stream = world.open("alice", notesShape("a"));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));

        world.step(new Input.CatalogAnswer(world.take(Effect.LoadCatalog.class).requestId(), null));
        world.pass(Duration.ofMillis(50));
        answerReload();

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_reload_that_never_comes_ends_the_shapes_of_the_table_and_the_line_goes_on() {
        var stream = world.open("alice", notesShape("a"));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));

        world.pass(Duration.ofSeconds(3));

        assertThat(world.engine.acceptsWal()).isTrue();
        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("error")).contains("catalog_unavailable", "resnapshot");
    }

    @Test
    void an_answer_that_comes_twice_or_after_the_deadline_changes_nothing() {
        var stream = world.open("alice", notesShape("a"));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));
        Effect.LoadCatalog load = world.take(Effect.LoadCatalog.class);
        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));

        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));

        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_table_announced_while_nobody_listened_is_read_again_before_the_first_subscription() {
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));
        world.plan = refused();
        world.moveRights("r2", ALL_COLUMNS);

        var stream = world.open("alice", notesShape("a"));
        assertThat(stream.frames).isEmpty();
        answerReload();

        assertThat(stream.frames.getFirst()).contains("shape_not_authorized");
    }

    @Test
    void a_subscription_is_refused_when_its_announced_table_cannot_be_read_again() {
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));

        var stream = world.open("alice", notesShape("a"));
        world.pass(Duration.ofSeconds(3));

        assertThat(stream.frames.getFirst()).contains("catalog_unavailable");
    }

    // ---- rights in motion

    @Test
    void a_shape_whose_rule_widened_ends_and_the_one_asked_for_instead_shows_no_commit_of_before() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        moveAhead("r2", granted(everything()));

        assertThat(stream.only("error")).contains("rights_changed", "\"sub\":\"a\"", "\"action\":\"resnapshot\"");
        world.subscribe("alice", notesShape("a"));
        world.commit(insert("1", "bob", "early"));
        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        world.commit(insert("2", "bob", "late"));
        world.commit(insert("3", "bob", "later"));

        assertThat(stream.changes()).hasSize(2).allMatch(change -> change.contains("late"));
    }

    @Test
    void rights_that_moved_and_made_the_same_rule_change_nothing() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(ownedBy("alice"));
        world.moveRights("r2", ALL_COLUMNS);

        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"), insert("2", "bob", "x"));
        answerReload();

        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":1");
        assertThat(stream.frames).noneMatch(frame -> frame.startsWith("event: error"));
    }

    @Test
    void a_column_that_is_revoked_or_granted_leaves_the_shape_open() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.moveRights("r2", List.of(1, 2));
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "hidden"));
        answerReload();
        world.moveRights("r3", ALL_COLUMNS);
        world.commit(List.of(NOTES_DEFINITION), insert("2", "alice", "granted with it"));
        answerReload();
        world.idle();
        world.commit(insert("3", "alice", "shown"));

        assertThat(stream.frames).noneMatch(frame -> frame.startsWith("event: error"));
        assertThat(stream.changes()).hasSize(2);
        assertThat(stream.changes().get(0)).doesNotContain("hidden");
        assertThat(stream.changes().get(1)).contains("shown");
    }

    @Test
    void a_subscription_opened_while_rights_move_is_not_served_commits_of_before() {
        world.moveRights("r2", ALL_COLUMNS);
        world.step(new Input.RightsAnswer("moved"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stampAhead())));
        var stream = world.open("alice", notesShape("a"));

        world.commit(insert("1", "bob", "early"));
        world.commit(insert("2", "bob", "late"));

        assertThat(stream.changes()).hasSize(1).first().asString().contains("late");
    }

    @Test
    void a_table_that_left_the_publication_ends_its_shapes() {
        var stream = world.open("alice", notesShape("a"));
        world.step(new Input.RightsAnswer("moved"));

        world.step(new Input.CatalogAnswer(world.take(Effect.LoadCatalog.class).requestId(), world.emptyImage()));

        assertThat(stream.only("error")).contains("relation_unpublished");
        world.commit(insert("1", "alice", "x"));
        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void rights_that_were_narrow_in_between_are_not_forgotten_when_they_widen_again() {
        // wide, narrow, wide before PostgreSQL answered about the narrow ones: of a commit made in between no one can
        // say which held
        var stream = world.open("alice", notesShape("a"));
        moveAhead("r2", granted(ownedBy("alice"), new Fold("auth.uid()", Oid.TEXT)));
        moveAhead("r3", granted(everything()));

        world.commit(insert("1", "bob", "made under the narrow rights"));

        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
        assertThat(stream.frames).noneMatch(frame -> frame.startsWith("event: error"));
    }

    @Test
    void nothing_of_a_commit_that_parks_for_another_rule_is_sent_under_either() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(ownedBy("bob"));
        world.moveRights("r2", ALL_COLUMNS);

        world.commit(List.of(NOTES_DEFINITION), insert("1", "bob", "x"), insert("2", "alice", "x"));
        answerReload();
        world.commit(insert("3", "bob", "x"), insert("4", "alice", "x"));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("error")).contains("rights_changed");
    }

    @Test
    void a_column_granted_ahead_of_the_position_is_not_shown_in_a_row_of_before() {
        world.moveRights("r2", List.of(1, 2));
        world.step(new Input.RightsAnswer("moved"));
        answerReload();
        world.idle();
        var stream = world.open("alice", notesShape("a"));
        world.moveRights("r3", ALL_COLUMNS);
        world.step(new Input.RightsAnswer("moved again"));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stampAhead())));

        world.commit(insert("1", "alice", "secret"));
        world.commit(insert("2", "alice", "public"));

        assertThat(stream.changes()).hasSize(1).first().asString().contains("public");
    }

    @Test
    void an_answer_about_a_caller_that_was_under_way_when_functions_moved_is_not_remembered() {
        world.plan = granted(everything(), new Fold("app.tenant()", Oid.TEXT));
        world.open("alice", notesShape("a"));
        Effect.AskFolds early = world.take(Effect.AskFolds.class);
        world.moveFunctions();
        world.step(new Input.RightsAnswer("moved"));
        answerReload();

        world.step(new Input.FoldsAnswer(early.questionId(), List.of(new FoldAnswer.Value("old"))));

        assertThat(world.asked(Effect.AskFolds.class)).isTrue();
    }

    @Test
    void a_table_announced_while_somebody_subscribes_is_read_again_before_the_grant() {
        world.plan = granted(everything(), new Fold("auth.uid()", Oid.TEXT));
        var stream = world.open("alice", notesShape("a"));
        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        world.plan = refused();
        world.moveRights("r2", ALL_COLUMNS);
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));

        world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Value("alice"))));
        assertThat(stream.frames).isEmpty();
        answerReload();

        assertThat(stream.frames.getFirst()).contains("shape_not_authorized");
    }

    @Test
    void rights_that_move_back_after_a_load_saw_them_moved_are_loaded_again_at_the_next_poll() {
        world.step(new Input.RightsAnswer("as at first"));
        world.moveRights("r2", ALL_COLUMNS);
        answerReload("moved");
        world.moveRights("r1", ALL_COLUMNS);

        world.step(new Input.RightsAnswer("as at first"));
        answerReload("as at first");
        world.step(new Input.RightsAnswer("as at first"));

        assertThat(world.asked(Effect.LoadCatalog.class))
                .as("nothing moved since")
                .isFalse();
    }

    @Test
    void rights_that_move_back_after_a_table_was_read_again_are_loaded_at_the_next_poll() {
        world.open("alice", notesShape("a"));
        world.step(new Input.RightsAnswer("as at first"));
        answerReload("as at first");
        world.moveFunctions();
        world.commit(List.of(NOTES_DEFINITION), insert("1", "alice", "x"));
        answerReload();

        world.step(new Input.RightsAnswer("as at first"));

        answerReload();
    }

    @Test
    void a_load_that_failed_is_asked_for_again_at_the_next_poll() {
        world.step(new Input.RightsAnswer("moved"));
        world.step(new Input.CatalogAnswer(world.take(Effect.LoadCatalog.class).requestId(), null));

        world.step(new Input.RightsAnswer("moved"));

        assertThat(world.asked(Effect.LoadCatalog.class)).isTrue();
    }

    @Test
    void a_table_that_took_another_name_ends_its_shapes() {
        var stream = world.open("alice", notesShape("a"));
        world.rename("archive");
        world.step(new Input.RightsAnswer("moved"));

        answerReload();

        assertThat(stream.only("error")).contains("schema_changed");
    }

    // ---- a spilled commit

    @Test
    void nothing_that_comes_between_the_pieces_of_a_spilled_commit_changes_how_it_is_judged() {
        var stream = world.open("alice", notesShape("a"));
        var late = world.spilled(
                () -> {
                    world.plan = granted(ownedBy("alice"), new Fold("auth.uid()", Oid.TEXT));
                    world.moveRights("r2", ALL_COLUMNS);
                    world.step(new Input.RightsAnswer("moved"));
                    return world.open("late", notesShape("b"));
                },
                insert("1", "bob", "x"),
                insert("2", "bob", "x"));

        assertThat(stream.changes()).hasSize(2);
        assertThat(late.changes()).isEmpty();
        assertThat(world.asked(Effect.LoadCatalog.class)).isTrue();
    }

    // ---- a stream waits for its new rule

    @Test
    void changes_that_waited_for_a_rule_which_is_another_one_are_dropped_and_the_error_says_so() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        moveTo(granted(ownedBy("bob"), new Fold("auth.uid()", Oid.TEXT)));
        world.commit(insert("1", "alice", "x"));
        world.commit(insert("2", "bob", "x"));

        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Value("alice"))));
        world.commit(insert("3", "alice", "x"));
        world.commit(insert("4", "bob", "x"));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("error")).contains("rights_changed");
    }

    @Test
    void rows_of_another_shape_that_wait_behind_the_one_that_ends_are_sent() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        moveTo(granted(ownedBy("bob"), new Fold("auth.uid()", Oid.TEXT)));
        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        world.plan = granted(ownedBy("bob"));
        world.subscribe("alice", notesShape("b"));
        world.commit(insert("1", "bob", "x"));
        assertThat(stream.changes()).isEmpty();

        world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Value("alice"))));

        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":1");
        assertThat(stream.only("error")).contains("rights_changed", "\"sub\":\"a\"");
    }

    @Test
    void changes_wait_in_order_while_a_rule_is_composed_again() {
        var stream = resolving();
        world.commit(insert("1", "alice", "x"));
        world.commit(insert("2", "bob", "x"));
        world.commit(insert("3", "alice", "x"));
        assertThat(stream.changes()).isEmpty();

        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Value("alice"))));

        assertThat(stream.changes()).hasSize(2);
        assertThat(stream.changes().get(0)).contains("\"id\":1");
        assertThat(stream.changes().get(1)).contains("\"id\":3");
    }

    @Test
    void other_streams_do_not_wait() {
        resolving();
        world.plan = granted(everything());
        var other = world.open("bob", notesShape("b"));

        world.commit(insert("1", "alice", "x"));

        assertThat(other.changes()).hasSize(1);
    }

    @Test
    void a_rule_that_cannot_be_composed_in_time_ends_the_shape() {
        var stream = resolving();
        world.commit(insert("1", "alice", "x"));

        world.pass(Duration.ofSeconds(6));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("error")).contains("catalog_unavailable");
    }

    @Test
    void a_stream_that_waits_for_more_than_its_queue_holds_gets_the_rest_from_the_buffer() {
        var stream = resolving();
        for (int i = 0; i < 9; i++) {
            world.commit(insert(String.valueOf(i), "alice", "x"));
        }

        assertThat(stream.closed).isNull();
        assertThat(stream.changes()).isEmpty();
    }

    private Received resolving() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        moveTo(granted(ownedBy("alice"), new Fold("auth.uid()", Oid.TEXT)));
        return stream;
    }

    private void moveTo(sluice.core.authorization.RulePlan plan) {
        world.plan = plan;
        world.moveRights("r2", ALL_COLUMNS);
        world.step(new Input.RightsAnswer("moved"));
        answerReload();
    }

    /// The table's rights move, and the catalog that says so is ahead of the stream.
    private void moveAhead(String fingerprint, sluice.core.authorization.RulePlan plan) {
        world.plan = plan;
        world.moveRights(fingerprint, ALL_COLUMNS);
        world.step(new Input.RightsAnswer(fingerprint));
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(), world.imageAt(world.stampAhead())));
    }

    /// @param polled what the rights poll says in the snapshot of the answer
    private void answerReload(String polled) {
        CatalogImage image = world.imageAt(world.stamp());
        world.step(new Input.CatalogAnswer(
                world.take(Effect.LoadCatalog.class).requestId(),
                new CatalogImage(image.stamp(), image.relations(), image.dictionary(), polled)));
    }

    private void answerReload() {
        Effect.LoadCatalog load = world.take(Effect.LoadCatalog.class);
        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));
    }
}
