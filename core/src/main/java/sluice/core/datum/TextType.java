package sluice.core.datum;

import java.nio.ByteBuffer;

/// `text` and `varchar`: the characters as they are.
final class TextType extends ValueType<String> {
    TextType(int oid, int arrayOid, String sqlName) {
        super(oid, arrayOid, sqlName, Storage.variable());
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
        return Datums.compareBytes(left, right);
    }

    @Override
    public String cast(Object value) {
        return (String) value;
    }

    @Override
    public Representation representation() {
        return Representation.BYTES;
    }

    @Override
    public boolean hasFormOf(ValueType<?> other) {
        return other instanceof TextType || other instanceof TextLikeType;
    }

    @Override
    public boolean collatable() {
        return true;
    }
}
