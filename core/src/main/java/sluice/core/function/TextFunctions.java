package sluice.core.function;

import static sluice.core.datum.TextTypes.BPCHAR;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.INT8;
import static sluice.core.datum.ValueTypes.TEXT;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.TextTypes;
import sluice.core.datum.UndecidableException;

/// Functions of texts (`varlena.c`, `oracle_compat.c`, `quote.c`).
final class TextFunctions {
    private static final String INVALID_PARAMETER = "22023";
    private static final String SUBSTRING_ERROR = "22011";

    /// What bpchar functions look past.
    private static final String BLANK = " ";

    private TextFunctions() {}

    static void register(FunctionTable table) {
        lengths(table);
        cases(table);
        parts(table);
        changes(table);
        trims(table);
        codes(table);
        TextCasts.register(table);
        TextAssembly.register(table);
    }

    private static void lengths(FunctionTable table) {
        table.unary("textlen", TEXT, INT4, Characters::count).neverRaises();
        table.unary("bpcharlen", BPCHAR, INT4, a -> Characters.count(TextTypes.withoutTrailingBlanks(a)))
                .neverRaises();
        table.unary("textoctetlen", TEXT, INT4, Characters::bytes).neverRaises();
        table.unary("bpcharoctetlen", BPCHAR, INT4, Characters::bytes).neverRaises();
    }

    private static void cases(FunctionTable table) {
        letterCase(table, "lower", LetterCases::lower);
        letterCase(table, "upper", LetterCases::upper);
        letterCase(table, "initcap", LetterCases::initcap);
    }

    private static void letterCase(
            FunctionTable table, String symbol, BiFunction<String, CollationRule, String> mapping) {
        table.sited(
                        symbol,
                        List.of(TEXT),
                        TEXT,
                        (site, arguments) -> mapping.apply(text(arguments[0]), site.collation()))
                .uses(BuiltIn.CollationUse.CASE);
    }

    private static void parts(FunctionTable table) {
        table.binary("text_substr_no_len", TEXT, INT4, TEXT, (a, from) -> Characters.slice(a, from - 1, Long.MAX_VALUE))
                .neverRaises();
        table.ternary("text_substr", TEXT, INT4, INT4, TEXT, TextFunctions::substring);
        table.binary(
                        "text_left",
                        TEXT,
                        INT4,
                        TEXT,
                        (a, n) -> Characters.slice(a, 0, n < 0 ? Characters.count(a) + n : n))
                .neverRaises();
        table.binary("text_right", TEXT, INT4, TEXT, TextFunctions::right).neverRaises();
        table.binary("textpos", TEXT, TEXT, INT4, TextFunctions::position).uses(BuiltIn.CollationUse.EQUALITY);
        table.ternary("split_part", TEXT, TEXT, INT4, TEXT, TextFunctions::field)
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.binary("text_starts_with", TEXT, TEXT, BOOL, String::startsWith).uses(BuiltIn.CollationUse.EQUALITY);
    }

    private static void changes(FunctionTable table) {
        table.binary("textcat", TEXT, TEXT, TEXT, Characters::bounded);
        table.ternary("replace_text", TEXT, TEXT, TEXT, TEXT, TextFunctions::replace)
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.ternary("translate", TEXT, TEXT, TEXT, TEXT, TextFunctions::translate);
        table.unary(
                        "text_reverse",
                        TEXT,
                        TEXT,
                        a -> new StringBuilder(a).reverse().toString())
                .neverRaises();
        table.binary("repeat", TEXT, INT4, TEXT, TextFunctions::repeat);
        table.ternary("lpad", TEXT, INT4, TEXT, TEXT, (a, length, fill) -> {
            String padding = padding(a, length, fill);
            return padding + Characters.slice(a, 0, Math.max(0, length));
        });
        table.ternary("rpad", TEXT, INT4, TEXT, TEXT, (a, length, fill) -> {
            String padding = padding(a, length, fill);
            return Characters.slice(a, 0, Math.max(0, length)) + padding;
        });
        table.sited(
                "textoverlay",
                List.of(TEXT, TEXT, INT4, INT4),
                TEXT,
                (_, arguments) ->
                        overlay(text(arguments[0]), text(arguments[1]), number(arguments[2]), number(arguments[3])));
        table.ternary(
                "textoverlay_no_len", TEXT, TEXT, INT4, TEXT, (a, b, from) -> overlay(a, b, from, Characters.count(b)));
    }

    private static void trims(FunctionTable table) {
        table.binary("btrim", TEXT, TEXT, TEXT, (a, set) -> Characters.trimStart(Characters.trimEnd(a, set), set))
                .neverRaises();
        table.binary("ltrim", TEXT, TEXT, TEXT, Characters::trimStart).neverRaises();
        table.binary("rtrim", TEXT, TEXT, TEXT, Characters::trimEnd).neverRaises();
        table.unary("btrim1", TEXT, TEXT, a -> Characters.trimStart(Characters.trimEnd(a, BLANK), BLANK))
                .neverRaises();
        table.unary("ltrim1", TEXT, TEXT, a -> Characters.trimStart(a, BLANK)).neverRaises();
        table.unary("rtrim1", TEXT, TEXT, a -> Characters.trimEnd(a, BLANK)).neverRaises();
        table.unary("rtrim1", BPCHAR, TEXT, TextTypes::withoutTrailingBlanks).neverRaises();
    }

    private static void codes(FunctionTable table) {
        table.unary("ascii", TEXT, INT4, a -> a.isEmpty() ? 0L : (long) a.codePointAt(0))
                .neverRaises();
        table.unary("chr", INT4, TEXT, TextFunctions::character);
        radix(table, "to_hex", 16);
        radix(table, "to_oct", 8);
        radix(table, "to_bin", 2);
        table.unary("md5_text", TEXT, TEXT, a -> digest("MD5", a.getBytes(StandardCharsets.UTF_8)));
        table.unary("quote_literal", TEXT, TEXT, TextFunctions::literal).neverRaises();
        table.sited(
                        "quote_nullable",
                        List.of(TEXT),
                        TEXT,
                        (_, arguments) -> arguments[0] == null ? "NULL" : literal(text(arguments[0])))
                .calledOnNull()
                .neverRaises();
    }

    /// Negative numbers are written as the bits they have.
    private static void radix(FunctionTable table, String symbol, int radix) {
        table.unary(symbol + "32", INT4, TEXT, a -> Long.toUnsignedString(a & 0xffff_ffffL, radix))
                .neverRaises();
        table.unary(symbol + "64", INT8, TEXT, a -> Long.toUnsignedString(a, radix))
                .neverRaises();
    }

    private static String substring(String text, long from, long length) {
        if (length < 0) {
            throw new EvaluationException(SUBSTRING_ERROR);
        }
        return Characters.slice(text, from - 1, from - 1 + length);
    }

    private static String right(String text, long n) {
        // The least integer has no positive counterpart: the server then skips nothing.
        long skipped = n == Integer.MIN_VALUE ? 0 : n < 0 ? -n : Characters.count(text) - n;
        return Characters.slice(text, skipped, Long.MAX_VALUE);
    }

    private static long position(String text, String part) {
        int at = text.indexOf(part);
        return at < 0 ? 0 : text.codePointCount(0, at) + 1L;
    }

    private static String field(String text, String separator, long field) {
        if (field == 0) {
            throw new EvaluationException(INVALID_PARAMETER);
        }
        List<String> fields = separator.isEmpty() ? List.of(text) : Characters.split(text, separator);
        long index = field > 0 ? field - 1 : fields.size() + field;
        return index >= 0 && index < fields.size() ? fields.get((int) index) : "";
    }

    private static String replace(String text, String from, String to) {
        if (from.isEmpty()) {
            return text;
        }
        int count = 0;
        for (int at = text.indexOf(from); at >= 0; at = text.indexOf(from, at + from.length())) {
            count++;
        }
        Characters.checkBound(text.length() + (long) count * (to.length() - from.length()), text.length());
        return count == 0 ? text : text.replace(from, to);
    }

    private static String translate(String text, String from, String to) {
        int[] sources = from.codePoints().toArray();
        int[] targets = to.codePoints().toArray();
        if ((long) sources.length * text.length() > Characters.WORK_MAX) {
            throw new UndecidableException();
        }
        StringBuilder out = new StringBuilder();
        text.codePoints().forEach(character -> {
            int index = 0;
            while (index < sources.length && sources[index] != character) {
                index++;
            }
            if (index == sources.length) {
                out.appendCodePoint(character);
            } else if (index < targets.length) {
                out.appendCodePoint(targets[index]);
            }
        });
        return out.toString();
    }

    private static String repeat(String text, long times) {
        if (times <= 0) {
            return "";
        }
        Characters.checkBound(text.length() * times, 0);
        return text.repeat(text.isEmpty() ? 0 : (int) times);
    }

    private static String padding(String text, long length, String fill) {
        long missing = length - Characters.count(text);
        if (missing <= 0 || fill.isEmpty()) {
            // The server asks for the memory before it looks at the filling.
            Characters.checkBound(length, text.length());
            return "";
        }
        Characters.checkBound(length * 2, 0);
        int[] filling = fill.codePoints().toArray();
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < missing; i++) {
            out.appendCodePoint(filling[i % filling.length]);
        }
        return out.toString();
    }

    private static String overlay(String text, String other, long from, long length) {
        if (from <= 0) {
            throw new EvaluationException(SUBSTRING_ERROR);
        }
        long behind = IntegerFunctions.checked(INT4, from + length);
        return Characters.bounded(
                Characters.slice(text, 0, from - 1) + other, Characters.slice(text, behind - 1, Long.MAX_VALUE));
    }

    private static String character(long code) {
        if (code <= 0 || code > Character.MAX_CODE_POINT || (code >= 0xd800 && code <= 0xdfff)) {
            throw new EvaluationException("54000");
        }
        return Character.toString((int) code);
    }

    private static String literal(String text) {
        String quoted = "'" + text.replace("\\", "\\\\").replace("'", "''") + "'";
        return text.indexOf('\\') < 0 ? quoted : "E" + quoted;
    }

    static String digest(String algorithm, byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(bytes));
        } catch (NoSuchAlgorithmException missing) {
            // This Java lacks what PostgreSQL has.
            throw new UndecidableException();
        }
    }

    private static String text(@Nullable Object argument) {
        return Arguments.given(TEXT, argument);
    }

    private static long number(@Nullable Object argument) {
        return Arguments.given(INT4, argument);
    }
}
