package sluice.core.function;

import static sluice.core.datum.TimeTypes.DATE;
import static sluice.core.datum.TimeTypes.INTERVAL;
import static sluice.core.datum.TimeTypes.TIME;
import static sluice.core.datum.TimeTypes.TIMESTAMP;
import static sluice.core.datum.TimeTypes.TIMESTAMPTZ;
import static sluice.core.datum.TimeTypes.TIMETZ;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;

import java.time.DateTimeException;
import java.time.LocalDate;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.ValueType;

/// `date` (`date.c`).
final class DateFunctions {
    private DateFunctions() {}

    static void register(FunctionTable table) {
        table.ordered("date_", DATE);
        table.binary("date_cmp", DATE, DATE, INT4, (a, b) -> (long) Long.compare(a, b))
                .neverRaises();
        table.binary("date_larger", DATE, DATE, DATE, Math::max).neverRaises();
        table.binary("date_smaller", DATE, DATE, DATE, Math::min).neverRaises();
        crossTypes(table, "timestamp", TIMESTAMP);
        crossTypes(table, "timestamptz", TIMESTAMPTZ);
        table.unary("date_finite", DATE, BOOL, TimeTypes::isFiniteDate).neverRaises();
        table.binary("date_mi", DATE, DATE, INT4, DateFunctions::daysBetween);
        table.binary("date_pli", DATE, INT4, DATE, DateFunctions::plusDays);
        table.binary("date_mii", DATE, INT4, DATE, (date, days) -> plusDays(date, -days));
        table.binary("date_pl_interval", DATE, INTERVAL, TIMESTAMP, (a, b) -> Calendar.plus(Calendar.midnight(a), b));
        table.binary(
                "date_mi_interval",
                DATE,
                INTERVAL,
                TIMESTAMP,
                (a, b) -> Calendar.plus(Calendar.midnight(a), IntervalFunctions.negated(b)));
        table.unary("date_timestamp", DATE, TIMESTAMP, Calendar::midnight);
        table.unary("date_timestamptz", DATE, TIMESTAMPTZ, Calendar::midnight);
        table.unary("timestamp_date", TIMESTAMP, DATE, Calendar::dateOf).neverRaises();
        table.unary("timestamptz_date", TIMESTAMPTZ, DATE, Calendar::dateOf).neverRaises();
        table.binary("datetime_timestamp", DATE, TIME, TIMESTAMP, DateFunctions::moment);
        table.binary(
                "datetimetz_timestamptz", DATE, TIMETZ, TIMESTAMPTZ, (date, time) -> moment(date, time.utcMicros()));
        table.ternary("make_date", INT4, INT4, INT4, DATE, DateFunctions::made);
    }

    /// A date is compared as its midnight; one after the last timestamp is later than all of them but not infinite.
    private static void crossTypes(FunctionTable table, String other, ValueType<Long> type) {
        for (ComparisonKind kind : ComparisonKind.values()) {
            table.binary(
                            "date_" + kind.suffix() + "_" + other,
                            DATE,
                            type,
                            BOOL,
                            (date, moment) -> kind.holds(order(date, moment)))
                    .neverRaises();
            table.binary(
                            other + "_" + kind.suffix() + "_date",
                            type,
                            DATE,
                            BOOL,
                            (moment, date) -> kind.holds(-order(date, moment)))
                    .neverRaises();
        }
        table.binary("date_cmp_" + other, DATE, type, INT4, (a, b) -> (long) order(a, b))
                .neverRaises();
        table.binary(other + "_cmp_date", type, DATE, INT4, (a, b) -> (long) -order(b, a))
                .neverRaises();
    }

    private static int order(long date, long timestamp) {
        if (TimeTypes.isFiniteDate(date) && !TimeTypes.isTimestampDate(date)) {
            return timestamp == TimeTypes.INFINITY ? -1 : 1;
        }
        return Long.compare(Calendar.midnight(date), timestamp);
    }

    private static long daysBetween(long a, long b) {
        if (!TimeTypes.isFiniteDate(a) || !TimeTypes.isFiniteDate(b)) {
            throw Calendar.outOfRange();
        }
        return a - b;
    }

    private static long plusDays(long date, long days) {
        return TimeTypes.isFiniteDate(date) ? Calendar.date(date + days) : date;
    }

    private static long moment(long date, long micros) {
        long midnight = Calendar.midnight(date);
        return TimeTypes.isFinite(midnight) ? Calendar.timestamp(midnight + micros) : midnight;
    }

    /// A negative year is one before the first.
    static long made(long year, long month, long day) {
        if (year == 0 || Math.abs(year) > 5_900_000) {
            throw Calendar.outOfRange();
        }
        try {
            LocalDate date =
                    LocalDate.of((int) (year < 0 ? year + 1 : year), Math.toIntExact(month), Math.toIntExact(day));
            return Calendar.date(TimeTypes.days(date));
        } catch (DateTimeException | ArithmeticException notDate) {
            throw Calendar.outOfRange();
        }
    }
}
