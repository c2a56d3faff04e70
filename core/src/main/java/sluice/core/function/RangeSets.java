package sluice.core.function;

import sluice.core.datum.EvaluationException;
import sluice.core.datum.RangeBound;
import sluice.core.datum.RangeType;
import sluice.core.datum.RangeValue;
import sluice.core.datum.RangeValue.Empty;
import sluice.core.datum.RangeValue.Span;

/// Ranges as sets: union, intersection and difference (`rangetypes.c`). A result that is not one range is an error.
final class RangeSets {
    private RangeSets() {}

    static void register(FunctionTable table) {
        register(table, "range_union", (type, a, b) -> union(type, a, b, Gap.REFUSED));
        register(table, "range_merge", (type, a, b) -> union(type, a, b, Gap.INCLUDED));
        register(table, "range_intersect", RangeSets::intersection);
        register(table, "range_minus", RangeSets::difference);
    }

    private enum Gap {
        REFUSED,
        INCLUDED
    }

    @FunctionalInterface
    private interface Combination {
        RangeValue of(RangeType type, RangeValue a, RangeValue b);
    }

    private static void register(FunctionTable table, String symbol, Combination combination) {
        table.polymorphic(
                symbol,
                RangeFunctions.TWO,
                Pseudo.ANYRANGE,
                (site, given) -> combination.of(
                        RangeFunctions.type(site, 0), RangeFunctions.range(given[0]), RangeFunctions.range(given[1])));
    }

    private static RangeValue union(RangeType type, RangeValue first, RangeValue second, Gap gap) {
        if (!(first instanceof Span a) || !(second instanceof Span b)) {
            return first instanceof Span ? first : second;
        }
        if (gap == Gap.REFUSED && !RangeFunctions.overlap(type, a, b) && !RangeFunctions.adjacent(type, a, b)) {
            throw notOneRange();
        }
        return type.make(
                type.compareBounds(a.lower(), b.lower()) < 0 ? a.lower() : b.lower(),
                type.compareBounds(a.upper(), b.upper()) > 0 ? a.upper() : b.upper());
    }

    private static RangeValue intersection(RangeType type, RangeValue first, RangeValue second) {
        if (!(first instanceof Span a) || !(second instanceof Span b) || !RangeFunctions.overlap(type, a, b)) {
            return Empty.EMPTY;
        }
        return type.make(
                type.compareBounds(a.lower(), b.lower()) >= 0 ? a.lower() : b.lower(),
                type.compareBounds(a.upper(), b.upper()) <= 0 ? a.upper() : b.upper());
    }

    private static RangeValue difference(RangeType type, RangeValue first, RangeValue second) {
        if (!(first instanceof Span a) || !(second instanceof Span b) || !RangeFunctions.overlap(type, a, b)) {
            return first;
        }
        int starts = type.compareBounds(a.lower(), b.lower());
        int ends = type.compareBounds(a.upper(), b.upper());
        if (starts < 0 && ends > 0) {
            throw notOneRange();
        }
        if (starts >= 0 && ends <= 0) {
            return Empty.EMPTY;
        }
        RangeBound lower = starts < 0 ? a.lower() : b.upper().opposite();
        RangeBound upper = starts < 0 ? b.lower().opposite() : a.upper();
        return type.make(lower, upper);
    }

    private static EvaluationException notOneRange() {
        return new EvaluationException("22000");
    }
}
