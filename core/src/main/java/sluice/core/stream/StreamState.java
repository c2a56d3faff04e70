package sluice.core.stream;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.session.Identity;

/// One open stream as the engine knows it. Owned by the engine's thread.
public final class StreamState extends Recipient {
    private final StreamHandle handle;
    private Identity identity;
    private final Map<String, Subscription> subscriptionsByLabel = new LinkedHashMap<>(2);
    private Map<String, ChannelSubscription> channelsByName = Collections.emptyMap();
    private final ArrayDeque<HeldCommit> held = new ArrayDeque<>(0);
    private @Nullable Map<Rate, RateBucket> rates;
    private final Framing framing;
    private boolean open = true;
    private int slowSubscriptions;
    private long commitSerial;
    private int commitEvents;
    private long commitBytes;
    private int heldEvents;
    private long heldBytes;
    private long givenFrames;
    private long givenBytes;
    private long commitGivenFrames;
    private long commitGivenBytes;
    private long promisedFrames;
    private long promisedBytes;
    private boolean behind;

    public StreamState(StreamHandle handle, Identity identity) {
        this(handle, identity, Framing.NONE);
    }

    public StreamState(StreamHandle handle, Identity identity, Framing framing) {
        this.handle = handle;
        this.identity = identity;
        this.framing = framing;
    }

    /// Whether the stream is told where each transaction ends.
    public enum Framing {
        NONE,
        TRANSACTIONS
    }

    public Framing framing() {
        return framing;
    }

    public StreamHandle handle() {
        return handle;
    }

    /// Whoever the stream's rights are those of, now.
    public Identity identity() {
        return identity;
    }

    /// The stream goes on under another token. Whatever was decided for the former one has to be decided again.
    public void rebind(Identity newIdentity) {
        identity = newIdentity;
    }

    @Override
    public StreamState stream() {
        return this;
    }

    @Override
    public boolean isOver() {
        return !open;
    }

    public boolean isOpen() {
        return open;
    }

    public void close() {
        open = false;
    }

    public Collection<Subscription> subscriptions() {
        return subscriptionsByLabel.values();
    }

    public @Nullable Subscription subscription(String label) {
        return subscriptionsByLabel.get(label);
    }

    /// Takes so many of a kind, or none.
    ///
    /// @return 0 when they were taken, else the milliseconds after which they could be
    public long take(Rate kind, RateBucket.Limit limit, int wanted, Instant now) {
        Map<Rate, RateBucket> buckets = rates;
        if (buckets == null) {
            buckets = new EnumMap<>(Rate.class);
            rates = buckets;
        }
        return buckets.computeIfAbsent(kind, _ -> new RateBucket(limit, now)).take(wanted, now);
    }

    /// What a stream may ask for only so often.
    public enum Rate {
        SUBSCRIBE,
        PUBLISH,
        PRESENCE
    }

    /// Whether a subscription of the stream has this label, whatever it is to.
    public boolean isTaken(String label) {
        return subscriptionsByLabel.containsKey(label) || channelByLabel(label) != null;
    }

    /// Subscriptions of every kind.
    public int labelCount() {
        return subscriptionsByLabel.size() + channelsByName.size();
    }

    public Collection<ChannelSubscription> channels() {
        return channelsByName.values();
    }

    /// The stream's part in this channel, null when it has not joined it.
    public @Nullable ChannelSubscription channel(String name) {
        return channelsByName.get(name);
    }

    public @Nullable ChannelSubscription channelByLabel(String label) {
        for (ChannelSubscription joined : channelsByName.values()) {
            if (joined.label().equals(label)) {
                return joined;
            }
        }
        return null;
    }

    public void add(ChannelSubscription joined) {
        if (channelsByName.isEmpty()) {
            channelsByName = new LinkedHashMap<>();
        }
        channelsByName.put(joined.channel(), joined);
    }

    public void remove(ChannelSubscription joined) {
        if (channelsByName.get(joined.channel()) == joined) {
            channelsByName.remove(joined.channel());
        }
    }

    public void add(Subscription subscription) {
        subscriptionsByLabel.put(subscription.label(), subscription);
    }

    public void remove(Subscription subscription) {
        subscriptionsByLabel.remove(subscription.label());
    }

    /// Commits that wait for an answer, oldest first.
    public ArrayDeque<HeldCommit> held() {
        return held;
    }

    /// Whether what the next commit brings has to be collected first: something waits already, or may have to.
    public boolean holds() {
        return slowSubscriptions > 0 || !held.isEmpty();
    }

    /// Counts subscriptions whose changes may have to wait for an answer.
    void addSlowSubscriptions(int delta) {
        slowSubscriptions += delta;
    }

    /// Charges one event to the commit with this serial.
    ///
    /// @return whether it is the first of that commit on this stream
    public boolean charge(long serial, int weightBytes) {
        boolean first = commitSerial != serial;
        if (first) {
            commitSerial = serial;
            commitEvents = 0;
            commitBytes = 0;
            commitGivenFrames = 0;
            commitGivenBytes = 0;
        }
        commitEvents++;
        commitBytes += weightBytes;
        return first;
    }

    public int commitEvents() {
        return commitEvents;
    }

    public long commitBytes() {
        return commitBytes;
    }

    /// Counts a frame given to the sink.
    public void given(long weightBytes) {
        givenFrames++;
        givenBytes += weightBytes;
    }

    /// Counts a change of the open commit given to the sink.
    public void givenOfCommit(long weightBytes) {
        given(weightBytes);
        commitGivenFrames++;
        commitGivenBytes += weightBytes;
    }

    /// The open commit's changes were taken back.
    public void retracted() {
        givenFrames -= commitGivenFrames;
        givenBytes -= commitGivenBytes;
        commitGivenFrames = 0;
        commitGivenBytes = 0;
    }

    /// Frames that wait in the stream's queue or on the way to it.
    public long queuedFrames() {
        return givenFrames - handle.takenFrames();
    }

    /// The same in bytes.
    public long queuedBytes() {
        return givenBytes - handle.takenBytes();
    }

    /// Room of the queue that what was asked for elsewhere will take when it comes.
    public void promise(long frames, long bytes) {
        promisedFrames += frames;
        promisedBytes += bytes;
    }

    public long promisedFrames() {
        return promisedFrames;
    }

    public long promisedBytes() {
        return promisedBytes;
    }

    /// Whether its queue takes so much more within these bounds.
    public boolean hasRoom(long frames, long bytes, long framesMax, long bytesMax) {
        return queuedFrames() + promisedFrames + frames <= framesMax
                && queuedBytes() + promisedBytes + bytes <= bytesMax;
    }

    /// Whether the stream is fed from the buffer, because a commit did not fit in its queue.
    public boolean isBehind() {
        return behind;
    }

    public void fallBehind() {
        behind = true;
    }

    public void caughtUp() {
        behind = false;
    }

    public int heldEvents() {
        return heldEvents;
    }

    /// Text bytes of what waits.
    public long heldBytes() {
        return heldBytes;
    }

    public void addHeld(int events, long bytes) {
        heldEvents += events;
        heldBytes += bytes;
    }
}
