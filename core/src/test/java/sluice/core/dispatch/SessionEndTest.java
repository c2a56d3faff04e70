package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOT_SENT;
import static sluice.core.dispatch.World.delete;
import static sluice.core.dispatch.World.everything;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.probed;
import static sluice.core.dispatch.World.tuple;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.session.RevocationList;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.CloseReason;
import sluice.core.transaction.Change;
import sluice.core.value.Oid;

/// What the engine gives, and gives no longer, to whom a commit ends.
class SessionEndTest {
    private static final String S1 = "11111111-0000-4000-8000-000000000001";
    private static final String S2 = "22222222-0000-4000-8000-000000000002";
    private static final Fold FOLD = new Fold("app.tenant()", Oid.TEXT);

    private final World world = new World(
            World.settings(new EngineSettings.CrossChecking(0, 0)),
            new SessionRules(SessionWatchTest.TABLES, new RevocationList(100, 100, RevocationList.Forgotten.REFUSED)),
            SessionWatchTest.relation(SessionWatchTest.SESSIONS, "sessions", Oid.UUID, "user_id", "1"),
            SessionWatchTest.users());
    private long lastId;

    private Identity caller(@Nullable String session) {
        return new Identity(
                "alice",
                "authenticated",
                "{}",
                world.now().plusSeconds(3600),
                session,
                world.now().minusSeconds(60));
    }

    private Received open(String streamId, @Nullable String session) {
        return world.open(streamId, caller(session), notesShape("a"));
    }

    private static Change signedOut(String session) {
        return new Change.Delete(SessionWatchTest.SESSIONS_DEFINITION, tuple(session, NOT_SENT));
    }

    private ErrorCode ask(String streamId, @Nullable String session, ControlRequest request) {
        world.step(new Input.Control(++lastId, streamId, caller(session), request));
        return ((ControlAnswer.Refused) world.take(Effect.Answered.class).answer()).code();
    }

    @Test
    void nothing_of_the_commit_that_ends_a_session_reaches_it_and_others_get_all_of_it() {
        Received ended = open("ended", S1);
        Received other = open("other", S2);
        world.commit(insert("1", "alice", "before"));

        world.commit(insert("2", "alice", "of it"), signedOut(S1), insert("3", "alice", "of it"));
        world.commit(insert("4", "alice", "after"));

        assertThat(ended.changes()).hasSize(1);
        assertThat(ended.closed).isEqualTo(CloseReason.SESSION_REVOKED);
        assertThat(ended.only("error")).contains("\"session_revoked\"", "\"retryable\":false");
        assertThat(other.changes()).hasSize(4);
    }

    @Test
    void rows_of_the_tables_that_end_sessions_are_kept_for_nobody() {
        world.commit(signedOut(S1));
        world.pass(Duration.ofSeconds(1));
        assertThat(world.counts.bufferedBytes).isZero();

        world.commit(insert("1", "alice", "x"), signedOut(S1));
        world.pass(Duration.ofSeconds(1));
        assertThat(world.counts.bufferedBytes).isPositive();
    }

    @Test
    void a_commit_in_pieces_whose_last_ends_a_session_leaves_nothing_of_the_first_with_it() {
        Received ended = open("ended", S1);
        Received other = open("other", S2);

        world.spilled(() -> "", insert("1", "alice", "x"), signedOut(S1), delete(tuple("9", "alice", "x")));

        assertThat(ended.changes()).isEmpty();
        assertThat(ended.closed).isEqualTo(CloseReason.SESSION_REVOKED);
        assertThat(other.changes()).hasSize(2);
    }

    @Test
    void a_stream_that_is_behind_gets_nothing_more_once_its_session_has_ended() {
        Received ended = open("ended", S1);
        Received other = open("other", S2);
        world.stopReading(ended);
        Change[] many = new Change[20];
        for (int i = 0; i < many.length; i++) {
            many[i] = insert(String.valueOf(i), "alice", "x");
        }
        world.commit(many);

        List<String> before = ended.changes();

        world.commit(signedOut(S1));
        world.read(ended);
        world.commit(insert("100", "alice", "after"));

        assertThat(ended.changes()).isEqualTo(before).hasSizeLessThan(many.length);
        assertThat(ended.closed).isEqualTo(CloseReason.SESSION_REVOKED);
        assertThat(other.changes()).hasSize(21);
    }

    @Test
    void a_commit_larger_than_any_queue_that_ends_the_session_gives_it_nothing() {
        Received ended = open("ended", S1);
        Received other = open("other", S2);
        Change[] many = new Change[1000];
        for (int i = 0; i < many.length; i++) {
            many[i] = i == 999 ? signedOut(S1) : insert(String.valueOf(i), "alice", "x");
        }
        world.commit(many);

        assertThat(ended.changes()).isEmpty();
        assertThat(ended.closed).isEqualTo(CloseReason.SESSION_REVOKED);
        assertThat(other.changes()).hasSize(999);
    }

    @Test
    void a_commit_in_pieces_larger_than_any_queue_that_ends_the_session_gives_it_nothing() {
        Received ended = open("ended", S1);
        Change[] many = new Change[100];
        for (int i = 0; i < many.length; i++) {
            many[i] = i == 99 ? signedOut(S1) : insert(String.valueOf(i), "alice", "x");
        }
        world.spilled(() -> "", many);
        world.pass(Duration.ofSeconds(1));

        assertThat(ended.changes()).isEmpty();
        assertThat(ended.closed).isNotNull();
    }

    @Test
    void a_row_held_for_an_answer_is_not_given_once_the_session_has_ended() {
        world.plan = granted(probed());
        Received ended = open("ended", S1);
        world.commit(insert("1", "alice", "x"));
        Effect.Probe probe = world.take(Effect.Probe.class);

        world.commit(signedOut(S1));
        world.step(new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Visible(world.stamp())));

        assertThat(ended.changes()).isEmpty();
        assertThat(ended.closed).isEqualTo(CloseReason.SESSION_REVOKED);
    }

    @Test
    void a_stream_being_opened_when_its_session_ends_is_refused() {
        world.plan = granted(everything(), FOLD);
        Received opening = open("opening", S1);
        Effect.AskFolds question = world.take(Effect.AskFolds.class);

        world.commit(signedOut(S1));
        world.step(new Input.FoldsAnswer(question.questionId(), List.of(new FoldAnswer.Value("x"))));

        assertThat(opening.refusal).isEqualTo(ErrorCode.UNAUTHORIZED);
        assertThat(opening.frames).isEmpty();
        world.commit(insert("1", "alice", "x"));
        assertThat(opening.changes()).isEmpty();
    }

    @Test
    void no_stream_opens_for_a_session_that_has_ended_and_nothing_is_asked_about_it() {
        world.commit(signedOut(S1));
        world.plan = granted(everything(), FOLD);
        world.forgetEffects();

        assertThat(open("late", S1).refusal).isEqualTo(ErrorCode.UNAUTHORIZED);
        assertThat(world.asked(Effect.AskFolds.class)).isFalse();
    }

    @Test
    void a_session_that_has_ended_can_ask_nothing_of_the_same_users_other_streams() {
        Received other = open("other", S2);
        world.commit(signedOut(S1));

        for (ControlRequest request : List.of(
                new ControlRequest.Subscribe(List.of(notesShape("more"))),
                new ControlRequest.Unsubscribe(List.of("a")),
                new ControlRequest.Publish("room:1", "e", null, ControlRequest.Echo.TO_OTHERS),
                new ControlRequest.Presence("room:1", ControlRequest.Presence.Action.TRACK, null, null),
                new ControlRequest.Token())) {
            assertThat(ask("other", S1, request)).isEqualTo(ErrorCode.UNAUTHORIZED);
        }
        world.commit(insert("1", "alice", "x"));
        assertThat(other.changes()).hasSize(1);
    }

    @Test
    void a_stream_with_a_new_token_lives_and_ends_with_the_tokens_session() {
        Received stream = open("stream", S1);
        world.step(new Input.Control(++lastId, "stream", caller(S2), new ControlRequest.Token()));

        world.commit(signedOut(S1), insert("1", "alice", "x"));
        assertThat(stream.changes()).hasSize(1);

        world.commit(signedOut(S2));
        assertThat(stream.closed).isEqualTo(CloseReason.SESSION_REVOKED);
    }

    @Test
    void a_quiet_stream_ends_when_its_token_does_and_one_with_a_newer_token_later() {
        Received quiet = world.open("quiet", world.now().plusSeconds(10), notesShape("a"));
        Received renewed = world.open("renewed", world.now().plusSeconds(10), notesShape("a"));
        world.step(new Input.Control(
                ++lastId,
                "renewed",
                new Identity("renewed", "authenticated", "{}", world.now().plusSeconds(20)),
                new ControlRequest.Token()));

        world.pass(Duration.ofSeconds(9));
        assertThat(quiet.closed).isNull();
        world.pass(Duration.ofSeconds(1));
        assertThat(quiet.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
        assertThat(quiet.only("error")).contains("token_expired");
        assertThat(renewed.closed).isNull();
        world.pass(Duration.ofSeconds(10));
        assertThat(renewed.closed).isEqualTo(CloseReason.TOKEN_EXPIRED);
        assertThat(world.engine.streamCount()).isZero();
    }

    @Test
    void the_tables_that_end_sessions_are_refused_before_anything_is_asked() {
        world.plan = granted(everything(), FOLD);
        world.forgetEffects();
        Received stream = world.open(
                "stream",
                caller(null),
                new SubscriptionRequest(
                        "s",
                        new ShapeRequest(
                                "auth",
                                "sessions",
                                "nonsense",
                                List.of("none"),
                                null,
                                ShapeRequest.Transitions.NOT_REPORTED,
                                List.of()),
                        null));

        assertThat(stream.only("ready")).contains("shape_not_authorized", "session revocation");
        assertThat(world.asked(Effect.AskFolds.class)).isFalse();
    }

    @Test
    void a_session_ended_by_a_commit_that_a_failover_undid_is_good_and_one_ended_before_is_not() {
        world.commit(signedOut(S1));
        world.commit(signedOut(S2));

        world.failOver(1);
        world.pass(Duration.ofMillis(50));
        Effect.LoadCatalog load = world.take(Effect.LoadCatalog.class);
        world.step(new Input.CatalogAnswer(load.requestId(), world.imageAt(world.stamp())));

        assertThat(open("one", S1).refusal).isEqualTo(ErrorCode.UNAUTHORIZED);
        assertThat(open("two", S2).refusal).isNull();
    }
}
