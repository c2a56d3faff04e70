package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.event.SubscriptionResult;
import sluice.core.expression.FilterTerm;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.wal.Lsn;

/// What clients ask of streams that are open. Every request is answered once, in the step in which what it says is
/// done, or when its stream ends. Owned by the engine's thread.
///
/// A stream is the caller's when both have the same `sub` and `role`; nothing of a stream is told, or done to it,
/// before that is checked. Requests that wait are bounded by the connections they came on, and each waits for a
/// bounded time.
final class ControlDesk {
    /// What the desk needs of the engine.
    interface Host extends Installation.Host {
        /// The open stream of this id, null when there is none.
        @Nullable
        StreamState stream(String streamId);

        /// Everything up to here has been dispatched.
        Lsn position();

        /// Ends a subscription without a word, as its client asked.
        void unsubscribe(Subscription subscription);

        /// The stream goes on under this identity: whatever it may see is decided anew.
        void rebind(StreamState stream, Identity identity);

        /// Ends one subscription with an error event.
        void endSubscription(Subscription subscription, ErrorCode code, String message);

        void closeStream(StreamState stream, CloseReason reason, ErrorCode code, String message);

        SessionWatch sessions();

        List<TableState> tablesNamed(String schema, String table);
    }

    /// A new token whose shapes are being decided.
    private static final class Rebinding {
        private final long requestId;
        private final Set<Subscription> undecided;
        private boolean channelsDecided;
        private int revoked;

        Rebinding(long requestId, Set<Subscription> undecided) {
            this.requestId = requestId;
            this.undecided = undecided;
        }
    }

    /// What waits on one stream.
    private static final class Waiting {
        private final Map<SubscribeFlow, Long> joining = new LinkedHashMap<>();
        private final List<Rebinding> rebinding = new ArrayList<>(0);

        boolean isEmpty() {
            return joining.isEmpty() && rebinding.isEmpty();
        }
    }

    private static final String ENDED_MEANWHILE = "the stream ended while the request was under way";

    private final Host host;
    private final Subscribing subscribing;
    private final EffectSink effects;
    private final FrameSink sink;
    private final Map<StreamState, Waiting> waitingByStream = new LinkedHashMap<>();

    /// The operator's request that is being carried out.
    private @Nullable Long dropping;

    ControlDesk(Host host, Subscribing subscribing, EffectSink effects, FrameSink sink) {
        this.host = host;
        this.subscribing = subscribing;
        this.effects = effects;
        this.sink = sink;
    }

    void handle(Input.Control control) {
        long id = control.requestId();
        Refusal refusal = host.sessions().refusal(control.caller(), host.now());
        if (refusal != null) {
            answer(id, new ControlAnswer.Refused(SessionWatch.code(refusal), refusal.message()));
            return;
        }
        StreamState stream = host.stream(control.streamId());
        if (stream == null) {
            answer(id, unknownStream());
            return;
        }
        Identity owner = stream.identity();
        // it is over already, though nobody has looked: what was said since then it has not heard
        if (!owner.expiresAt().isAfter(host.now())) {
            host.closeStream(stream, CloseReason.TOKEN_EXPIRED, ErrorCode.TOKEN_EXPIRED, "the token has expired");
            answer(id, unknownStream());
            return;
        }
        if (control.request() instanceof ControlRequest.Token) {
            token(control, stream);
            return;
        }
        if (!Objects.equals(owner.subject(), control.caller().subject())
                || !owner.role().equals(control.caller().role())) {
            answer(id, new ControlAnswer.Refused(ErrorCode.FORBIDDEN, "the stream is another caller's"));
            return;
        }
        switch (control.request()) {
            case ControlRequest.Subscribe(var requests) ->
                subscribe(id, stream, new SubscribeFlow.Asked(requests, control.requestName()));
            case ControlRequest.Unsubscribe(var labels) -> unsubscribe(id, stream, labels);
            case ControlRequest.Publish publish -> answer(id, host.channels().publish(stream, publish));
            case ControlRequest.Presence presence -> answer(id, host.channels().presence(stream, presence));
            case ControlRequest.Token _ -> throw new IllegalStateException("a token is no request of its owner's");
        }
    }

    private static ControlAnswer.Refused unknownStream() {
        return new ControlAnswer.Refused(ErrorCode.UNKNOWN_STREAM, "this process has no stream of that id");
    }

    /// @param limit what there are too many of, and the setting that bounds them
    static ControlAnswer.Refused tooFast(String limit, long wait) {
        return new ControlAnswer.Refused(
                ErrorCode.RATE_LIMITED,
                "the stream asks for more " + limit + " allows; ask again after Retry-After",
                wait);
    }

    private void answer(long requestId, ControlAnswer answer) {
        effects.emit(new Effect.Answered(requestId, answer));
    }

    private void subscribe(long id, StreamState stream, SubscribeFlow.Asked asked) {
        int wanted = Math.max(1, asked.requests().size());
        long wait =
                stream.take(StreamState.Rate.SUBSCRIBE, host.settings().rates().subscribe(), wanted, host.now());
        if (wait > 0) {
            answer(id, tooFast("subscriptions than SLUICE_SUBSCRIBE_RATE", wait));
            return;
        }
        SubscribeFlow flow = subscribing.flow(stream, asked, this::resolved);
        waiting(stream).joining.put(flow, id);
        subscribing.begin(flow);
    }

    private Waiting waiting(StreamState stream) {
        return waitingByStream.computeIfAbsent(stream, _ -> new Waiting());
    }

    /// Installs what was granted and answers in one step: every later commit reaches the stream.
    private void resolved(SubscribeFlow flow) {
        StreamState stream = flow.stream();
        Waiting waiting = waitingByStream.get(stream);
        Long id = waiting == null ? null : waiting.joining.remove(flow);
        if (waiting == null || id == null) {
            return;
        }
        forgetIdle(stream, waiting);
        Lsn position = host.feeds().catchUp().completeUntil(stream);
        Installation installation = new Installation(host, effects, stream, id);
        List<SubscriptionResult> results = installation.install(flow);
        installation.warn(sink);
        answer(id, new ControlAnswer.Subscribed(results, installation.completeFrom(position)));
    }

    private void forgetIdle(StreamState stream, Waiting waiting) {
        if (waiting.isEmpty()) {
            waitingByStream.remove(stream);
        }
    }

    private void unsubscribe(long id, StreamState stream, List<String> labels) {
        int removed = 0;
        for (String label : labels) {
            Subscription subscription = stream.subscription(label);
            if (subscription != null) {
                decided(subscription, 0);
                host.unsubscribe(subscription);
                removed++;
            } else if (host.channels().unsubscribe(stream, label)) {
                removed++;
            }
        }
        answer(id, new ControlAnswer.Removed(removed));
    }

    /// The caller's identity becomes the stream's before anything is decided anew, so that whatever is decided from
    /// here on is decided for it.
    ///
    /// A stream's subject never changes, and its role only when it gains a subject: whoever reads the stream showed
    /// a token of that subject and role when it was opened, and of no other.
    private void token(Input.Control control, StreamState stream) {
        long id = control.requestId();
        Identity caller = control.caller();
        Identity before = stream.identity();
        if (before.subject() != null && !before.subject().equals(caller.subject())) {
            answer(id, new ControlAnswer.Refused(ErrorCode.SUBJECT_MISMATCH, "the stream is another subject's"));
            return;
        }
        boolean signsIn = before.subject() == null && caller.subject() != null;
        if (!signsIn && !before.role().equals(caller.role())) {
            answer(id, new ControlAnswer.Refused(ErrorCode.FORBIDDEN, "the stream is of another role"));
            return;
        }
        Rebinding rebinding = new Rebinding(id, new LinkedHashSet<>(stream.subscriptions()));
        Waiting waiting = waiting(stream);
        waiting.rebinding.add(rebinding);
        host.rebind(stream, caller);
        host.channels().rebound(stream, control.requestName(), revoked -> {
            rebinding.channelsDecided = true;
            rebinding.revoked += revoked;
            if (waitingByStream.get(stream) == waiting) {
                finish(stream, waiting);
            }
        });
    }

    /// Writes what became of a subscription, naming the request that is the cause of it.
    void log(Subscription subscription, Notice notice) {
        Long cause = dropping;
        Waiting waiting = waitingByStream.get(subscription.stream());
        for (Rebinding rebinding : waiting == null ? List.<Rebinding>of() : waiting.rebinding) {
            if (rebinding.undecided.contains(subscription)) {
                cause = rebinding.requestId;
            }
        }
        effects.emit(new Effect.Log(cause == null ? notice : notice.with(Notice.REQUEST, cause.toString())));
    }

    /// The subscription has the rule of its stream's identity.
    void settled(Subscription subscription) {
        if (subscription.state() == Subscription.State.ACTIVE) {
            decided(subscription, 0);
        }
    }

    /// The subscription was ended by the server.
    void ended(Subscription subscription) {
        decided(subscription, 1);
    }

    private void decided(Subscription subscription, int revoked) {
        Waiting waiting = waitingByStream.get(subscription.stream());
        if (waiting == null) {
            return;
        }
        for (Rebinding rebinding : waiting.rebinding) {
            if (rebinding.undecided.remove(subscription)) {
                rebinding.revoked += revoked;
            }
        }
        finish(subscription.stream(), waiting);
    }

    private void finish(StreamState stream, Waiting waiting) {
        for (Rebinding rebinding : List.copyOf(waiting.rebinding)) {
            if (rebinding.undecided.isEmpty() && rebinding.channelsDecided && waiting.rebinding.remove(rebinding)) {
                answer(rebinding.requestId, new ControlAnswer.TokenTaken(rebinding.revoked));
            }
        }
        forgetIdle(stream, waiting);
    }

    /// The stream ended: whatever waits on it is answered.
    void closed(StreamState stream) {
        Waiting waiting = waitingByStream.remove(stream);
        if (waiting == null) {
            return;
        }
        waiting.joining.forEach((flow, id) -> {
            subscribing.drop(flow);
            answer(
                    id,
                    new ControlAnswer.Subscribed(
                            refused(flow), host.feeds().catchUp().completeUntil(stream)));
        });
        for (Rebinding rebinding : waiting.rebinding) {
            answer(rebinding.requestId, new ControlAnswer.Refused(ErrorCode.STREAM_CLOSED, ENDED_MEANWHILE));
        }
    }

    private static List<SubscriptionResult> refused(SubscribeFlow flow) {
        List<SubscriptionResult> results = new ArrayList<>();
        for (SubscriptionRequest request : flow.requests()) {
            results.add(new SubscriptionResult(
                    request.label(), new SubscriptionResult.Refused(ErrorCode.STREAM_CLOSED, ENDED_MEANWHILE, null)));
        }
        return results;
    }

    /// Drops every shape the selection means.
    void drop(long id, ShapeSelection selection) {
        int dropped = 0;
        dropping = id;
        for (TableState table : List.copyOf(host.tablesNamed(selection.schema(), selection.table()))) {
            for (Subscription subscription : List.copyOf(table.index().all())) {
                if (isMeant(subscription, selection)) {
                    host.endSubscription(subscription, ErrorCode.SHAPE_NOT_AUTHORIZED, "an operator dropped the shape");
                    dropped++;
                }
            }
        }
        dropping = null;
        answer(id, new ControlAnswer.Dropped(dropped));
    }

    private static boolean isMeant(Subscription subscription, ShapeSelection selection) {
        Identity owner = subscription.stream().identity();
        if (selection.subject() != null && !selection.subject().equals(owner.subject())) {
            return false;
        }
        if (selection.role() != null && !selection.role().equals(owner.role())) {
            return false;
        }
        for (ShapeSelection.Equality equality : selection.equalities()) {
            if (!fixes(subscription, equality)) {
                return false;
            }
        }
        return true;
    }

    private static boolean fixes(Subscription subscription, ShapeSelection.Equality equality) {
        for (FilterTerm term : subscription.filter().conjuncts()) {
            if (term.isEquality()
                    && term.column().name().equals(equality.column())
                    && term.constants().getFirst().equals(equality.constant())) {
                return true;
            }
        }
        return false;
    }
}
