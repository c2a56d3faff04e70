package sluice.core.datum;

import java.util.List;

/// `date`, `time`, `timetz`, `timestamp`, `timestamptz` and `interval`.
public final class TimeTypes {
    static final List<ValueType<?>> ALL = List.of();

    private TimeTypes() {}
}
