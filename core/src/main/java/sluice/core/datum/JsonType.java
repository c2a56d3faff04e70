package sluice.core.datum;

import java.nio.ByteBuffer;
import sluice.core.value.Oid;

/// `json`: the text as it was written. It has no order, not even equality.
final class JsonType extends ValueType<String> {
    JsonType() {
        super(Oid.JSON, 199, "pg_catalog.json", Storage.variable());
    }

    @Override
    public String parse(String text) {
        return text;
    }

    @Override
    public String input(String text) {
        JsonReader.read(text, JsonReader.Escapes.SKIPPED);
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
    public boolean isOrdered() {
        return false;
    }

    @Override
    public int compare(String left, String right) {
        throw new UndecidableException();
    }

    @Override
    public String cast(Object value) {
        return (String) value;
    }
}
