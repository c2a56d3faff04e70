package sluice.core.datum;

import java.nio.ByteBuffer;

/// A type of a user's whose values are texts, such as `citext`. They have no order of their own here: what is equal
/// and what is less is up to the functions behind its operators.
public final class TextLikeType extends ValueType<String> {
    /// @param sqlName qualified and quoted
    public TextLikeType(int oid, String sqlName) {
        super(oid, 0, sqlName, Storage.variable());
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
        throw new UndecidableException();
    }

    @Override
    public String cast(Object value) {
        return (String) value;
    }

    @Override
    public boolean isOrdered() {
        return false;
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
