package sluice.core.channel;

import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.event.PassingEvent;
import sluice.core.stream.ChannelSubscription;

/// One channel somebody joined. Owned by the engine's thread.
final class Channel {
    private final String name;
    private final Set<ChannelSubscription> joined = new LinkedHashSet<>();
    private @Nullable Presence presence;
    private Instant diffDue = Instant.MAX;

    Channel(String name) {
        this.name = name;
    }

    Collection<ChannelSubscription> joined() {
        return joined;
    }

    void join(ChannelSubscription subscription) {
        joined.add(subscription);
    }

    void leave(ChannelSubscription subscription) {
        joined.remove(subscription);
    }

    Presence presence() {
        Presence present = presence;
        if (present == null) {
            present = new Presence(name);
            presence = present;
        }
        return present;
    }

    /// Nobody keeps an empty list.
    void dropEmptyPresence() {
        Presence present = presence;
        if (present != null && present.isEmpty()) {
            presence = null;
        }
    }

    PassingEvent state() {
        Presence present = presence;
        return present == null ? new Presence(name).state() : present.state();
    }

    long stateBytesMin() {
        Presence present = presence;
        return present == null ? 0 : present.stateBytesMin();
    }

    Instant diffDue() {
        return diffDue;
    }

    void diffDue(Instant at) {
        diffDue = at;
    }
}
