package sluice.core.shape;

import java.util.List;
import sluice.core.catalog.Column;
import sluice.core.expression.Predicate;

/// A filter whose columns are known and whose literals PostgreSQL has typed and spelled.
///
/// @param terms in the client's order
/// @param predicate all terms ANDed
public record Filter(List<Term> terms, Predicate predicate) {
    public Filter {
        terms = List.copyOf(terms);
    }

    /// @param constants canonical text of each value, as pgoutput would send it
    public record Term(Column column, FilterTerm.Operator operator, List<String> constants) {
        public Term {
            constants = List.copyOf(constants);
        }
    }
}
