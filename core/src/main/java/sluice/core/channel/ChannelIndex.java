package sluice.core.channel;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.event.PassingEvent;
import sluice.core.stream.ChannelSubscription;

/// Who joined which channel, and who is present in it. Owned by the engine's thread.
///
/// Holds no channel that nobody joined. Its size is bounded by the streams and what each may join.
public final class ChannelIndex {
    private final Duration broadcastEvery;
    private final int keysMax;
    private final Map<String, Channel> channels = new LinkedHashMap<>();

    /// Channels whose presence changed, the one that changed first in front: all wait equally long.
    private final Set<Channel> changed = new LinkedHashSet<>();

    private long refs;

    /// @param broadcastEvery how long changes of presence are collected
    /// @param keysMax most keys present in one channel
    public ChannelIndex(Duration broadcastEvery, int keysMax) {
        this.broadcastEvery = broadcastEvery;
        this.keysMax = keysMax;
    }

    public void join(ChannelSubscription subscription) {
        channels.computeIfAbsent(subscription.channel(), Channel::new).join(subscription);
    }

    /// The subscription leaves, and its entry with it.
    public void leave(ChannelSubscription subscription, Instant now) {
        Channel channel = channels.get(subscription.channel());
        if (channel == null) {
            return;
        }
        String subject = subscription.stream().identity().subject();
        if (subject != null) {
            untrack(subject, subscription, now);
        }
        channel.leave(subscription);
        if (channel.joined().isEmpty()) {
            channels.remove(subscription.channel());
            changed.remove(channel);
        }
    }

    /// Who joined the channel, in the order they did.
    public Collection<ChannelSubscription> joined(String channel) {
        Channel found = channels.get(channel);
        return found == null ? List.of() : found.joined();
    }

    /// Everybody present in the channel of this subscription.
    public PassingEvent state(ChannelSubscription subscription) {
        return joinedChannel(subscription).state();
    }

    /// What {@link #state} is at least as long as, without writing it.
    public int stateBytesMin(ChannelSubscription subscription) {
        return (int) Math.min(Integer.MAX_VALUE, joinedChannel(subscription).stateBytesMin());
    }

    /// Sets the entry of a key and a stream.
    ///
    /// @param meta JSON on one line; null for none
    /// @throws RequestException `PRESENCE_TOO_MANY_KEYS`
    public void track(String key, ChannelSubscription by, byte @Nullable [] meta, Instant now) {
        Channel channel = joinedChannel(by);
        String ref = Long.toString(++refs);
        switch (channel.presence().track(key, by, meta, now, ref, keysMax)) {
            case DONE -> changes(channel, now);
            case TOO_MANY_KEYS -> {
                channel.dropEmptyPresence();
                throw new RequestException(
                        ErrorCode.PRESENCE_TOO_MANY_KEYS,
                        "a channel shows at most " + keysMax
                                + " keys (SLUICE_PRESENCE_MAX_KEYS); try again when somebody has left");
            }
        }
    }

    /// Removes the entry of a key and a stream; nothing when there is none.
    public void untrack(String key, ChannelSubscription by, Instant now) {
        Channel channel = joinedChannel(by);
        channel.presence().untrack(key, by);
        changes(channel, now);
    }

    private Channel joinedChannel(ChannelSubscription subscription) {
        Channel channel = channels.get(subscription.channel());
        if (channel == null || !channel.joined().contains(subscription)) {
            throw new IllegalStateException("not joined: " + subscription.label());
        }
        return channel;
    }

    private void changes(Channel channel, Instant now) {
        if (!channel.presence().hasChanged()) {
            channel.dropEmptyPresence();
        } else if (changed.add(channel)) {
            channel.diffDue(now.plus(broadcastEvery));
        }
    }

    /// Gives each difference that is due to everybody in its channel.
    public void diffs(Instant now, BiConsumer<ChannelSubscription, PassingEvent> to) {
        while (!changed.isEmpty()) {
            Channel channel = changed.iterator().next();
            if (channel.diffDue().isAfter(now)) {
                return;
            }
            giveDiff(channel, to);
        }
    }

    /// Gives the channel's difference at once when it is as large as one may be: whoever comes and goes in between
    /// has a place in it.
    public void fullDiff(String name, BiConsumer<ChannelSubscription, PassingEvent> to) {
        Channel channel = channels.get(name);
        if (channel != null && changed.contains(channel) && channel.presence().changedKeys() >= 2 * keysMax) {
            giveDiff(channel, to);
        }
    }

    private void giveDiff(Channel channel, BiConsumer<ChannelSubscription, PassingEvent> to) {
        changed.remove(channel);
        PassingEvent diff = channel.presence().takeDiff();
        channel.dropEmptyPresence();
        for (ChannelSubscription subscription : new ArrayList<>(channel.joined())) {
            to.accept(subscription, diff);
        }
    }

    int channelCount() {
        return channels.size();
    }
}
