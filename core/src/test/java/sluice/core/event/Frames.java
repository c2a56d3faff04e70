package sluice.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import sluice.core.value.Json;

/// A frame taken apart by the rules of Server-Sent Events, with nothing allowed that we do not send.
///
/// @param id empty when the frame has none
public record Frames(String event, String id, JsonNode data) {
    public static Frames parse(byte[] frame) {
        String text = new String(frame, StandardCharsets.UTF_8);
        assertThat(text).endsWith("\n\n").doesNotContain("\r");
        String[] lines = text.substring(0, text.length() - 2).split("\n", -1);
        String id = "";
        String data = "";
        for (String line : List.of(lines).subList(1, lines.length)) {
            if (line.startsWith("id: ")) {
                assertThat(id).isEmpty();
                id = line.substring(4);
            } else {
                assertThat(line).startsWith("data: ");
                assertThat(data).isEmpty();
                data = line.substring(6);
            }
        }
        assertThat(lines[0]).startsWith("event: ");
        return new Frames(lines[0].substring(7), id, Json.line(data.getBytes(StandardCharsets.UTF_8)));
    }
}
