package sluice.core.routing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.expression.ColumnMapping;
import sluice.core.pgoutput.Tuple;

/// The subscriptions of one table, filed so that a change finds those that might care by look-up.
///
/// A change is looked up under the new and the old value of each column anything is filed under. Where an image is
/// there and does not carry the column, everything filed under it is a candidate: too many, never too few. Owned by
/// the engine's thread.
///
/// @param <S> what is filed
public final class RoutingIndex<S> {
    private final Map<Integer, Map<TextKey, Set<S>>> filedByAttnum = new LinkedHashMap<>();
    private final Set<S> unindexed = new LinkedHashSet<>();
    private final TextKey probe = new TextKey();
    private int size;

    /// @param key null files under no column
    public void add(S subscription, @Nullable RoutingKey key) {
        boolean added = key == null
                ? unindexed.add(subscription)
                : filedByAttnum
                        .computeIfAbsent(key.attnum(), attnum -> new HashMap<>())
                        .computeIfAbsent(TextKey.of(key.constant()), text -> new LinkedHashSet<>(2))
                        .add(subscription);
        size += added ? 1 : 0;
    }

    /// @param key the one the subscription was added with
    public void remove(S subscription, @Nullable RoutingKey key) {
        if (key == null) {
            size -= unindexed.remove(subscription) ? 1 : 0;
            return;
        }
        Map<TextKey, Set<S>> byText = filedByAttnum.get(key.attnum());
        Set<S> filed = byText == null ? null : byText.get(TextKey.of(key.constant()));
        if (byText == null || filed == null || !filed.remove(subscription)) {
            return;
        }
        size--;
        if (filed.isEmpty()) {
            byText.remove(TextKey.of(key.constant()));
            if (byText.isEmpty()) {
                filedByAttnum.remove(key.attnum());
            }
        }
    }

    public int size() {
        return size;
    }

    public int unindexedSize() {
        return unindexed.size();
    }

    /// Everything filed, in no promised order across columns.
    public java.util.List<S> all() {
        java.util.List<S> all = new ArrayList<>(size);
        for (Map<TextKey, Set<S>> byText : filedByAttnum.values()) {
            for (Set<S> filed : byText.values()) {
                all.addAll(filed);
            }
        }
        all.addAll(unindexed);
        return all;
    }

    /// Names each subscription the change might concern, once.
    ///
    /// @param row the new image, null for a DELETE
    /// @param old the old image, null when the log carried none
    /// @return how many were named
    public int candidates(
            @Nullable Tuple row, @Nullable Tuple old, ColumnMapping mapping, Consumer<? super S> consumer) {
        int named = unindexed.size();
        unindexed.forEach(consumer);
        for (Map.Entry<Integer, Map<TextKey, Set<S>>> column : filedByAttnum.entrySet()) {
            int position = mapping.position(column.getKey());
            named += candidatesOf(column.getValue(), position, row, old, consumer);
        }
        return named;
    }

    @SuppressWarnings("ReferenceEquality") // the same set twice, not two that are equal
    private int candidatesOf(
            Map<TextKey, Set<S>> byText,
            int position,
            @Nullable Tuple row,
            @Nullable Tuple old,
            Consumer<? super S> consumer) {
        Set<S> now = filed(byText, position, row);
        Set<S> before = filed(byText, position, old);
        if (silent(position, row) || silent(position, old)) {
            int named = 0;
            for (Set<S> filed : byText.values()) {
                filed.forEach(consumer);
                named += filed.size();
            }
            return named;
        }
        int named = 0;
        if (now != null) {
            now.forEach(consumer);
            named += now.size();
        }
        if (before != null && before != now) {
            before.forEach(consumer);
            named += before.size();
        }
        return named;
    }

    private @Nullable Set<S> filed(Map<TextKey, Set<S>> byText, int position, @Nullable Tuple image) {
        if (position == ColumnMapping.ABSENT || image == null || image.kind(position) != Tuple.Kind.TEXT) {
            return null;
        }
        probe.look(image, position);
        Set<S> found = byText.get(probe);
        probe.release();
        return found;
    }

    /// An image that does not say what the column holds. NULL does say, and no equality matches it.
    private static boolean silent(int position, @Nullable Tuple image) {
        if (image == null) {
            return false;
        }
        if (position == ColumnMapping.ABSENT) {
            return true;
        }
        return switch (image.kind(position)) {
            case TEXT, NULL -> false;
            case UNCHANGED, NOT_SENT -> true;
        };
    }
}
