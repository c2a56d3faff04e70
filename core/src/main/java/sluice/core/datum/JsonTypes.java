package sluice.core.datum;

import java.util.List;

/// `json` and `jsonb`.
public final class JsonTypes {
    static final List<ValueType<?>> ALL = List.of();

    private JsonTypes() {}
}
