package sluice.core.datum;

import java.nio.ByteBuffer;
import java.time.LocalDate;
import sluice.core.value.Oid;

/// `date` (`date.c`), as days since 2000-01-01; the least and the greatest `int` are infinite.
final class DateType extends ValueType<Long> {
    DateType() {
        super(Oid.DATE, 1182, "pg_catalog.date", Storage.fixed(4, 4));
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public Long parse(String text) {
        return switch (text) {
            case "infinity" -> TimeTypes.DATE_INFINITY;
            case "-infinity" -> TimeTypes.DATE_MINUS_INFINITY;
            default -> {
                CalendarText reader = new CalendarText(text);
                long days = reader.date();
                reader.endOfDate();
                yield days;
            }
        };
    }

    @Override
    public Long input(String text) {
        return text.endsWith("infinity")
                ? printed(text)
                : Math.floorDiv(InputText.moment(text, InputText.Zone.IGNORED), Interval.MICROS_PER_DAY);
    }

    @Override
    public String print(Long value) {
        if (!TimeTypes.isFiniteDate(value)) {
            return value > 0 ? "infinity" : "-infinity";
        }
        LocalDate date = TimeTypes.localDate(value);
        StringBuilder out = new StringBuilder();
        CalendarText.appendDate(out, date);
        return out.append(date.getYear() > 0 ? "" : " BC").toString();
    }

    @Override
    public Long decode(ByteBuffer datum) throws DatumFormatException {
        return (long) Datums.fixed(datum, 4).getInt(0);
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
