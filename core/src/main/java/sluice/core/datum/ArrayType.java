package sluice.core.datum;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An array of another type.
///
/// Source: PostgreSQL 18 manual, 8.15.6 "Array Input and Output Syntax"; `array_out`, `array_cmp` and `array.h`.
public final class ArrayType extends ValueType<ArrayValue> {
    private final ValueType<?> element;

    /// @param oid of the array type itself
    public ArrayType(int oid, ValueType<?> element) {
        super(oid, 0, element.sqlName() + "[]", Storage.variable());
        this.element = element;
    }

    public ValueType<?> element() {
        return element;
    }

    @Override
    public ArrayValue parse(String text) {
        return new ArrayText(text, element).read();
    }

    @Override
    public String print(ArrayValue value) {
        return ArrayText.print(value, element);
    }

    @Override
    public ArrayValue cast(Object value) {
        return (ArrayValue) value;
    }

    @Override
    public boolean hasFormOf(ValueType<?> other) {
        return other instanceof ArrayType array && element.hasFormOf(array.element);
    }

    @Override
    public boolean readsText() {
        return false;
    }

    @Override
    public boolean isOrdered() {
        return element.isOrdered();
    }

    @Override
    public boolean collatable() {
        return element.collatable();
    }

    /// Elements first, a NULL after every value, then the number of elements, the dimensions, their lower bounds.
    @Override
    public int compare(ArrayValue left, ArrayValue right) {
        int shorter = Math.min(left.elements().size(), right.elements().size());
        for (int i = 0; i < shorter; i++) {
            Object a = left.elements().get(i);
            Object b = right.elements().get(i);
            int order = a == null || b == null ? Boolean.compare(a == null, b == null) : element.order(a, b);
            if (order != 0) {
                return order;
            }
        }
        int order = Integer.compare(left.elements().size(), right.elements().size());
        if (order == 0) {
            order = Integer.compare(left.dimensions(), right.dimensions());
        }
        for (int i = 0; order == 0 && i < left.dimensions(); i++) {
            order = Integer.compare(left.lengths().get(i), right.lengths().get(i));
        }
        for (int i = 0; order == 0 && i < left.dimensions(); i++) {
            order = Integer.compare(
                    left.lowerBounds().get(i), right.lowerBounds().get(i));
        }
        return order;
    }

    @Override
    public ArrayValue decode(ByteBuffer datum) throws DatumFormatException {
        Datums.need(datum.remaining() >= 12);
        int dimensions = datum.getInt(0);
        int dataOffset = datum.getInt(4);
        Datums.need(dimensions >= 0 && dimensions <= ArrayValue.DIMENSIONS_MAX && datum.getInt(8) == element.oid());
        Datums.need(datum.remaining() >= 12 + 8 * dimensions);
        List<Integer> lengths = new ArrayList<>();
        List<Integer> lowerBounds = new ArrayList<>();
        long count = dimensions == 0 ? 0 : 1;
        for (int i = 0; i < dimensions; i++) {
            lengths.add(datum.getInt(12 + 4 * i));
            lowerBounds.add(datum.getInt(12 + 4 * dimensions + 4 * i));
            Datums.need(lengths.getLast() >= 0);
            count *= lengths.getLast();
            Datums.need(count <= datum.remaining() * 8L);
        }
        Layout layout = new Layout((int) count, 12 + 8 * dimensions, dataOffset);
        return new ArrayValue(lengths, lowerBounds, elements(datum, layout));
    }

    /// @param bitmap where the null bitmap lies if there is one
    /// @param dataOffset from the start of the header, 0 when no element is NULL
    private record Layout(int count, int bitmap, int dataOffset) {
        /// Offsets here count from behind the four-byte header, alignment from its start.
        int start() {
            return dataOffset != 0 ? dataOffset - 4 : PackedValues.align(bitmap, 8);
        }
    }

    private List<@Nullable Object> elements(ByteBuffer array, Layout layout) throws DatumFormatException {
        List<@Nullable Object> elements = new ArrayList<>();
        PackedValues packed = new PackedValues(array, element, layout.start());
        for (int i = 0; i < layout.count(); i++) {
            if (layout.dataOffset() != 0) {
                Datums.need(layout.bitmap() + i / 8 < array.limit());
                if ((array.get(layout.bitmap() + i / 8) >> i % 8 & 1) == 0) {
                    elements.add(null);
                    continue;
                }
            }
            elements.add(packed.next());
        }
        return elements;
    }
}
