package sluice.core.datum;

import java.time.DateTimeException;
import java.time.LocalDate;

/// Dates, times and intervals as the server prints them with ISO dates, interval style `postgres` and time zone UTC.
///
/// An instance reads one text from left to right. What the server would not print is not understood: it may well read
/// it, so nothing is said about it.
final class CalendarText {
    /// Days from 1970-01-01 to 2000-01-01, from which the server counts.
    static final int EPOCH_DAYS = 10_957;

    private final String text;
    private int position;

    CalendarText(String text) {
        this.text = text;
    }

    /// A date and the mark of years before the first that stands at the end of the text.
    long date() {
        boolean beforeChrist = text.endsWith(" BC");
        long year = number();
        expect('-');
        long month = number();
        expect('-');
        long day = number();
        if (year == 0 || year > 5_900_000) {
            throw new UndecidableException();
        }
        try {
            int proleptic = Math.toIntExact(beforeChrist ? 1 - year : year);
            LocalDate date = LocalDate.of(proleptic, Math.toIntExact(month), Math.toIntExact(day));
            return date.toEpochDay() - EPOCH_DAYS;
        } catch (DateTimeException | ArithmeticException notDate) {
            throw new UndecidableException();
        }
    }

    /// Hours, minutes, seconds and a fraction, in microseconds; hours may be any number.
    long time() {
        long hours = number();
        expect(':');
        long minutes = number();
        expect(':');
        long seconds = number();
        if (minutes > 59 || seconds > 59 || hours > 2_562_047_788L) {
            throw new UndecidableException();
        }
        // May be one more than the greatest long, which is right for the least interval once negated.
        return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction();
    }

    private long fraction() {
        if (!accept(".")) {
            return 0;
        }
        int start = position;
        long digits = number();
        int count = position - start;
        if (count > 6) {
            throw new UndecidableException();
        }
        for (int i = count; i < 6; i++) {
            digits *= 10;
        }
        return digits;
    }

    /// Signed hours with minutes and seconds where they are not zero, in seconds west of Greenwich.
    int zone() {
        boolean east = accept("+");
        if (!east) {
            expect('-');
        }
        long seconds = number() * 3600;
        if (accept(":")) {
            seconds += number() * 60;
        }
        if (accept(":")) {
            seconds += number();
        }
        if (seconds > 16 * 3600) {
            throw new UndecidableException();
        }
        return (int) (east ? -seconds : seconds);
    }

    /// Amounts with units, then a time, each with a sign where it needs one.
    Interval interval() {
        long months = 0;
        long days = 0;
        long micros = 0;
        boolean more = !text.isEmpty();
        while (more) {
            int start = position;
            int sign = accept("-") ? -1 : 1;
            if (sign > 0) {
                accept("+");
            }
            int digits = position;
            long amount = number();
            if (accept(" year")) {
                months += sign * amount * 12;
            } else if (accept(" mon")) {
                months += sign * amount;
            } else if (accept(" day")) {
                days += sign * amount;
            } else {
                position = digits;
                micros = sign * time();
                end();
                break;
            }
            accept("s");
            more = accept(" ");
            if (position == start) {
                throw new UndecidableException();
            }
        }
        end();
        if (text.isEmpty() || months != (int) months || days != (int) days) {
            throw new UndecidableException();
        }
        return new Interval((int) months, (int) days, micros);
    }

    boolean accept(String expected) {
        if (!text.startsWith(expected, position)) {
            return false;
        }
        position += expected.length();
        return true;
    }

    void expect(char expected) {
        if (position >= text.length() || text.charAt(position) != expected) {
            throw new UndecidableException();
        }
        position++;
    }

    /// The end of the text, but for the mark that {@link #date} has seen.
    void endOfDate() {
        accept(" BC");
        end();
    }

    void end() {
        if (position != text.length()) {
            throw new UndecidableException();
        }
    }

    /// One to ten digits.
    private long number() {
        long number = 0;
        int start = position;
        while (position < text.length() && text.charAt(position) >= '0' && text.charAt(position) <= '9') {
            number = number * 10 + (text.charAt(position) - '0');
            position++;
            if (position - start > 10) {
                throw new UndecidableException();
            }
        }
        if (position == start) {
            throw new UndecidableException();
        }
        return number;
    }

    /// Without the mark of years before the first.
    static void appendDate(StringBuilder out, LocalDate date) {
        int year = date.getYear() > 0 ? date.getYear() : 1 - date.getYear();
        out.append(year < 10 ? "000" : year < 100 ? "00" : year < 1000 ? "0" : "")
                .append(year);
        appendTwo(out.append('-'), date.getMonthValue());
        appendTwo(out.append('-'), date.getDayOfMonth());
    }

    /// The amount without its sign.
    static void appendTime(StringBuilder out, long micros) {
        // Remainders of negative numbers are negative, and the least long has no positive counterpart.
        long hours = Math.abs(micros / 3_600_000_000L);
        appendTwo(out, hours);
        appendTwo(out.append(':'), Math.abs(micros / 60_000_000 % 60));
        appendTwo(out.append(':'), Math.abs(micros / 1_000_000 % 60));
        long fraction = Math.abs(micros % 1_000_000);
        if (fraction != 0) {
            String digits = Long.toString(1_000_000 + fraction);
            int end = digits.length();
            while (digits.charAt(end - 1) == '0') {
                end--;
            }
            out.append('.').append(digits, 1, end);
        }
    }

    static void appendTwo(StringBuilder out, long number) {
        out.append(number < 10 ? "0" : "").append(number);
    }
}
