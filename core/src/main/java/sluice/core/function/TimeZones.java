package sluice.core.function;

import static sluice.core.datum.TimeTypes.INTERVAL;
import static sluice.core.datum.TimeTypes.TIMESTAMP;
import static sluice.core.datum.TimeTypes.TIMESTAMPTZ;
import static sluice.core.datum.TimeTypes.TIMETZ;
import static sluice.core.datum.ValueTypes.TEXT;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneRules;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Interval;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ZonedTime;

/// `AT TIME ZONE` (`timestamp.c`, `date.c`).
///
/// The server has its own rules of time zones and so has Java. They agree on what is listed here: zones whose rules
/// have long been settled, between 2000 and 2037, outside of the hours that a change of the clock skips or repeats.
final class TimeZones {
    private static final String BAD_PARAMETER = "22023";

    private static final long UNIX_EPOCH_SECONDS = 946_684_800;

    /// Seconds since 2000-01-01: the years the rules are trusted for.
    private static final long FIRST = 86_400;

    private static final long LAST = 37L * 365 * 86_400;

    private static final Set<String> SETTLED = new LinkedHashSet<>(List.of(
            "Europe/London",
            "Europe/Dublin",
            "Europe/Lisbon",
            "Europe/Madrid",
            "Europe/Paris",
            "Europe/Brussels",
            "Europe/Amsterdam",
            "Europe/Berlin",
            "Europe/Zurich",
            "Europe/Rome",
            "Europe/Vienna",
            "Europe/Prague",
            "Europe/Warsaw",
            "Europe/Budapest",
            "Europe/Copenhagen",
            "Europe/Oslo",
            "Europe/Stockholm",
            "Europe/Helsinki",
            "Europe/Athens",
            "America/New_York",
            "America/Chicago",
            "America/Denver",
            "America/Los_Angeles",
            "America/Phoenix",
            "America/Toronto",
            "Asia/Dubai",
            "Asia/Kolkata",
            "Asia/Singapore",
            "Asia/Hong_Kong",
            "Asia/Shanghai",
            "Asia/Seoul",
            "Asia/Tokyo",
            "Australia/Brisbane",
            "Australia/Sydney",
            "Australia/Melbourne",
            "Pacific/Auckland",
            "Pacific/Honolulu"));

    private TimeZones() {}

    static void register(FunctionTable table) {
        table.binary("timestamp_zone", TEXT, TIMESTAMP, TIMESTAMPTZ, TimeZones::toUtc);
        table.binary("timestamptz_zone", TEXT, TIMESTAMPTZ, TIMESTAMP, TimeZones::fromUtc);
        table.binary("timetz_zone", TEXT, TIMETZ, TIMETZ, (zone, time) -> {
            if (!isUtc(zone)) {
                throw new UndecidableException();
            }
            return moved(time, 0);
        });
        table.binary("timestamp_izone", INTERVAL, TIMESTAMP, TIMESTAMPTZ, (zone, a) -> shifted(a, -secondsEast(zone)));
        table.binary("timestamptz_izone", INTERVAL, TIMESTAMPTZ, TIMESTAMP, (zone, a) -> shifted(a, secondsEast(zone)));
        table.binary("timetz_izone", INTERVAL, TIMETZ, TIMETZ, (zone, time) -> {
            long east = secondsEast(zone);
            if (Math.abs(east) >= 16 * 3600) {
                throw new UndecidableException();
            }
            return moved(time, (int) -east);
        });
        table.unary("timetz_at_local", TIMETZ, TIMETZ, time -> moved(time, 0));
    }

    static boolean isUtc(String zone) {
        return zone.equalsIgnoreCase("UTC") || zone.equalsIgnoreCase("GMT") || zone.equals("Etc/UTC");
    }

    private static ZoneRules rules(String zone) {
        if (!SETTLED.contains(zone)) {
            throw new UndecidableException();
        }
        return ZoneId.of(zone).getRules();
    }

    private static long seconds(long timestamp) {
        long seconds = Math.floorDiv(timestamp, Calendar.SECOND);
        if (seconds < FIRST || seconds > LAST) {
            throw new UndecidableException();
        }
        return seconds + UNIX_EPOCH_SECONDS;
    }

    private static long toUtc(String zone, long timestamp) {
        if (!TimeTypes.isFinite(timestamp) || isUtc(zone)) {
            return finiteOrKnown(zone, timestamp);
        }
        LocalDateTime local = LocalDateTime.ofEpochSecond(seconds(timestamp), 0, ZoneOffset.UTC);
        List<ZoneOffset> offsets = rules(zone).getValidOffsets(local);
        if (offsets.size() != 1) {
            throw new UndecidableException();
        }
        return timestamp - offsets.getFirst().getTotalSeconds() * Calendar.SECOND;
    }

    private static long fromUtc(String zone, long timestamp) {
        if (!TimeTypes.isFinite(timestamp) || isUtc(zone)) {
            return finiteOrKnown(zone, timestamp);
        }
        ZoneOffset offset = rules(zone).getOffset(Instant.ofEpochSecond(seconds(timestamp)));
        return timestamp + offset.getTotalSeconds() * Calendar.SECOND;
    }

    /// An infinite moment is the same everywhere, if the zone is one.
    private static long finiteOrKnown(String zone, long timestamp) {
        if (!isUtc(zone)) {
            rules(zone);
        }
        return timestamp;
    }

    private static long secondsEast(Interval zone) {
        if (!zone.isFinite() || zone.months() != 0 || zone.days() != 0) {
            throw new EvaluationException(BAD_PARAMETER);
        }
        return zone.micros() / Calendar.SECOND;
    }

    private static long shifted(long timestamp, long seconds) {
        if (!TimeTypes.isFinite(timestamp)) {
            return timestamp;
        }
        if (Math.abs(seconds) > Integer.MAX_VALUE) {
            throw new UndecidableException();
        }
        return Calendar.timestamp(Calendar.sum(timestamp, seconds * Calendar.SECOND));
    }

    private static ZonedTime moved(ZonedTime time, int secondsWest) {
        long micros = time.micros() + (time.secondsWest() - secondsWest) * Calendar.SECOND;
        return new ZonedTime(Math.floorMod(micros, Calendar.DAY), secondsWest);
    }
}
