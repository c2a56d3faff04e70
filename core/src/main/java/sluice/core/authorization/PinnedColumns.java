package sluice.core.authorization;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/// The columns that have one value in every row of a shape, because its filter says `eq`.
///
/// @param textByAttnum PostgreSQL's own text of the value, read as the column's type; never NULL, which equals
///     nothing
public record PinnedColumns(Map<Integer, String> textByAttnum) {
    /// A shape without equalities.
    public static final PinnedColumns NONE = new PinnedColumns(Collections.emptyMap());

    public PinnedColumns {
        textByAttnum = Collections.unmodifiableMap(new LinkedHashMap<>(textByAttnum));
    }

    // Values are never printed.
    @Override
    public String toString() {
        return "PinnedColumns" + textByAttnum.keySet();
    }
}
