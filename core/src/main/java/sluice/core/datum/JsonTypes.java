package sluice.core.datum;

import java.util.List;

/// `json` and `jsonb`.
public final class JsonTypes {
    /// The text as written.
    public static final ValueType<String> JSON = new JsonType();

    public static final ValueType<Json> JSONB = new JsonbType();

    static final List<ValueType<?>> ALL = List.of(JSON, JSONB);

    private JsonTypes() {}
}
