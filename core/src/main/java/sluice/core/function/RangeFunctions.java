package sluice.core.function;

import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.TEXT;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.RangeBound;
import sluice.core.datum.RangeBound.Edge;
import sluice.core.datum.RangeBound.Side;
import sluice.core.datum.RangeType;
import sluice.core.datum.RangeTypes;
import sluice.core.datum.RangeValue;
import sluice.core.datum.RangeValue.Span;
import sluice.core.datum.UndecidableException;

/// Ranges (`rangetypes.c`); what makes a range of two is in {@link RangeSets}.
final class RangeFunctions {
    static final List<Integer> TWO = List.of(Pseudo.ANYRANGE, Pseudo.ANYRANGE);

    private RangeFunctions() {}

    static void register(FunctionTable table) {
        table.polymorphicOrder("range_", Pseudo.ANYRANGE);
        positions(table);
        containment(table);
        parts(table);
        for (RangeType type : RangeTypes.RANGES) {
            constructors(table, type);
        }
        RangeSets.register(table);
    }

    /// A question about two ranges that is answered with no where one of them is empty.
    @FunctionalInterface
    private interface Question {
        boolean holds(RangeType type, Span a, Span b);
    }

    private static void question(FunctionTable table, String symbol, Question question) {
        table.polymorphic(
                        symbol,
                        TWO,
                        BOOL.oid(),
                        (site, given) -> range(given[0]) instanceof Span a
                                && range(given[1]) instanceof Span b
                                && question.holds(type(site, 0), a, b))
                .neverRaises();
    }

    private static void positions(FunctionTable table) {
        question(table, "range_overlaps", RangeFunctions::overlap);
        question(table, "range_before", (type, a, b) -> type.compareBounds(a.upper(), b.lower()) < 0);
        question(table, "range_after", (type, a, b) -> type.compareBounds(a.lower(), b.upper()) > 0);
        question(table, "range_overleft", (type, a, b) -> type.compareBounds(a.upper(), b.upper()) <= 0);
        question(table, "range_overright", (type, a, b) -> type.compareBounds(a.lower(), b.lower()) >= 0);
        question(table, "range_adjacent", RangeFunctions::adjacent);
    }

    private static void containment(FunctionTable table) {
        table.polymorphic(
                        "range_contains",
                        TWO,
                        BOOL.oid(),
                        (site, given) -> contains(type(site, 0), range(given[0]), range(given[1])))
                .neverRaises();
        table.polymorphic(
                        "range_contained_by",
                        TWO,
                        BOOL.oid(),
                        (site, given) -> contains(type(site, 0), range(given[1]), range(given[0])))
                .neverRaises();
        table.polymorphic(
                        "range_contains_elem",
                        List.of(Pseudo.ANYRANGE, Pseudo.ANYELEMENT),
                        BOOL.oid(),
                        (site, given) -> holds(type(site, 0), given[0], given[1]))
                .plannedOnNull()
                .neverRaises();
        table.polymorphic(
                        "elem_contained_by_range",
                        List.of(Pseudo.ANYELEMENT, Pseudo.ANYRANGE),
                        BOOL.oid(),
                        (site, given) -> holds(type(site, 1), given[1], given[0]))
                .plannedOnNull()
                .neverRaises();
    }

    private static void parts(FunctionTable table) {
        List<Integer> one = List.of(Pseudo.ANYRANGE);
        table.polymorphic(
                        "range_lower",
                        one,
                        Pseudo.ANYELEMENT,
                        (_, given) -> range(given[0]) instanceof Span span
                                ? span.lower().value()
                                : null)
                .neverRaises();
        table.polymorphic(
                        "range_upper",
                        one,
                        Pseudo.ANYELEMENT,
                        (_, given) -> range(given[0]) instanceof Span span
                                ? span.upper().value()
                                : null)
                .neverRaises();
        table.polymorphic("range_empty", one, BOOL.oid(), (_, given) -> !(range(given[0]) instanceof Span))
                .neverRaises();
        property(table, "range_lower_inc", span -> span.lower().isInclusive());
        property(table, "range_upper_inc", span -> span.upper().isInclusive());
        property(table, "range_lower_inf", span -> span.lower().isInfinite());
        property(table, "range_upper_inf", span -> span.upper().isInfinite());
    }

    private static void property(FunctionTable table, String symbol, Predicate<Span> property) {
        table.polymorphic(
                        symbol,
                        List.of(Pseudo.ANYRANGE),
                        BOOL.oid(),
                        (_, given) -> range(given[0]) instanceof Span span && property.test(span))
                .neverRaises();
    }

    /// NULL is no end on that side.
    private static void constructors(FunctionTable table, RangeType type) {
        table.sited(
                        "range_constructor2",
                        List.of(type.subtype(), type.subtype()),
                        type,
                        (_, given) -> made(type, given, "[)"))
                .calledOnNull();
        table.sited("range_constructor3", List.of(type.subtype(), type.subtype(), TEXT), type, (_, given) -> {
                    if (given[2] == null) {
                        throw new EvaluationException("22000");
                    }
                    return made(type, given, TEXT.cast(given[2]));
                })
                .calledOnNull();
    }

    private static RangeValue made(RangeType type, @Nullable Object[] ends, String edges) {
        return switch (edges) {
            case "[]", "[)", "(]", "()" ->
                type.make(
                        new RangeBound(Side.LOWER, ends[0], edges.charAt(0) == '[' ? Edge.INCLUSIVE : Edge.EXCLUSIVE),
                        new RangeBound(Side.UPPER, ends[1], edges.charAt(1) == ']' ? Edge.INCLUSIVE : Edge.EXCLUSIVE));
            default -> throw new EvaluationException("42601");
        };
    }

    static RangeValue range(@Nullable Object argument) {
        return (RangeValue) Arguments.notNull(argument);
    }

    static RangeType type(BuiltIn.CallSite site, int index) {
        if (site.argumentTypes().get(index) instanceof RangeType type) {
            return type;
        }
        throw new UndecidableException();
    }

    /// Whether one of them starts inside of the other.
    static boolean overlap(RangeType type, Span a, Span b) {
        return type.compareBounds(a.lower(), b.upper()) <= 0 && type.compareBounds(b.lower(), a.upper()) <= 0;
    }

    static boolean adjacent(RangeType type, Span a, Span b) {
        return type.adjacent(a.upper(), b.lower()) || type.adjacent(b.upper(), a.lower());
    }

    private static boolean contains(RangeType type, RangeValue whole, RangeValue part) {
        if (!(part instanceof Span b)) {
            return true;
        }
        return whole instanceof Span a
                && type.compareBounds(a.lower(), b.lower()) <= 0
                && type.compareBounds(a.upper(), b.upper()) >= 0;
    }

    /// Since PostgreSQL 17 the planner writes a constant range as comparisons of the value: none where the range
    /// is empty or has no end, so that a NULL makes no NULL there. Whether it saw a constant is not known here.
    private static @Nullable Boolean holds(RangeType type, @Nullable Object range, @Nullable Object value) {
        if (range == null) {
            return null;
        }
        if (value == null) {
            if (range instanceof Span span
                    && !(span.lower().isInfinite() && span.upper().isInfinite())) {
                return null;
            }
            throw new UndecidableException();
        }
        Span point = new Span(
                new RangeBound(Side.LOWER, value, Edge.INCLUSIVE), new RangeBound(Side.UPPER, value, Edge.INCLUSIVE));
        return contains(type, range(range), point);
    }
}
