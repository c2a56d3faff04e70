package sluice.core.function;

import static sluice.core.datum.TextTypes.BPCHAR;
import static sluice.core.datum.TextTypes.CHAR;
import static sluice.core.datum.TextTypes.NAME;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.TEXT;
import static sluice.core.datum.ValueTypes.VARCHAR;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.TextTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;

/// Casts between the types of texts, and to a declared length (`varchar.c`, `name.c`, `char.c`).
final class TextCasts {
    private static final String TOO_LONG = "22001";

    /// A declared length is stored with this added (`VARHDRSZ`).
    private static final int HEADER = 4;

    private TextCasts() {}

    static void register(FunctionTable table) {
        table.unary("text_name", TEXT, NAME, TextTypes::shortened).neverRaises();
        table.unary("text_name", VARCHAR, NAME, TextTypes::shortened).neverRaises();
        table.unary("name_text", NAME, TEXT, a -> a).neverRaises();
        table.unary("name_bpchar", NAME, BPCHAR, a -> a).neverRaises();
        table.unary("bpchar_name", BPCHAR, NAME, a -> TextTypes.withoutTrailingBlanks(TextTypes.shortened(a)))
                .neverRaises();
        table.unary("char_text", CHAR, TEXT, CHAR::text).neverRaises();
        table.unary("char_bpchar", CHAR, BPCHAR, TextCasts::bpchar).neverRaises();
        table.unary("text_char", TEXT, CHAR, CHAR::input).neverRaises();
        table.unary("chartoi4", CHAR, INT4, a -> (long) (byte) (int) a).neverRaises();
        table.unary("i4tochar", INT4, CHAR, a -> {
            if (a != (byte) (long) a) {
                throw new EvaluationException("22003");
            }
            return (int) (a & 0xff);
        });
        length(table, "varchar", VARCHAR);
        length(table, "bpchar", BPCHAR);
    }

    private static String bpchar(int value) {
        if (value == 0) {
            // A zero byte inside a text: nothing that is held here.
            throw new UndecidableException();
        }
        return CHAR.print(value);
    }

    /// `varchar(n)` and `char(n)`; only the latter is padded.
    private static void length(FunctionTable table, String symbol, ValueType<String> type) {
        table.sited(symbol, List.of(type, INT4, BOOL), type, (_, arguments) -> {
            long modifier = Arguments.given(INT4, arguments[1]);
            return modifier < HEADER
                    ? arguments[0]
                    : fitted(type, Arguments.given(type, arguments[0]), modifier - HEADER, arguments[2]);
        });
    }

    /// @param explicit whether the cast was written: then it cuts whatever is too long
    private static String fitted(ValueType<String> type, String text, long length, @Nullable Object explicit) {
        long missing = length - Characters.count(text);
        if (missing >= 0) {
            if (!type.equals(BPCHAR)) {
                return text;
            }
            Characters.checkBound(length, 0);
            return text + " ".repeat((int) missing);
        }
        String kept = Characters.slice(text, 0, length);
        boolean blanksOnly =
                TextTypes.withoutTrailingBlanks(text.substring(kept.length())).isEmpty();
        if (!blanksOnly && !Arguments.given(BOOL, explicit)) {
            throw new EvaluationException(TOO_LONG);
        }
        return kept;
    }
}
