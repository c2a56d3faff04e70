package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.filtered;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.refused;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Meaning;
import sluice.core.authorization.Rule;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.stream.CloseReason;
import sluice.core.value.Oid;

/// A stream that goes on under another token.
class TokenTest {
    private static final Fold FOLD = new Fold("app.tenant()", Oid.TEXT);

    private final World world = new World();
    private long lastId;

    @Test
    void shapes_for_which_the_new_token_makes_another_rule_end_and_are_counted() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"), notesShape("b"));
        world.plan = granted(ownedBy("team"));

        assertThat(token("alice", "authenticated")).isEqualTo(new ControlAnswer.TokenTaken(2));
        world.commit(insert("1", "alice", "x"), insert("2", "team", "x"));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.frames.stream().filter(frame -> frame.startsWith("event: error")))
                .hasSize(2)
                .allMatch(frame -> frame.contains("rights_changed") && frame.contains("resnapshot"));
        world.subscribe("alice", notesShape("a"));
        world.commit(insert("3", "alice", "x"), insert("4", "team", "x"));
        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":4");
    }

    @Test
    void shapes_for_which_the_new_token_makes_the_same_rule_go_on() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"), notesShape("b"));
        world.plan = granted(ownedBy("alice"));

        assertThat(token("alice", "authenticated")).isEqualTo(new ControlAnswer.TokenTaken(0));
        world.commit(insert("1", "alice", "x"), insert("2", "team", "x"));

        assertThat(stream.changes()).hasSize(2).allMatch(change -> change.contains("\"id\":1"));
        assertThat(stream.frames).noneMatch(frame -> frame.startsWith("event: error"));
    }

    @Test
    void fifty_renewals_leave_the_filter_as_it_was_and_each_asks_for_it_and_nothing_else() {
        var stream = world.open("alice", filtered("a", "owner=eq.alice"));
        world.step(new Input.FoldsAnswer(
                world.take(Effect.AskFolds.class).questionId(), List.of(new FoldAnswer.Value("alice"))));
        Object filter = world.plannedFor.getFirst();
        assertThat(filter).asString().contains("owner");

        for (int i = 0; i < 50; i++) {
            assertThat(token("alice", "authenticated")).isEqualTo(new ControlAnswer.TokenTaken(0));
        }
        assertThat(world.plannedFor).hasSizeGreaterThan(50).allMatch(filter::equals);
        world.commit(insert("1", "alice", "x"), insert("2", "bob", "x"));

        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":1");
    }

    @Test
    void what_postgresql_decides_is_another_rule_for_another_subject() {
        Rule asked = new Rule(
                new Rule.Decision.Probed("is_member(id)"),
                "reads another table",
                List.of(1),
                Rule.Lasting.UNTIL_THE_ROW_CHANGES,
                null,
                null,
                new Meaning.Asked(
                        new Meaning.Wording(new LinkedHashSet<>(), new LinkedHashSet<>(), new LinkedHashSet<>()),
                        new LinkedHashMap<>()));
        world.plan = granted(asked);
        world.open("someone", identity(null, "authenticated", "{}"), notesShape("a"));

        assertThat(ask("someone", identity(null, "authenticated", "{\"v\":2}")))
                .isEqualTo(new ControlAnswer.TokenTaken(0));
        assertThat(ask("someone", identity("alice", "authenticated", "{}"))).isEqualTo(new ControlAnswer.TokenTaken(1));
    }

    @Test
    void shapes_the_new_token_may_not_have_end_and_are_counted() {
        var stream = world.open("alice", notesShape("a"), notesShape("b"));
        world.plan = refused();

        assertThat(token("alice", "authenticated")).isEqualTo(new ControlAnswer.TokenTaken(2));
        world.commit(insert("1", "alice", "x"));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.frames.stream().filter(frame -> frame.startsWith("event: error")))
                .hasSize(2)
                .allMatch(frame -> frame.contains("shape_not_authorized"));
        assertThat(stream.closed).isNull();
    }

    @Test
    void what_waited_for_one_shape_is_not_let_go_for_another_by_the_old_token() {
        world.plan = granted(World.probed());
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(ownedBy("alice"));
        world.step(new Input.Control(
                ++lastId,
                "alice",
                identity("alice", "authenticated", "{}"),
                new ControlRequest.Subscribe(List.of(notesShape("b")))));
        world.commit(insert("1", "alice", "x"));

        world.plan = granted(ownedBy("bob"));
        send("alice", identity("alice", "authenticated", "{\"v\":2}"));

        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void nothing_is_decided_by_the_old_token_while_the_new_one_is_asked_about() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(ownedBy("alice"), FOLD);
        long id = send("alice", identity("alice", "authenticated", "{\"v\":2}"));
        Effect.AskFolds question = world.take(Effect.AskFolds.class);
        assertThat(question.caller().claims()).isEqualTo("{\"v\":2}");

        world.commit(insert("1", "alice", "x"), insert("2", "team", "x"));
        assertThat(stream.changes()).isEmpty();
        assertThat(world.asked(Effect.Answered.class)).isFalse();

        answer(question);
        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":1");
        assertThat(world.take(Effect.Answered.class))
                .isEqualTo(new Effect.Answered(id, new ControlAnswer.TokenTaken(0)));
    }

    @Test
    void what_waited_for_the_new_token_is_dropped_when_it_makes_another_rule() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(ownedBy("team"), FOLD);
        send("alice", identity("alice", "authenticated", "{\"v\":2}"));
        Effect.AskFolds question = world.take(Effect.AskFolds.class);
        world.commit(insert("1", "alice", "x"), insert("2", "team", "x"));

        answer(question);

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.only("error")).contains("rights_changed");
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(1));
    }

    @Test
    void shapes_of_which_postgresql_says_nothing_in_time_end_and_are_counted() {
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(everything(), FOLD);
        send("alice", identity("alice", "authenticated", "{\"v\":2}"));
        world.forgetEffects();

        world.pass(Duration.ofSeconds(6));

        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(1));
        assertThat(stream.only("error")).contains("catalog_unavailable", "\"sub\":\"a\"");
    }

    @Test
    void a_row_that_waits_is_not_sent_when_the_new_token_makes_another_rule() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(World.probed());
        var slow = new ControlRequest.Subscribe(List.of(notesShape("slow")));
        world.step(new Input.Control(++lastId, "alice", identity("alice", "authenticated", "{}"), slow));
        world.commit(insert("1", "alice", "x"), insert("2", "team", "x"));
        assertThat(stream.changes()).isEmpty();
        world.forgetEffects();

        world.plan = granted(ownedBy("team"));
        assertThat(token("alice", "authenticated")).isEqualTo(new ControlAnswer.TokenTaken(2));
        world.commit(insert("3", "team", "x"));

        assertThat(stream.changes()).isEmpty();
    }

    @Test
    void two_tokens_at_once_are_both_answered_and_the_later_one_decides() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(ownedBy("first"), FOLD);
        send("alice", identity("alice", "authenticated", "{\"v\":2}"));
        Effect.AskFolds first = world.take(Effect.AskFolds.class);
        world.plan = granted(ownedBy("alice"), FOLD);
        send("alice", identity("alice", "authenticated", "{\"v\":3}"));
        Effect.AskFolds second = world.take(Effect.AskFolds.class);

        answer(first);
        assertThat(world.asked(Effect.Answered.class)).isFalse();
        answer(second);

        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(0));
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(0));
        world.commit(insert("1", "first", "x"), insert("2", "alice", "x"));
        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":2");
    }

    @Test
    void a_shape_that_is_unsubscribed_meanwhile_is_not_counted_as_revoked() {
        world.open("alice", notesShape("a"));
        world.plan = granted(everything(), FOLD);
        send("alice", identity("alice", "authenticated", "{\"v\":2}"));
        world.step(new Input.Control(
                ++lastId,
                "alice",
                identity("alice", "authenticated", "{}"),
                new ControlRequest.Unsubscribe(List.of("a"))));

        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.TokenTaken(0));
        assertThat(world.take(Effect.Answered.class).answer()).isEqualTo(new ControlAnswer.Removed(1));
    }

    @Test
    void a_stream_that_ends_meanwhile_has_its_request_told() {
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(everything(), FOLD);
        send("alice", identity("alice", "authenticated", "{\"v\":2}"));

        world.hangUp(stream);

        var answer = (ControlAnswer.Refused) world.take(Effect.Answered.class).answer();
        assertThat(answer.code()).isEqualTo(ErrorCode.STREAM_CLOSED);
    }

    @Test
    void the_new_tokens_end_is_the_streams_end() {
        var stream = world.open("alice", world.now().plusSeconds(60), notesShape("a"));
        Instant end = world.now().plusSeconds(120);
        assertThat(ask(new Identity("alice", "authenticated", "{}", end))).isEqualTo(new ControlAnswer.TokenTaken(0));
        assertThat(stream.expiresAt).isEqualTo(end);

        world.pass(Duration.ofSeconds(61));
        world.commit(insert("1", "alice", "x"));
        assertThat(stream.changes()).hasSize(1);

        world.pass(Duration.ofSeconds(60));
        world.commit(insert("2", "alice", "x"));
        assertThat(stream.changes()).hasSize(1);
        assertThat(stream.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
        assertThat(stream.frames.getLast()).contains("token_expired");
    }

    @Test
    void a_token_that_ends_sooner_ends_the_stream_sooner() {
        var stream = world.open("alice", notesShape("a"));
        ask(new Identity("alice", "authenticated", "{}", world.now().plusSeconds(1)));

        world.pass(Duration.ofSeconds(2));
        world.commit(insert("1", "alice", "x"));

        assertThat(stream.changes()).isEmpty();
        assertThat(stream.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
    }

    @Test
    void a_stream_is_never_another_subjects_or_anothers_role() {
        world.plan = granted(ownedBy("alice"));
        var stream = world.open("alice", notesShape("a"));
        world.plan = granted(ownedBy("bob"));

        assertThat(refusal(token("bob", "authenticated"))).isEqualTo(ErrorCode.SUBJECT_MISMATCH);
        assertThat(refusal(token(null, "authenticated"))).isEqualTo(ErrorCode.SUBJECT_MISMATCH);
        assertThat(refusal(token("bob", "service_role"))).isEqualTo(ErrorCode.SUBJECT_MISMATCH);
        assertThat(refusal(token("alice", "service_role"))).isEqualTo(ErrorCode.FORBIDDEN);

        world.commit(insert("1", "alice", "x"), insert("2", "bob", "x"));
        assertThat(stream.changes()).hasSize(1).first().asString().contains("\"id\":1");
        assertThat(stream.expiresAt).isNull();
    }

    @Test
    void a_stream_without_a_subject_gains_one_once() {
        var anonymous = world.open("someone", identity(null, "authenticated", "{}"), notesShape("a"));

        assertThat(ask("someone", identity("alice", "authenticated", "{}"))).isEqualTo(new ControlAnswer.TokenTaken(0));
        assertThat(refusal(ask("someone", identity("bob", "authenticated", "{}"))))
                .isEqualTo(ErrorCode.SUBJECT_MISMATCH);
        assertThat(refusal(ask("someone", identity(null, "authenticated", "{}"))))
                .isEqualTo(ErrorCode.SUBJECT_MISMATCH);
        assertThat(anonymous.closed).isNull();
    }

    @Test
    void a_stream_without_a_subject_keeps_its_role_unless_it_gains_one() {
        world.open("someone", identity(null, "authenticated", "{}"));

        assertThat(refusal(ask("someone", identity(null, "service_role", "{}"))))
                .isEqualTo(ErrorCode.FORBIDDEN);
    }

    @Test
    void a_token_for_no_stream_is_told_so() {
        assertThat(refusal(ask("nobody", identity("alice", "authenticated", "{}"))))
                .isEqualTo(ErrorCode.UNKNOWN_STREAM);
    }

    private ControlAnswer token(@Nullable String subject, String role) {
        return ask(identity(subject, role, "{}"));
    }

    private ControlAnswer ask(Identity caller) {
        return ask("alice", caller);
    }

    private ControlAnswer ask(String streamId, Identity caller) {
        long id = send(streamId, caller);
        Effect.Answered answered = world.take(Effect.Answered.class);
        assertThat(answered.requestId()).isEqualTo(id);
        return answered.answer();
    }

    private long send(String streamId, Identity caller) {
        world.step(new Input.Control(++lastId, streamId, caller, new ControlRequest.Token()));
        return lastId;
    }

    private Identity identity(@Nullable String subject, String role, String claims) {
        return new Identity(subject, role, claims, world.now().plusSeconds(3600));
    }

    private static ErrorCode refusal(ControlAnswer answer) {
        return ((ControlAnswer.Refused) answer).code();
    }

    private void answer(Effect.AskFolds question) {
        world.step(new Input.FoldsAnswer(question.questionId(), List.of(new FoldAnswer.Value("x"))));
    }
}
