package sluice.core.datum;

import java.nio.ByteBuffer;

/// A type whose values are held as the characters they are written with.
abstract sealed class CharactersType extends ValueType<String>
        permits BpcharType, JsonType, NameType, TextLikeType, TextType, UuidType {
    CharactersType(int oid, int arrayOid, String sqlName, Storage storage) {
        super(oid, arrayOid, sqlName, storage);
    }

    @Override
    public final String parse(String text) {
        return text;
    }

    @Override
    public String input(String text) {
        return text;
    }

    @Override
    public final String print(String value) {
        return value;
    }

    @Override
    public final String cast(Object value) {
        return (String) value;
    }

    @Override
    public String decode(ByteBuffer datum) throws DatumFormatException {
        return Datums.utf8(datum);
    }
}
