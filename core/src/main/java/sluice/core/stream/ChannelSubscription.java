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
    private final long firstCommit;
    private boolean ended;

    /// @param firstCommit the number, in the order of dispatch, of the first commit whose broadcasts are for it
    public ChannelSubscription(StreamState stream, String label, ChannelRequest request, long firstCommit) {
        this.stream = stream;
        this.label = label;
        this.tag = SubscriptionTag.of(label);
        this.request = request;
        this.firstCommit = firstCommit;
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

    /// What commits with a lower number said is none of its.
    public long firstCommit() {
        return firstCommit;
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
