package sluice.core.datum;

import java.util.List;

/// `bpchar`, `name` and `bytea`.
public final class TextTypes {
    static final List<ValueType<?>> ALL = List.of();

    private TextTypes() {}
}
