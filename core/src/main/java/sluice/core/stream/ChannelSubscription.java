package sluice.core.stream;

import sluice.core.shape.ChannelRequest;

/// One channel that one stream joined. Owned by the engine's thread.
///
/// Life: joined; ended for good when it is unsubscribed, its join is revoked, or its stream closes. An ended one
/// receives nothing more, not even what was waiting for it.
public final class ChannelSubscription {
    private final StreamState stream;
    private final String label;
    private final SubscriptionTag tag;
    private final ChannelRequest request;
    private boolean ended;

    public ChannelSubscription(StreamState stream, String label, ChannelRequest request) {
        this.stream = stream;
        this.label = label;
        this.tag = SubscriptionTag.of(label);
        this.request = request;
    }

    public StreamState stream() {
        return stream;
    }

    public String label() {
        return label;
    }

    public SubscriptionTag tag() {
        return tag;
    }

    public String channel() {
        return request.channel();
    }

    public ChannelRequest.Members members() {
        return request.members();
    }

    public boolean isEnded() {
        return ended;
    }

    public void end() {
        ended = true;
    }
}
