package sluice.core.function;

import static sluice.core.datum.TextTypes.BYTEA;
import static sluice.core.datum.TextTypes.NAME;
import static sluice.core.datum.ValueTypes.INT2;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.INT8;
import static sluice.core.datum.ValueTypes.TEXT;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import sluice.core.datum.BinaryText;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;

/// `bytea` (`varlena.c`, `bytea.c`, `encode.c`, `cryptohashfuncs.c`), each byte a char.
final class BinaryFunctions {
    private static final String SUBSTRING_ERROR = "22011";
    private static final String SUBSCRIPT_ERROR = "2202E";
    private static final String OUT_OF_RANGE = "22003";

    private BinaryFunctions() {}

    static void register(FunctionTable table) {
        table.ordered("bytea", BYTEA);
        parts(table);
        numbers(table);
        encodings(table);
        digest(table, "sha224_bytea", "SHA-224");
        digest(table, "sha256_bytea", "SHA-256");
        digest(table, "sha384_bytea", "SHA-384");
        digest(table, "sha512_bytea", "SHA-512");
        table.unary("md5_bytea", BYTEA, TEXT, a -> TextFunctions.digest("MD5", latin1(a)));
    }

    private static void parts(FunctionTable table) {
        table.unary("byteaoctetlen", BYTEA, INT4, a -> (long) a.length()).neverRaises();
        table.binary("byteacat", BYTEA, BYTEA, BYTEA, Characters::bounded);
        table.binary("byteapos", BYTEA, BYTEA, INT4, (a, part) -> a.indexOf(part) + 1L)
                .neverRaises();
        table.binary("bytea_substr_no_len", BYTEA, INT4, BYTEA, (a, from) -> slice(a, from - 1, Long.MAX_VALUE))
                .neverRaises();
        table.ternary("bytea_substr", BYTEA, INT4, INT4, BYTEA, BinaryFunctions::substring);
        table.binary(
                        "byteatrim",
                        BYTEA,
                        BYTEA,
                        BYTEA,
                        (a, set) -> Characters.trimStart(Characters.trimEnd(a, set), set))
                .neverRaises();
        table.binary("bytealtrim", BYTEA, BYTEA, BYTEA, Characters::trimStart).neverRaises();
        table.binary("byteartrim", BYTEA, BYTEA, BYTEA, Characters::trimEnd).neverRaises();
        table.unary(
                        "bytea_reverse",
                        BYTEA,
                        BYTEA,
                        a -> new StringBuilder(a).reverse().toString())
                .neverRaises();
        table.sited(
                "byteaoverlay",
                List.of(BYTEA, BYTEA, INT4, INT4),
                BYTEA,
                (_, arguments) -> overlay(
                        Arguments.given(BYTEA, arguments[0]),
                        Arguments.given(BYTEA, arguments[1]),
                        Arguments.given(INT4, arguments[2]),
                        Arguments.given(INT4, arguments[3])));
        table.ternary(
                "byteaoverlay_no_len", BYTEA, BYTEA, INT4, BYTEA, (a, b, from) -> overlay(a, b, from, b.length()));
    }

    private static void numbers(FunctionTable table) {
        table.binary("byteaGetByte", BYTEA, INT4, INT4, (a, n) -> (long) a.charAt(index(n, a.length())));
        table.binary("byteaGetBit", BYTEA, INT8, INT4, (a, n) -> {
            int bit = index(n, a.length() * 8L);
            return (long) ((a.charAt(bit / 8) >> (bit % 8)) & 1);
        });
        table.unary(
                        "bytea_bit_count",
                        BYTEA,
                        INT8,
                        a -> a.chars().mapToLong(Integer::bitCount).sum())
                .neverRaises();
        number(table, "int2", INT2, 2);
        number(table, "int4", INT4, 4);
        number(table, "int8", INT8, 8);
    }

    /// Casts to and from a number's bytes, the most significant first.
    private static void number(FunctionTable table, String name, ValueType<Long> type, int length) {
        table.unary(name + "_bytea", type, BYTEA, a -> {
                    StringBuilder bytes = new StringBuilder();
                    for (int i = length - 1; i >= 0; i--) {
                        bytes.append((char) ((a >> (8 * i)) & 0xff));
                    }
                    return bytes.toString();
                })
                .neverRaises();
        table.unary("bytea_" + name, BYTEA, type, a -> {
            if (a.length() > length) {
                throw new EvaluationException(OUT_OF_RANGE);
            }
            long value = 0;
            for (int i = 0; i < a.length(); i++) {
                value = (value << 8) | a.charAt(i);
            }
            return length == 2 ? (long) (short) value : length == 4 ? (long) (int) value : value;
        });
    }

    private static void encodings(FunctionTable table) {
        table.binary("binary_encode", BYTEA, TEXT, TEXT, (a, format) -> switch (format.toLowerCase(Locale.ROOT)) {
            case "hex" -> HexFormat.of().formatHex(latin1(a));
            case "base64" -> BinaryText.toBase64(a);
            case "escape" -> BinaryText.escaped(a);
            default -> throw new EvaluationException("22023");
        });
        table.binary("binary_decode", TEXT, TEXT, BYTEA, (a, format) -> {
            // Beyond ASCII only the escape format has anything to keep, as bytes of UTF-8.
            String bytes = new String(a.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
            return switch (format.toLowerCase(Locale.ROOT)) {
                case "hex" -> BinaryText.fromHex(bytes);
                case "base64" -> BinaryText.fromBase64(bytes);
                case "escape" -> BinaryText.unescaped(bytes);
                default -> throw new EvaluationException("22023");
            };
        });
        table.binary("pg_convert_to", TEXT, NAME, BYTEA, (a, encoding) -> {
            needUtf8(encoding);
            return new String(a.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        });
        table.binary("pg_convert_from", BYTEA, NAME, TEXT, (a, encoding) -> {
            needUtf8(encoding);
            if (a.indexOf(0) >= 0) {
                throw new EvaluationException("22021");
            }
            try {
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(latin1(a)))
                        .toString();
            } catch (CharacterCodingException notUtf8) {
                throw new EvaluationException("22021");
            }
        });
    }

    /// Other encodings are not read here, nor is it known which names are wrong.
    private static void needUtf8(String encoding) {
        String name = encoding.toLowerCase(Locale.ROOT);
        if (!name.equals("utf8") && !name.equals("utf-8")) {
            throw new UndecidableException();
        }
    }

    private static void digest(FunctionTable table, String symbol, String algorithm) {
        table.unary(symbol, BYTEA, BYTEA, a -> BYTEA.parse("\\x" + TextFunctions.digest(algorithm, latin1(a))));
    }

    private static byte[] latin1(String bytes) {
        return bytes.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String slice(String bytes, long from, long to) {
        int start = (int) Math.clamp(from, 0L, (long) bytes.length());
        return bytes.substring(start, (int) Math.clamp(to, (long) start, (long) bytes.length()));
    }

    private static String substring(String bytes, long from, long length) {
        if (length < 0) {
            throw new EvaluationException(SUBSTRING_ERROR);
        }
        return slice(bytes, from - 1, from - 1 + length);
    }

    private static String overlay(String bytes, String other, long from, long length) {
        if (from <= 0) {
            throw new EvaluationException(SUBSTRING_ERROR);
        }
        long behind = IntegerFunctions.checked(INT4, from + length);
        return Characters.bounded(slice(bytes, 0, from - 1) + other, slice(bytes, behind - 1, Long.MAX_VALUE));
    }

    private static int index(long n, long length) {
        if (n < 0 || n >= length) {
            throw new EvaluationException(SUBSCRIPT_ERROR);
        }
        return (int) n;
    }
}
