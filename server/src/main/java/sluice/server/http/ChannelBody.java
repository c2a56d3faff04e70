package sluice.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.ChannelSettings;
import sluice.core.dispatch.ControlRequest;
import sluice.core.dispatch.ControlRequest.Echo;
import sluice.core.dispatch.ControlRequest.Presence.Action;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.value.JsonLine;

/// The bodies of `/publish` and `/presence`. What a client has to say goes on as it wrote it, digits and all.
///
/// Both throw `BAD_REQUEST`, or `PAYLOAD_TOO_LARGE` when nothing else is wrong with the body.
final class ChannelBody {
    private static final int EVENT_CHARS_MAX = 256;
    private static final String STREAM_ID = "stream_id";

    private ChannelBody() {}

    static ControlBody publish(byte[] body, long payloadBytesMax) {
        JsonNode root = JsonBody.object(body);
        JsonBody.onlyMembers(root, List.of(STREAM_ID, "channel", "event", "payload", "self"));
        String streamId = JsonBody.text(root, STREAM_ID);
        String channel = JsonBody.requiredText(root, "channel");
        String event = JsonBody.requiredText(root, "event");
        if (event.length() > EVENT_CHARS_MAX) {
            throw JsonBody.bad("\"event\" is longer than " + EVENT_CHARS_MAX + " characters");
        }
        Echo echo = JsonBody.flag(root, "self") ? Echo.TO_SELF : Echo.TO_OTHERS;
        byte[] payload = member(body, "payload");
        if (payload != null && payload.length > payloadBytesMax) {
            throw tooLarge("payload", payloadBytesMax + " bytes (SLUICE_MAX_PAYLOAD_BYTES)");
        }
        return new ControlBody(streamId, new ControlRequest.Publish(channel, event, payload, echo));
    }

    static ControlBody presence(byte[] body) {
        JsonNode root = JsonBody.object(body);
        JsonBody.onlyMembers(root, List.of(STREAM_ID, "channel", "action", "key", "meta"));
        String streamId = JsonBody.text(root, STREAM_ID);
        String channel = JsonBody.requiredText(root, "channel");
        Action action = action(JsonBody.text(root, "action"));
        String key = JsonBody.text(root, "key");
        byte[] meta = member(body, "meta");
        if (meta != null && meta.length > ChannelSettings.META_BYTES_MAX) {
            throw tooLarge("meta", ChannelSettings.META_BYTES_MAX + " bytes");
        }
        return new ControlBody(streamId, new ControlRequest.Presence(channel, action, key, meta));
    }

    private static Action action(@Nullable String text) {
        if (text == null) {
            return Action.TRACK;
        }
        for (Action action : List.of(Action.TRACK, Action.UPDATE, Action.UNTRACK)) {
            if (action.name().toLowerCase(Locale.ROOT).equals(text)) {
                return action;
            }
        }
        return Action.UNKNOWN;
    }

    private static byte @Nullable [] member(byte[] body, String name) {
        byte[] line = JsonLine.of(body);
        if (line == null) {
            throw JsonBody.bad("the body is nested too deep");
        }
        return JsonLine.member(line, name);
    }

    private static RequestException tooLarge(String member, String limit) {
        return new RequestException(ErrorCode.PAYLOAD_TOO_LARGE, "\"" + member + "\" is longer than " + limit);
    }
}
