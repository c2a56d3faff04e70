package sluice.core.function;

import static sluice.core.datum.NumberTypes.FLOAT8;
import static sluice.core.datum.TimeTypes.INTERVAL;
import static sluice.core.datum.TimeTypes.TIMESTAMP;
import static sluice.core.datum.TimeTypes.TIMESTAMPTZ;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;

import java.time.LocalDate;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Interval;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;

/// `timestamp` and `timestamptz` (`timestamp.c`).
final class TimestampFunctions {
    private static final String BAD_PARAMETER = "22023";

    /// Seconds from 1970-01-01 to 2000-01-01.
    private static final long UNIX_EPOCH_SECONDS = 946_684_800;

    private TimestampFunctions() {}

    static void register(FunctionTable table) {
        for (ValueType<Long> type : List.of(TIMESTAMP, TIMESTAMPTZ)) {
            table.ordered("timestamp_", type);
            table.binary("timestamp_cmp", type, type, INT4, (a, b) -> (long) Long.compare(a, b))
                    .neverRaises();
            table.binary("timestamp_larger", type, type, type, Math::max).neverRaises();
            table.binary("timestamp_smaller", type, type, type, Math::min).neverRaises();
            table.unary("timestamp_finite", type, BOOL, TimeTypes::isFinite).neverRaises();
            table.binary("timestamp_mi", type, type, INTERVAL, TimestampFunctions::between);
        }
        crossTypes(table);
        ofOneType(table, "timestamp", TIMESTAMP);
        ofOneType(table, "timestamptz", TIMESTAMPTZ);
        table.unary("timestamp_timestamptz", TIMESTAMP, TIMESTAMPTZ, TimestampFunctions::inRange);
        table.unary("timestamptz_timestamp", TIMESTAMPTZ, TIMESTAMP, TimestampFunctions::inRange);
        table.unary("timestamp_at_local", TIMESTAMP, TIMESTAMPTZ, TimestampFunctions::inRange);
        table.unary("timestamptz_at_local", TIMESTAMPTZ, TIMESTAMP, TimestampFunctions::inRange);
        table.unary("float8_timestamptz", FLOAT8, TIMESTAMPTZ, TimestampFunctions::ofUnixTime);
        List<ValueType<?>> fields = List.of(INT4, INT4, INT4, INT4, INT4, FLOAT8);
        table.sited("make_timestamp", fields, TIMESTAMP, (_, given) -> made(given));
        table.sited("make_timestamptz", fields, TIMESTAMPTZ, (_, given) -> made(given));
    }

    private static void crossTypes(FunctionTable table) {
        for (ComparisonKind kind : ComparisonKind.values()) {
            BuiltIn.CollationUse none = BuiltIn.CollationUse.NONE;
            table.comparison("timestamp_" + kind.suffix() + "_timestamptz", TIMESTAMP, TIMESTAMPTZ, kind, none);
            table.comparison("timestamptz_" + kind.suffix() + "_timestamp", TIMESTAMPTZ, TIMESTAMP, kind, none);
        }
        table.binary("timestamp_cmp_timestamptz", TIMESTAMP, TIMESTAMPTZ, INT4, (a, b) -> (long) Long.compare(a, b))
                .neverRaises();
        table.binary("timestamptz_cmp_timestamp", TIMESTAMPTZ, TIMESTAMP, INT4, (a, b) -> (long) Long.compare(a, b))
                .neverRaises();
    }

    private static void ofOneType(FunctionTable table, String name, ValueType<Long> type) {
        table.binary(name + "_pl_interval", type, INTERVAL, type, Calendar::plus);
        table.binary(
                name + "_mi_interval", type, INTERVAL, type, (a, b) -> Calendar.plus(a, IntervalFunctions.negated(b)));
        table.binary(name + "_age", type, type, INTERVAL, TimestampFunctions::age);
        table.binary(name + "_scale", type, INT4, type, TimestampFunctions::rounded);
        table.ternary(name + "_bin", INTERVAL, type, type, type, TimestampFunctions::bin);
    }

    /// Days and the rest of a day.
    ///
    /// @throws UndecidableException for infinities, whose difference is an interval since PostgreSQL 17
    private static Interval between(long a, long b) {
        if (!TimeTypes.isFinite(a) || !TimeTypes.isFinite(b)) {
            throw a == b ? Calendar.outOfRange() : new UndecidableException();
        }
        long micros = Calendar.difference(a, b);
        return new Interval(0, (int) (micros / Calendar.DAY), micros % Calendar.DAY);
    }

    /// A constant may hold what rounding to its precision took out of the range, which is noticed only by what
    /// looks at the fields.
    private static long inRange(long timestamp) {
        if (TimeTypes.isFinite(timestamp)) {
            return Calendar.timestamp(timestamp);
        }
        return timestamp;
    }

    private static long rounded(long timestamp, long digits) {
        if (!TimeTypes.isFinite(timestamp) || digits == -1 || digits == 6) {
            return timestamp;
        }
        if (digits < 0 || digits > 6) {
            throw new EvaluationException(BAD_PARAMETER);
        }
        long rounded = Calendar.rounded(timestamp, digits);
        if (!TimeTypes.isTimestamp(rounded)) {
            // What is made of it raises here, and there does not.
            throw new UndecidableException();
        }
        return rounded;
    }

    /// The years, months, days and time between two moments, counted from the earlier one's fields.
    ///
    /// @throws UndecidableException for infinities, of which the majors think differently
    private static Interval age(long a, long b) {
        if (!TimeTypes.isFinite(a) || !TimeTypes.isFinite(b)) {
            throw new UndecidableException();
        }
        LocalDate first = Calendar.localDate(a);
        LocalDate second = Calendar.localDate(b);
        int sign = a < b ? -1 : 1;
        long micros = sign * (Calendar.clock(a) - Calendar.clock(b));
        int days = sign * (first.getDayOfMonth() - second.getDayOfMonth());
        int months =
                sign * ((first.getYear() - second.getYear()) * 12 + first.getMonthValue() - second.getMonthValue());
        if (micros < 0) {
            micros += Calendar.DAY;
            days--;
        }
        if (days < 0) {
            // The length of the month of the earlier date.
            days += (a < b ? first : second).lengthOfMonth();
            months--;
        }
        return new Interval(sign * months, sign * days, sign * micros);
    }

    /// The start of the stride from an origin in which a moment lies.
    private static long bin(Interval stride, long timestamp, long origin) {
        if (!TimeTypes.isFinite(timestamp)) {
            throw new UndecidableException();
        }
        if (!TimeTypes.isFinite(origin) || !stride.isFinite() || stride.months() != 0) {
            throw Calendar.outOfRange();
        }
        long width;
        try {
            width = Math.addExact(Math.multiplyExact(stride.days(), Calendar.DAY), stride.micros());
        } catch (ArithmeticException overflow) {
            throw new UndecidableException();
        }
        if (width <= 0) {
            throw Calendar.outOfRange();
        }
        long distance = Calendar.difference(timestamp, origin);
        return Calendar.timestamp(Calendar.sum(origin, Math.floorDiv(distance, width) * width));
    }

    private static long ofUnixTime(double seconds) {
        if (Double.isInfinite(seconds)) {
            return seconds > 0 ? TimeTypes.INFINITY : TimeTypes.MINUS_INFINITY;
        }
        double micros = Math.rint((seconds - UNIX_EPOCH_SECONDS) * Calendar.SECOND);
        if (!(Math.abs(micros) < 0x1p63)) {
            throw Calendar.outOfRange();
        }
        return Calendar.timestamp((long) micros);
    }

    private static long made(@Nullable Object[] given) {
        long[] fields = new long[5];
        for (int i = 0; i < fields.length; i++) {
            fields[i] = INT4.cast(FunctionTable.present(given[i]));
        }
        long date = DateFunctions.made(fields[0], fields[1], fields[2]);
        long time = ClockFunctions.made(fields[3], fields[4], FLOAT8.cast(FunctionTable.present(given[5])));
        return Calendar.timestamp(Calendar.midnight(date) + time);
    }
}
