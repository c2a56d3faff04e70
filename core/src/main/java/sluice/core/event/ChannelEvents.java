package sluice.core.event;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.value.ByteSink;
import sluice.core.value.JsonString;
import sluice.core.wal.Lsn;

/// Writes what a channel's streams receive, each event once for all of them.
public final class ChannelEvents {
    private ChannelEvents() {}

    /// Who sent a broadcast.
    public sealed interface Origin {
        /// @param subject the publisher's `sub`, null for a token without one
        record Client(@Nullable String subject) implements Origin {}

        /// @param commitLsn null for a message outside a transaction
        record Database(@Nullable Lsn commitLsn) implements Origin {}
    }

    /// @param eventJson the event's name as a JSON string
    /// @param payloadJson JSON on one line; null for none
    public record Message(byte[] eventJson, byte @Nullable [] payloadJson) {}

    /// One key of a channel's presence as it is shown.
    ///
    /// @param metaJson JSON on one line; null for none
    /// @param since when the key came
    /// @param ref tells two values of one key apart
    public record Member(byte @Nullable [] metaJson, Instant since, String ref) {}

    public static PassingEvent broadcast(String channel, Message message, Origin origin, Instant at) {
        byte[] payload = message.payloadJson();
        ByteSink out = new ByteSink(256 + (payload == null ? 0 : payload.length));
        channel(channel, out);
        out.put(",\"event\":");
        out.put(message.eventJson());
        if (payload != null) {
            out.put(",\"payload\":");
            out.put(payload);
        }
        switch (origin) {
            case Origin.Client(var subject) -> {
                if (subject != null) {
                    out.put(",\"from\":");
                    JsonString.quote(subject, out);
                }
                out.put(",\"origin\":\"client\"");
            }
            case Origin.Database(var commitLsn) -> {
                out.put(",\"origin\":\"database\"");
                if (commitLsn != null) {
                    out.put(",\"commit_lsn\":\"");
                    out.put(commitLsn.toString());
                    out.put('"');
                }
            }
        }
        out.put(",\"at\":\"");
        out.put(Timestamps.rfc3339(at));
        out.put("\"}\n\n");
        return new PassingEvent(PassingEvent.Kind.BROADCAST, out.toBytes());
    }

    /// Everybody present. Without members the event has no `members`.
    public static PassingEvent state(String channel, Map<String, Member> members) {
        ByteSink out = new ByteSink(256);
        channel(channel, out);
        out.put(",\"type\":\"state\"");
        members(",\"members\":", members, Shown.WHOLE, out);
        return end(out);
    }

    /// What changed since the last one.
    ///
    /// @param leaves as they were shown last
    public static PassingEvent diff(String channel, Map<String, Member> joins, Map<String, Member> leaves) {
        ByteSink out = new ByteSink(256);
        channel(channel, out);
        out.put(",\"type\":\"diff\"");
        members(",\"joins\":", joins, Shown.WHOLE, out);
        members(",\"leaves\":", leaves, Shown.WITHOUT_SINCE, out);
        return end(out);
    }

    private enum Shown {
        WHOLE,
        WITHOUT_SINCE
    }

    private static void channel(String channel, ByteSink out) {
        out.put(",\"channel\":");
        JsonString.quote(channel, out);
    }

    private static PassingEvent end(ByteSink out) {
        out.put("}\n\n");
        return new PassingEvent(PassingEvent.Kind.PRESENCE, out.toBytes());
    }

    private static void members(String name, Map<String, Member> members, Shown shown, ByteSink out) {
        if (members.isEmpty()) {
            return;
        }
        out.put(name);
        char separator = '{';
        for (Map.Entry<String, Member> entry : members.entrySet()) {
            out.put(separator);
            separator = ',';
            JsonString.quote(entry.getKey(), out);
            out.put(":{");
            Member member = entry.getValue();
            byte[] meta = member.metaJson();
            if (meta != null) {
                out.put("\"meta\":");
                out.put(meta);
                out.put(',');
            }
            if (shown == Shown.WHOLE) {
                out.put("\"since\":\"");
                out.put(Timestamps.rfc3339(member.since()));
                out.put("\",");
            }
            out.put("\"ref\":");
            JsonString.quote(member.ref(), out);
            out.put('}');
        }
        out.put('}');
    }
}
