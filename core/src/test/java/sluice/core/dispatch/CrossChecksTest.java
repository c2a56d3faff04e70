package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.filtered;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.tuple;
import static sluice.core.dispatch.World.update;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Origin;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.Rule;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Stamp;
import sluice.core.datum.EvaluationException;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.Identity;

/// PostgreSQL is asked to confirm the first two decisions of a rule and one in four after these. The rule of these
/// tests is deliberately wrong wherever PostgreSQL is made to answer otherwise.
class CrossChecksTest {
    private static final List<Integer> OWNER = List.of(2);

    private final World world = new World();

    @BeforeEach
    void the_catalog_is_as_polled() {
        poll("same", world.stamp());
        load("same");
        world.forgetEffects();
        world.plan = granted(of("own", ownedBy("bob")));
    }

    @Test
    void a_row_is_sent_before_anybody_confirms_it() {
        Received stream = world.open("s", notesShape("a"));

        world.commit(insert("1", "bob", "x"));

        assertThat(stream.changes()).hasSize(1);
        assertThat(world.asked(Effect.CrossCheck.class)).isTrue();
    }

    @Test
    void an_answer_that_agrees_changes_nothing() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"), insert("2", "alice", "x"));
        answer(true);
        answer(false);
        poll("same", world.stamp());

        assertThat(world.counts.of("checked AGREED")).isEqualTo(2);
        assertThat(world.counts.of("downgraded")).isZero();
        assertThat(stream.warned("tier_downgraded")).isFalse();
        assertThat(world.asked(Effect.Log.class)).isFalse();
    }

    @Test
    void a_row_shown_wrongly_leaves_the_rule_to_postgresql() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "secret of the row"));
        answer(false);
        poll("same", world.stamp());

        assertThat(world.counts.of("diverged WE_SAID_YES")).isEqualTo(1);
        assertThat(world.counts.of("downgraded")).isEqualTo(1);
        assertThat(world.counts.of("subscriptions C")).isEqualTo(1);
        assertThat(world.counts.of("subscriptions B")).isZero();
        assertThat(stream.warned("tier_downgraded")).isTrue();
        Notice notice = world.take(Effect.Log.class).notice();
        assertThat(notice.level()).isEqualTo(Notice.Level.ERROR);
        assertThat(notice.fields()).containsExactly("table", "public.notes", "policies", "own", "kind", "we_said_yes");
        world.commit(insert("2", "bob", "x"));
        assertThat(stream.changes()).hasSize(1);
        assertThat(world.take(Effect.Probe.class).sql()).isEqualTo("sql of own");
    }

    @Test
    void a_client_that_left_before_it_heard_of_a_row_decided_wrongly_is_not_resumed() {
        Received stream = world.open("s", notesShape("a"));
        World.Commit seen = world.commit(insert("1", "alice", "x"));
        answer(true);
        world.hangUp(stream);
        poll("same", world.stamp());
        assertThat(world.counts.of("downgraded")).isEqualTo(1);

        assertThat(world.open(
                                "again",
                                ResumeTest.resuming("a", seen.transaction().commitLsn()))
                        .only("ready"))
                .contains("\"resumed\":false");
        assertThat(world.open("end", ResumeTest.resuming("a", world.engine.position()))
                        .only("ready"))
                .contains("\"resumed\":false");
        World.Commit later = world.commit(insert("2", "alice", "x"));
        assertThat(world.open(
                                "later",
                                ResumeTest.resuming("a", later.transaction().commitLsn()))
                        .only("ready"))
                .contains("\"resumed\":true");
    }

    @Test
    void a_row_kept_back_wrongly_leaves_the_rule_to_postgresql() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "alice", "x"));
        answer(true);
        poll("same", world.stamp());

        assertThat(world.counts.of("diverged WE_SAID_NO")).isEqualTo(1);
        assertThat(world.counts.of("downgraded")).isEqualTo(1);
        assertThat(stream.warned("rows that may be read may be missing")).isTrue();
        world.commit(insert("2", "alice", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);
        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));
        assertThat(stream.changes()).hasSize(1);
    }

    /// What was granted to one caller is nothing to ask about under another.
    @Test
    void a_shape_that_a_new_token_ends_is_asked_nothing_about() {
        world.plan = granted(of("own", everything()));
        Received stream = world.open("s", notesShape("a"));
        answer(true);
        world.plan = World.refused();

        Identity other =
                new Identity("s", "authenticated", "{\"v\":2}", world.now().plusSeconds(60));
        world.step(new Input.Control(1, "s", other, new ControlRequest.Token()));

        assertThat(stream.only("error")).contains("shape_not_authorized");
        assertThat(world.asked(Effect.CrossCheck.class)).isFalse();
    }

    @Test
    void an_old_row_is_confirmed_as_well() {
        world.open("s", notesShape("a", "DELETE"));
        world.commit(World.delete(tuple("1", "bob", "x")));
        answer(false);
        poll("same", world.stamp());

        assertThat(world.counts.of("diverged WE_SAID_YES")).isEqualTo(1);
    }

    @Test
    void every_subscription_of_the_same_policies_is_downgraded_and_no_other() {
        Received one = world.open("one", notesShape("a"));
        Received two = world.open("two", notesShape("a"));
        world.plan = granted(of("other", ownedBy("bob")));
        Received other = world.open("other", notesShape("a"));
        world.plan = granted(of("own", ownedBy("bob")));
        world.commit(insert("1", "bob", "x"));
        answer(false);
        poll("same", world.stamp());

        Received later = world.open("later", notesShape("a"));

        assertThat(one.warned("tier_downgraded")).isTrue();
        assertThat(one.frames).noneMatch(frame -> frame.startsWith("event: error"));
        assertThat(two.warned("tier_downgraded")).isTrue();
        assertThat(other.warned("tier_downgraded")).isFalse();
        assertThat(later.only("ready")).contains("\"tier\":\"C\"");
        assertThat(world.counts.of("subscriptions C")).isEqualTo(3);
        assertThat(world.counts.of("subscriptions B")).isEqualTo(1);
        assertThat(world.counts.of("downgraded")).isEqualTo(1);
    }

    @Test
    void an_answer_that_differs_counts_only_after_a_poll_that_is_as_new() {
        world.open("s", notesShape("a"));
        Stamp before = world.stamp();
        world.commit(insert("1", "bob", "x"));
        answer(false);

        poll("same", before);
        poll(null, null);
        assertThat(world.counts.of("downgraded")).isZero();
        poll("same", world.stamp());
        assertThat(world.counts.of("downgraded")).isEqualTo(1);
    }

    @Test
    void an_answer_by_functions_that_have_moved_since_is_no_divergence() {
        world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        answer(false);
        world.moveFunctions();

        poll("moved", world.stamp());
        load("moved");
        poll("moved", world.stamp());

        assertThat(world.counts.of("checked INCOMPARABLE")).isEqualTo(1);
        assertThat(world.counts.of("downgraded")).isZero();
    }

    @Test
    void an_answer_that_no_poll_explains_in_time_counts() {
        world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        answer(false);

        world.pass(Duration.ofSeconds(11));

        assertThat(world.counts.of("downgraded")).isEqualTo(1);
    }

    @Test
    void the_first_decisions_are_confirmed_and_then_one_in_so_many() {
        world.open("one", notesShape("a"));
        world.open("two", notesShape("a"));
        for (int i = 0; i < 5; i++) {
            world.commit(insert("1", "bob", "x"));
        }

        // ten decisions of one rule: two, and then the fourth and the eighth of the others
        assertThat(checks()).isEqualTo(4);
    }

    @Test
    void a_decision_past_the_bound_is_counted_and_not_asked_about() {
        Received stream = world.open("s", notesShape("a"));
        for (int i = 0; i < 4 * CrossChecks.OUTSTANDING_MAX; i++) {
            world.commit(insert("1", "bob", "x"));
        }

        assertThat(stream.changes()).hasSize(4 * CrossChecks.OUTSTANDING_MAX);
        assertThat(checks()).isEqualTo(CrossChecks.OUTSTANDING_MAX);
        assertThat(world.counts.of("checked DROPPED")).isPositive();
    }

    @Test
    void an_image_too_large_to_keep_is_not_asked_about() {
        world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x".repeat(70_000)));

        assertThat(checks()).isZero();
        assertThat(world.counts.of("checked DROPPED")).isEqualTo(1);
    }

    @Test
    void an_error_of_the_database_says_nothing_and_another_decision_takes_its_place() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        Effect.Probe check = world.take(Effect.CrossCheck.class).probe();
        world.step(new Input.CrossCheckAnswer(check.probeId(), new ProbeOutcome.Failed("08006")));
        poll("same", world.stamp());
        world.commit(insert("2", "bob", "x"));
        raises("57014");
        poll("same", world.stamp());
        world.commit(insert("3", "bob", "x"));
        world.commit(insert("4", "bob", "x"));

        assertThat(world.counts.of("checked FAILED")).isEqualTo(2);
        assertThat(world.counts.of("downgraded")).isZero();
        assertThat(stream.changes()).hasSize(4);
        assertThat(checks()).isEqualTo(2);
    }

    @Test
    void a_row_shown_for_which_postgresql_raises_leaves_the_rule_to_postgresql() {
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "secret of the row"));
        raises("22012");
        assertThat(world.counts.of("downgraded")).isZero();
        poll("same", world.stamp());

        assertThat(world.counts.of("checked DIVERGED")).isEqualTo(1);
        assertThat(world.counts.of("diverged POSTGRESQL_RAISED")).isEqualTo(1);
        assertThat(world.counts.of("downgraded")).isEqualTo(1);
        assertThat(world.counts.of("subscriptions C")).isEqualTo(1);
        assertThat(stream.warned("rows that may not be read may have been sent"))
                .isTrue();
        Notice notice = world.take(Effect.Log.class).notice();
        assertThat(notice.level()).isEqualTo(Notice.Level.ERROR);
        assertThat(notice.fields())
                .containsExactly("table", "public.notes", "policies", "own", "kind", "postgresql_raised");
    }

    @Test
    void an_error_after_the_rights_moved_is_discarded() {
        world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        raises("42501");
        world.moveFunctions();

        poll("moved", world.stamp());
        load("moved");
        poll("moved", world.stamp());

        assertThat(world.counts.of("checked INCOMPARABLE")).isEqualTo(1);
        assertThat(world.counts.of("downgraded")).isZero();
    }

    @Test
    void an_error_for_a_row_that_was_not_shown_is_no_divergence() {
        world.open("s", notesShape("a"));
        world.commit(insert("1", "alice", "x"));
        raises("22012");
        poll("same", world.stamp());

        assertThat(world.counts.of("checked FAILED")).isEqualTo(1);
        assertThat(world.counts.of("downgraded")).isZero();
    }

    @Test
    void a_question_without_an_answer_makes_room_in_time() {
        world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));

        world.pass(Duration.ofSeconds(6));

        assertThat(world.counts.of("checked FAILED")).isEqualTo(1);
    }

    @Test
    void an_image_without_a_column_that_the_policies_read_is_not_asked_about() {
        world.plan = granted(of("own", ownedBy("bob"), List.of(2, 3), PinnedColumns.NONE));
        world.open("s", notesShape("a"));
        world.commit(update(null, tuple("1", "bob", World.UNCHANGED)));

        assertThat(checks()).isZero();
    }

    @Test
    void a_rule_that_reads_the_clock_is_not_asked_about() {
        Rule rule = of("own", ownedBy("bob"));
        world.plan = granted(
                new Rule(rule.decision(), rule.reason(), rule.readsColumns(), Rule.Lasting.FOR_A_TIME, rule.origin()));
        world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));

        assertThat(checks()).isZero();
    }

    @Test
    void a_decision_that_raised_is_not_asked_about() {
        Rule raising = new Rule(
                new Rule.Decision.Compiled(row -> {
                    throw new EvaluationException("22012");
                }),
                "raises",
                OWNER);
        world.plan = granted(of("own", raising));
        world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));

        assertThat(world.counts.of("evaluation failed")).isEqualTo(1);
        assertThat(checks()).isZero();
    }

    @Test
    void a_row_that_may_be_outside_the_filter_is_not_asked_about() {
        world.open("s", filtered("a", "body=eq.x"));
        while (world.asked(Effect.AskFolds.class)) {
            long id = world.take(Effect.AskFolds.class).questionId();
            world.step(new Input.FoldsAnswer(id, List.of(new FoldAnswer.Value("x"))));
        }
        world.commit(update(null, tuple("1", "bob", World.UNCHANGED)));

        assertThat(world.counts.of("withheld UPDATE")).isEqualTo(1);
        assertThat(checks()).isZero();
    }

    @Test
    void where_queries_per_change_are_denied_the_subscription_ends() {
        Origin.Question question = new Origin.Question("sql of own", OWNER, List.of("own"));
        world.plan = granted(with(
                ownedBy("bob"),
                new Origin(question, ProbePermission.DENY, PinnedColumns.NONE, Origin.Reach.EVERY_ROW)));
        Received stream = world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        answer(false);
        poll("same", world.stamp());

        assertThat(stream.only("error")).contains("policy_requires_impersonation");
    }

    @Test
    void a_rule_that_admits_the_whole_shape_is_confirmed_when_it_is_granted() {
        Map<Integer, String> pins = new LinkedHashMap<>();
        pins.put(2, "bob");
        world.plan = granted(of("own", everything(), List.of(2, 3), new PinnedColumns(pins)));
        Received stream = world.open("s", filtered("a", "owner=eq.bob"));
        while (world.asked(Effect.AskFolds.class)) {
            Effect.AskFolds asked = world.take(Effect.AskFolds.class);
            world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Value("bob"))));
        }

        assertThat(stream.only("ready")).contains("\"tier\":\"A\"");
        Effect.Probe check = world.take(Effect.CrossCheck.class).probe();
        RowImage row = check.image();
        assertThat(row.kind(1)).isEqualTo(Tuple.Kind.NOT_SENT);
        assertThat(row.tuple().text(row.mapping().position(2))).isEqualTo("bob");
        assertThat(row.kind(3)).isEqualTo(Tuple.Kind.NULL);
        world.step(new Input.CrossCheckAnswer(check.probeId(), new ProbeOutcome.Hidden(world.stamp())));
        poll("same", world.stamp());
        assertThat(world.counts.of("diverged WE_SAID_YES")).isEqualTo(1);
        assertThat(world.counts.of("subscriptions C")).isEqualTo(1);
    }

    @Test
    void what_a_server_that_was_left_answers_is_not_compared() {
        world.open("s", notesShape("a"));
        world.commit(insert("1", "bob", "x"));
        Effect.Probe check = world.take(Effect.CrossCheck.class).probe();
        world.failOver(0);

        world.step(new Input.CrossCheckAnswer(check.probeId(), new ProbeOutcome.Hidden(world.stamp())));
        world.pass(Duration.ofSeconds(11));

        assertThat(world.counts.of("checked INCOMPARABLE")).isEqualTo(1);
        assertThat(world.counts.of("downgraded")).isZero();
    }

    @Test
    void with_none_of_the_first_nothing_is_asked_at_all() {
        World silent = new World(World.settings(new EngineSettings.CrossChecking(0, 1)));
        silent.plan = granted(of("own", ownedBy("bob")));
        silent.open("s", notesShape("a"));
        silent.commit(insert("1", "bob", "x"));

        assertThat(silent.asked(Effect.CrossCheck.class)).isFalse();
    }

    // ---- rules and answers

    private static Rule of(String policy, Rule rule) {
        return of(policy, rule, OWNER, PinnedColumns.NONE);
    }

    private static Rule of(String policy, Rule rule, List<Integer> columns, PinnedColumns pinned) {
        Origin.Question question = new Origin.Question("sql of " + policy, columns, List.of(policy));
        return with(rule, new Origin(question, ProbePermission.ALLOW, pinned, Origin.Reach.EVERY_ROW));
    }

    private static Rule with(Rule rule, Origin origin) {
        return new Rule(
                rule.decision(), rule.reason(), rule.readsColumns(), rule.lasting(), origin, null, rule.meaning());
    }

    /// PostgreSQL answers the oldest check.
    private void answer(boolean visible) {
        long id = world.take(Effect.CrossCheck.class).probe().probeId();
        world.step(new Input.CrossCheckAnswer(
                id, visible ? new ProbeOutcome.Visible(world.stamp()) : new ProbeOutcome.Hidden(world.stamp())));
    }

    /// PostgreSQL raises where the oldest check asked.
    private void raises(String sqlState) {
        long id = world.take(Effect.CrossCheck.class).probe().probeId();
        world.step(new Input.CrossCheckAnswer(id, new ProbeOutcome.Raised(world.stamp(), sqlState)));
    }

    private void poll(@Nullable String fingerprint, @Nullable Stamp stamp) {
        world.step(new Input.RightsAnswer(fingerprint, stamp));
    }

    /// The catalog that was asked for is read.
    ///
    /// @param fingerprint what the rights poll says of it
    private void load(String fingerprint) {
        long load = world.take(Effect.LoadCatalog.class).requestId();
        CatalogImage image = world.imageAt(world.stamp());
        world.step(new Input.CatalogAnswer(
                load, new CatalogImage(image.stamp(), image.relations(), image.dictionary(), fingerprint)));
    }

    private int checks() {
        int checks = 0;
        while (world.asked(Effect.CrossCheck.class)) {
            world.take(Effect.CrossCheck.class);
            checks++;
        }
        return checks;
    }
}
