package sluice.core.datum;

/// A value of PostgreSQL's `interval`: three amounts that are kept apart, since months and days differ in length.
///
/// They are compared as if a month had thirty days and a day 24 hours, so two values that print differently may be
/// equal; Java's equality is that of the amounts.
public record Interval(int months, int days, long micros) implements Comparable<Interval> {
    public static final long MICROS_PER_DAY = 86_400_000_000L;

    /// Since PostgreSQL 17; before, these amounts were an interval like others, which no server reads from a text
    /// that anybody writes.
    public static final Interval INFINITY = new Interval(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE);

    public static final Interval MINUS_INFINITY = new Interval(Integer.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE);

    private static final long DAYS_PER_MONTH = 30;

    public boolean isFinite() {
        return !equals(INFINITY) && !equals(MINUS_INFINITY);
    }

    @Override
    public int compareTo(Interval other) {
        int order = Long.compare(wholeDays(), other.wholeDays());
        return order != 0 ? order : Long.compare(rest(), other.rest());
    }

    private long wholeDays() {
        return months * DAYS_PER_MONTH + days + Math.floorDiv(micros, MICROS_PER_DAY);
    }

    private long rest() {
        return Math.floorMod(micros, MICROS_PER_DAY);
    }

    /// As `interval_out` prints it in style `postgres`.
    @Override
    public String toString() {
        if (!isFinite()) {
            return months > 0 ? "infinity" : "-infinity";
        }
        Printer out = new Printer();
        out.amount(months / 12, "year");
        out.amount(months % 12, "mon");
        out.amount(days, "day");
        if (out.text.isEmpty() || micros != 0) {
            out.time(micros);
        }
        return out.text.toString();
    }

    /// What follows a negative amount needs a sign.
    private static final class Printer {
        private final StringBuilder text = new StringBuilder();
        private boolean afterNegative;

        void amount(int amount, String unit) {
            if (amount == 0) {
                return;
            }
            separate();
            text.append(afterNegative && amount > 0 ? "+" : "")
                    .append(amount)
                    .append(' ')
                    .append(unit);
            text.append(amount == 1 ? "" : "s");
            afterNegative = amount < 0;
        }

        void time(long micros) {
            separate();
            text.append(micros < 0 ? "-" : afterNegative ? "+" : "");
            CalendarText.appendTime(text, micros);
        }

        private void separate() {
            if (!text.isEmpty()) {
                text.append(' ');
            }
        }
    }
}
