package sluice.core.function;

import static sluice.core.datum.NumberTypes.FLOAT8;
import static sluice.core.datum.TimeTypes.INTERVAL;
import static sluice.core.datum.TimeTypes.TIME;
import static sluice.core.datum.TimeTypes.TIMESTAMP;
import static sluice.core.datum.TimeTypes.TIMESTAMPTZ;
import static sluice.core.datum.TimeTypes.TIMETZ;
import static sluice.core.datum.ValueTypes.INT4;

import org.jspecify.annotations.Nullable;
import sluice.core.datum.Interval;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.ZonedTime;

/// `time` and `timetz` (`date.c`): times of day, which wrap around at midnight.
final class ClockFunctions {
    private ClockFunctions() {}

    static void register(FunctionTable table) {
        table.ordered("time_", TIME);
        table.ordered("timetz_", TIMETZ);
        table.binary("time_cmp", TIME, TIME, INT4, (a, b) -> (long) Long.compare(a, b))
                .neverRaises();
        table.binary("timetz_cmp", TIMETZ, TIMETZ, INT4, (a, b) -> (long) a.compareTo(b))
                .neverRaises();
        table.binary("time_larger", TIME, TIME, TIME, Math::max).neverRaises();
        table.binary("time_smaller", TIME, TIME, TIME, Math::min).neverRaises();
        table.binary("timetz_larger", TIMETZ, TIMETZ, TIMETZ, (a, b) -> a.compareTo(b) > 0 ? a : b)
                .neverRaises();
        table.binary("timetz_smaller", TIMETZ, TIMETZ, TIMETZ, (a, b) -> a.compareTo(b) < 0 ? a : b)
                .neverRaises();
        table.binary("time_pl_interval", TIME, INTERVAL, TIME, (a, b) -> wrapped(a + finite(b)));
        table.binary("time_mi_interval", TIME, INTERVAL, TIME, (a, b) -> wrapped(a - finite(b)));
        table.binary("timetz_pl_interval", TIMETZ, INTERVAL, TIMETZ, (a, b) -> moved(a, a.micros() + finite(b)));
        table.binary("timetz_mi_interval", TIMETZ, INTERVAL, TIMETZ, (a, b) -> moved(a, a.micros() - finite(b)));
        table.binary("time_mi_time", TIME, TIME, INTERVAL, (a, b) -> new Interval(0, 0, a - b))
                .neverRaises();
        table.unary("time_interval", TIME, INTERVAL, a -> new Interval(0, 0, a)).neverRaises();
        table.unary("interval_time", INTERVAL, TIME, a -> wrapped(finite(a)));
        table.unary("time_timetz", TIME, TIMETZ, a -> new ZonedTime(a, 0)).neverRaises();
        table.unary("timetz_time", TIMETZ, TIME, ZonedTime::micros).neverRaises();
        table.unary("timestamp_time", TIMESTAMP, TIME, ClockFunctions::clock).neverRaises();
        table.unary("timestamptz_time", TIMESTAMPTZ, TIME, ClockFunctions::clock)
                .neverRaises();
        table.unary("timestamptz_timetz", TIMESTAMPTZ, TIMETZ, a -> {
            Long clock = clock(a);
            return clock == null ? null : new ZonedTime(clock, 0);
        });
        table.binary("time_scale", TIME, INT4, TIME, ClockFunctions::rounded);
        table.binary(
                "timetz_scale",
                TIMETZ,
                INT4,
                TIMETZ,
                (a, digits) -> new ZonedTime(rounded(a.micros(), digits), a.secondsWest()));
        table.ternary("make_time", INT4, INT4, FLOAT8, TIME, ClockFunctions::made);
    }

    /// Additions wrap around at 64 bits as the server's do, then at a day.
    private static long wrapped(long micros) {
        return Math.floorMod(micros, Calendar.DAY);
    }

    private static ZonedTime moved(ZonedTime time, long micros) {
        return new ZonedTime(wrapped(micros), time.secondsWest());
    }

    private static long finite(Interval interval) {
        if (!interval.isFinite()) {
            throw Calendar.outOfRange();
        }
        return interval.micros();
    }

    private static @Nullable Long clock(long timestamp) {
        return TimeTypes.isFinite(timestamp) ? Calendar.clock(timestamp) : null;
    }

    private static long rounded(long micros, long digits) {
        return digits < 0 || digits > 6 ? micros : Calendar.rounded(micros, digits);
    }

    static long made(long hour, long minute, double second) {
        double micros = Math.rint(second * Calendar.SECOND);
        if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || !(micros >= 0 && micros <= Calendar.MINUTE)) {
            throw Calendar.outOfRange();
        }
        long time = hour * Calendar.HOUR + minute * Calendar.MINUTE + (long) micros;
        if (time > Calendar.DAY) {
            throw Calendar.outOfRange();
        }
        return time;
    }
}
