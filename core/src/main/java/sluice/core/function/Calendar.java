package sluice.core.function;

import java.time.LocalDate;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Interval;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.UndecidableException;

/// Steps between dates and timestamps that several functions share, each within the server's range.
///
/// Where a count of microseconds would leave 64 bits, older majors go on with what is left of it and newer ones
/// raise: nothing is said then.
final class Calendar {
    static final long DAY = Interval.MICROS_PER_DAY;
    static final long HOUR = 3_600_000_000L;
    static final long MINUTE = 60_000_000;
    static final long SECOND = 1_000_000;

    private static final String OUT_OF_RANGE = "22008";

    private Calendar() {}

    static EvaluationException outOfRange() {
        return new EvaluationException(OUT_OF_RANGE);
    }

    static long date(long days) {
        if (!TimeTypes.isDate(days)) {
            throw outOfRange();
        }
        return days;
    }

    static long timestamp(long micros) {
        if (!TimeTypes.isTimestamp(micros)) {
            throw outOfRange();
        }
        return micros;
    }

    /// Midnight of a date.
    static long midnight(long date) {
        if (!TimeTypes.isFiniteDate(date)) {
            return date > 0 ? TimeTypes.INFINITY : TimeTypes.MINUS_INFINITY;
        }
        if (!TimeTypes.isTimestampDate(date)) {
            throw outOfRange();
        }
        return date * DAY;
    }

    /// The date of a timestamp that may be infinite.
    static long dateOf(long timestamp) {
        if (!TimeTypes.isFinite(timestamp)) {
            return timestamp > 0 ? TimeTypes.DATE_INFINITY : TimeTypes.DATE_MINUS_INFINITY;
        }
        return Math.floorDiv(timestamp, DAY);
    }

    static LocalDate localDate(long timestamp) {
        return TimeTypes.localDate(Math.floorDiv(timestamp, DAY));
    }

    /// Microseconds since midnight.
    static long clock(long timestamp) {
        return Math.floorMod(timestamp, DAY);
    }

    static long timestamp(LocalDate date, long clock) {
        return timestamp(midnight(TimeTypes.days(date)) + clock);
    }

    static long sum(long a, long b) {
        try {
            return Math.addExact(a, b);
        } catch (ArithmeticException overflow) {
            throw new UndecidableException();
        }
    }

    static long difference(long a, long b) {
        try {
            return Math.subtractExact(a, b);
        } catch (ArithmeticException overflow) {
            throw new UndecidableException();
        }
    }

    /// A timestamp later by months, then days, then microseconds; a day that a month does not
    /// have becomes its last.
    static long plus(long timestamp, Interval interval) {
        if (!interval.isFinite()) {
            long infinity = interval.months() > 0 ? TimeTypes.INFINITY : TimeTypes.MINUS_INFINITY;
            if (!TimeTypes.isFinite(timestamp) && timestamp != infinity) {
                throw outOfRange();
            }
            return infinity;
        }
        if (!TimeTypes.isFinite(timestamp)) {
            return timestamp;
        }
        long result = timestamp;
        if (interval.months() != 0) {
            result = timestamp(localDate(result).plusMonths(interval.months()), clock(result));
        }
        if (interval.days() != 0) {
            long days = Math.floorDiv(result, DAY) + interval.days();
            if (!TimeTypes.isTimestampDate(days)) {
                throw outOfRange();
            }
            result = timestamp(days * DAY + clock(result));
        }
        return timestamp(sum(result, interval.micros()));
    }

    /// Rounds to so many digits behind the seconds, half away from zero.
    ///
    /// @param digits 0 to 6
    static long rounded(long micros, long digits) {
        long unit = 1;
        for (long i = digits; i < 6; i++) {
            unit *= 10;
        }
        long half = unit / 2;
        return micros >= 0 ? sum(micros, half) / unit * unit : difference(micros, half) / unit * unit;
    }
}
