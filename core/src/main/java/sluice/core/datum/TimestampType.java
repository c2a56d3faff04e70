package sluice.core.datum;

import java.nio.ByteBuffer;
import java.time.LocalDate;

/// `timestamp` and `timestamptz` (`timestamp.c`), as microseconds since 2000-01-01; the least and the greatest `long`
/// are infinite. The time zone being UTC, both count alike and only one prints its zone.
final class TimestampType extends ValueType<Long> {
    private final String zone;

    /// @param zone how a text ends
    TimestampType(int oid, int arrayOid, String sqlName, String zone) {
        super(oid, arrayOid, sqlName, Storage.fixed(8, 8));
        this.zone = zone;
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public Long parse(String text) {
        return switch (text) {
            case "infinity" -> TimeTypes.INFINITY;
            case "-infinity" -> TimeTypes.MINUS_INFINITY;
            default -> {
                CalendarText reader = new CalendarText(text);
                long days = reader.date();
                reader.expect(' ');
                long micros = reader.time();
                if (!reader.accept(zone)) {
                    throw new UndecidableException();
                }
                reader.endOfDate();
                // The first date is later than the least long allows, the last one earlier than the greatest.
                long timestamp = days * Interval.MICROS_PER_DAY + micros;
                if (micros >= Interval.MICROS_PER_DAY || !TimeTypes.isTimestamp(timestamp)) {
                    throw new UndecidableException();
                }
                yield timestamp;
            }
        };
    }

    @Override
    public Long input(String text) {
        return text.endsWith("infinity")
                ? printed(text)
                : InputText.moment(text, zone.isEmpty() ? InputText.Zone.IGNORED : InputText.Zone.SUBTRACTED);
    }

    @Override
    public String print(Long value) {
        if (!TimeTypes.isFinite(value)) {
            return value > 0 ? "infinity" : "-infinity";
        }
        LocalDate date = TimeTypes.localDate(Math.floorDiv(value, Interval.MICROS_PER_DAY));
        StringBuilder out = new StringBuilder();
        CalendarText.appendDate(out, date);
        CalendarText.appendTime(out.append(' '), Math.floorMod(value, Interval.MICROS_PER_DAY));
        return out.append(zone).append(date.getYear() > 0 ? "" : " BC").toString();
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

    @Override
    public Representation representation() {
        return Representation.MOMENT;
    }
}
