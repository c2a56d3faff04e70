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
        textByAttnum = kept(textByAttnum);
    }

    /// Mostly there is one, in each of a great many shapes.
    private static Map<Integer, String> kept(Map<Integer, String> pinned) {
        return switch (pinned.size()) {
            case 0 -> Collections.emptyMap();
            case 1 -> {
                Map.Entry<Integer, String> only = pinned.entrySet().iterator().next();
                yield Collections.singletonMap(only.getKey(), only.getValue());
            }
            default -> Collections.unmodifiableMap(new LinkedHashMap<>(pinned));
        };
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
