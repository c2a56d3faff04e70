package sluice.core.channel;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.event.ChannelEvents;
import sluice.core.event.ChannelEvents.Member;
import sluice.core.event.PassingEvent;
import sluice.core.stream.ChannelSubscription;

/// Who is present in one channel. Owned by the engine's thread.
///
/// An entry belongs to a key and a stream. A key shows the latest of its live entries and leaves with the last one,
/// so a stream that ends takes its own entry along and nobody else's. What changed is collected until {@link
/// #takeDiff}: whoever was given {@link #state} and then every difference holds what this holds.
final class Presence {
    /// What became of an update.
    enum Outcome {
        DONE,
        TOO_MANY_KEYS
    }

    private static final class Key {
        private final Instant since;

        /// The latest entry is the last.
        private final LinkedHashMap<ChannelSubscription, Member> entries = new LinkedHashMap<>();

        Key(Instant since) {
            this.since = since;
        }

        Member shown() {
            return entries.lastEntry().getValue();
        }
    }

    private final String channel;
    private final Map<String, Key> keys = new LinkedHashMap<>();

    /// Keys that changed since the last difference, with what they showed last.
    private final Map<String, Member> changed = new LinkedHashMap<>();

    Presence(String channel) {
        this.channel = channel;
    }

    /// Sets the stream's entry.
    ///
    /// @param meta JSON on one line; null for none
    /// @param ref tells this value from every other of the key
    Outcome track(String name, ChannelSubscription by, byte @Nullable [] meta, Instant now, String ref, int keysMax) {
        Key key = keys.get(name);
        if (key == null) {
            if (keys.size() >= keysMax) {
                return Outcome.TOO_MANY_KEYS;
            }
            key = new Key(now);
            keys.put(name, key);
        }
        Member member = new Member(meta, key.since, ref);
        key.entries.remove(by);
        key.entries.put(by, member);
        changed.put(name, member);
        return Outcome.DONE;
    }

    /// Removes the stream's entry; nothing when it has none.
    void untrack(String name, ChannelSubscription by) {
        Key key = keys.get(name);
        if (key == null || !key.entries.containsKey(by)) {
            return;
        }
        Member shown = key.shown();
        boolean ownIsShown = key.entries.lastEntry().getKey() == by;
        key.entries.remove(by);
        if (key.entries.isEmpty()) {
            keys.remove(name);
        }
        if (ownIsShown) {
            changed.put(name, shown);
        }
    }

    boolean isEmpty() {
        return keys.isEmpty() && changed.isEmpty();
    }

    boolean hasChanged() {
        return !changed.isEmpty();
    }

    /// Members the next difference has.
    int changedKeys() {
        return changed.size();
    }

    /// What {@link #state} is at least as long as.
    long stateBytesMin() {
        long bytes = 0;
        for (Key key : keys.values()) {
            byte[] meta = key.shown().metaJson();
            bytes += meta == null ? 0 : meta.length;
        }
        return bytes;
    }

    /// Everybody present now.
    PassingEvent state() {
        Map<String, Member> members = new LinkedHashMap<>();
        keys.forEach((name, key) -> members.put(name, key.shown()));
        return ChannelEvents.state(channel, members);
    }

    /// What changed since the last difference, which is forgotten by it.
    PassingEvent takeDiff() {
        Map<String, Member> joins = new LinkedHashMap<>();
        Map<String, Member> leaves = new LinkedHashMap<>();
        changed.forEach((name, shownLast) -> {
            Key key = keys.get(name);
            if (key == null) {
                // also told of one that came and went in between: a state may have shown it
                leaves.put(name, shownLast);
            } else {
                joins.put(name, key.shown());
            }
        });
        changed.clear();
        return ChannelEvents.diff(channel, joins, leaves);
    }
}
