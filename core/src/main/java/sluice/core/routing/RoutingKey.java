package sluice.core.routing;

import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.catalog.Index;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.expression.FilterTerm;
import sluice.core.shape.Filter;

/// The equality a subscription is filed under.
///
/// @param attnum the column
/// @param constant the value's canonical text
public record RoutingKey(int attnum, String column, String constant) {
    /// The best equality of a filter: one on a column that leads an index and is in the replica identity, then one
    /// that leads an index, then any; of equally good ones the first.
    ///
    /// @return null when the filter has no equality: the subscription is looked at on every change of its table
    public static @Nullable RoutingKey of(Filter filter, Relation relation) {
        RoutingKey best = null;
        int bestRank = -1;
        for (FilterTerm term : filter.terms()) {
            if (term.operator() == FilterTerm.Operator.EQUAL && term.negation() == FilterTerm.Negation.PLAIN) {
                int rank = rank(term.column(), relation);
                if (rank > bestRank) {
                    bestRank = rank;
                    best = new RoutingKey(
                            term.column().attnum(),
                            term.column().name(),
                            term.constants().getFirst());
                }
            }
        }
        return best;
    }

    private static int rank(Column column, Relation relation) {
        boolean indexed = false;
        for (Index index : relation.indexes()) {
            indexed |= !index.columns().isEmpty() && index.columns().getFirst() == column.attnum();
        }
        if (!indexed) {
            return 0;
        }
        boolean inIdentity = switch (relation.identity()) {
            case ReplicaIdentity.Default(var columns) -> columns.contains(column.attnum());
            case ReplicaIdentity.UsingIndex(var index, var columns) -> columns.contains(column.attnum());
            case ReplicaIdentity.Full() -> true;
            case ReplicaIdentity.Nothing() -> false;
        };
        return inIdentity ? 2 : 1;
    }
}
