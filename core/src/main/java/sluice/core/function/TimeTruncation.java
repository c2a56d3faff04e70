package sluice.core.function;

import static sluice.core.datum.TimeTypes.INTERVAL;
import static sluice.core.datum.TimeTypes.TIMESTAMP;
import static sluice.core.datum.TimeTypes.TIMESTAMPTZ;
import static sluice.core.datum.ValueTypes.TEXT;

import java.time.LocalDate;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Interval;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.UndecidableException;

/// `date_trunc` (`timestamp.c`).
final class TimeTruncation {
    private static final String NOT_SUPPORTED = "0A000";

    private TimeTruncation() {}

    static void register(FunctionTable table) {
        table.binary("timestamp_trunc", TEXT, TIMESTAMP, TIMESTAMP, TimeTruncation::truncated);
        table.binary("timestamptz_trunc", TEXT, TIMESTAMPTZ, TIMESTAMPTZ, TimeTruncation::truncated);
        table.binary("interval_trunc", TEXT, INTERVAL, INTERVAL, TimeTruncation::truncated);
        table.ternary("timestamptz_trunc_zone", TEXT, TIMESTAMPTZ, TEXT, TIMESTAMPTZ, (field, timestamp, zone) -> {
            if (!TimeZones.isUtc(zone)) {
                throw new UndecidableException();
            }
            return truncated(field, timestamp);
        });
    }

    private static long truncated(String name, long timestamp) {
        TimeField field = TimeField.of(name);
        if (!TimeTypes.isFinite(timestamp)) {
            return switch (field) {
                case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER -> timestamp;
                case YEAR, DECADE, CENTURY, MILLENNIUM -> timestamp;
                // Before PostgreSQL 18 a field that cannot be cut off went unnoticed.
                case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR, JULIAN -> throw new UndecidableException();
                case EPOCH, ZONE, ZONE_HOUR, ZONE_MINUTE -> throw new UndecidableException();
            };
        }
        return switch (field) {
            case MICROSECONDS -> timestamp;
            case MILLISECONDS -> floor(timestamp, 1000);
            case SECOND -> floor(timestamp, Calendar.SECOND);
            case MINUTE -> floor(timestamp, Calendar.MINUTE);
            case HOUR -> floor(timestamp, Calendar.HOUR);
            case DAY -> floor(timestamp, Calendar.DAY);
            case WEEK, MONTH, QUARTER, YEAR, DECADE, CENTURY, MILLENNIUM ->
                Calendar.timestamp(firstDay(field, Calendar.localDate(timestamp)), 0);
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR, JULIAN -> throw notSupported();
            case EPOCH, ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
        };
    }

    private static EvaluationException notSupported() {
        return new EvaluationException(NOT_SUPPORTED);
    }

    private static long floor(long micros, long unit) {
        return Math.floorDiv(micros, unit) * unit;
    }

    private static LocalDate firstDay(TimeField field, LocalDate date) {
        int year = date.getYear();
        return switch (field) {
            case WEEK -> date.minusDays(date.getDayOfWeek().getValue() - 1L);
            case MONTH -> date.withDayOfMonth(1);
            case QUARTER -> LocalDate.of(year, (date.getMonthValue() - 1) / 3 * 3 + 1, 1);
            case YEAR -> LocalDate.of(year, 1, 1);
            case DECADE -> LocalDate.of(Math.floorDiv(year, 10) * 10, 1, 1);
            case CENTURY -> LocalDate.of(Math.floorDiv(year - 1, 100) * 100 + 1, 1, 1);
            case MILLENNIUM -> LocalDate.of(Math.floorDiv(year - 1, 1000) * 1000 + 1, 1, 1);
            case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR, DAY -> throw notSupported();
            case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR, JULIAN -> throw notSupported();
            case EPOCH, ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
        };
    }

    private static Interval truncated(String name, Interval interval) {
        TimeField field = TimeField.of(name);
        if (!interval.isFinite()) {
            return switch (field) {
                case MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR, DAY, MONTH, QUARTER -> interval;
                case YEAR, DECADE, CENTURY, MILLENNIUM -> interval;
                case WEEK, DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR -> throw new UndecidableException();
                case JULIAN, EPOCH, ZONE, ZONE_HOUR, ZONE_MINUTE -> throw new UndecidableException();
            };
        }
        return switch (field) {
            case MICROSECONDS -> interval;
            case MILLISECONDS -> time(interval, 1000);
            case SECOND -> time(interval, Calendar.SECOND);
            case MINUTE -> time(interval, Calendar.MINUTE);
            case HOUR -> time(interval, Calendar.HOUR);
            case DAY -> new Interval(interval.months(), interval.days(), 0);
            case MONTH -> months(interval, 1);
            case QUARTER -> months(interval, 3);
            case YEAR -> months(interval, 12);
            case DECADE -> months(interval, 120);
            case CENTURY -> months(interval, 1200);
            case MILLENNIUM -> months(interval, 12_000);
            case WEEK, DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR -> throw notSupported();
            case JULIAN, EPOCH, ZONE, ZONE_HOUR, ZONE_MINUTE -> throw notSupported();
        };
    }

    private static Interval time(Interval interval, long unit) {
        return new Interval(interval.months(), interval.days(), interval.micros() / unit * unit);
    }

    private static Interval months(Interval interval, int unit) {
        return new Interval(interval.months() / unit * unit, 0, 0);
    }
}
