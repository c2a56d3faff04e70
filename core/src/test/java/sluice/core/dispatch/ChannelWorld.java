package sluice.core.dispatch;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.ChannelSettings;
import sluice.core.channel.HookAnswer;
import sluice.core.channel.HookAnswer.Verdict;
import sluice.core.channel.Namespace;
import sluice.core.dispatch.ControlRequest.Echo;
import sluice.core.dispatch.ControlRequest.Presence.Action;
import sluice.core.session.Identity;
import sluice.core.shape.ChannelRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.RateBucket;
import sluice.core.transaction.LogicalMessage;

/// Channels in a {@link World}.
final class ChannelWorld {
    static final Duration RECHECK = Duration.ofSeconds(30);

    static final ChannelSettings SETTINGS = new ChannelSettings(
            List.of(
                    new Namespace("room", new Namespace.Admission.Everyone()),
                    new Namespace("notify", new Namespace.Admission.Owner()),
                    new Namespace("team", new Namespace.Admission.Hook("http://hook.example"))),
            "sluice:",
            10_000,
            new RateBucket.Limit(5, Duration.ofSeconds(1)),
            new RateBucket.Limit(5, Duration.ofSeconds(30)),
            Duration.ofMillis(1500),
            3,
            RECHECK);

    final World world = new World();
    private long lastId;

    static SubscriptionRequest join(String label, String channel) {
        return new SubscriptionRequest(label, new ChannelRequest(channel, ChannelRequest.Members.NOT_LISTED), null);
    }

    static SubscriptionRequest joinListed(String label, String channel) {
        return new SubscriptionRequest(label, new ChannelRequest(channel, ChannelRequest.Members.LISTED), null);
    }

    static LogicalMessage message(String prefix, String content) {
        return new LogicalMessage(prefix, content.getBytes(StandardCharsets.UTF_8));
    }

    Received open(String streamId, @Nullable String subject, SubscriptionRequest... requests) {
        return world.open(streamId, caller(subject), requests);
    }

    Identity caller(@Nullable String subject) {
        return caller(subject, world.now().plusSeconds(3600));
    }

    static Identity caller(@Nullable String subject, Instant expiresAt) {
        return new Identity(subject, "authenticated", "{}", expiresAt);
    }

    ControlAnswer ask(String streamId, @Nullable String subject, ControlRequest request) {
        send(streamId, caller(subject), request);
        return world.take(Effect.Answered.class).answer();
    }

    void send(String streamId, Identity caller, ControlRequest request) {
        world.step(new Input.Control(++lastId, streamId, caller, request));
    }

    static ControlRequest subscribe(SubscriptionRequest... requests) {
        return new ControlRequest.Subscribe(List.of(requests));
    }

    static ControlRequest publish(String channel, String payload, Echo echo) {
        return new ControlRequest.Publish(channel, "said", payload.getBytes(StandardCharsets.UTF_8), echo);
    }

    static ControlRequest presence(String channel, Action action, String meta) {
        return presence(channel, action, null, meta);
    }

    static ControlRequest presence(String channel, Action action, @Nullable String key, String meta) {
        return new ControlRequest.Presence(channel, action, key, meta.getBytes(StandardCharsets.UTF_8));
    }

    /// The oldest question to a hook that was not looked at yet.
    Effect.AskHook asked() {
        return world.take(Effect.AskHook.class);
    }

    void answer(Effect.AskHook asked, HookAnswer answer) {
        world.step(new Input.HookAnswered(asked.questionId(), answer, 0));
    }

    static HookAnswer allow(int seconds) {
        return new HookAnswer(Verdict.ALLOW, Duration.ofSeconds(seconds), null);
    }

    static HookAnswer deny() {
        return new HookAnswer(Verdict.DENY, Duration.ofSeconds(60), "left the team");
    }

    static HookAnswer none() {
        return HookAnswer.none("the endpoint answered 500");
    }
}
