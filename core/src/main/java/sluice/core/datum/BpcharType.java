package sluice.core.datum;

import java.nio.ByteBuffer;
import sluice.core.value.Oid;

/// `char(n)`: held with its trailing blanks, compared without them (`bcTruelen` of `varchar.c`).
final class BpcharType extends ValueType<String> {
    BpcharType() {
        super(Oid.BPCHAR, 1014, "pg_catalog.bpchar", Storage.variable());
    }

    @Override
    public String parse(String text) {
        return text;
    }

    @Override
    public String input(String text) {
        return text;
    }

    @Override
    public String print(String value) {
        return value;
    }

    @Override
    public String decode(ByteBuffer datum) throws DatumFormatException {
        return Datums.utf8(datum);
    }

    @Override
    public int compare(String left, String right) {
        return Datums.compareBytes(TextTypes.withoutTrailingBlanks(left), TextTypes.withoutTrailingBlanks(right));
    }

    @Override
    public String cast(Object value) {
        return (String) value;
    }

    /// A text is one without a cast, blanks and all.
    @Override
    public boolean hasFormOf(ValueType<?> other) {
        return equals(other) || other.equals(ValueTypes.TEXT) || other.equals(ValueTypes.VARCHAR);
    }

    @Override
    public boolean collatable() {
        return true;
    }
}
