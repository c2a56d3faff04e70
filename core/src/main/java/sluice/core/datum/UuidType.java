package sluice.core.datum;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import sluice.core.value.Oid;

/// `uuid`, held as the text the server prints, whose order is that of the sixteen bytes.
final class UuidType extends CharactersType {
    UuidType() {
        super(Oid.UUID, 2951, "pg_catalog.uuid", Storage.fixed(16, 1));
    }

    @Override
    public String input(String text) {
        return InputText.uuid(text);
    }

    @Override
    public String decode(ByteBuffer datum) throws DatumFormatException {
        byte[] bytes = new byte[16];
        Datums.fixed(datum, 16).get(0, bytes);
        String hex = HexFormat.of().formatHex(bytes);
        return hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20) + "-" + hex.substring(20);
    }

    @Override
    public int compare(String left, String right) {
        return left.compareTo(right);
    }

    @Override
    public Representation representation() {
        return Representation.BYTES;
    }
}
