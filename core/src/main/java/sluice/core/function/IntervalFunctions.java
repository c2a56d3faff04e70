package sluice.core.function;

import static sluice.core.datum.NumberTypes.FLOAT8;
import static sluice.core.datum.TimeTypes.INTERVAL;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Interval;
import sluice.core.datum.UndecidableException;

/// `interval` (`timestamp.c`). What PostgreSQL 17 changed with infinite intervals and checks of overflow is not
/// decided where the majors differ.
final class IntervalFunctions {
    private static final String DIVISION_BY_ZERO = "22012";

    private static final int DAYS_PER_MONTH = 30;
    private static final double SECONDS_PER_DAY = 86_400;

    /// Which fields `interval(typmod)` keeps and how many digits behind the seconds: all of them.
    private static final int ALL_FIELDS = 0x7fff;

    private static final int ALL_DIGITS = 0xffff;

    private IntervalFunctions() {}

    static void register(FunctionTable table) {
        table.ordered("interval_", INTERVAL);
        table.binary("interval_cmp", INTERVAL, INTERVAL, INT4, (a, b) -> (long) a.compareTo(b))
                .neverRaises();
        table.binary("interval_larger", INTERVAL, INTERVAL, INTERVAL, (a, b) -> a.compareTo(b) > 0 ? a : b)
                .neverRaises();
        table.binary("interval_smaller", INTERVAL, INTERVAL, INTERVAL, (a, b) -> a.compareTo(b) < 0 ? a : b)
                .neverRaises();
        table.unary("interval_finite", INTERVAL, BOOL, Interval::isFinite).neverRaises();
        table.unary("interval_um", INTERVAL, INTERVAL, IntervalFunctions::negated);
        table.binary("interval_pl", INTERVAL, INTERVAL, INTERVAL, IntervalFunctions::sum);
        table.binary("interval_mi", INTERVAL, INTERVAL, INTERVAL, (a, b) -> sum(a, negated(b)));
        table.binary("interval_mul", INTERVAL, FLOAT8, INTERVAL, IntervalFunctions::product);
        table.binary("mul_d_interval", FLOAT8, INTERVAL, INTERVAL, (a, b) -> product(b, a));
        table.binary("interval_div", INTERVAL, FLOAT8, INTERVAL, IntervalFunctions::quotient);
        table.unary("interval_justify_hours", INTERVAL, INTERVAL, IntervalFunctions::justifiedHours);
        table.unary("interval_justify_days", INTERVAL, INTERVAL, IntervalFunctions::justifiedDays);
        table.unary("interval_justify_interval", INTERVAL, INTERVAL, IntervalFunctions::justified);
        table.binary("interval_scale", INTERVAL, INT4, INTERVAL, IntervalFunctions::modified);
        table.sited(
                "make_interval",
                List.of(INT4, INT4, INT4, INT4, INT4, INT4, FLOAT8),
                INTERVAL,
                (_, given) -> made(given));
    }

    /// Amounts within their ranges that are not those of an infinite interval.
    private static Interval interval(long months, long days, long micros) {
        if (months != (int) months || days != (int) days) {
            throw Calendar.outOfRange();
        }
        Interval interval = new Interval((int) months, (int) days, micros);
        if (!interval.isFinite()) {
            throw new UndecidableException();
        }
        return interval;
    }

    /// @throws UndecidableException for amounts without a positive counterpart, which older majors leave negative
    static Interval negated(Interval a) {
        if (!a.isFinite()) {
            return a.months() > 0 ? Interval.MINUS_INFINITY : Interval.INFINITY;
        }
        if (a.months() == Integer.MIN_VALUE || a.days() == Integer.MIN_VALUE || a.micros() == Long.MIN_VALUE) {
            throw new UndecidableException();
        }
        return interval(-a.months(), -a.days(), -a.micros());
    }

    private static Interval sum(Interval a, Interval b) {
        if (!a.isFinite() || !b.isFinite()) {
            if (!a.isFinite() && !b.isFinite() && !a.equals(b)) {
                throw Calendar.outOfRange();
            }
            return a.isFinite() ? b : a;
        }
        long micros;
        try {
            micros = Math.addExact(a.micros(), b.micros());
        } catch (ArithmeticException overflow) {
            throw Calendar.outOfRange();
        }
        return interval((long) a.months() + b.months(), (long) a.days() + b.days(), micros);
    }

    private static Interval product(Interval a, double factor) {
        if (Double.isNaN(factor)) {
            throw Calendar.outOfRange();
        }
        if (!a.isFinite()) {
            if (factor == 0) {
                throw Calendar.outOfRange();
            }
            return factor < 0 ? negated(a) : a;
        }
        if (Double.isInfinite(factor)) {
            throw new UndecidableException();
        }
        return cascaded(new Scaled(a.months() * factor, a.days() * factor, a.micros() * factor));
    }

    private static Interval quotient(Interval a, double divisor) {
        if (divisor == 0) {
            throw new EvaluationException(DIVISION_BY_ZERO);
        }
        if (Double.isNaN(divisor)) {
            throw Calendar.outOfRange();
        }
        if (!a.isFinite()) {
            if (Double.isInfinite(divisor)) {
                throw Calendar.outOfRange();
            }
            return divisor < 0 ? negated(a) : a;
        }
        return cascaded(new Scaled(a.months() / divisor, a.days() / divisor, a.micros() / divisor));
    }

    private record Scaled(double months, double days, double micros) {}

    /// Whole months and days stay; what is left of a month becomes days and what is left of a day becomes time, in
    /// the floating-point steps of the server.
    private static Interval cascaded(Scaled scaled) {
        int months = whole(scaled.months());
        int days = whole(scaled.days());
        double monthDays = toMicros((scaled.months() - months) * DAYS_PER_MONTH);
        double seconds = toMicros((scaled.days() - days + monthDays - (int) monthDays) * SECONDS_PER_DAY);
        long allDays = days;
        if (Math.abs(seconds) >= SECONDS_PER_DAY) {
            int carried = (int) (seconds / SECONDS_PER_DAY);
            allDays += carried;
            seconds -= carried * SECONDS_PER_DAY;
        }
        allDays += (int) monthDays;
        double micros = Math.rint(scaled.micros() + seconds * Calendar.SECOND);
        if (!(micros >= -0x1p63 && micros < 0x1p63)) {
            throw Calendar.outOfRange();
        }
        if (allDays != (int) allDays) {
            throw new UndecidableException();
        }
        return interval(months, allDays, (long) micros);
    }

    private static int whole(double amount) {
        if (!(amount >= Integer.MIN_VALUE && amount <= Integer.MAX_VALUE)) {
            throw new UndecidableException();
        }
        return (int) amount;
    }

    /// Rounds to the sixth digit behind the point.
    private static double toMicros(double amount) {
        return Math.rint(amount * 1_000_000.0) / 1_000_000.0;
    }

    private static Interval justifiedHours(Interval a) {
        if (!a.isFinite()) {
            return a;
        }
        long days = a.days() + a.micros() / Calendar.DAY;
        long micros = a.micros() % Calendar.DAY;
        int carry = carry(days, micros);
        return interval(a.months(), days + carry, micros - carry * Calendar.DAY);
    }

    private static Interval justifiedDays(Interval a) {
        if (!a.isFinite()) {
            return a;
        }
        long months = (long) a.months() + a.days() / DAYS_PER_MONTH;
        int days = a.days() % DAYS_PER_MONTH;
        int carry = carry(months, days);
        return interval(months + carry, days - carry * DAYS_PER_MONTH, a.micros());
    }

    private static Interval justified(Interval a) {
        if (!a.isFinite()) {
            return a;
        }
        long micros = a.micros() % Calendar.DAY;
        long allDays = a.days() + a.micros() / Calendar.DAY;
        long months = a.months() + allDays / DAYS_PER_MONTH;
        long days = allDays % DAYS_PER_MONTH;
        if (months != (int) months) {
            throw Calendar.outOfRange();
        }
        int monthCarry = carry(months, days != 0 ? days : micros);
        months += monthCarry;
        days -= (long) monthCarry * DAYS_PER_MONTH;
        int dayCarry = carry(days, micros);
        return interval(months, days + dayCarry, micros - dayCarry * Calendar.DAY);
    }

    /// What a greater unit gives so that a smaller one has its sign.
    private static int carry(long greater, long smaller) {
        return greater > 0 && smaller < 0 ? -1 : greater < 0 && smaller > 0 ? 1 : 0;
    }

    /// `interval year to month`, `interval(3)` and such: the modifier has a mask of fields in its
    /// upper half and the
    /// number of digits in the lower.
    private static Interval modified(Interval a, long modifier) {
        if (!a.isFinite() || modifier < 0) {
            if (modifier < -1) {
                throw new UndecidableException();
            }
            return a;
        }
        int fields = (int) (modifier >> 16) & ALL_FIELDS;
        int digits = (int) modifier & ALL_DIGITS;
        Interval kept = new Fields(fields).keep(a);
        if (digits == ALL_DIGITS) {
            return kept;
        }
        if (digits > 6) {
            throw new UndecidableException();
        }
        return interval(kept.months(), kept.days(), Calendar.rounded(kept.micros(), digits));
    }

    /// A mask with one bit for each field (`INTERVAL_MASK` of `timestamp.h`).
    private record Fields(int mask) {
        private static final int MONTH = 1 << 1;
        private static final int YEAR = 1 << 2;
        private static final int DAY = 1 << 3;
        private static final int HOUR = 1 << 10;
        private static final int MINUTE = 1 << 11;
        private static final int SECOND = 1 << 12;
        private static final int KNOWN = MONTH | YEAR | DAY | HOUR | MINUTE | SECOND;

        Interval keep(Interval a) {
            if (mask == ALL_FIELDS || ((mask & SECOND) != 0 && (mask & ~KNOWN) == 0)) {
                return a;
            }
            return switch (mask) {
                case YEAR -> new Interval(a.months() / 12 * 12, 0, 0);
                case MONTH, YEAR | MONTH -> new Interval(a.months(), 0, 0);
                case DAY -> new Interval(a.months(), a.days(), 0);
                case HOUR, DAY | HOUR -> truncated(a, Calendar.HOUR);
                case MINUTE, HOUR | MINUTE, DAY | HOUR | MINUTE -> truncated(a, Calendar.MINUTE);
                default -> throw new UndecidableException();
            };
        }

        private static Interval truncated(Interval a, long unit) {
            return new Interval(a.months(), a.days(), a.micros() / unit * unit);
        }
    }

    /// Years, months, weeks, days, hours, minutes and seconds.
    private static Interval made(@Nullable Object[] given) {
        long[] amounts = new long[6];
        for (int i = 0; i < amounts.length; i++) {
            amounts[i] = INT4.cast(FunctionTable.present(given[i]));
        }
        double seconds = FLOAT8.cast(FunctionTable.present(given[6]));
        if (!Double.isFinite(seconds)) {
            throw Calendar.outOfRange();
        }
        double micros = Math.rint(seconds * Calendar.SECOND);
        long months = amounts[0] * 12 + amounts[1];
        long days = amounts[2] * 7 + amounts[3];
        if (!(Math.abs(micros) < 0x1p62) || months != (int) months || days != (int) days) {
            throw new UndecidableException();
        }
        long clock = amounts[4] * Calendar.HOUR + amounts[5] * Calendar.MINUTE;
        return interval(months, days, Calendar.sum(clock, (long) micros));
    }
}
