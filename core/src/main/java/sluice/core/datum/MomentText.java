package sluice.core.datum;

import java.nio.charset.StandardCharsets;

/// Dates and timestamps where they lie in a row: the usual forms, read without making an object of them.
public final class MomentText {
    /// No date or timestamp of the usual form is this.
    private static final long UNUSUAL = Long.MIN_VALUE;

    private static final int DATE_LENGTH = 10;
    private static final int SECONDS_END = 19;
    private static final int FRACTION_DIGITS = 6;

    /// Days of the proleptic Gregorian calendar before 2000-01-01.
    private static final long DAYS_BEFORE_EPOCH = 730_119;

    private static final int[] DAYS_BEFORE_MONTH = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

    private MomentText() {}

    /// What the type's `parse` makes of the same text: days or microseconds since 2000-01-01.
    ///
    /// @param type date, timestamp or timestamptz
    /// @param bytes only read
    /// @throws UndecidableException where `parse` throws it
    public static long read(ValueType<?> type, byte[] bytes, int offset, int length) {
        long usual = type.equals(TimeTypes.DATE)
                ? length == DATE_LENGTH ? date(bytes, offset) : UNUSUAL
                : timestamp(bytes, offset, length, type.equals(TimeTypes.TIMESTAMPTZ) ? 3 : 0);
        if (usual != UNUSUAL) {
            return usual;
        }
        String text = new String(bytes, offset, length, StandardCharsets.UTF_8);
        return (Long) type.cast(type.parse(text));
    }

    /// @param zoneLength of the `+00` at the end, if any
    private static long timestamp(byte[] bytes, int offset, int length, int zoneLength) {
        int end = length - zoneLength;
        if (end < SECONDS_END || (zoneLength > 0 && !isUtc(bytes, offset + end))) {
            return UNUSUAL;
        }
        long days = date(bytes, offset);
        long seconds = seconds(bytes, offset + DATE_LENGTH);
        long fraction = fraction(bytes, offset + SECONDS_END, offset + end);
        if (days == UNUSUAL || seconds < 0 || fraction < 0) {
            return UNUSUAL;
        }
        return days * Interval.MICROS_PER_DAY + seconds * 1_000_000 + fraction;
    }

    private static boolean isUtc(byte[] bytes, int at) {
        return bytes[at] == '+' && bytes[at + 1] == '0' && bytes[at + 2] == '0';
    }

    /// `2026-01-31`, of the years 1 to 9999.
    private static long date(byte[] bytes, int at) {
        int century = two(bytes, at);
        int yearOfCentury = two(bytes, at + 2);
        int month = two(bytes, at + 5);
        int day = two(bytes, at + 8);
        int year = century * 100 + yearOfCentury;
        if (century < 0 || yearOfCentury < 0 || year == 0 || bytes[at + 4] != '-' || bytes[at + 7] != '-') {
            return UNUSUAL;
        }
        if (month < 1 || month > 12 || day < 1) {
            return UNUSUAL;
        }
        int leapDay = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 1 : 0;
        int monthLength = DAYS_BEFORE_MONTH[month] - DAYS_BEFORE_MONTH[month - 1] + (month == 2 ? leapDay : 0);
        if (day > monthLength) {
            return UNUSUAL;
        }
        long before = year - 1L;
        long days = 365 * before + before / 4 - before / 100 + before / 400;
        return days + DAYS_BEFORE_MONTH[month - 1] + (month > 2 ? leapDay : 0) + day - 1 - DAYS_BEFORE_EPOCH;
    }

    /// ` 23:59:59` in seconds, negative for anything else.
    private static long seconds(byte[] bytes, int at) {
        int hours = two(bytes, at + 1);
        int minutes = two(bytes, at + 4);
        int seconds = two(bytes, at + 7);
        boolean usual = bytes[at] == ' ' && bytes[at + 3] == ':' && bytes[at + 6] == ':';
        if (!usual || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) {
            return -1;
        }
        return (hours * 60L + minutes) * 60 + seconds;
    }

    /// Nothing, or a point and up to six digits, in microseconds; negative for anything else.
    private static long fraction(byte[] bytes, int from, int end) {
        if (from == end) {
            return 0;
        }
        int digits = end - from - 1;
        if (bytes[from] != '.' || digits < 1 || digits > FRACTION_DIGITS) {
            return -1;
        }
        long micros = 0;
        for (int i = 0; i < FRACTION_DIGITS; i++) {
            int digit = i < digits ? bytes[from + 1 + i] - '0' : 0;
            if (digit < 0 || digit > 9) {
                return -1;
            }
            micros = micros * 10 + digit;
        }
        return micros;
    }

    /// A number of two digits, negative when they are none.
    private static int two(byte[] bytes, int at) {
        int tens = bytes[at] - '0';
        int units = bytes[at + 1] - '0';
        return tens < 0 || tens > 9 || units < 0 || units > 9 ? -1_000 : tens * 10 + units;
    }
}
