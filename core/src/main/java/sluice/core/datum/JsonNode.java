package sluice.core.datum;

import java.util.ArrayList;
import java.util.List;

/// A value inside a JSON text and where it stands there, as `json` keeps it.
///
/// @param start of its text
/// @param end behind its text
/// @param text of a text without quotes and escapes, of a number as written; empty for others
/// @param keys of an object, in the order they are written, repetitions included; empty for others
/// @param values of an object or an array
public record JsonNode(Kind kind, int start, int end, String text, List<String> keys, List<JsonNode> values) {
    public JsonNode {
        keys = List.copyOf(keys);
        values = List.copyOf(values);
    }

    /// What a value is.
    public enum Kind {
        NULL,
        FALSE,
        TRUE,
        NUMBER,
        TEXT,
        ARRAY,
        OBJECT
    }

    /// As `jsonb`.
    ///
    /// @throws UndecidableException for a number with more digits than are held here
    public Json toJson() {
        return switch (kind) {
            case NULL -> Json.Null.INSTANCE;
            case FALSE -> new Json.Truth(false);
            case TRUE -> new Json.Truth(true);
            case NUMBER -> JsonReader.number(text);
            case TEXT -> new Json.Text(text);
            case ARRAY -> {
                List<Json> elements = new ArrayList<>(values.size());
                for (JsonNode value : values) {
                    elements.add(value.toJson());
                }
                yield new Json.Array(elements);
            }
            case OBJECT -> {
                List<Json.Member> members = new ArrayList<>(values.size());
                for (int i = 0; i < values.size(); i++) {
                    members.add(new Json.Member(keys.get(i), values.get(i).toJson()));
                }
                yield Json.Mapping.of(members);
            }
        };
    }
}
