package sluice.core.datum;

import java.util.List;

/// The built-in range types.
public final class RangeTypes {
    static final List<ValueType<?>> ALL = List.of();

    private RangeTypes() {}
}
