package sluice.core.function;

import static sluice.core.datum.TimeTypes.TIME;
import static sluice.core.datum.TimeTypes.TIMESTAMP;
import static sluice.core.datum.TimeTypes.TIMESTAMPTZ;
import static sluice.core.datum.TimeTypes.TIMETZ;
import static sluice.core.datum.ValueTypes.BOOL;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ValueType;

/// `OVERLAPS` of two periods whose ends may be NULL and in any order; a period holds its start and not its end.
final class Overlaps {
    private Overlaps() {}

    static void register(FunctionTable table) {
        register(table, "overlaps_time", TIME);
        register(table, "overlaps_timetz", TIMETZ);
        register(table, "overlaps_timestamp", TIMESTAMP);
        register(table, "overlaps_timestamp", TIMESTAMPTZ);
    }

    private static <T> void register(FunctionTable table, String symbol, ValueType<T> type) {
        table.sited(symbol, List.of(type, type, type, type), BOOL, (_, given) -> {
                    Period<T> first = Period.of(type, given[0], given[1]);
                    Period<T> second = Period.of(type, given[2], given[3]);
                    return (first == null || second == null) ? null : overlap(type, first, second);
                })
                .calledOnNull()
                .neverRaises();
    }

    /// @param end null when it is not known
    private record Period<T>(T start, @Nullable T end) {
        /// Null when neither end is known.
        static <T> @Nullable Period<T> of(ValueType<T> type, @Nullable Object start, @Nullable Object end) {
            if (start == null) {
                return end == null ? null : new Period<>(type.cast(end), null);
            }
            if (end == null) {
                return new Period<>(type.cast(start), null);
            }
            T a = type.cast(start);
            T b = type.cast(end);
            return type.compare(a, b) > 0 ? new Period<>(b, a) : new Period<>(a, b);
        }
    }

    private static <T> @Nullable Boolean overlap(ValueType<T> type, Period<T> first, Period<T> second) {
        int order = type.compare(first.start(), second.start());
        if (order == 0) {
            return (first.end() == null || second.end() == null) ? null : true;
        }
        Period<T> earlier = order < 0 ? first : second;
        Period<T> later = order < 0 ? second : first;
        T end = earlier.end();
        if (end == null) {
            return null;
        }
        if (type.compare(later.start(), end) < 0) {
            return true;
        }
        return later.end() == null ? null : false;
    }
}
