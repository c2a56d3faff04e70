package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.error.ErrorCode;
import sluice.core.event.SubscriptionResult;
import sluice.core.session.Identity;
import sluice.core.shape.SubscriptionRequest;

/// What clients ask of streams that are open.
class ControlTest {
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
        var alice = world.open("alice");

        assertThat(refusal(ask("alice", "bob", subscribe(notesShape("a"))))).isEqualTo(ErrorCode.FORBIDDEN);
        assertThat(refusal(ask("nobody", "alice", subscribe(notesShape("a"))))).isEqualTo(ErrorCode.UNKNOWN_STREAM);

        world.commit(insert("1", "alice", "x"));
        assertThat(alice.changes()).isEmpty();
    }

    private static ErrorCode refusal(ControlAnswer answer) {
        return ((ControlAnswer.Refused) answer).code();
    }

    private ControlAnswer ask(String streamId, ControlRequest request) {
        return ask(streamId, streamId, request);
    }

    private ControlAnswer ask(String streamId, String caller, ControlRequest request) {
        long id = send(streamId, caller, request);
        Effect.Answered answered = world.take(Effect.Answered.class);
        assertThat(answered.requestId()).isEqualTo(id);
        return answered.answer();
    }

    private long send(String streamId, String caller, ControlRequest request) {
        Identity identity =
                new Identity(caller, "authenticated", "{}", world.now().plusSeconds(3600));
        world.step(new Input.Control(++lastId, streamId, identity, request));
        return lastId;
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
