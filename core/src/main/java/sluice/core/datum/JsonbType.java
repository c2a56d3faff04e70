package sluice.core.datum;

import java.nio.ByteBuffer;
import sluice.core.value.Oid;

/// `jsonb`.
final class JsonbType extends ValueType<Json> {
    JsonbType() {
        super(Oid.JSONB, 3807, "pg_catalog.jsonb", Storage.variable());
    }

    @Override
    public Json parse(String text) {
        return input(text);
    }

    @Override
    public Json input(String text) {
        return JsonReader.read(text, JsonReader.Escapes.READ).toJson();
    }

    @Override
    public String print(Json value) {
        return JsonPrinter.print(value);
    }

    @Override
    public Json decode(ByteBuffer datum) throws DatumFormatException {
        return JsonbDatum.decode(datum);
    }

    @Override
    public int compare(Json left, Json right) {
        return JsonOrder.compare(left, right);
    }

    @Override
    public Json cast(Object value) {
        return (Json) value;
    }
}
