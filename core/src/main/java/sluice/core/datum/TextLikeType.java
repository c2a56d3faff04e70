package sluice.core.datum;

/// A type of a user's whose values are texts, such as `citext`. They have no order of their own here: what is equal
/// and what is less is up to the functions behind its operators.
public final class TextLikeType extends CharactersType {
    /// @param sqlName qualified and quoted
    public TextLikeType(int oid, String sqlName) {
        super(oid, 0, sqlName, Storage.variable());
    }

    @Override
    public int compare(String left, String right) {
        throw new UndecidableException();
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
