package sluice.core.routing;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.catalog.Index;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.expression.EqualTexts;
import sluice.core.expression.FilterTerm;
import sluice.core.shape.Filter;

/// The values under which a subscription is filed: a row with none of them in the column is not of its shape.
///
/// @param attnum the column
/// @param constants PostgreSQL's text of each value, at least one
/// @param equality how the texts of equal values of the column relate, other than not at all
public record RoutingKey(int attnum, String column, List<String> constants, EqualTexts equality) {
    public RoutingKey {
        constants = List.copyOf(constants);
    }

    /// Values may be anybody's and are never printed.
    @Override
    public String toString() {
        return "RoutingKey[" + column + ", " + constants.size() + "]";
    }

    /// The best condition that every row of the shape fulfils: an equality on a column that leads
    /// an index and is in
    /// the replica identity, then on one that leads an index, then on any; then, in the same order, a list; of
    /// equally good ones the first.
    ///
    /// @return null when there is none: the subscription is looked at on every change of its table
    public static @Nullable RoutingKey of(Filter filter, Relation relation) {
        FilterTerm best = null;
        int bestRank = -1;
        for (FilterTerm term : filter.conjuncts()) {
            if ((term.isEquality() || term.isMembership()) && term.equality() != EqualTexts.UNRELATED) {
                int rank = rank(term.column(), relation) + (term.isEquality() ? RANKS : 0);
                if (rank > bestRank) {
                    bestRank = rank;
                    best = term;
                }
            }
        }
        return best == null
                ? null
                : new RoutingKey(best.column().attnum(), best.column().name(), best.constants(), best.equality());
    }

    private static final int RANKS = 3;

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
            case ReplicaIdentity.Uneven(var partition) -> false;
        };
        return inIdentity ? 2 : 1;
    }
}
