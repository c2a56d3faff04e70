package sluice.core.datum;

import java.nio.ByteBuffer;

/// `interval` (`timestamp.c`).
final class IntervalType extends ValueType<Interval> {
    IntervalType() {
        super(1186, 1187, "pg_catalog.interval", Storage.fixed(16, 8));
    }

    /// @throws UndecidableException for spellings that the server reads but does not print, and for the two amounts
    ///     that became infinite with PostgreSQL 17
    @Override
    public Interval parse(String text) {
        return switch (text) {
            case "infinity" -> Interval.INFINITY;
            case "-infinity" -> Interval.MINUS_INFINITY;
            default -> {
                Interval interval = new CalendarText(text).interval();
                if (!interval.isFinite()) {
                    throw new UndecidableException();
                }
                yield interval;
            }
        };
    }

    /// @throws UndecidableException for infinities too, which are no intervals before PostgreSQL 17
    @Override
    public Interval input(String text) {
        Interval interval = printed(text);
        if (!interval.isFinite()) {
            throw new UndecidableException();
        }
        return interval;
    }

    @Override
    public String print(Interval value) {
        return value.toString();
    }

    @Override
    public Interval decode(ByteBuffer datum) throws DatumFormatException {
        ByteBuffer fields = Datums.fixed(datum, 16);
        return new Interval(fields.getInt(12), fields.getInt(8), fields.getLong(0));
    }

    @Override
    public int compare(Interval left, Interval right) {
        return left.compareTo(right);
    }

    @Override
    public Interval cast(Object value) {
        return (Interval) value;
    }
}
