package sluice.core.datum;

/// A value of PostgreSQL's `timetz`: a time of day and its distance from UTC.
///
/// @param micros since midnight, a whole day included
/// @param secondsWest positive west of Greenwich
public record ZonedTime(long micros, int secondsWest) implements Comparable<ZonedTime> {
    /// By the moment, then eastern zones first.
    @Override
    public int compareTo(ZonedTime other) {
        int order = Long.compare(utcMicros(), other.utcMicros());
        return order != 0 ? order : Integer.compare(secondsWest, other.secondsWest);
    }

    /// May lie outside of a day.
    public long utcMicros() {
        return micros + secondsWest * 1_000_000L;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        CalendarText.appendTime(text, micros);
        int seconds = Math.abs(secondsWest);
        text.append(secondsWest <= 0 ? '+' : '-');
        CalendarText.appendTwo(text, seconds / 3600);
        if (seconds % 3600 != 0) {
            CalendarText.appendTwo(text.append(':'), seconds / 60 % 60);
        }
        if (seconds % 60 != 0) {
            CalendarText.appendTwo(text.append(':'), seconds % 60);
        }
        return text.toString();
    }
}
