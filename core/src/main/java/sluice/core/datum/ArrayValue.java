package sluice.core.datum;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An array of up to six dimensions.
///
/// @param lengths of each dimension, outermost first; empty for the empty array
/// @param lowerBounds of each dimension, usually 1
/// @param elements in row-major order, null for a NULL element
public record ArrayValue(List<Integer> lengths, List<Integer> lowerBounds, List<@Nullable Object> elements) {
    public static final int DIMENSIONS_MAX = 6;

    public ArrayValue {
        lengths = List.copyOf(lengths);
        lowerBounds = List.copyOf(lowerBounds);
        elements = Collections.unmodifiableList(new ArrayList<>(elements));
    }

    /// An array of one dimension that starts at 1.
    public static ArrayValue of(List<? extends @Nullable Object> elements) {
        return elements.isEmpty()
                ? new ArrayValue(List.of(), List.of(), List.of())
                : new ArrayValue(List.of(elements.size()), List.of(1), new ArrayList<@Nullable Object>(elements));
    }

    public int dimensions() {
        return lengths.size();
    }

    public boolean hasNull() {
        return elements.contains(null);
    }
}
