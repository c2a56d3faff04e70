package sluice.core.routing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.expression.EqualTexts;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.Tuple;

/// The subscriptions of one table, filed so that a change finds those that might care by look-up.
///
/// A subscription may be filed under several values of one column. A change is looked up under the new and the old
/// value of each column anything is filed under. Where an image is there and does not carry the column, everything
/// filed under it is a candidate: too many, never too few. Owned by the engine's thread.
///
/// @param <S> what is filed
public final class RoutingIndex<S> {
    /// A column as something is filed under it. Its type changes only with all that is filed, but not in one step.
    private record Place(int attnum, EqualTexts equality) {}

    /// What is filed under one value, never nothing. Mostly one subscription alone, which pays for no set.
    private sealed interface Filed<S> {
        int size();

        boolean contains(S subscription);

        void forEach(Consumer<? super S> consumer);

        /// Names those that the other has not.
        int forEachOutside(Filed<S> other, Consumer<? super S> consumer);
    }

    private record One<S>(S subscription) implements Filed<S> {
        @Override
        public int size() {
            return 1;
        }

        @Override
        public boolean contains(S other) {
            return subscription.equals(other);
        }

        @Override
        public void forEach(Consumer<? super S> consumer) {
            consumer.accept(subscription);
        }

        @Override
        public int forEachOutside(Filed<S> other, Consumer<? super S> consumer) {
            if (other.contains(subscription)) {
                return 0;
            }
            consumer.accept(subscription);
            return 1;
        }
    }

    private record Several<S>(Set<S> subscriptions) implements Filed<S> {
        @Override
        public int size() {
            return subscriptions.size();
        }

        @Override
        public boolean contains(S other) {
            return subscriptions.contains(other);
        }

        @Override
        public void forEach(Consumer<? super S> consumer) {
            subscriptions.forEach(consumer);
        }

        @Override
        public int forEachOutside(Filed<S> other, Consumer<? super S> consumer) {
            int named = 0;
            for (S subscription : subscriptions) {
                if (!other.contains(subscription)) {
                    consumer.accept(subscription);
                    named++;
                }
            }
            return named;
        }
    }

    /// What is filed under one column.
    private static final class Drawer<S> {
        private final Map<TextKey, Filed<S>> filedByText = new HashMap<>();

        /// How many are filed under more than one value.
        private int severalTimes;

        /// Says whether it was not filed there already.
        boolean add(TextKey text, S subscription) {
            Filed<S> filed = filedByText.get(text);
            return switch (filed) {
                case null -> {
                    filedByText.put(text, new One<>(subscription));
                    yield true;
                }
                case One<S>(S first) when first.equals(subscription) -> false;
                case One<S>(S first) -> {
                    Set<S> both = new LinkedHashSet<>(4);
                    both.add(first);
                    both.add(subscription);
                    filedByText.put(text, new Several<>(both));
                    yield true;
                }
                case Several<S>(Set<S> subscriptions) -> subscriptions.add(subscription);
            };
        }

        /// Says whether it was filed there.
        boolean remove(TextKey text, S subscription) {
            Filed<S> filed = filedByText.get(text);
            return switch (filed) {
                case null -> false;
                case One<S>(S first) -> first.equals(subscription) && filedByText.remove(text) != null;
                case Several<S>(Set<S> subscriptions) -> {
                    boolean removed = subscriptions.remove(subscription);
                    if (subscriptions.size() == 1) {
                        filedByText.put(text, new One<>(subscriptions.iterator().next()));
                    }
                    yield removed;
                }
            };
        }
    }

    private final Map<Place, Drawer<S>> drawers = new LinkedHashMap<>();
    private final Set<S> unindexed = new LinkedHashSet<>();
    private final TextKey probe = new TextKey();
    private int size;

    /// @param key null files under no column
    public void add(S subscription, @Nullable RoutingKey key) {
        if (key == null) {
            size += unindexed.add(subscription) ? 1 : 0;
            return;
        }
        Drawer<S> drawer = drawers.computeIfAbsent(place(key), place -> new Drawer<>());
        int places = 0;
        for (TextKey text : texts(key)) {
            places += drawer.add(text, subscription) ? 1 : 0;
        }
        drawer.severalTimes += places > 1 ? 1 : 0;
        size += places > 0 ? 1 : 0;
    }

    /// @param key the one the subscription was added with
    public void remove(S subscription, @Nullable RoutingKey key) {
        if (key == null) {
            size -= unindexed.remove(subscription) ? 1 : 0;
            return;
        }
        Drawer<S> drawer = drawers.get(place(key));
        if (drawer == null) {
            return;
        }
        int places = 0;
        for (TextKey text : texts(key)) {
            places += drawer.remove(text, subscription) ? 1 : 0;
        }
        drawer.severalTimes -= places > 1 ? 1 : 0;
        size -= places > 0 ? 1 : 0;
        if (drawer.filedByText.isEmpty()) {
            drawers.remove(place(key));
        }
    }

    private static Place place(RoutingKey key) {
        return new Place(key.attnum(), key.equality());
    }

    /// Two constants that are equal values are one text.
    private static Set<TextKey> texts(RoutingKey key) {
        Set<TextKey> texts = new LinkedHashSet<>();
        for (String constant : key.constants()) {
            texts.add(TextKey.of(constant, key.equality()));
        }
        return texts;
    }

    public int size() {
        return size;
    }

    public int unindexedSize() {
        return unindexed.size();
    }

    /// Everything filed, each once, in no promised order across columns.
    public List<S> all() {
        List<S> all = new ArrayList<>(size);
        for (Drawer<S> drawer : drawers.values()) {
            everything(drawer, all::add);
        }
        all.addAll(unindexed);
        return all;
    }

    private static <S> int everything(Drawer<S> drawer, Consumer<? super S> consumer) {
        if (drawer.severalTimes > 0) {
            Set<S> each = new LinkedHashSet<>();
            drawer.filedByText.values().forEach(filed -> filed.forEach(each::add));
            each.forEach(consumer);
            return each.size();
        }
        int named = 0;
        for (Filed<S> filed : drawer.filedByText.values()) {
            filed.forEach(consumer);
            named += filed.size();
        }
        return named;
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
        for (Map.Entry<Place, Drawer<S>> column : drawers.entrySet()) {
            int position = mapping.position(column.getKey().attnum());
            if (silent(position, row) || silent(position, old)) {
                named += everything(column.getValue(), consumer);
            } else {
                Filed<S> now = filed(column, position, row);
                Filed<S> before = filed(column, position, old);
                named += named(now, consumer) + namedToo(before, now, column.getValue(), consumer);
            }
        }
        return named;
    }

    private static <S> int named(@Nullable Filed<S> filed, Consumer<? super S> consumer) {
        if (filed == null) {
            return 0;
        }
        filed.forEach(consumer);
        return filed.size();
    }

    /// Those of the old value that the new one did not name already.
    @SuppressWarnings("ReferenceEquality") // the same place twice, not two that are equal
    private static <S> int namedToo(
            @Nullable Filed<S> before, @Nullable Filed<S> now, Drawer<S> drawer, Consumer<? super S> consumer) {
        if (before == null || before == now) {
            return 0;
        }
        if (now == null || drawer.severalTimes == 0) {
            return named(before, consumer);
        }
        return before.forEachOutside(now, consumer);
    }

    private @Nullable Filed<S> filed(Map.Entry<Place, Drawer<S>> column, int position, @Nullable Tuple image) {
        if (position == ColumnMapping.ABSENT || image == null || image.kind(position) != Tuple.Kind.TEXT) {
            return null;
        }
        probe.look(image, position, column.getKey().equality());
        Filed<S> found = column.getValue().filedByText.get(probe);
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
