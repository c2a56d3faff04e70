package sluice.core.datum;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import sluice.core.value.Oid;

/// `bytea`: each byte held as the char of that number, so that a value is an immutable string of chars up to 255.
final class ByteaType extends ValueType<String> {
    ByteaType() {
        super(Oid.BYTEA, 1001, "pg_catalog.bytea", Storage.variable());
    }

    @Override
    public String parse(String text) {
        if (!text.startsWith("\\x")) {
            throw new EvaluationException("22P02");
        }
        try {
            return new String(HexFormat.of().parseHex(text, 2, text.length()), StandardCharsets.ISO_8859_1);
        } catch (IllegalArgumentException notHex) {
            throw new EvaluationException("22P02");
        }
    }

    /// Hex behind `\x`, otherwise the escape format.
    @Override
    public String input(String text) {
        String bytes = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        return bytes.startsWith("\\x") ? BinaryText.fromHex(bytes.substring(2)) : BinaryText.unescaped(bytes);
    }

    @Override
    public String print(String value) {
        return "\\x" + HexFormat.of().formatHex(value.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    public String decode(ByteBuffer datum) {
        byte[] bytes = new byte[datum.remaining()];
        datum.duplicate().get(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Override
    public int compare(String left, String right) {
        return left.compareTo(right);
    }

    @Override
    public String cast(Object value) {
        return (String) value;
    }
}
