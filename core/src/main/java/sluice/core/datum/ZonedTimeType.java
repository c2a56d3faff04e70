package sluice.core.datum;

import java.nio.ByteBuffer;

/// `timetz` (`date.c`).
final class ZonedTimeType extends ValueType<ZonedTime> {
    ZonedTimeType() {
        super(1266, 1270, "pg_catalog.timetz", Storage.fixed(12, 8));
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public ZonedTime parse(String text) {
        CalendarText reader = new CalendarText(text);
        long micros = reader.time();
        int secondsWest = reader.zone();
        reader.end();
        if (micros > Interval.MICROS_PER_DAY) {
            throw new UndecidableException();
        }
        return new ZonedTime(micros, secondsWest);
    }

    @Override
    public ZonedTime input(String text) {
        return printed(text);
    }

    @Override
    public String print(ZonedTime value) {
        return value.toString();
    }

    @Override
    public ZonedTime decode(ByteBuffer datum) throws DatumFormatException {
        ByteBuffer fields = Datums.fixed(datum, 12);
        return new ZonedTime(fields.getLong(0), fields.getInt(8));
    }

    @Override
    public int compare(ZonedTime left, ZonedTime right) {
        return left.compareTo(right);
    }

    @Override
    public ZonedTime cast(Object value) {
        return (ZonedTime) value;
    }
}
