package sluice.core.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.core.transaction.LogicalMessage;

class DatabaseMessageTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"event\":\"paid\",\"payload\":{\"id\":1}}|\"paid\"|{\"id\":1}",
                "{\"payload\":[1, 2],\"event\":\"paid\"}|\"paid\"|[1,2]",
                "{\"event\":\"paid\",\"id\":1}|\"paid\"|{\"event\":\"paid\",\"id\":1}",
                "{\"event\":\"paid\",\"payload\":null}|\"paid\"|null",
                "{\"event\":\"a\",\"event\":\"b\",\"payload\":1}|\"b\"|1",
                "{\"ev\\u0065nt\":\"paid\",\"payload\":1}|\"paid\"|1",
                "{\"x\":{\"event\":\"deep\"},\"payload\":1}|\"message\"|{\"x\":{\"event\":\"deep\"},\"payload\":1}",
                "{\"event\":\"\",\"payload\":1}|\"message\"|{\"event\":\"\",\"payload\":1}",
                "{\"event\":5,\"payload\":1}|\"message\"|{\"event\":5,\"payload\":1}",
                "{\"id\":1}|\"message\"|{\"id\":1}",
                "{}|\"message\"|{}",
                "[ ]|\"message\"|[]",
                " 1.50 |\"message\"|1.50",
                "\"event\"|\"message\"|\"event\"",
                "hello|\"message\"|\"hello\"",
                "{\"event\":|\"message\"|\"{\\\"event\\\":\"",
                "01|\"message\"|\"01\""
            })
    void content_is_an_envelope_json_or_text(String content, String event, String payload) {
        DatabaseMessage message = of("sluice:orders:1", content);

        assertThat(message).isNotNull();
        assertThat(message.channel()).isEqualTo("orders:1");
        assertThat(message.message().eventJson())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo(event);
        assertThat(message.message().payloadJson())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo(payload);
    }

    @Test
    void empty_content_is_an_empty_text() {
        DatabaseMessage message = of("sluice:room:1", "");

        assertThat(message).isNotNull();
        assertThat(message.message().payloadJson())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("\"\"");
    }

    @Test
    void bytes_that_are_no_text_become_a_string_that_can_be_read() {
        DatabaseMessage message = DatabaseMessage.of(
                new LogicalMessage("sluice:room:1", new byte[] {'a', (byte) 0xFF, '\n', 0, '"'}), "sluice:");

        assertThat(message).isNotNull();
        assertThat(message.message().payloadJson())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("\"a\uFFFD\\n\\u0000\\\"\"");
    }

    @Test
    void other_prefixes_and_an_empty_channel_are_not_for_clients() {
        assertThat(of("other:room:1", "x")).isNull();
        assertThat(of("sluice", "x")).isNull();
        assertThat(of("sluice:", "x")).isNull();
    }

    private static @Nullable DatabaseMessage of(String prefix, String content) {
        return DatabaseMessage.of(new LogicalMessage(prefix, content.getBytes(StandardCharsets.UTF_8)), "sluice:");
    }
}
