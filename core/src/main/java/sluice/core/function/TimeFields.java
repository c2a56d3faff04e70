package sluice.core.function;

import static sluice.core.datum.NumberTypes.FLOAT8;
import static sluice.core.datum.NumberTypes.NUMERIC;
import static sluice.core.datum.TimeTypes.DATE;
import static sluice.core.datum.TimeTypes.INTERVAL;
import static sluice.core.datum.TimeTypes.TIME;
import static sluice.core.datum.TimeTypes.TIMESTAMP;
import static sluice.core.datum.TimeTypes.TIMESTAMPTZ;
import static sluice.core.datum.TimeTypes.TIMETZ;
import static sluice.core.datum.ValueTypes.TEXT;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.temporal.IsoFields;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Interval;
import sluice.core.datum.Numeric;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ZonedTime;

/// `extract`, exact, and `date_part`, in floating point (`timestamp.c`, `date.c`).
final class TimeFields {
    private static final String NOT_SUPPORTED = "0A000";

    private static final long UNIX_EPOCH_DAYS = 10_957;
    private static final long SECONDS_PER_DAY = 86_400;

    /// Four times the days of a year, which has a quarter of a day more than 365.
    private static final long QUARTER_DAYS_PER_YEAR = 1461;

    private static final long QUARTER_DAYS_PER_MONTH = 120;

    private TimeFields() {}

    static void register(FunctionTable table) {
        exact(table, "extract_timestamp", TIMESTAMP, TimeFields::ofTimestamp);
        floating(table, "timestamp_part", TIMESTAMP, TimeFields::ofTimestamp);
        exact(table, "extract_timestamptz", TIMESTAMPTZ, TimeFields::ofZonedTimestamp);
        floating(table, "timestamptz_part", TIMESTAMPTZ, TimeFields::ofZonedTimestamp);
        exact(table, "extract_date", DATE, TimeFields::ofDate);
        exact(table, "extract_time", TIME, TimeFields::ofTime);
        floating(table, "time_part", TIME, TimeFields::ofTime);
        exact(table, "extract_timetz", TIMETZ, TimeFields::ofZonedTime);
        floating(table, "timetz_part", TIMETZ, TimeFields::ofZonedTime);
        exact(table, "extract_interval", INTERVAL, TimeFields::ofInterval);
        floating(table, "interval_part", INTERVAL, TimeFields::ofInterval);
    }

    /// A field of a value: null where it has none, as an infinite date has no month.
    @FunctionalInterface
    private interface Extraction<T> {
        @Nullable
        Part of(TimeField field, T value);
    }

    private record Part(Numeric exact, double floating) {
        static Part whole(long value) {
            return new Part(Numeric.of(value), value);
        }

        static Part fraction(long value, int digits, double floating) {
            return new Part(Numeric.of(BigDecimal.valueOf(value, digits)), floating);
        }

        static Part infinite(boolean future) {
            return future
                    ? new Part(Numeric.INFINITY, Double.POSITIVE_INFINITY)
                    : new Part(Numeric.MINUS_INFINITY, Double.NEGATIVE_INFINITY);
        }
    }

    private static <T> void exact(FunctionTable table, String symbol, ValueType<T> type, Extraction<T> extraction) {
        table.binary(symbol, TEXT, type, NUMERIC, (name, value) -> {
            Part part = extraction.of(TimeField.of(name), value);
            return part == null ? null : part.exact();
        });
    }

    private static <T> void floating(FunctionTable table, String symbol, ValueType<T> type, Extraction<T> extraction) {
        table.binary(symbol, TEXT, type, FLOAT8, (name, value) -> {
            Part part = extraction.of(TimeField.of(name), value);
            return part == null ? null : part.floating();
        });
    }

    private static EvaluationException notSupported() {
        return new EvaluationException(NOT_SUPPORTED);
    }

    private static @Nullable Part ofTimestamp(TimeField field, long timestamp) {
        if (!TimeTypes.isFinite(timestamp)) {
            return ofInfinity(field, timestamp > 0);
        }
        long clock = Calendar.clock(timestamp);
        LocalDate date = Calendar.localDate(timestamp);
        return switch (field) {
            case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR -> ofClock(field, clock);
            case EPOCH -> epoch(timestamp);
            case JULIAN -> {
                long day = TimeTypes.days(date) + TimeTypes.JULIAN_DAYS;
                Numeric rest = NumericFunctions.quotient(Numeric.of(clock), Numeric.of(Calendar.DAY));
                long seconds = clock / Calendar.SECOND;
                double fraction = (seconds + clock % Calendar.SECOND / 1_000_000.0) / SECONDS_PER_DAY;
                yield new Part(NumericFunctions.sum(Numeric.of(day), rest), day + fraction);
            }
            case ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
            case DAY, WEEK, MONTH, QUARTER, YEAR, DECADE, CENTURY, MILLENNIUM -> Part.whole(ofCalendar(field, date));
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR -> Part.whole(ofCalendar(field, date));
        };
    }

    private static Part epoch(long timestamp) {
        long shift = UNIX_EPOCH_DAYS * Calendar.DAY;
        // The last thirty years do not fit into 64 bits; the server goes another way there, and rounds.
        if (timestamp >= Long.MAX_VALUE - shift) {
            throw new UndecidableException();
        }
        long micros = timestamp + shift;
        return Part.fraction(micros, 6, micros / 1_000_000.0);
    }

    private static @Nullable Part ofZonedTimestamp(TimeField field, long timestamp) {
        boolean zone = field == TimeField.ZONE || field == TimeField.ZONE_HOUR || field == TimeField.ZONE_MINUTE;
        return zone && TimeTypes.isFinite(timestamp) ? Part.whole(0) : ofTimestamp(field, timestamp);
    }

    /// Fields that come around again are NULL, those that only grow are infinite.
    private static @Nullable Part ofInfinity(TimeField field, boolean future) {
        return switch (field) {
            case YEAR, DECADE, CENTURY, MILLENNIUM, JULIAN, ISO_YEAR, EPOCH -> Part.infinite(future);
            case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER -> null;
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR -> null;
            case ZONE, ZONE_HOUR, ZONE_MINUTE -> throw new UndecidableException();
        };
    }

    private static @Nullable Part ofDate(TimeField field, long date) {
        switch (field) {
            case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR, ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
            case DAY, WEEK, MONTH, QUARTER, YEAR, DECADE, CENTURY, MILLENNIUM -> {}
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR, JULIAN, EPOCH -> {}
        }
        if (!TimeTypes.isFiniteDate(date)) {
            return ofInfinity(field, date > 0);
        }
        if (field == TimeField.EPOCH) {
            return Part.whole((date + UNIX_EPOCH_DAYS) * SECONDS_PER_DAY);
        }
        return Part.whole(
                field == TimeField.JULIAN
                        ? date + TimeTypes.JULIAN_DAYS
                        : ofCalendar(field, TimeTypes.localDate(date)));
    }

    /// The parts of a minute and above that are smaller than a day; negative in negative intervals.
    private static Part ofClock(TimeField field, long micros) {
        long inMinute = micros % Calendar.MINUTE;
        long seconds = inMinute / Calendar.SECOND;
        long fraction = inMinute % Calendar.SECOND;
        return switch (field) {
            case MICROSECONDS -> Part.whole(inMinute);
            case MILLISECONDS -> Part.fraction(inMinute, 3, seconds * 1000.0 + fraction / 1000.0);
            case SECOND -> Part.fraction(inMinute, 6, seconds + fraction / 1_000_000.0);
            case MINUTE -> Part.whole(micros / Calendar.MINUTE % 60);
            case HOUR -> Part.whole(micros / Calendar.HOUR);
            case DAY, WEEK, MONTH, QUARTER, YEAR, DECADE, CENTURY, MILLENNIUM -> throw notSupported();
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR -> throw notSupported();
            case JULIAN, EPOCH, ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
        };
    }

    /// There is no year 0: the one before 1 is -1 wherever years are counted.
    private static long ofCalendar(TimeField field, LocalDate date) {
        int year = date.getYear();
        return switch (field) {
            case DAY -> date.getDayOfMonth();
            case WEEK -> date.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR);
            case MONTH -> date.getMonthValue();
            case QUARTER -> (date.getMonthValue() - 1) / 3 + 1;
            case YEAR -> year > 0 ? year : year - 1;
            case DECADE -> Math.floorDiv(year, 10);
            case CENTURY -> year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
            case MILLENNIUM -> year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
            case DAY_OF_WEEK -> date.getDayOfWeek().getValue() % 7;
            case ISO_DAY_OF_WEEK -> date.getDayOfWeek().getValue();
            case DAY_OF_YEAR -> date.getDayOfYear();
            case ISO_YEAR -> {
                int isoYear = date.get(IsoFields.WEEK_BASED_YEAR);
                yield isoYear > 0 ? isoYear : isoYear - 1;
            }
            case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR -> throw notSupported();
            case JULIAN, EPOCH, ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
        };
    }

    private static Part ofTime(TimeField field, long micros) {
        return field == TimeField.EPOCH ? Part.fraction(micros, 6, micros / 1_000_000.0) : ofClock(field, micros);
    }

    private static Part ofZonedTime(TimeField field, ZonedTime time) {
        int east = -time.secondsWest();
        return switch (field) {
            case ZONE -> Part.whole(east);
            case ZONE_HOUR -> Part.whole(east / 3600);
            case ZONE_MINUTE -> Part.whole(east / 60 % 60);
            case EPOCH -> Part.fraction(time.utcMicros(), 6, time.micros() / 1_000_000.0 + time.secondsWest());
            case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR -> ofClock(field, time.micros());
            case DAY, WEEK, MONTH, QUARTER, YEAR, DECADE, CENTURY, MILLENNIUM -> throw notSupported();
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR, JULIAN -> throw notSupported();
        };
    }

    private static @Nullable Part ofInterval(TimeField field, Interval interval) {
        if (!interval.isFinite()) {
            return ofInfiniteInterval(field, interval.months() > 0);
        }
        int years = interval.months() / 12;
        int months = interval.months() % 12;
        return switch (field) {
            case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR -> ofClock(field, interval.micros());
            case DAY -> Part.whole(interval.days());
            case MONTH -> Part.whole(months);
            case QUARTER -> {
                // Of negative intervals it is another one since PostgreSQL 18.
                if (interval.months() < 0) {
                    throw new UndecidableException();
                }
                yield Part.whole(months / 3 + 1);
            }
            case YEAR -> Part.whole(years);
            case DECADE -> Part.whole(years / 10);
            case CENTURY -> Part.whole(years / 100);
            case MILLENNIUM -> Part.whole(years / 1000);
            case EPOCH -> intervalEpoch(interval, years, months);
            // A field of intervals since PostgreSQL 18.
            case WEEK -> throw new UndecidableException();
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR, JULIAN -> throw notSupported();
            case ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
        };
    }

    private static Part intervalEpoch(Interval interval, int years, int months) {
        long quarterDays = QUARTER_DAYS_PER_YEAR * years + QUARTER_DAYS_PER_MONTH * months + 4L * interval.days();
        BigDecimal seconds = BigDecimal.valueOf(quarterDays * (SECONDS_PER_DAY / 4));
        Numeric exact = Numeric.of(seconds.add(BigDecimal.valueOf(interval.micros(), 6)));
        double floating = interval.micros() / 1_000_000.0;
        floating += 365.25 * SECONDS_PER_DAY * years;
        floating += (double) (30 * SECONDS_PER_DAY) * months;
        floating += (double) SECONDS_PER_DAY * interval.days();
        return new Part(exact, floating);
    }

    private static @Nullable Part ofInfiniteInterval(TimeField field, boolean positive) {
        return switch (field) {
            case HOUR, DAY, YEAR, DECADE, CENTURY, MILLENNIUM, EPOCH -> Part.infinite(positive);
            case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, MONTH, QUARTER -> null;
            case WEEK -> throw new UndecidableException();
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR, JULIAN -> throw notSupported();
            case ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
        };
    }
}
