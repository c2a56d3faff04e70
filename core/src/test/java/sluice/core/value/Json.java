package sluice.core.value;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Somebody else's reader, strict where ours could be lax.
public final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNumberLength(Integer.MAX_VALUE)
                            .maxStringLength(Integer.MAX_VALUE)
                            .build())
                    .build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private Json() {}

    /// Reads one JSON value and nothing else.
    ///
    /// @throws AssertionError when it is not that, not UTF-8, or not on one line for the most generous line reader
    public static JsonNode line(byte[] bytes) {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new AssertionError("not UTF-8: " + new String(bytes, StandardCharsets.ISO_8859_1), e);
        }
        if (text.chars().anyMatch(Json::endsLine)) {
            throw new AssertionError("more than one line: " + text);
        }
        return parse(text);
    }

    public static JsonNode parse(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (IOException e) {
            throw new AssertionError("not JSON: " + text, e);
        }
    }

    private static boolean endsLine(int unit) {
        return unit < 0x20 || unit == 0x85 || unit == 0x2028 || unit == 0x2029;
    }
}
