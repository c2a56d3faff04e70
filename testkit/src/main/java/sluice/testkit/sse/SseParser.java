package sluice.testkit.sse;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Turns the bytes of an event stream into events, however they are cut.
///
/// Follows "Interpreting an event stream" of the HTML standard: lines end in LF, CR or CRLF; a line that starts
/// with a colon is a comment; one blank after a field's colon is not part of its value; an event without data is not
/// dispatched; what stands after the last blank line when the stream ends is dropped.
final class SseParser {
    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private final Consumer<SseEvent> events;
    private final Consumer<String> comments;

    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final ByteArrayOutputStream raw = new ByteArrayOutputStream();
    private final StringBuilder data = new StringBuilder();
    private boolean afterCarriageReturn;
    private boolean atStart = true;
    private String type = "";
    private @Nullable String id;
    private @Nullable Long retryMillis;

    SseParser(Consumer<SseEvent> events, Consumer<String> comments) {
        this.events = events;
        this.comments = comments;
    }

    /// How long the server asks clients to wait before they reconnect; null until it says so.
    @Nullable
    Long retryMillis() {
        return retryMillis;
    }

    void feed(byte[] bytes, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            byte next = bytes[i];
            if (next == '\n' && afterCarriageReturn) {
                afterCarriageReturn = false; // the second half of a line end
                continue;
            }
            raw.write(next);
            afterCarriageReturn = next == '\r';
            if (next == '\n' || next == '\r') {
                endLine();
            } else {
                line.write(next);
            }
        }
    }

    private void endLine() {
        String text = line.toString(StandardCharsets.UTF_8);
        line.reset();
        if (atStart) {
            atStart = false;
            text = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
        }
        if (text.isEmpty()) {
            endEvent();
            return;
        }
        int colon = text.indexOf(':');
        if (colon == 0) {
            comments.accept(text.substring(1).strip());
            return;
        }
        String value = colon < 0 ? "" : text.substring(colon + 1);
        field(colon < 0 ? text : text.substring(0, colon), value.startsWith(" ") ? value.substring(1) : value);
    }

    private void field(String name, String value) {
        switch (name) {
            case "event" -> type = value;
            case "data" -> data.append(value).append('\n');
            case "id" -> id = value.indexOf('\0') < 0 ? value : id;
            case "retry" -> retryMillis = value.matches("\\d{1,18}") ? Long.valueOf(value) : retryMillis;
            default -> {} // unknown fields are ignored
        }
    }

    private void endEvent() {
        if (!data.isEmpty()) {
            data.setLength(data.length() - 1);
            events.accept(new SseEvent(
                    type.isEmpty() ? "message" : type, id, data.toString(), raw.toString(StandardCharsets.UTF_8)));
        }
        raw.reset();
        data.setLength(0);
        type = "";
        id = null;
    }
}
