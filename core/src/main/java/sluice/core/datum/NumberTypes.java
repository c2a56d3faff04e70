package sluice.core.datum;

import java.util.List;

/// `numeric`, `float4` and `float8`.
public final class NumberTypes {
    static final List<ValueType<?>> ALL = List.of();

    private NumberTypes() {}
}
