package sluice.core.authorization;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.expression.EqualTexts;
import sluice.core.expression.FilterTerm;

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

    /// What a filter's equalities pin; of two on one column the later, which the filter itself contradicts anyway.
    ///
    /// A type in which equal values may be spelled apart pins nothing: a rule may ask for the spelling.
    ///
    /// @param terms conditions that all hold for every row of the shape
    public static PinnedColumns of(List<FilterTerm> terms) {
        Map<Integer, String> pinned = new LinkedHashMap<>();
        for (FilterTerm term : terms) {
            if (term.isEquality() && term.equality() == EqualTexts.IDENTICAL) {
                pinned.put(term.column().attnum(), term.constants().getFirst());
            }
        }
        return new PinnedColumns(pinned);
    }
}
