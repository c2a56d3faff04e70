package sluice.core.datum;

import java.nio.ByteBuffer;

/// `time` (`date.c`), as microseconds since midnight, a whole day included.
final class TimeType extends ValueType<Long> {
    TimeType() {
        super(1083, 1183, "pg_catalog.time", Storage.fixed(8, 8));
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public Long parse(String text) {
        CalendarText reader = new CalendarText(text);
        long micros = reader.time();
        reader.end();
        if (micros > Interval.MICROS_PER_DAY) {
            throw new UndecidableException();
        }
        return micros;
    }

    @Override
    public Long input(String text) {
        return printed(text);
    }

    @Override
    public String print(Long value) {
        StringBuilder out = new StringBuilder();
        CalendarText.appendTime(out, value);
        return out.toString();
    }

    @Override
    public Long decode(ByteBuffer datum) throws DatumFormatException {
        return Datums.fixed(datum, 8).getLong(0);
    }

    @Override
    public int compare(Long left, Long right) {
        return Long.compare(left, right);
    }

    @Override
    public Long cast(Object value) {
        return (Long) value;
    }
}
