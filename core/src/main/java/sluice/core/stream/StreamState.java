package sluice.core.stream;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.session.Identity;

/// One open stream as the engine knows it. Owned by the engine's thread.
public final class StreamState {
    private final StreamHandle handle;
    private final Identity identity;
    private final Map<String, Subscription> subscriptionsByLabel = new LinkedHashMap<>();
    private final ArrayDeque<HeldCommit> held = new ArrayDeque<>(0);
    private boolean open = true;
    private int slowSubscriptions;
    private long commitSerial;
    private int commitEvents;
    private long commitBytes;
    private int heldEvents;
    private long heldBytes;

    public StreamState(StreamHandle handle, Identity identity) {
        this.handle = handle;
        this.identity = identity;
    }

    public StreamHandle handle() {
        return handle;
    }

    public Identity identity() {
        return identity;
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
