package sluice.server.http;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;

/// Reads request bodies strictly: types are exact, a member given twice or not known is refused and named.
///
/// Every method throws `BAD_REQUEST`, whose message holds member names and no values.
final class JsonBody {
    private static final int NAME_CHARS_MAX = 64;

    /// As many subscriptions as a stream may have at the most generous setting: each entry of a list is
    /// answered, and an answer is longer than the shortest entry.
    static final int ENTRIES_MAX = 10_000;

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private JsonBody() {}

    static boolean isBlank(byte[] body) {
        for (byte one : body) {
            if (one != ' ' && one != '\t' && one != '\r' && one != '\n') {
                return false;
            }
        }
        return true;
    }

    /// The body as an object.
    static JsonNode object(byte[] body) {
        JsonNode root;
        try {
            root = JSON.readTree(body);
        } catch (JacksonException e) {
            // its text repeats the client's, so it goes nowhere
            throw bad("the body is not valid JSON");
        } catch (IOException e) {
            throw new IllegalStateException("reading bytes in memory failed", e);
        }
        if (!root.isObject()) {
            throw bad("the body must be a JSON object");
        }
        return root;
    }

    /// Nothing is ignored.
    static void onlyMembers(JsonNode object, List<String> known) {
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            if (!known.contains(member.getKey())) {
                throw bad(unknown(member.getKey()));
            }
        }
    }

    /// Null when it is absent, null or empty.
    static @Nullable String text(JsonNode object, String name) {
        JsonNode value = object.get(name);
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isTextual()) {
            throw bad("\"" + name + "\" must be a string");
        }
        return value.textValue().isEmpty() ? null : value.textValue();
    }

    /// False when it is absent or null.
    static boolean flag(JsonNode object, String name) {
        JsonNode value = object.get(name);
        if (value != null && !value.isNull() && !value.isBoolean()) {
            throw bad("\"" + name + "\" must be true or false");
        }
        return value != null && value.booleanValue();
    }

    static String requiredText(JsonNode object, String name) {
        String text = text(object, name);
        if (text == null) {
            throw bad("\"" + name + "\" is missing");
        }
        return text;
    }

    static List<String> requiredTexts(JsonNode object, String name) {
        JsonNode values = object.get(name);
        if (values == null || values.isNull()) {
            throw bad("\"" + name + "\" is missing");
        }
        if (!values.isArray()) {
            throw bad("\"" + name + "\" must be an array of strings");
        }
        boundedList(values, name);
        List<String> texts = new ArrayList<>();
        for (JsonNode value : values) {
            if (!value.isTextual()) {
                throw bad("\"" + name + "\" must be an array of strings");
            }
            texts.add(value.textValue());
        }
        return texts;
    }

    static void boundedList(JsonNode values, String name) {
        if (values.size() > ENTRIES_MAX) {
            throw bad("\"" + name + "\" has more than " + ENTRIES_MAX + " entries; send them in several requests");
        }
    }

    static RequestException bad(String message) {
        return new RequestException(ErrorCode.BAD_REQUEST, message);
    }

    static String unknown(String name) {
        String shown = name.length() <= NAME_CHARS_MAX ? name : name.substring(0, NAME_CHARS_MAX) + "...";
        return "unknown member \"" + shown + "\"";
    }
}
