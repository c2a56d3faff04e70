package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// A filter's conditions, joined by AND and OR. Immutable, and as deep as whoever builds it allows.
///
/// @param <T> what a single condition is
public sealed interface FilterTree<T> {
    /// One condition.
    record Leaf<T>(T term) implements FilterTree<T> {}

    /// Several conditions in the client's order; without any, AND is TRUE and OR is FALSE.
    record Group<T>(Connective connective, FilterTerm.Negation negation, List<FilterTree<T>> members)
            implements FilterTree<T> {
        public Group {
            members = List.copyOf(members);
        }
    }

    /// How the members of a group are joined.
    enum Connective {
        AND,
        OR
    }

    /// All of these.
    static <T> FilterTree<T> every(List<FilterTree<T>> members) {
        return new Group<>(Connective.AND, FilterTerm.Negation.PLAIN, members);
    }

    /// Every condition, in order.
    default List<T> terms() {
        List<T> terms = new ArrayList<>();
        collect(this, Reach.EVERYTHING, terms);
        return terms;
    }

    /// The conditions that each hold for every row the whole holds for, in order: those under no OR and no NOT of a
    /// group.
    default List<T> conjuncts() {
        List<T> terms = new ArrayList<>();
        collect(this, Reach.CONJUNCTS, terms);
        return terms;
    }

    /// The same joints with other conditions. The function is called in the order of {@link #terms}.
    default <R> FilterTree<R> map(Function<? super T, ? extends R> function) {
        return switch (this) {
            case Leaf<T>(var term) -> new Leaf<>(function.apply(term));
            case Group<T>(var connective, var negation, var members) -> {
                List<FilterTree<R>> mapped = new ArrayList<>(members.size());
                for (FilterTree<T> member : members) {
                    mapped.add(member.map(function));
                }
                yield new Group<>(connective, negation, mapped);
            }
        };
    }

    /// How far terms are collected.
    enum Reach {
        EVERYTHING,
        CONJUNCTS
    }

    private static <T> void collect(FilterTree<T> tree, Reach reach, List<T> into) {
        switch (tree) {
            case Leaf<T>(var term) -> into.add(term);
            case Group<T>(var connective, var negation, var members) -> {
                boolean allHold = connective == Connective.AND && negation == FilterTerm.Negation.PLAIN;
                if (reach == Reach.EVERYTHING || allHold) {
                    for (FilterTree<T> member : members) {
                        collect(member, reach, into);
                    }
                }
            }
        }
    }
}
