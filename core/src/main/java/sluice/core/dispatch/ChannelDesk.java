package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.ChannelIndex;
import sluice.core.channel.ChannelSettings;
import sluice.core.channel.DatabaseMessage;
import sluice.core.channel.HookAnswer;
import sluice.core.channel.HookKey;
import sluice.core.channel.HookQuestion;
import sluice.core.channel.HookVerdicts.Known;
import sluice.core.channel.Namespaces;
import sluice.core.channel.Namespaces.Decision;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.event.ChannelEvents;
import sluice.core.event.ChannelEvents.Origin;
import sluice.core.event.PassingEvent;
import sluice.core.event.StreamEvent;
import sluice.core.resume.BufferedBroadcast;
import sluice.core.shape.ChannelRequest;
import sluice.core.stream.ChannelSubscription;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;
import sluice.core.transaction.LogicalMessage;
import sluice.core.value.JsonString;
import sluice.core.wal.Lsn;

/// Channels: who joined, who is present, and what is said. Owned by the engine's thread.
///
/// A broadcast or a difference of presence is given to a stream whose queue has room, and otherwise dropped and
/// counted: it never ends a stream and never takes a change's place. Whoever asked for the list of members and missed
/// a difference gets the list again as soon as there is room. Only what a commit says is no less than its rows
/// ({@link CommitDispatch#broadcast}).
final class ChannelDesk implements HookDesk.Host {
    /// What the desk needs of the engine.
    interface Host {
        Instant now();

        CommitOrder order();

        EngineMetrics metrics();

        /// Whether the stream's queue takes this much more.
        boolean hasRoom(StreamState stream, int bytes);
    }

    private final Host host;
    private final FrameSink sink;
    private final EffectSink effects;
    private final ChannelSettings settings;
    private final Namespaces namespaces;
    private final ChannelIndex index;
    private final HookDesk hooks;

    /// Those who asked for the list of members and missed a difference.
    private final Set<ChannelSubscription> owedList = new LinkedHashSet<>();

    ChannelDesk(Host host, FrameSink sink, EffectSink effects, EngineSettings bounds) {
        this.host = host;
        this.sink = sink;
        this.effects = effects;
        this.settings = bounds.channels();
        this.namespaces = new Namespaces(settings.namespaces());
        this.index = new ChannelIndex(settings.presenceBroadcast(), settings.presenceKeysMax());
        this.hooks = new HookDesk(this, effects, settings.recheckEvery());
    }

    Namespaces namespaces() {
        return namespaces;
    }

    HookDesk hooks() {
        return hooks;
    }

    // ---- joins

    /// The stream is in the channel from here on.
    ///
    /// @param key the verdict the join lives on, null when it needs none
    /// @param until when it is due to be asked about
    ChannelSubscription join(
            StreamState stream, String label, ChannelRequest request, @Nullable HookKey key, Instant until) {
        long next = host.order().unseen().count();
        ChannelSubscription joined = new ChannelSubscription(stream, label, request, next);
        stream.add(joined);
        index.join(joined);
        if (key != null) {
            hooks.verdicts().hold(joined, key, until);
        }
        return joined;
    }

    /// Tells a stream that just joined who is there, if it asked.
    void welcome(ChannelSubscription joined) {
        if (joined.members() == ChannelRequest.Members.LISTED && !joined.isEnded()) {
            give(joined, index.state(joined));
        }
    }

    /// Ends what the stream calls by this label.
    ///
    /// @return false when it is no channel
    boolean unsubscribe(StreamState stream, String label) {
        ChannelSubscription joined = stream.channelByLabel(label);
        if (joined == null) {
            return false;
        }
        leave(joined);
        return true;
    }

    private void leave(ChannelSubscription joined) {
        index.leave(joined, host.now());
        index.fullDiff(joined.channel(), this::give);
        hooks.verdicts().release(joined);
        owedList.remove(joined);
        joined.stream().remove(joined);
        joined.end();
    }

    /// The stream is gone: everything it held is released.
    void forget(StreamState stream) {
        for (ChannelSubscription joined : List.copyOf(stream.channels())) {
            leave(joined);
        }
    }

    @Override
    public void revoke(ChannelSubscription join, @Nullable String reason) {
        StreamState stream = join.stream();
        String message = denied(reason);
        leave(join);
        if (stream.isOpen()) {
            Frames.give(
                    sink,
                    stream,
                    new StreamEvent.Failure(join.label(), ErrorCode.CHANNEL_NOT_AUTHORIZED, message, null, null));
            effects.emit(new Effect.Log(Installation.notice(
                            "subscription revoked",
                            stream,
                            join.label(),
                            new RequestException(ErrorCode.CHANNEL_NOT_AUTHORIZED, message))
                    .with("channel", join.channel())));
        }
    }

    static String denied(@Nullable String reason) {
        return reason == null ? "the channel's endpoint denied" : "the channel's endpoint denied: " + reason;
    }

    /// The stream has another token: every channel that lives on a verdict is asked about, whatever stands.
    ///
    /// @param requestId of the client's request
    /// @param then told how many were revoked, once all are answered
    void rebound(StreamState stream, @Nullable String requestId, IntConsumer then) {
        List<ChannelSubscription> asked = new ArrayList<>();
        for (ChannelSubscription joined : stream.channels()) {
            if (hooks.verdicts().key(joined) != null) {
                asked.add(joined);
            }
        }
        Rebinding rebinding = new Rebinding(asked.size(), then);
        if (asked.isEmpty()) {
            then.accept(0);
        }
        for (ChannelSubscription joined : asked) {
            if (namespaces.decide(joined.channel(), stream.identity()) instanceof Decision.Ask(var key)) {
                hooks.verdicts().hold(joined, key, host.now());
                hooks.askAfresh(
                        new HookQuestion(key, stream.identity(), requestId),
                        known -> rebinding.answered(joined, known));
            }
        }
    }

    /// The channels of one new token.
    private final class Rebinding {
        private final IntConsumer then;
        private int undecided;
        private int revoked;

        Rebinding(int undecided, IntConsumer then) {
            this.undecided = undecided;
            this.then = then;
        }

        /// A denial has ended the join already.
        void answered(ChannelSubscription joined, Known known) {
            undecided--;
            revoked += known.verdict() == HookAnswer.Verdict.DENY ? 1 : 0;
            host.metrics().hookRechecked(HookDesk.recheck(known.verdict()), 1);
            if (known.verdict() == HookAnswer.Verdict.NONE && !joined.isEnded()) {
                effects.emit(new Effect.Log(new Notice(
                        Notice.Level.WARN,
                        "channel hook re-check got no verdict; the stream keeps the channel",
                        List.of(
                                "stream_id",
                                joined.stream().handle().streamId(),
                                "sub",
                                joined.label(),
                                "channel",
                                joined.channel(),
                                "reason",
                                String.valueOf(known.reason())))));
            }
            if (undecided == 0) {
                then.accept(revoked);
            }
        }
    }

    // ---- what clients say

    ControlAnswer publish(StreamState stream, ControlRequest.Publish publish) {
        ChannelSubscription own = stream.channel(publish.channel());
        if (own == null) {
            return notSubscribed(publish.channel());
        }
        long wait = stream.take(StreamState.Rate.PUBLISH, settings.publishRate(), 1, host.now());
        if (wait > 0) {
            return ControlDesk.tooFast("broadcasts than SLUICE_PUBLISH_RATE", wait);
        }
        host.metrics().broadcast(counted(publish.channel()), EngineMetrics.BroadcastOrigin.CLIENT);
        PassingEvent event = ChannelEvents.broadcast(
                publish.channel(),
                new ChannelEvents.Message(JsonString.quoted(publish.event()), publish.payload()),
                new Origin.Client(stream.identity().subject()),
                host.now());
        int delivered = 0;
        for (ChannelSubscription to : index.joined(publish.channel())) {
            boolean meant = to != own || publish.echo() == ControlRequest.Echo.TO_SELF;
            delivered += meant && give(to, event) ? 1 : 0;
        }
        sink.endCommit();
        return new ControlAnswer.Delivered(delivered);
    }

    /// Sets or removes the caller's own entry.
    ControlAnswer presence(StreamState stream, ControlRequest.Presence presence) {
        ChannelSubscription own = stream.channel(presence.channel());
        if (own == null) {
            return notSubscribed(presence.channel());
        }
        String subject = stream.identity().subject();
        if (subject == null || (presence.key() != null && !presence.key().equals(subject))) {
            return new ControlAnswer.Refused(
                    ErrorCode.PRESENCE_KEY_NOT_ALLOWED,
                    subject == null ? "presence needs a token with a sub" : "the key is the token's sub");
        }
        long wait = stream.take(StreamState.Rate.PRESENCE, settings.presenceRate(), 1, host.now());
        if (wait > 0) {
            return ControlDesk.tooFast("presence requests than SLUICE_PRESENCE_RATE", wait);
        }
        switch (presence.action()) {
            case TRACK, UPDATE -> {
                try {
                    index.track(subject, own, presence.meta(), host.now());
                } catch (RequestException full) {
                    return new ControlAnswer.Refused(full.code(), full.getMessage());
                }
            }
            case UNTRACK -> index.untrack(subject, own, host.now());
            case UNKNOWN -> {
                return new ControlAnswer.Refused(
                        ErrorCode.BAD_REQUEST, "\"action\" must be \"track\", \"update\" or \"untrack\"");
            }
        }
        index.fullDiff(presence.channel(), this::give);
        host.metrics().presenceUpdated(counted(presence.channel()), presence.action());
        return new ControlAnswer.Done();
    }

    private static ControlAnswer notSubscribed(String channel) {
        return new ControlAnswer.Refused(
                ErrorCode.CHANNEL_NOT_SUBSCRIBED, "the stream has not joined \"" + channel + "\"");
    }

    /// Only declared names become a metric's labels.
    private String counted(String channel) {
        String declared = namespaces.declared(channel);
        return declared == null ? "undeclared" : declared;
    }

    // ---- what the database says

    /// What the messages of a commit say in channels that somebody has joined.
    List<BufferedBroadcast.Said> said(List<LogicalMessage> messages, Lsn commitLsn, Instant commitTime) {
        if (messages.isEmpty()) {
            return List.of();
        }
        List<BufferedBroadcast.Said> said = new ArrayList<>(messages.size());
        for (LogicalMessage message : messages) {
            BufferedBroadcast.Said one = said(message, new Origin.Database(commitLsn), commitTime);
            if (one != null) {
                said.add(one);
            }
        }
        return said;
    }

    /// A message outside any transaction, which goes at once.
    void emitted(LogicalMessage message) {
        BufferedBroadcast.Said said = said(message, new Origin.Database(null), host.now());
        if (said != null) {
            joined(said.channel()).forEach(to -> give(to, said.event()));
            sink.endCommit();
        }
    }

    /// Who is in the channel.
    Collection<ChannelSubscription> joined(String channel) {
        return index.joined(channel);
    }

    private BufferedBroadcast.@Nullable Said said(LogicalMessage emitted, Origin.Database origin, Instant at) {
        DatabaseMessage message = DatabaseMessage.of(emitted, settings.messagePrefix());
        if (message == null) {
            return null;
        }
        host.metrics().broadcast(counted(message.channel()), EngineMetrics.BroadcastOrigin.DATABASE);
        if (emitted.content().length > settings.messageBytesMax()) {
            effects.emit(new Effect.Log(new Notice(
                    Notice.Level.WARN,
                    "database message is larger than a stream's queue; nobody receives it",
                    List.of("channel", message.channel(), "bytes", Integer.toString(emitted.content().length)))));
            return null;
        }
        return index.joined(message.channel()).isEmpty()
                ? null
                : new BufferedBroadcast.Said(
                        message.channel(), ChannelEvents.broadcast(message.channel(), message.message(), origin, at));
    }

    // ---- delivery

    /// Gives the event to the stream, if it may have it and has room for it.
    boolean give(ChannelSubscription to, PassingEvent event) {
        StreamState stream = to.stream();
        if (to.isEnded() || !stream.isOpen() || !stream.identity().expiresAt().isAfter(host.now())) {
            return false;
        }
        if (!host.hasRoom(stream, event.weightBytes())) {
            dropped(to, event);
            return false;
        }
        stream.given(event.weightBytes());
        sink.passing(stream.handle(), to.tag(), event);
        return true;
    }

    /// The event is not given: there is no room for it.
    void dropped(ChannelSubscription to, PassingEvent event) {
        host.metrics().dropped(event.kind());
        if (event.kind() == PassingEvent.Kind.PRESENCE && to.members() == ChannelRequest.Members.LISTED) {
            owedList.add(to);
        }
    }

    /// Time has passed: differences are due, and verdicts may have run out.
    void tick() {
        giveOwedLists();
        index.diffs(host.now(), this::give);
        sink.endCommit();
        hooks.tick();
    }

    /// Written once for all who are owed a channel's list, and not while none of them has room for it.
    private void giveOwedLists() {
        Map<String, PassingEvent> lists = new LinkedHashMap<>(0);
        for (ChannelSubscription owed : List.copyOf(owedList)) {
            if (!host.hasRoom(owed.stream(), index.stateBytesMin(owed))) {
                continue;
            }
            PassingEvent list = lists.computeIfAbsent(owed.channel(), _ -> index.state(owed));
            if (host.hasRoom(owed.stream(), list.weightBytes())) {
                owedList.remove(owed);
                give(owed, list);
            }
        }
    }

    @Override
    public EngineMetrics metrics() {
        return host.metrics();
    }

    @Override
    public Instant now() {
        return host.now();
    }
}
