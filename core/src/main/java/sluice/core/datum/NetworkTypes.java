package sluice.core.datum;

import java.util.List;

/// `inet` and `cidr`.
public final class NetworkTypes {
    static final List<ValueType<?>> ALL = List.of();

    private NetworkTypes() {}
}
