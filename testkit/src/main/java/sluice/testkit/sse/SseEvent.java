package sluice.testkit.sse;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

/// One event as it arrived.
///
/// @param event its type; `message` when the server named none
/// @param id the `id` field of this very event, or null when it had none
/// @param data the `data` lines, joined by line feeds
/// @param raw all of it as received, with its blank line, comments before it included
public record SseEvent(String event, @Nullable String id, String data, String raw) {
    private static final ObjectMapper JSON = new ObjectMapper();

    public boolean is(String type) {
        return event.equals(type);
    }

    /// @throws AssertionError when the data is not one JSON value
    public JsonNode json() {
        try {
            return JSON.readTree(data);
        } catch (JsonProcessingException e) {
            throw new AssertionError("not JSON: " + data, e);
        }
    }
}
