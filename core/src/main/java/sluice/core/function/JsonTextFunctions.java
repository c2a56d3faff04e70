package sluice.core.function;

import static sluice.core.datum.JsonTypes.JSON;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.TEXT;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.JsonNode;
import sluice.core.datum.JsonReader;
import sluice.core.datum.UndecidableException;

/// `json`: pieces of the text as it was written (`jsonfuncs.c`, `json.c`).
///
/// A text that stands for no character is stored without complaint, and raises once somebody looks inside.
final class JsonTextFunctions {
    private JsonTextFunctions() {}

    static void register(FunctionTable table) {
        table.binary("json_object_field", JSON, TEXT, JSON, (a, key) -> written(a, field(read(a), key)));
        table.binary("json_object_field_text", JSON, TEXT, TEXT, (a, key) -> text(a, field(read(a), key)));
        table.binary("json_array_element", JSON, INT4, JSON, (a, index) -> written(a, element(read(a), index)));
        table.binary("json_array_element_text", JSON, INT4, TEXT, (a, index) -> text(a, element(read(a), index)));
        table.sited("json_extract_path", List.of(JSON, JsonFunctions.TEXT_ARRAY), JSON, (_, arguments) -> {
            String json = Arguments.given(JSON, arguments[0]);
            ArrayValue path = JsonFunctions.array(arguments[1]);
            return path.hasNull() ? null : written(json, at(read(json), path));
        });
        table.sited("json_extract_path_text", List.of(JSON, JsonFunctions.TEXT_ARRAY), TEXT, (_, arguments) -> {
            String json = Arguments.given(JSON, arguments[0]);
            ArrayValue path = JsonFunctions.array(arguments[1]);
            return path.hasNull() ? null : text(json, at(read(json), path));
        });
        table.unary("json_typeof", JSON, TEXT, a -> kind(JsonReader.read(a, JsonReader.Escapes.SKIPPED)));
        table.unary("json_array_length", JSON, INT4, a -> {
            JsonNode node = JsonReader.read(a, JsonReader.Escapes.SKIPPED);
            if (node.kind() != JsonNode.Kind.ARRAY) {
                throw new EvaluationException(JsonFunctions.INVALID_PARAMETER);
            }
            return (long) node.values().size();
        });
    }

    private static JsonNode read(String json) {
        return JsonReader.read(json, JsonReader.Escapes.READ);
    }

    /// Of members with the same key the last counts.
    private static @Nullable JsonNode field(JsonNode node, String key) {
        int at = node.keys().lastIndexOf(key);
        return at < 0 ? null : node.values().get(at);
    }

    private static @Nullable JsonNode element(JsonNode node, long index) {
        if (node.kind() != JsonNode.Kind.ARRAY) {
            return null;
        }
        long at = index < 0 ? node.values().size() + index : index;
        return at >= 0 && at < node.values().size() ? node.values().get((int) at) : null;
    }

    /// @throws UndecidableException when a step has two ways to go: the server then goes both
    private static @Nullable JsonNode at(JsonNode root, ArrayValue path) {
        if (path.elements().isEmpty()) {
            return whole(root);
        }
        JsonNode found = root;
        for (int i = 0; i < path.elements().size() && found != null; i++) {
            String step = TEXT.cast(Arguments.notNull(path.elements().get(i)));
            boolean last = i == path.elements().size() - 1;
            if (!last && found.keys().indexOf(step) != found.keys().lastIndexOf(step)) {
                throw new UndecidableException();
            }
            if (found.kind() == JsonNode.Kind.ARRAY) {
                Integer index = JsonFunctions.index(step);
                found = index == null ? null : element(found, index);
            } else {
                found = field(found, step);
            }
        }
        return found;
    }

    /// A scalar that is the whole text keeps what stands before it when no step is taken.
    private static JsonNode whole(JsonNode root) {
        return root.kind() == JsonNode.Kind.OBJECT || root.kind() == JsonNode.Kind.ARRAY
                ? root
                : new JsonNode(root.kind(), 0, root.end(), root.text(), root.keys(), root.values());
    }

    private static @Nullable String written(String json, @Nullable JsonNode node) {
        return node == null ? null : json.substring(node.start(), node.end());
    }

    private static @Nullable String text(String json, @Nullable JsonNode node) {
        if (node == null || node.kind() == JsonNode.Kind.NULL) {
            return null;
        }
        return node.kind() == JsonNode.Kind.TEXT ? node.text() : written(json, node);
    }

    private static String kind(JsonNode node) {
        return switch (node.kind()) {
            case NULL -> "null";
            case FALSE, TRUE -> "boolean";
            case NUMBER -> "number";
            case TEXT -> "string";
            case ARRAY -> "array";
            case OBJECT -> "object";
        };
    }
}
