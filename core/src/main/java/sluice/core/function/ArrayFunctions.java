package sluice.core.function;

import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.TEXT;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Json;
import sluice.core.datum.JsonTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;

/// Arrays of any element type: comparisons, containment and dimensions (`arrayfuncs.c`). What searches or changes an
/// array is in {@link ArrayChanges}.
///
/// Those that compare elements may raise: PostgreSQL does for element types that have no equality or no order.
final class ArrayFunctions {
    private static final List<Integer> ONE = List.of(Pseudo.ANYARRAY);
    private static final List<Integer> TWO = List.of(Pseudo.ANYARRAY, Pseudo.ANYARRAY);

    private ArrayFunctions() {}

    static void register(FunctionTable table) {
        comparisons(table);
        containment(table);
        dimensions(table);
        ArrayChanges.register(table);
    }

    private static void comparisons(FunctionTable table) {
        table.polymorphic("array_eq", TWO, BOOL.oid(), (site, given) -> equal(site, given[0], given[1]))
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic("array_ne", TWO, BOOL.oid(), (site, given) -> !equal(site, given[0], given[1]))
                .uses(BuiltIn.CollationUse.EQUALITY);
        for (ComparisonKind kind : ComparisonKind.values()) {
            if (kind != ComparisonKind.EQUAL && kind != ComparisonKind.NOT_EQUAL) {
                table.polymorphic(
                                "array_" + kind.suffix(),
                                TWO,
                                BOOL.oid(),
                                (site, given) ->
                                        kind.holds(comparable(site, 0).compare(array(given[0]), array(given[1]))))
                        .uses(BuiltIn.CollationUse.ORDER);
            }
        }
    }

    private static void containment(FunctionTable table) {
        table.polymorphic(
                        "arraycontains",
                        TWO,
                        BOOL.oid(),
                        (site, given) -> all(comparable(site, 0), array(given[1]), array(given[0])))
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic(
                        "arraycontained",
                        TWO,
                        BOOL.oid(),
                        (site, given) -> all(comparable(site, 0), array(given[0]), array(given[1])))
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic(
                        "arrayoverlap",
                        TWO,
                        BOOL.oid(),
                        (site, given) -> any(comparable(site, 0), array(given[0]), array(given[1])))
                .uses(BuiltIn.CollationUse.EQUALITY);
    }

    private static void dimensions(FunctionTable table) {
        List<Integer> numbered = List.of(Pseudo.ANYARRAY, INT4.oid());
        table.polymorphic("array_ndims", ONE, INT4.oid(), (_, given) -> {
                    long dimensions = array(given[0]).dimensions();
                    return dimensions == 0 ? null : dimensions;
                })
                .neverRaises();
        table.polymorphic("array_cardinality", ONE, INT4.oid(), (_, given) ->
                        (long) array(given[0]).elements().size())
                .neverRaises();
        table.polymorphic("array_dims", ONE, TEXT.oid(), (_, given) -> bounds(array(given[0])))
                .neverRaises();
        table.polymorphic("array_lower", numbered, INT4.oid(), (_, given) -> lower(array(given[0]), given[1]))
                .neverRaises();
        table.polymorphic("array_length", numbered, INT4.oid(), (_, given) -> length(array(given[0]), given[1]))
                .neverRaises();
        table.polymorphic("array_upper", numbered, INT4.oid(), (_, given) -> {
                    Long lower = lower(array(given[0]), given[1]);
                    Long length = length(array(given[0]), given[1]);
                    return lower == null || length == null ? null : lower + length - 1;
                })
                .neverRaises();
    }

    static ArrayValue array(@Nullable Object argument) {
        return (ArrayValue) Arguments.notNull(argument);
    }

    /// The type of an argument that is an array, whatever its elements are.
    static ArrayType type(BuiltIn.CallSite site, int index) {
        if (site.argumentTypes().get(index) instanceof ArrayType type) {
            return type;
        }
        throw new UndecidableException();
    }

    /// The type of an argument whose elements are compared.
    ///
    /// @throws UndecidableException for elements without an order here; some of those raise in PostgreSQL
    static ArrayType comparable(BuiltIn.CallSite site, int index) {
        ArrayType type = type(site, index);
        if (!type.isOrdered()) {
            throw new UndecidableException();
        }
        return type;
    }

    /// Whether two elements are equal; NULL is to NULL where arrays are compared.
    static boolean equal(ValueType<?> element, @Nullable Object left, @Nullable Object right) {
        if (left == null || right == null) {
            return left == null && right == null;
        }
        // The order of two JSON texts is the default collation's affair, their equality is not.
        return element.equals(JsonTypes.JSONB) ? Json.same((Json) left, (Json) right) : element.order(left, right) == 0;
    }

    private static boolean equal(BuiltIn.CallSite site, @Nullable Object left, @Nullable Object right) {
        ValueType<?> element = comparable(site, 0).element();
        ArrayValue a = array(left);
        ArrayValue b = array(right);
        if (!a.lengths().equals(b.lengths()) || !a.lowerBounds().equals(b.lowerBounds())) {
            return false;
        }
        for (int i = 0; i < a.elements().size(); i++) {
            if (!equal(element, a.elements().get(i), b.elements().get(i))) {
                return false;
            }
        }
        return true;
    }

    /// Whether every element is one of the whole's; NULL is in no array.
    private static boolean all(ArrayType type, ArrayValue part, ArrayValue whole) {
        requireWork(part, whole);
        for (Object element : part.elements()) {
            if (element == null || !holds(type, whole, element)) {
                return false;
            }
        }
        return true;
    }

    private static boolean any(ArrayType type, ArrayValue left, ArrayValue right) {
        requireWork(left, right);
        for (Object element : left.elements()) {
            if (element != null && holds(type, right, element)) {
                return true;
            }
        }
        return false;
    }

    /// Each element is compared with each: what would hold up the engine is not decided.
    private static void requireWork(ArrayValue left, ArrayValue right) {
        if ((long) left.elements().size() * right.elements().size() > Characters.WORK_MAX) {
            throw new UndecidableException();
        }
    }

    private static boolean holds(ArrayType type, ArrayValue array, Object wanted) {
        for (Object element : array.elements()) {
            if (element != null && equal(type.element(), element, wanted)) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable Long lower(ArrayValue array, @Nullable Object dimension) {
        return of(array.lowerBounds(), dimension);
    }

    private static @Nullable Long length(ArrayValue array, @Nullable Object dimension) {
        return of(array.lengths(), dimension);
    }

    /// @param dimension counted from one
    private static @Nullable Long of(List<Integer> dimensions, @Nullable Object dimension) {
        long number = Arguments.given(INT4, dimension);
        return number < 1 || number > dimensions.size() ? null : (long) dimensions.get((int) number - 1);
    }

    private static @Nullable String bounds(ArrayValue array) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < array.dimensions(); i++) {
            int lower = array.lowerBounds().get(i);
            int upper = lower + array.lengths().get(i) - 1;
            text.append('[').append(lower).append(':').append(upper).append(']');
        }
        return text.isEmpty() ? null : text.toString();
    }

    /// An array of one dimension, as functions that walk through one require it.
    ///
    /// @param sqlState what PostgreSQL says of an array of more dimensions
    static ArrayValue flat(@Nullable Object argument, String sqlState) {
        ArrayValue array = array(argument);
        if (array.dimensions() > 1) {
            throw new EvaluationException(sqlState);
        }
        return array;
    }
}
