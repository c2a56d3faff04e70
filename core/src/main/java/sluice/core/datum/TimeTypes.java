package sluice.core.datum;

import java.time.LocalDate;
import java.util.List;
import sluice.core.value.Oid;

/// `date`, `time`, `timetz`, `timestamp`, `timestamptz` and `interval`, and what their values mean.
public final class TimeTypes {
    public static final ValueType<Long> DATE = new DateType();
    public static final ValueType<Long> TIME = new TimeType();
    public static final ValueType<ZonedTime> TIMETZ = new ZonedTimeType();
    public static final ValueType<Long> TIMESTAMP = new TimestampType(Oid.TIMESTAMP, 1115, "pg_catalog.timestamp", "");
    public static final ValueType<Long> TIMESTAMPTZ =
            new TimestampType(Oid.TIMESTAMPTZ, 1185, "pg_catalog.timestamptz", "+00");
    public static final ValueType<Interval> INTERVAL = new IntervalType();

    static final List<ValueType<?>> ALL = List.of(DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL);

    /// As a timestamp.
    public static final long INFINITY = Long.MAX_VALUE;

    public static final long MINUS_INFINITY = Long.MIN_VALUE;

    public static final long DATE_INFINITY = Integer.MAX_VALUE;
    public static final long DATE_MINUS_INFINITY = Integer.MIN_VALUE;

    /// The days from 4714-11-24 BC, day zero of the Julian count, to 2000-01-01.
    public static final long JULIAN_DAYS = 2_451_545;

    /// Dates and timestamps start there; the last day of each is the one before.
    private static final long DATE_END = 2_147_483_494 - JULIAN_DAYS;

    private static final long TIMESTAMP_END_DAY = 109_203_528 - JULIAN_DAYS;

    private TimeTypes() {}

    /// Whether a timestamp is a moment and not infinite.
    public static boolean isFinite(long timestamp) {
        return timestamp != INFINITY && timestamp != MINUS_INFINITY;
    }

    public static boolean isFiniteDate(long date) {
        return date != DATE_INFINITY && date != DATE_MINUS_INFINITY;
    }

    /// Whether so many days since 2000-01-01 are a date of the server.
    public static boolean isDate(long days) {
        return days >= -JULIAN_DAYS && days < DATE_END;
    }

    /// Whether so many microseconds since 2000-01-01 are a timestamp of the server.
    public static boolean isTimestamp(long micros) {
        return micros >= -JULIAN_DAYS * Interval.MICROS_PER_DAY && micros < TIMESTAMP_END_DAY * Interval.MICROS_PER_DAY;
    }

    /// Whether a date is one of a timestamp; dates reach further into the future.
    public static boolean isTimestampDate(long days) {
        return days >= -JULIAN_DAYS && days < TIMESTAMP_END_DAY;
    }

    /// @param days since 2000-01-01, not infinite
    public static LocalDate localDate(long days) {
        return LocalDate.ofEpochDay(days + CalendarText.EPOCH_DAYS);
    }

    /// Days since 2000-01-01.
    public static long days(LocalDate date) {
        return date.toEpochDay() - CalendarText.EPOCH_DAYS;
    }
}
