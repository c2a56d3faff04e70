package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.filtered;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.RulePlan;
import sluice.core.error.ErrorCode;
import sluice.core.event.SubscriptionResult;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.CloseReason;
import sluice.core.value.Oid;

/// What clients ask of streams that are open.
class ControlTest {
    private static final Fold FOLD = new Fold("app.tenant()", Oid.TEXT);

    private final World world = new World();
    private long lastId;

    @Test
    void a_shape_added_later_receives_every_commit_after_its_answer() {
        var alice = world.open("alice");
        world.commit(insert("1", "alice", "before"));
        var before = world.engine.position();

        var answer = (ControlAnswer.Subscribed) ask("alice", subscribe(notesShape("a")));
        world.commit(insert("2", "alice", "after"));

        assertThat(codes(answer)).containsExactly("ok");
        assertThat(answer.walLsn()).isEqualTo(before);
        assertThat(alice.changes()).hasSize(1).first().asString().contains("\"a\" 1", "\"id\":2");
    }

    @Test
    void a_stream_is_asked_things_by_its_own_subject_and_role_only() {
        var alice = world.open("alice", notesShape("mine"));

        for (ControlRequest request : List.of(
                subscribe(notesShape("a")),
                new ControlRequest.Unsubscribe(List.of("mine")),
                new ControlRequest.Publish("room:1", "e", null, ControlRequest.Echo.TO_OTHERS),
                new ControlRequest.Presence("room:1", ControlRequest.Presence.Action.TRACK, null, null))) {
            assertThat(refusal(ask("alice", "bob", request))).isEqualTo(ErrorCode.FORBIDDEN);
            assertThat(refusal(ask("alice", as("alice", "service_role"), request)))
                    .isEqualTo(ErrorCode.FORBIDDEN);
            assertThat(refusal(ask("alice", as(null, "authenticated"), request)))
                    .isEqualTo(ErrorCode.FORBIDDEN);
            assertThat(refusal(ask("nobody", "alice", request))).isEqualTo(ErrorCode.UNKNOWN_STREAM);
        }

        world.commit(insert("1", "alice", "x"));
        assertThat(alice.changes()).hasSize(1);
    }

    @Test
    void a_stream_that_is_not_open_yet_or_any_more_is_unknown() {
        world.plan = granted(everything(), FOLD);
        var alice = world.open("alice", notesShape("a"));
        Effect.AskFolds question = world.take(Effect.AskFolds.class);
        assertThat(refusal(ask("alice", subscribe()))).isEqualTo(ErrorCode.UNKNOWN_STREAM);

        answer(question);
        assertThat(codes(ask("alice", subscribe()))).isEmpty();

        world.hangUp(alice);
        assertThat(refusal(ask("alice", subscribe()))).isEqualTo(ErrorCode.UNKNOWN_STREAM);
    }

    @Test
    void a_label_names_one_subscription_of_a_stream_however_many_requests_there_are() {
        var alice = world.open("alice", notesShape("a"));

        assertThat(codes(ask("alice", subscribe(notesShape("a"), notesShape("b"), notesShape("b")))))
                .containsExactly("duplicate_sub", "ok", "duplicate_sub");
        assertThat(codes(ask("alice", subscribe(notesShape("b"))))).containsExactly("duplicate_sub");

        world.commit(insert("1", "alice", "x"));
        assertThat(alice.changes()).hasSize(2);
    }

    @Test
    void limits_count_the_whole_stream_and_not_one_request() {
        world.open("alice", shapes("a", 15));
        assertThat(codes(ask("alice", subscribe(shapes("b", 7)))))
                .containsExactly("ok", "ok", "ok", "ok", "ok", "too_many_shapes", "too_many_shapes");

        ask("alice", new ControlRequest.Unsubscribe(List.of("a0")));
        assertThat(codes(ask("alice", subscribe(shapes("c", 2))))).containsExactly("ok", "too_many_shapes");
    }

    @Test
    void an_entry_that_is_refused_takes_neither_room_nor_label_from_a_later_one() {
        world.open("alice", shapes("a", 18));
        world.plan = refusing(1);
        assertThat(codes(ask("alice", subscribe(shapes("b", 3))))).containsExactly("shape_not_authorized", "ok", "ok");

        world.open("bob");
        world.plan = refusing(2);
        assertThat(codes(ask("bob", "bob", subscribe(notesShape("x"), notesShape("x"), notesShape("x")))))
                .containsExactly("shape_not_authorized", "shape_not_authorized", "ok");
        world.plan = refusing(1);
        assertThat(codes(ask("bob", "bob", subscribe(notesShape("y"), notesShape("z"), notesShape("z")))))
                .containsExactly("shape_not_authorized", "ok", "duplicate_sub");
    }

    @Test
    void refused_entries_make_room_for_later_ones_a_few_times_and_no_more() {
        world.open("alice");
        world.plan = World.refused();
        assertThat(codes(ask("alice", subscribe(shapes("a", 100))))).containsOnly("shape_not_authorized");
        world.pass(Duration.ofSeconds(10));
        world.plannedFor.clear();

        List<String> codes = codes(ask("alice", subscribe(shapes("b", 1_000))));
        assertThat(codes.subList(0, 100)).containsOnly("shape_not_authorized");
        assertThat(codes.subList(100, 1_000)).containsOnly("too_many_shapes");
        assertThat(world.plannedFor).hasSize(20 * (1 + SubscribeFlow.FURTHER_TURNS_MAX));
    }

    /// Refuses so many rules, and grants those after them.
    private static RulePlan refusing(int count) {
        return new RulePlan() {
            private int left = count;

            @Override
            public List<Fold> folds() {
                return List.of();
            }

            @Override
            public Verdict complete(List<FoldAnswer> answers) {
                return left-- > 0
                        ? new Verdict.Refused(ErrorCode.SHAPE_NOT_AUTHORIZED, "no policy lets the role read")
                        : new Verdict.Granted(everything());
            }
        };
    }

    /// The world's server admits 200 of them.
    @Test
    void shapes_without_an_equality_are_counted_for_the_whole_server_and_make_room_when_they_end() {
        var first = world.open("s0", shapes("a", 20));
        for (int i = 1; i < 10; i++) {
            world.open("s" + i, shapes("a", 20));
        }
        var alice = world.open("alice", shapes("a", 1));
        assertThat(alice.only("ready")).contains("too_many_unindexed_shapes", "\"retryable\":true");
        assertThat(codes(ask("alice", subscribe(shapes("b", 1))))).containsExactly("too_many_unindexed_shapes");

        ask("s1", "s1", new ControlRequest.Unsubscribe(List.of("a0")));
        assertThat(codes(ask("alice", subscribe(shapes("b", 2))))).containsExactly("ok", "too_many_unindexed_shapes");

        world.hangUp(first);
        assertThat(codes(ask("alice", subscribe(shapes("c", 19))))).hasSize(19).containsOnly("ok");
    }

    @Test
    void two_requests_at_once_neither_share_a_label_nor_pass_a_limit() {
        var alice = world.open("alice", shapes("a", 18));
        world.plan = granted(everything(), FOLD);
        long first = send("alice", "alice", subscribe(notesShape("x"), notesShape("y")));
        long second = send("alice", "alice", subscribe(notesShape("x"), notesShape("z")));
        Effect.AskFolds one = world.take(Effect.AskFolds.class);
        Effect.AskFolds two = world.take(Effect.AskFolds.class);

        answer(two);
        Effect.Answered later = world.take(Effect.Answered.class);
        answer(one);
        Effect.Answered earlier = world.take(Effect.Answered.class);

        assertThat(later.requestId()).isEqualTo(second);
        assertThat(codes(later.answer())).containsExactly("ok", "ok");
        assertThat(earlier.requestId()).isEqualTo(first);
        assertThat(codes(earlier.answer())).containsExactly("duplicate_sub", "too_many_shapes");
        world.commit(insert("1", "alice", "x"));
        assertThat(alice.changes()).hasSize(20);
    }

    @Test
    void a_stream_that_ends_while_a_request_waits_has_nothing_installed_and_the_request_is_told() {
        var alice = world.open("alice");
        world.plan = granted(everything(), FOLD);
        long id = send("alice", "alice", subscribe(notesShape("x")));
        Effect.AskFolds question = world.take(Effect.AskFolds.class);

        world.hangUp(alice);
        Effect.Answered answered = world.take(Effect.Answered.class);
        answer(question);
        world.commit(insert("1", "alice", "x"));

        assertThat(answered.requestId()).isEqualTo(id);
        assertThat(codes(answered.answer())).containsExactly("stream_closed");
        assertThat(world.asked(Effect.Answered.class)).isFalse();
        assertThat(alice.changes()).isEmpty();
        assertThat(world.engine.streamCount()).isZero();
    }

    @Test
    void the_position_of_the_answer_is_not_past_a_commit_that_waits() {
        world.plan = granted(World.probed());
        world.open("alice", notesShape("slow"));
        world.commit(insert("1", "alice", "waits"));
        var waiting = world.engine.position();
        world.plan = granted(everything());

        var answer = (ControlAnswer.Subscribed) ask("alice", subscribe(notesShape("a")));

        assertThat(answer.walLsn().isBefore(waiting)).isTrue();
    }

    @Test
    void a_request_in_the_middle_of_a_commit_is_answered_after_it_and_sees_none_of_it() {
        var alice = world.open("alice");
        world.forgetEffects();

        boolean early = world.spilled(
                () -> {
                    send("alice", "alice", subscribe(notesShape("a")));
                    return world.asked(Effect.Answered.class);
                },
                insert("1", "alice", "x"),
                insert("2", "alice", "x"));

        assertThat(early).isFalse();
        assertThat(codes(world.take(Effect.Answered.class).answer())).containsExactly("ok");
        assertThat(alice.changes()).isEmpty();
    }

    @Test
    void what_is_unsubscribed_receives_nothing_more_and_its_label_is_free() {
        var alice = world.open("alice", notesShape("a"), notesShape("b"));
        world.commit(insert("1", "alice", "x"));

        assertThat(ask("alice", new ControlRequest.Unsubscribe(List.of("a", "a", "unknown"))))
                .isEqualTo(new ControlAnswer.Removed(1));
        world.commit(insert("2", "alice", "x"));
        assertThat(alice.changes()).hasSize(3).last().asString().contains("\"b\" 2");

        assertThat(codes(ask("alice", subscribe(notesShape("a"))))).containsExactly("ok");
        world.commit(insert("3", "alice", "x"));
        assertThat(alice.changes().get(4)).contains("\"a\" 1");
        assertThat(alice.frames).noneMatch(frame -> frame.startsWith("event: error"));
    }

    @Test
    void what_waits_for_an_unsubscribed_shape_is_dropped_and_the_rest_of_its_commit_goes_on() {
        world.plan = granted(World.probed());
        var alice = world.open("alice", notesShape("slow"));
        world.plan = granted(everything());
        ask("alice", subscribe(notesShape("quick")));
        world.commit(insert("1", "alice", "x"));
        assertThat(alice.changes()).isEmpty();

        ask("alice", new ControlRequest.Unsubscribe(List.of("slow")));

        assertThat(alice.changes()).hasSize(1).first().asString().contains("\"quick\" 1");
    }

    @Test
    void a_subscription_being_made_is_made_anew_under_the_streams_new_token() {
        world.open("alice");
        world.plan = granted(everything(), FOLD);
        send("alice", "alice", subscribe(notesShape("a")));
        Effect.AskFolds before = world.take(Effect.AskFolds.class);

        var renewed = new Identity("alice", "authenticated", "{\"v\":2}", later(3600));
        assertThat(ask("alice", renewed, new ControlRequest.Token())).isEqualTo(new ControlAnswer.TokenTaken(0));
        answer(before);

        Effect.AskFolds after = world.take(Effect.AskFolds.class);
        assertThat(after.caller().claims()).isEqualTo("{\"v\":2}");
        assertThat(world.asked(Effect.Answered.class)).isFalse();
        answer(after);
        assertThat(codes(world.take(Effect.Answered.class).answer())).containsExactly("ok");
    }

    @Test
    void an_expired_stream_is_asked_nothing_more() {
        var alice = world.open("alice", later(10));
        world.pass(Duration.ofSeconds(11));

        assertThat(refusal(ask("alice", subscribe(notesShape("a"))))).isEqualTo(ErrorCode.UNKNOWN_STREAM);

        assertThat(alice.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
        assertThat(alice.only("error")).contains("token_expired");
    }

    @Test
    void the_rate_counts_subscriptions_and_not_requests() {
        world.open("alice");
        assertThat(codes(ask("alice", subscribe(shapes("a", 95))))).hasSize(95);

        var refused = (ControlAnswer.Refused) ask("alice", subscribe(shapes("b", 6)));
        assertThat(refused.code()).isEqualTo(ErrorCode.RATE_LIMITED);
        assertThat(refused.retryAfterMillis()).isEqualTo(10);
        assertThat(codes(ask("alice", subscribe(shapes("c", 5))))).hasSize(5);
        assertThat(refusal(ask("alice", subscribe()))).isEqualTo(ErrorCode.RATE_LIMITED);

        world.open("bob");
        assertThat(codes(ask("bob", subscribe(notesShape("b"))))).containsExactly("ok");
        world.pass(Duration.ofMillis(10));
        assertThat(codes(ask("alice", subscribe()))).isEmpty();
    }

    @Test
    void a_stranger_uses_up_none_of_a_streams_rate() {
        world.open("alice");
        for (int i = 0; i < 200; i++) {
            assertThat(refusal(ask("alice", "bob", subscribe()))).isEqualTo(ErrorCode.FORBIDDEN);
        }
        assertThat(codes(ask("alice", subscribe(shapes("a", 20))))).hasSize(20);
    }

    @Test
    void an_operator_drops_the_shapes_that_a_filter_fixes_to_a_constant_and_no_other() {
        var alice = world.open("alice", notesShape("all"));
        var bob = world.open("bob");
        subscribed("alice", filtered("mine", "owner=eq.alice"));
        subscribed("alice", filtered("either", "or(owner=eq.alice,owner=eq.bob)"));
        subscribed("alice", filtered("other", "owner=neq.alice"));
        subscribed("bob", filtered("hers", "id=gt.0,owner=eq.alice"));

        assertThat(drop(null, "owner", "carol")).isZero();
        assertThat(drop(new String[] {"carol", null}, "owner", "alice")).isZero();
        assertThat(drop(new String[] {null, "service_role"}, "owner", "alice")).isZero();
        assertThat(drop(null, "owner", "alice", "id", "7")).isZero();
        assertThat(drop(new String[] {"bob", "authenticated"}, "owner", "alice"))
                .isEqualTo(1);
        assertThat(drop(null, "owner", "alice")).isEqualTo(1);

        assertThat(alice.only("error")).contains("\"sub\":\"mine\"", "shape_not_authorized", "operator");
        assertThat(bob.only("error")).contains("\"sub\":\"hers\"", "shape_not_authorized", "operator");
        world.commit(insert("1", "alice", "x"));
        assertThat(alice.changes()).hasSize(2);
        assertThat(bob.changes()).isEmpty();
    }

    private int drop(String @Nullable [] identity, String... equalities) {
        List<ShapeSelection.Equality> wanted = new ArrayList<>();
        for (int i = 0; i < equalities.length; i += 2) {
            wanted.add(new ShapeSelection.Equality(equalities[i], equalities[i + 1]));
        }
        world.step(new Input.DropShapes(
                ++lastId,
                new ShapeSelection(
                        "public",
                        "notes",
                        wanted,
                        identity == null ? null : identity[0],
                        identity == null ? null : identity[1])));
        return ((ControlAnswer.Dropped) world.take(Effect.Answered.class).answer()).count();
    }

    /// Subscribes to a filtered shape, each literal spelled as it was given.
    private void subscribed(String streamId, SubscriptionRequest request) {
        send(streamId, streamId, subscribe(request));
        if (world.asked(Effect.AskFolds.class)) {
            Effect.AskFolds question = world.take(Effect.AskFolds.class);
            List<FoldAnswer> answers = new ArrayList<>();
            for (Fold fold : question.folds()) {
                answers.add(new FoldAnswer.Value(literal(fold.sql())));
            }
            world.step(new Input.FoldsAnswer(question.questionId(), answers));
        }
        assertThat(codes(world.take(Effect.Answered.class).answer())).containsExactly("ok");
    }

    private static String literal(String sql) {
        int from = sql.indexOf('\'', sql.indexOf(','));
        return sql.substring(from + 1, sql.indexOf('\'', from + 1));
    }

    private static SubscriptionRequest[] shapes(String prefix, int count) {
        SubscriptionRequest[] shapes = new SubscriptionRequest[count];
        for (int i = 0; i < count; i++) {
            shapes[i] = notesShape(prefix + i);
        }
        return shapes;
    }

    private static ErrorCode refusal(ControlAnswer answer) {
        return ((ControlAnswer.Refused) answer).code();
    }

    private ControlAnswer ask(String streamId, ControlRequest request) {
        return ask(streamId, streamId, request);
    }

    private ControlAnswer ask(String streamId, String caller, ControlRequest request) {
        return ask(streamId, as(caller, "authenticated"), request);
    }

    private ControlAnswer ask(String streamId, Identity caller, ControlRequest request) {
        long id = send(streamId, caller, request);
        Effect.Answered answered = world.take(Effect.Answered.class);
        assertThat(answered.requestId()).isEqualTo(id);
        return answered.answer();
    }

    private long send(String streamId, String caller, ControlRequest request) {
        return send(streamId, as(caller, "authenticated"), request);
    }

    private long send(String streamId, Identity caller, ControlRequest request) {
        world.step(new Input.Control(++lastId, streamId, caller, request));
        return lastId;
    }

    private Identity as(@Nullable String subject, String role) {
        return new Identity(subject, role, "{}", later(3600));
    }

    private Instant later(int seconds) {
        return world.now().plusSeconds(seconds);
    }

    private void answer(Effect.AskFolds question) {
        world.step(new Input.FoldsAnswer(
                question.questionId(),
                question.folds().stream()
                        .map(fold -> (FoldAnswer) new FoldAnswer.Value("x"))
                        .toList()));
    }

    private static ControlRequest subscribe(SubscriptionRequest... requests) {
        return new ControlRequest.Subscribe(List.of(requests));
    }

    private static List<String> codes(ControlAnswer answer) {
        return ((ControlAnswer.Subscribed) answer)
                .results().stream()
                        .map(result -> result.outcome() instanceof SubscriptionResult.Refused(var code, var _, var _)
                                ? code.wireName()
                                : "ok")
                        .toList();
    }
}
