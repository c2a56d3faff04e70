package sluice.core.datum;

import sluice.core.value.Oid;

/// `char(n)`: held with its trailing blanks, compared without them (`bcTruelen` of `varchar.c`).
final class BpcharType extends CharactersType {
    BpcharType() {
        super(Oid.BPCHAR, 1014, "pg_catalog.bpchar", Storage.variable());
    }

    @Override
    public int compare(String left, String right) {
        return Datums.compareBytes(TextTypes.withoutTrailingBlanks(left), TextTypes.withoutTrailingBlanks(right));
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
