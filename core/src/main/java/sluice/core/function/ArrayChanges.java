package sluice.core.function;

import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;

/// What searches an array or makes one of another (`array_userfuncs.c`, `arrayfuncs.c`).
final class ArrayChanges {
    private static final int ARRAY = Pseudo.ANYCOMPATIBLEARRAY;
    private static final int ELEMENT = Pseudo.ANYCOMPATIBLE;
    private static final int INT4_ARRAY = 1007;

    private static final String SUBSCRIPT = "2202E";
    private static final String NOT_SUPPORTED = "0A000";
    private static final String DATA = "22000";
    private static final String NULL_NOT_ALLOWED = "22004";

    private ArrayChanges() {}

    static void register(FunctionTable table) {
        searches(table);
        changes(table);
        orders(table);
    }

    private static void searches(FunctionTable table) {
        table.polymorphic("array_position", List.of(ARRAY, ELEMENT), INT4.oid(), ArrayChanges::position)
                .calledOnNull()
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic(
                        "array_position_start", List.of(ARRAY, ELEMENT, INT4.oid()), INT4.oid(), ArrayChanges::position)
                .calledOnNull()
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic("array_positions", List.of(ARRAY, ELEMENT), INT4_ARRAY, ArrayChanges::positions)
                .calledOnNull()
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic("width_bucket_array", List.of(ELEMENT, ARRAY), INT4.oid(), ArrayChanges::bucket)
                .uses(BuiltIn.CollationUse.ORDER);
    }

    private static void changes(FunctionTable table) {
        table.polymorphic(
                        "array_append",
                        List.of(ARRAY, ELEMENT),
                        ARRAY,
                        (_, given) -> extended(orEmpty(given[0]), given[1], Side.END))
                .calledOnNull();
        table.polymorphic(
                        "array_prepend",
                        List.of(ELEMENT, ARRAY),
                        ARRAY,
                        (_, given) -> extended(orEmpty(given[1]), given[0], Side.START))
                .calledOnNull();
        table.polymorphic(
                        "array_cat",
                        List.of(ARRAY, ARRAY),
                        ARRAY,
                        (_, given) -> joined((ArrayValue) given[0], (ArrayValue) given[1]))
                .calledOnNull();
        table.polymorphic("array_remove", List.of(ARRAY, ELEMENT), ARRAY, ArrayChanges::removed)
                .calledOnNull()
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic("array_replace", List.of(ARRAY, ELEMENT, ELEMENT), ARRAY, ArrayChanges::replaced)
                .calledOnNull()
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic(
                "trim_array",
                List.of(Pseudo.ANYARRAY, INT4.oid()),
                Pseudo.ANYARRAY,
                (_, given) -> trimmed(ArrayFunctions.array(given[0]), Arguments.given(INT4, given[1])));
    }

    private static void orders(FunctionTable table) {
        table.polymorphic(
                        "array_reverse",
                        List.of(Pseudo.ANYARRAY),
                        Pseudo.ANYARRAY,
                        (_, given) -> reversed(ArrayFunctions.array(given[0])))
                .neverRaises();
        table.polymorphic(
                        "array_sort",
                        List.of(Pseudo.ANYARRAY),
                        Pseudo.ANYARRAY,
                        (site, given) -> sorted(site, given[0], Place.LAST, Place.LAST))
                .uses(BuiltIn.CollationUse.ORDER);
        table.polymorphic(
                        "array_sort_order",
                        List.of(Pseudo.ANYARRAY, BOOL.oid()),
                        Pseudo.ANYARRAY,
                        (site, given) -> sorted(site, given[0], Place.of(given[1]), Place.of(given[1])))
                .uses(BuiltIn.CollationUse.ORDER);
        table.polymorphic(
                        "array_sort_order_nulls_first",
                        List.of(Pseudo.ANYARRAY, BOOL.oid(), BOOL.oid()),
                        Pseudo.ANYARRAY,
                        (site, given) -> sorted(site, given[0], Place.of(given[1]), Place.of(given[2])))
                .uses(BuiltIn.CollationUse.ORDER);
    }

    private static ArrayValue orEmpty(@Nullable Object array) {
        return array == null ? ArrayValue.of(List.of()) : (ArrayValue) array;
    }

    /// The subscript of the first element that is the wanted one, NULL being equal to NULL.
    private static @Nullable Object position(BuiltIn.CallSite site, @Nullable Object[] given) {
        if (given[0] == null) {
            return null;
        }
        ArrayValue array = ArrayFunctions.flat(given[0], NOT_SUPPORTED);
        if (array.dimensions() == 0 || (given[1] == null && !array.hasNull())) {
            return null;
        }
        long first = array.lowerBounds().getFirst();
        long from = first;
        if (given.length == 3) {
            if (given[2] == null) {
                throw new EvaluationException(NULL_NOT_ALLOWED);
            }
            from = INT4.cast(given[2]);
        }
        ValueType<?> element = ArrayFunctions.comparable(site, 0).element();
        for (long i = Math.max(0, from - first); i < array.elements().size(); i++) {
            if (ArrayFunctions.equal(element, array.elements().get((int) i), given[1])) {
                return first + i;
            }
        }
        return null;
    }

    private static @Nullable Object positions(BuiltIn.CallSite site, @Nullable Object[] given) {
        if (given[0] == null) {
            return null;
        }
        ArrayValue array = ArrayFunctions.flat(given[0], NOT_SUPPORTED);
        ValueType<?> element = ArrayFunctions.comparable(site, 0).element();
        List<Long> positions = new ArrayList<>();
        for (int i = 0; i < array.elements().size(); i++) {
            if (ArrayFunctions.equal(element, array.elements().get(i), given[1])) {
                positions.add((long) array.lowerBounds().getFirst() + i);
            }
        }
        return ArrayValue.of(positions);
    }

    /// How many of the thresholds, which ascend, are not above the value.
    private static Object bucket(BuiltIn.CallSite site, @Nullable Object[] given) {
        Object value = Arguments.notNull(given[0]);
        ArrayValue thresholds = ArrayFunctions.flat(given[1], SUBSCRIPT);
        if (thresholds.hasNull()) {
            throw new EvaluationException(NULL_NOT_ALLOWED);
        }
        ValueType<?> element = ArrayFunctions.comparable(site, 1).element();
        int left = 0;
        int right = thresholds.elements().size();
        while (left < right) {
            int middle = (left + right) / 2;
            if (element.order(value, Arguments.notNull(thresholds.elements().get(middle))) < 0) {
                right = middle;
            } else {
                left = middle + 1;
            }
        }
        return (long) left;
    }

    private enum Side {
        START,
        END
    }

    /// The lower bound stays what it was, on whichever side the element comes.
    private static ArrayValue extended(ArrayValue array, @Nullable Object element, Side side) {
        if (array.dimensions() > 1) {
            throw new EvaluationException(DATA);
        }
        List<@Nullable Object> elements = new ArrayList<>(array.elements());
        elements.add(side == Side.START ? 0 : elements.size(), element);
        int lower = array.dimensions() == 0 ? 1 : array.lowerBounds().getFirst();
        if (side == Side.START && lower == Integer.MIN_VALUE) {
            throw new EvaluationException("22003");
        }
        // One that comes first is put below the others, and all are moved up unchecked.
        List<Integer> checked = List.of(side == Side.START ? lower - 1 : lower);
        ArrayValue extended = bounded(List.of(elements.size()), checked, elements);
        return new ArrayValue(extended.lengths(), List.of(lower), extended.elements());
    }

    /// Subscripts are `int`s, the one behind the last included.
    private static ArrayValue bounded(
            List<Integer> lengths, List<Integer> lowerBounds, List<? extends @Nullable Object> elements) {
        if ((long) lowerBounds.getFirst() + lengths.getFirst() > Integer.MAX_VALUE) {
            throw new EvaluationException("54000");
        }
        return new ArrayValue(lengths, lowerBounds, new ArrayList<@Nullable Object>(elements));
    }

    /// One behind the other, or one as an element of the other that has a dimension more.
    private static @Nullable ArrayValue joined(@Nullable ArrayValue a, @Nullable ArrayValue b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        if (a.dimensions() == 0 || b.dimensions() == 0) {
            return b.dimensions() == 0 ? a : b;
        }
        int deeper = Integer.compare(a.dimensions(), b.dimensions());
        ArrayValue outer = deeper < 0 ? b : a;
        List<Integer> lengths = new ArrayList<>(outer.lengths());
        boolean fits;
        if (deeper == 0) {
            int last = a.dimensions();
            fits = a.lengths().subList(1, last).equals(b.lengths().subList(1, last))
                    && a.lowerBounds().subList(1, last).equals(b.lowerBounds().subList(1, last));
            lengths.set(0, lengths.getFirst() + b.lengths().getFirst());
        } else {
            ArrayValue inner = deeper < 0 ? a : b;
            fits = inner.lengths().equals(outer.lengths().subList(1, outer.dimensions()))
                    && inner.lowerBounds().equals(outer.lowerBounds().subList(1, outer.dimensions()));
            lengths.set(0, lengths.getFirst() + 1);
        }
        if (!fits) {
            throw new EvaluationException(SUBSCRIPT);
        }
        List<@Nullable Object> elements = new ArrayList<>(a.elements());
        elements.addAll(b.elements());
        return bounded(lengths, outer.lowerBounds(), elements);
    }

    private static @Nullable Object removed(BuiltIn.CallSite site, @Nullable Object[] given) {
        if (given[0] == null) {
            return null;
        }
        ArrayValue array = ArrayFunctions.flat(given[0], NOT_SUPPORTED);
        ValueType<?> element = ArrayFunctions.comparable(site, 0).element();
        List<@Nullable Object> kept = new ArrayList<>(array.elements());
        kept.removeIf(each -> ArrayFunctions.equal(element, each, given[1]));
        return kept.isEmpty() ? ArrayValue.of(kept) : new ArrayValue(List.of(kept.size()), array.lowerBounds(), kept);
    }

    private static @Nullable Object replaced(BuiltIn.CallSite site, @Nullable Object[] given) {
        if (given[0] == null) {
            return null;
        }
        ArrayValue array = (ArrayValue) given[0];
        ValueType<?> element = ArrayFunctions.comparable(site, 0).element();
        List<@Nullable Object> elements = new ArrayList<>(array.elements());
        elements.replaceAll(each -> ArrayFunctions.equal(element, each, given[1]) ? given[2] : each);
        return new ArrayValue(array.lengths(), array.lowerBounds(), elements);
    }

    /// Without its last members; as every slice, numbered from one.
    private static ArrayValue trimmed(ArrayValue array, long count) {
        int members = array.dimensions() == 0 ? 0 : array.lengths().getFirst();
        if (count < 0 || count > members) {
            throw new EvaluationException(SUBSCRIPT);
        }
        if (count == members) {
            return ArrayValue.of(List.of());
        }
        int left = members - (int) count;
        List<Integer> lengths = new ArrayList<>(array.lengths());
        lengths.set(0, left);
        int each = array.elements().size() / members;
        return new ArrayValue(
                lengths,
                Collections.nCopies(lengths.size(), 1),
                array.elements().subList(0, left * each));
    }

    /// The members of the outermost dimension from the last to the first.
    private static ArrayValue reversed(ArrayValue array) {
        if (array.dimensions() == 0) {
            return array;
        }
        int each = array.elements().size() / array.lengths().getFirst();
        List<@Nullable Object> elements = new ArrayList<>();
        for (int at = array.elements().size() - each; at >= 0; at -= each) {
            elements.addAll(array.elements().subList(at, at + each));
        }
        return new ArrayValue(array.lengths(), array.lowerBounds(), elements);
    }

    private enum Place {
        FIRST,
        LAST;

        static Place of(@Nullable Object first) {
            return Arguments.given(BOOL, first) ? FIRST : LAST;
        }
    }

    /// @param greatest where the greatest value comes
    /// @throws UndecidableException for more dimensions, and where two elements are equal and not the same: which
    ///     comes first is the sort's affair
    private static ArrayValue sorted(BuiltIn.CallSite site, @Nullable Object argument, Place greatest, Place nulls) {
        ArrayValue array = ArrayFunctions.array(argument);
        if (array.dimensions() == 0) {
            return array;
        }
        ArrayType type = ArrayFunctions.comparable(site, 0);
        if (array.dimensions() > 1) {
            throw new UndecidableException();
        }
        List<Object> values = new ArrayList<>();
        for (Object element : array.elements()) {
            if (element != null) {
                values.add(element);
            }
        }
        values.sort((a, b) -> {
            int order = type.element().order(a, b);
            if (order == 0 && !a.equals(b)) {
                throw new UndecidableException();
            }
            return greatest == Place.FIRST ? -order : order;
        });
        List<@Nullable Object> elements = new ArrayList<>(values);
        int missing = array.elements().size() - values.size();
        elements.addAll(nulls == Place.FIRST ? 0 : elements.size(), Collections.nCopies(missing, null));
        return new ArrayValue(array.lengths(), array.lowerBounds(), elements);
    }
}
