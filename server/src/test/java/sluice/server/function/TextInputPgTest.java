package sluice.server.function;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.TextTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.testkit.PostgresDatabase;

/// Texts that somebody wrote, cast to other types here and by PostgreSQL.
class TextInputPgTest {
    private static final List<ValueType<?>> TYPES = List.of(
            ValueTypes.BOOL,
            ValueTypes.INT2,
            ValueTypes.INT4,
            ValueTypes.INT8,
            ValueTypes.OID,
            ValueTypes.UUID,
            ValueTypes.TEXT,
            ValueTypes.VARCHAR,
            TextTypes.BPCHAR,
            TextTypes.NAME,
            TextTypes.CHAR,
            TextTypes.BYTEA);

    private static final String HEX = "00112233445566778899AABBCCDDEEFF";

    private static final List<String> TEXTS = List.of(
            "",
            " ",
            "t",
            "T",
            "tr",
            "true",
            "TRUE ",
            " tru",
            "truer",
            "y",
            "yes",
            "Yess",
            "on",
            "o",
            "of",
            "off",
            "OFF",
            "1",
            "0",
            "n",
            "no",
            "f",
            "fals",
            "false",
            "\tfalse\n",
            "é",
            "01",
            "11",
            "-1",
            "+1",
            "- 1",
            "--1",
            "1 ",
            " 1",
            "1 1",
            "1.0",
            "1e3",
            "32767",
            "32768",
            "-32768",
            "-32769",
            "2147483647",
            "2147483648",
            "-2147483648",
            "-2147483649",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "-9223372036854775809",
            "4294967295",
            "4294967296",
            "99999999999999999999999",
            "0x1F",
            "0b1",
            "0o7",
            "1_000",
            "_1",
            "1_",
            "00",
            "-0",
            "+",
            "-",
            "\u000b5\f",
            "5\u00a0",
            "١",
            "NaN",
            "null",
            HEX,
            "{" + HEX + "}",
            "{" + HEX,
            HEX + "}",
            "00112233-4455-6677-8899-aabbccddeeff",
            "{00112233-4455-6677-8899-aabbccddeeff}",
            "0011-2233-4455-6677-8899-aabb-ccdd-eeff",
            "00-112233-4455-6677-8899-aabbccddeeff",
            "00112233-4455-6677-8899-aabbccddeeff-",
            " 00112233-4455-6677-8899-aabbccddeeff",
            "00112233--4455-6677-8899-aabbccddeeff",
            "00112233-4455-6677-8899-aabbccddeefg",
            HEX + "0",
            HEX.substring(1),
            "{}",
            "a",
            "ab",
            "\\141",
            "\\14",
            "\\xAb 0f",
            "\\x1",
            "\\x1 2",
            "\\xg0",
            "\\X00",
            "\\\\x",
            "a\\000é",
            "\\400",
            "\\12",
            "b\\",
            "x".repeat(70),
            "é".repeat(40),
            "a".repeat(62) + "é");

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_text_is_read_as_postgresql_reads_it(int major) {
        List<String> differences = new ArrayList<>();
        int compared = 0;
        try (PostgresDatabase database = BuiltInDifferentialPgTest.database(major, "input")) {
            for (ValueType<?> type : TYPES) {
                for (String text : TEXTS) {
                    String ours = input(type, text);
                    if (ours.equals("undecided")) {
                        continue;
                    }
                    String query = "SELECT 'v' || format('%s', " + "'" + text.replace("'", "''") + "'" + "::text::"
                            + type.sqlName() + ")";
                    String theirs = String.valueOf(database.value("SELECT attempt(?)", query));
                    compared++;
                    if (!ours.equals(theirs)) {
                        differences.add(query + ": PostgreSQL " + theirs + ", here " + ours);
                    }
                }
            }
        }
        assertThat(differences).isEmpty();
        assertThat(compared).isGreaterThan(TYPES.size() * TEXTS.size() * 4 / 5);
    }

    private static String input(ValueType<?> type, String text) {
        try {
            return "v" + printed(type, text);
        } catch (UndecidableException unknown) {
            return "undecided";
        } catch (EvaluationException raised) {
            return "raises";
        }
    }

    private static <T> String printed(ValueType<T> type, String text) {
        return type.print(type.input(text));
    }
}
