package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOT_SENT;
import static sluice.core.dispatch.World.UNCHANGED;
import static sluice.core.dispatch.World.delete;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.filtered;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.refused;
import static sluice.core.dispatch.World.tuple;
import static sluice.core.dispatch.World.update;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.resume.ResumeBuffer;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.ShapeRequest.Transitions;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.Change;
import sluice.core.value.Oid;

/// What streams receive of commits that need no answer from anyone.
class EngineTest {
    private final World world = new World();

    @Test
    void a_row_reaches_the_stream_that_may_see_it_and_no_other() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));
        world.plan = granted(ownedBy("bob"));
        var bob = world.open("bob", notesShape("b"));

        world.commit(insert("1", "alice", "hello"));

        assertThat(alice.changes()).hasSize(1).first().asString().contains("\"a\" 1", "\"record\":{\"id\":1");
        assertThat(bob.changes()).isEmpty();
    }

    @Test
    void ready_comes_first_and_says_how_each_entry_fared() {
        world.plan = refused();
        var stream = world.open("alice", notesShape("mine"), notesShape("mine"), notesShape(""));

        String ready = stream.frames.getFirst();
        assertThat(ready).startsWith("event: ready");
        assertThat(ready)
                .containsSubsequence("shape_not_authorized", "shape_not_authorized", "invalid_subscription")
                .doesNotContain("duplicate_sub");
    }

    @Test
    void a_stream_whose_every_entry_is_refused_receives_nothing() {
        world.plan = refused();
        var stream = world.open("alice", notesShape("mine"));

        world.commit(insert("1", "alice", "hello"));

        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void a_null_in_the_policy_column_is_not_a_yes() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(insert("1", null, "hello"));

        assertThat(alice.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isZero();
    }

    @Test
    void unchanged_toast_in_the_policy_column_withholds_the_update_and_tells() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(update(null, tuple("1", UNCHANGED, "new")));

        assertThat(alice.changes()).isEmpty();
        assertThat(world.counts.of("withheld UPDATE")).isEqualTo(1);
        assertThat(alice.warned("changes_withheld")).isTrue();
    }

    @Test
    void a_delete_outside_the_replica_identity_is_withheld_and_was_announced() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(delete(tuple("1", NOT_SENT, NOT_SENT)));

        assertThat(alice.changes()).isEmpty();
        assertThat(world.counts.of("withheld DELETE")).isEqualTo(1);
        assertThat(alice.frames.getFirst()).contains("replica_identity_insufficient");
    }

    @Test
    void a_delete_that_is_decided_carries_the_old_row() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(delete(tuple("1", "alice", "x")), delete(tuple("2", "bob", "x")));

        assertThat(alice.changes()).hasSize(1).first().asString().contains("DELETE", "\"old\":{\"id\":1");
    }

    @Test
    void an_update_shows_the_old_row_only_where_it_was_visible() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(update(tuple("1", "alice", "before"), tuple("1", "alice", "after")));
        world.commit(update(tuple("2", "bob", "secret"), tuple("2", "alice", "given")));

        assertThat(alice.changes().get(0)).contains("UPDATE", "\"body\":\"before\"");
        assertThat(alice.changes().get(1))
                .contains("INSERT", "\"transition\":\"enter\"")
                .doesNotContain("secret");
    }

    @Test
    void a_row_that_leaves_is_told_only_to_those_who_asked_and_never_what_it_became() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("plain"), notesShape("moves", Transitions.REPORTED));

        world.commit(update(tuple("1", "alice", "before"), tuple("1", "bob", "secret")));

        assertThat(alice.changes()).hasSize(1);
        assertThat(alice.changes().getFirst())
                .contains("\"moves\"", "DELETE", "\"transition\":\"leave\"", "before")
                .doesNotContain("secret");
    }

    @Test
    void a_row_that_leaves_a_pinned_filter_is_not_shown_as_what_it_became() {
        // the rule was composed with owner = alice put in: of another owner's row it says nothing
        world.plan = granted(everything());
        var alice = world.open("alice", World.filtered("moves", "owner=eq.alice", Transitions.REPORTED));
        answerLiterals();

        world.commit(update(tuple("1", "alice", "before"), tuple("1", "bob", "secret")));

        assertThat(alice.changes())
                .hasSize(1)
                .first()
                .asString()
                .contains("leave", "before")
                .doesNotContain("secret");
    }

    @Test
    void a_new_row_with_a_value_nobody_can_name_is_withheld_from_those_who_would_see_the_gap() {
        var stream = world.open("alice", notesShape("whole"));

        world.commit(insert("1", "alice", NOT_SENT));

        assertThat(stream.changes()).isEmpty();
        assertThat(world.counts.of("withheld INSERT")).isEqualTo(1);
    }

    @Test
    void an_undecidable_old_key_of_a_key_change_is_a_withheld_delete_and_an_insert() {
        world.plan = granted(ownedBy("alice"));
        var alice = world.open("alice", notesShape("a"));

        world.commit(update(tuple("1", NOT_SENT, NOT_SENT), tuple("7", "alice", "moved")));

        assertThat(alice.changes()).hasSize(1).first().asString().contains("INSERT", "\"id\":7");
        assertThat(world.counts.of("withheld DELETE")).isEqualTo(1);
    }

    @Test
    void without_a_buffer_a_commit_larger_than_the_queue_closes_the_stream_and_none_of_it_is_written() {
        World world = new World(World.buffered(new ResumeBuffer.Bounds(Duration.ZERO, 0)));
        var stream = world.open("alice", notesShape("a"));
        Change[] many = new Change[9];
        for (int i = 0; i < many.length; i++) {
            many[i] = insert(String.valueOf(i), "alice", "x");
        }

        world.commit(many);

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.closed).isEqualTo(CloseReason.STREAM_LAGGING);
        assertThat(stream.only("error")).contains("stream_lagging", "resnapshot");
        world.commit(insert("10", "alice", "x"));
        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void a_commit_of_exactly_the_queue_size_arrives_whole_and_in_order() {
        var stream = world.open("alice", notesShape("a"));
        Change[] many = new Change[8];
        for (int i = 0; i < many.length; i++) {
            many[i] = insert(String.valueOf(i), "alice", "x");
        }

        world.commit(many);

        assertThat(stream.changes()).hasSize(8);
        for (int i = 0; i < many.length; i++) {
            assertThat(stream.changes().get(i))
                    .startsWith("change \"a\" " + (i + 1))
                    .contains("\"id\":" + i);
        }
    }

    @Test
    void an_expired_token_ends_the_stream_before_the_next_commit_reaches_it() {
        var stream = world.open("alice", world.now().plusSeconds(5), notesShape("a"));
        world.pass(Duration.ofSeconds(6));

        world.commit(insert("1", "alice", "x"));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
    }

    @Test
    void a_transaction_sent_twice_is_dispatched_once() {
        var stream = world.open("alice", notesShape("a"));
        var commit = world.commit(insert("1", "alice", "x"));

        world.step(new Input.Wal(new sluice.core.transaction.WalEvent.Committed(commit.transaction())));

        assertThat(stream.changes()).hasSize(1);
        assertThat(world.counts.of("discarded")).isEqualTo(1);
    }

    @Test
    void truncate_reaches_those_who_asked_and_warns_the_others() {
        var stream = world.open("alice", notesShape("plain"), notesShape("all", "INSERT", "TRUNCATE"));

        world.commit(new Change.Truncate(World.NOTES_DEFINITION));

        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"all\"", "TRUNCATE", "commit_lsn");
        assertThat(stream.frames.stream().filter(frame -> frame.contains("table_truncated")))
                .hasSize(1);
    }

    @Test
    void a_filter_finds_its_subscription_among_a_hundred_by_look_up() {
        Received[] streams = new Received[100];
        for (int i = 0; i < streams.length; i++) {
            streams[i] = world.open("user" + i, filtered("s", "owner=eq.user" + i));
            answerLiterals();
        }
        int before = world.counts.of("candidates");

        world.commit(insert("1", "user42", "x"));

        assertThat(world.counts.of("candidates") - before).isEqualTo(1);
        assertThat(streams[42].changes()).hasSize(1);
        assertThat(streams[41].changes()).isEmpty();
    }

    @Test
    void an_equality_beside_a_group_of_alternatives_still_finds_its_subscription_by_look_up() {
        Received[] streams = new Received[100];
        for (int i = 0; i < streams.length; i++) {
            streams[i] = world.open(
                    "user" + i, filtered("s", "and(owner=eq.user" + i + ",or(body=eq.x,id=gt.5,body=is.null))"));
            answerLiterals();
        }
        int before = world.counts.of("candidates");

        world.commit(insert("1", "user42", "x"), insert("2", "user42", "y"), insert("6", "user42", "y"));

        assertThat(world.counts.of("candidates") - before).isEqualTo(3);
        assertThat(streams[42].changes()).hasSize(2);
        assertThat(streams[41].changes()).isEmpty();
        assertThat(streams[42].frames.getFirst()).contains("\"routing_key\":\"owner\"");
    }

    @Test
    void a_list_finds_its_subscription_under_each_of_its_values_and_once() {
        var stream = world.open("alice", filtered("s", "owner=in.(alice,bob)"));
        answerLiterals();
        int before = world.counts.of("candidates");

        world.commit(insert("1", "carol", "x"));
        assertThat(world.counts.of("candidates")).isEqualTo(before);
        world.commit(update(tuple("2", "alice", "x"), tuple("2", "bob", "x")));

        assertThat(world.counts.of("candidates") - before).isEqualTo(1);
        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_grant_on_a_column_deep_in_the_filter_that_goes_ends_the_shape() {
        var stream = world.open("alice", filtered("s", "or(owner=eq.alice,and(body=eq.x,id=gt.1))"));
        answerLiterals();

        world.moveRights("r2", List.of(1, 2));
        reloadEverything();

        assertThat(stream.only("error")).contains("column_not_granted", "body");
    }

    @Test
    void alternatives_are_looked_at_on_every_change_and_say_so() {
        var stream = world.open("alice", filtered("s", "or(owner=eq.alice,body=eq.x)"));
        answerLiterals();

        world.commit(insert("1", "alice", "y"), insert("2", "bob", "x"), insert("3", "bob", "y"));

        assertThat(stream.changes()).hasSize(2);
        assertThat(stream.frames.getFirst()).contains("unindexed_shape");
    }

    @Test
    void whoever_has_rows_decided_by_more_than_the_row_is_told_that_they_can_go_without_a_change() {
        world.plan = granted(World.probed());
        assertThat(world.open("alice", notesShape("a")).only("ready")).contains("leaves_not_detected");

        world.plan = granted(ownedBy("bob"));
        assertThat(world.open("bob", notesShape("b")).only("ready")).doesNotContain("leaves_not_detected");
    }

    @Test
    void a_literal_that_is_read_alike_for_ever_is_asked_about_once() {
        for (int i = 0; i < 2; i++) {
            world.open("alice", filtered("s", "owner=eq.alice"));
            assertThat(world.asked(Effect.AskFolds.class)).isEqualTo(i == 0);
            if (i == 0) {
                answerLiterals();
            }
            world.forgetEffects();
        }
    }

    @Test
    void an_operator_nobody_decides_refuses_its_own_subscription_only() {
        var stream = world.open("alice", filtered("bad", "body=gt.x"), notesShape("good"));

        world.commit(insert("1", "alice", "x"));

        assertThat(stream.frames.getFirst()).contains("invalid_filter", "gt", "text");
        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void a_value_that_is_not_of_the_columns_type_refuses_the_filter() {
        var stream = world.open("alice", filtered("s", "id=eq.abc"));
        Effect.AskFolds asked = world.take(Effect.AskFolds.class);

        world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Raised("22P02"))));

        assertThat(stream.frames.getFirst()).contains("invalid_filter", "22P02").doesNotContain("abc");
    }

    @Test
    void the_confirmed_position_follows_dispatch() {
        world.open("alice", notesShape("a"));
        world.forgetEffects();

        var commit = world.commit(insert("1", "alice", "x"));

        assertThat(world.take(Effect.Confirm.class).lsn())
                .isEqualTo(commit.transaction().endLsn());
    }

    @Test
    void nothing_is_filed_any_more_once_streams_are_gone() {
        for (int round = 0; round < 200; round++) {
            var stream = world.open("alice" + round, notesShape("a"));
            world.hangUp(stream);
        }
        int before = world.counts.of("candidates");

        world.commit(insert("1", "alice", "x"));

        assertThat(world.counts.of("candidates")).isEqualTo(before);
        assertThat(world.counts.of("streams")).isZero();
        assertThat(world.counts.of("subscriptions A")).isZero();
        assertThat(world.engine.streamCount()).isZero();
    }

    @Test
    void a_column_the_role_may_not_read_is_never_sent_and_a_filter_on_it_is_refused() {
        world.moveRights("r2", List.of(1, 2));
        reloadEverything();
        var stream = world.open("alice", notesShape("a"));
        var spy = world.open("spy", filtered("s", "body=eq.guess"));
        var nested = world.open("nested", filtered("s", "owner=eq.alice,not.or(id=eq.9,and(body=is.null))"));

        world.commit(insert("1", "alice", "secret"));

        assertThat(stream.frames.getFirst()).contains("columns_not_granted");
        assertThat(stream.changes()).hasSize(1).first().asString().doesNotContain("secret");
        assertThat(spy.frames.getFirst()).contains("column_not_granted");
        assertThat(nested.frames.getFirst()).contains("column_not_granted", "body");
    }

    @Test
    void a_key_that_the_role_may_not_read_is_named_as_left_out_though_nobody_asked_for_it() {
        world.moveRights("r2", List.of(2, 3));
        reloadEverything();
        var stream = world.open(
                "alice",
                new SubscriptionRequest(
                        "a",
                        new ShapeRequest(
                                "public", "notes", null, List.of("body"), null, Transitions.NOT_REPORTED, List.of()),
                        null));

        world.commit(insert("1", "alice", "x"));

        assertThat(stream.frames.getFirst()).contains("columns_not_granted", "columns left out: id");
        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"record\":{\"body\":\"x\"}");
    }

    @Test
    void a_renamed_column_that_the_filter_uses_ends_the_shape() {
        var stream = world.open("alice", filtered("s", "owner=eq.alice"), notesShape("whole"));
        answerLiterals();
        RelationDefinition renamed = new RelationDefinition(
                World.NOTES,
                "public",
                "notes",
                'd',
                List.of(
                        new RelationDefinition.Column("id", Oid.INT4, -1, true),
                        new RelationDefinition.Column("boss", Oid.TEXT, -1, false),
                        new RelationDefinition.Column("body", Oid.TEXT, -1, false)));

        world.commit(List.of(renamed), new Change.Insert(renamed, tuple("1", "alice", "x")));
        answerReload();

        assertThat(stream.only("error")).contains("\"s\"", "schema_changed", "resnapshot");
        assertThat(stream.changes())
                .hasSize(1)
                .first()
                .asString()
                .contains("\"whole\"")
                .doesNotContain("alice");
    }

    @Test
    void a_rule_composed_from_an_answer_asks_once_per_caller() {
        world.plan = granted(everything(), new Fold("auth.uid()", Oid.TEXT));
        world.open("alice", notesShape("a"), notesShape("b"));
        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        world.step(new Input.FoldsAnswer(
                asked.questionId(), List.of(new FoldAnswer.Value("alice"), new FoldAnswer.Value("alice"))));
        world.forgetEffects();

        world.open("alice", notesShape("again"));

        assertThat(world.asked(Effect.AskFolds.class)).isFalse();
    }

    private void answerLiterals() {
        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        List<FoldAnswer> answers = asked.folds().stream()
                .map(fold -> {
                    String sql = fold.sql();
                    int open = sql.indexOf('\'', sql.indexOf(", "));
                    return (FoldAnswer) new FoldAnswer.Value(sql.substring(open + 1, sql.lastIndexOf('\'')));
                })
                .toList();
        world.step(new Input.FoldsAnswer(asked.questionId(), answers));
    }

    private void answerReload() {
        Effect.LoadCatalog load = world.take(Effect.LoadCatalog.class);
        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));
    }

    private void reloadEverything() {
        world.step(new Input.RightsAnswer("moved"));
        answerReload();
        world.idle();
    }
}
