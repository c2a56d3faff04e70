package sluice.core.channel;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import sluice.core.event.ChannelEvents;
import sluice.core.transaction.LogicalMessage;
import sluice.core.value.JsonLine;
import sluice.core.value.JsonString;

/// What a message of `pg_logical_emit_message` says, and where.
///
/// The content is JSON or plain text. A JSON object with a non-empty string `event` names the broadcast; its
/// `payload`, or without one the whole object, is the payload. Everything else is the payload of a `message`.
public record DatabaseMessage(String channel, ChannelEvents.Message message) {
    private static final byte[] MESSAGE = "\"message\"".getBytes(StandardCharsets.US_ASCII);

    /// @param prefix what the prefixes of messages meant for clients begin with
    /// @return null when the message is not meant for clients
    public static @Nullable DatabaseMessage of(LogicalMessage emitted, String prefix) {
        if (!emitted.prefix().startsWith(prefix) || emitted.prefix().length() == prefix.length()) {
            return null;
        }
        return new DatabaseMessage(emitted.prefix().substring(prefix.length()), message(emitted.content()));
    }

    private static ChannelEvents.Message message(byte[] content) {
        byte[] json = JsonLine.of(content);
        if (json == null) {
            return new ChannelEvents.Message(MESSAGE, JsonString.quoted(content));
        }
        byte[] event = JsonLine.member(json, "event");
        if (event == null || !JsonLine.isNonEmptyString(event)) {
            return new ChannelEvents.Message(MESSAGE, json);
        }
        byte[] payload = JsonLine.member(json, "payload");
        return new ChannelEvents.Message(event, payload == null ? json : payload);
    }
}
