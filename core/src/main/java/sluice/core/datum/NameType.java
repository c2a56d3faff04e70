package sluice.core.datum;

import java.nio.ByteBuffer;
import sluice.core.value.Oid;

/// `name`: at most 63 bytes, stored in 64 that end with zeros (`name.c`).
final class NameType extends CharactersType {
    private static final int BYTES = 64;

    NameType() {
        super(Oid.NAME, 1003, "pg_catalog.name", Storage.fixed(BYTES, 1));
    }

    @Override
    public String input(String text) {
        return TextTypes.shortened(text);
    }

    @Override
    public String decode(ByteBuffer datum) throws DatumFormatException {
        ByteBuffer stored = Datums.fixed(datum, BYTES);
        int length = 0;
        while (length < BYTES && stored.get(length) != 0) {
            length++;
        }
        return Datums.utf8(stored.slice(0, length));
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
    public boolean collatable() {
        return true;
    }
}
