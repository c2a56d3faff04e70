package sluice.core.datum;

/// `text` and `varchar`: the characters as they are.
final class TextType extends CharactersType {
    TextType(int oid, int arrayOid, String sqlName) {
        super(oid, arrayOid, sqlName, Storage.variable());
    }

    @Override
    public int compare(String left, String right) {
        return Datums.compareBytes(left, right);
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
