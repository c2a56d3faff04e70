package sluice.core.shape;

import java.util.List;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.Predicate;

/// A filter whose columns are known and whose literals PostgreSQL has typed and spelled.
///
/// @param terms in the client's order
/// @param predicate all terms ANDed
public record Filter(List<FilterTerm> terms, Predicate predicate) {
    public Filter {
        terms = List.copyOf(terms);
    }
}
