package sluice.server.function;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.ArrayType;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.testkit.PostgresDatabase;

/// Casts from text, as claims and JSON come: every spelling of every type read as every other type. What is read here
/// is what PostgreSQL reads, what is refused here it refuses; of the rest nothing is said.
class InputPgTest {
    private static final List<String> SPELLINGS = List.of(
            " 1",
            "1 ",
            "\t7\n",
            "+5",
            "-0",
            "007",
            "1.",
            ".5",
            "+.5e1",
            "1e5",
            "1E+05",
            "1.50e1",
            "1e-3",
            "0x1F",
            "0b1",
            "0o17",
            "1_000",
            "1__0",
            "1e400",
            "1e-400",
            "0e400",
            "1e40",
            "1e-46",
            "99999999999999999999",
            "32768",
            "--1",
            "1 2",
            "- 1",
            ".",
            "e5",
            "nan",
            "NAN",
            "inf",
            "+Infinity",
            "-INF",
            "infinity",
            "-infinity",
            "Infinity",
            "nan(1)",
            "TRUE",
            "Yes",
            "no",
            "on",
            "OFF",
            "o",
            "of",
            " t ",
            "tr",
            "truee",
            "2",
            "",
            " ",
            "null",
            "NULL",
            "2024-01-05T10:20:30Z",
            "2024-01-05T10:20:30.123+00:00",
            "2024-01-05 10:20",
            "2024-01-05T10:20:30+0530",
            "2024-01-05T10:20:30-08:00",
            "2024-01-05 10:20:30 UTC",
            "2024-02-30",
            "2024-01-05 24:00:00",
            "24-01-05",
            "2024-01-05 10:20:60",
            "20240105",
            "2024-1-5",
            "0000-01-01",
            "0024-01-05",
            "2024-01-05Z",
            "2024-01-05+02",
            "now",
            "today",
            "epoch",
            "January 5, 2024",
            "10:20",
            "10:20:30.1234567",
            "1 day",
            "1 days",
            "1 day 1 day",
            "1 hour",
            "01:02:03",
            "1:2:3",
            "P1D",
            "-1 days +02:03:04",
            "1 mon",
            "1 month",
            "00:00:00",
            "24:00:00+05",
            "{00000000-0000-0000-0000-00000000000A}",
            "0000000000000000000000000000000a",
            "0000-0000-0000-0000-0000-0000-0000-000a",
            "00000000-0000-0000-0000-00000000000",
            "00000000-0000-0000-0000-00000000000ag",
            " 00000000-0000-0000-0000-00000000000a",
            "0000--00000000-0000-0000-00000000000a",
            "{00000000-0000-0000-0000-00000000000a",
            "١٢",
            "1\u00a0",
            "-",
            "0000000000000000000000000000000000000001",
            "1e99999",
            "1.0e",
            "0x",
            "1e1000",
            "5e-324",
            "3e-324",
            "1.4e-45");

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void text_is_read_as_postgresql_reads_it(int major) {
        List<String> differences = new ArrayList<>();
        Map<String, Integer> decided = new TreeMap<>();
        try (PostgresDatabase database = BuiltInDifferentialPgTest.database(major, "inputs")) {
            List<ValueType<?>> types = types(database);
            Set<String> texts = new LinkedHashSet<>(SPELLINGS);
            for (ValueType<?> type : types) {
                List<String> samples = TypeSamples.of(type);
                texts.addAll(samples.subList(0, Math.min(40, samples.size())));
            }
            for (ValueType<?> type : types) {
                List<String> asked = new ArrayList<>(texts);
                List<String> queries = new ArrayList<>();
                for (String text : asked) {
                    String literal = "'" + text.replace("'", "''") + "'";
                    queries.add("SELECT 'v' || format('%s', " + literal + "::text::" + type.sqlName() + ")");
                }
                List<List<@Nullable String>> theirs = database.rows(
                        "SELECT attempt(query) FROM unnest(?::text[]) WITH ORDINALITY AS asked(query, n) ORDER BY n",
                        (Object) queries.toArray(String[]::new));
                for (int i = 0; i < asked.size(); i++) {
                    String ours = read(type, asked.get(i));
                    if (ours.equals("undecided")) {
                        continue;
                    }
                    decided.merge(type.sqlName(), 1, Integer::sum);
                    if (!ours.equals(theirs.get(i).getFirst())) {
                        differences.add("'" + asked.get(i) + "' as " + type + ": PostgreSQL "
                                + theirs.get(i).getFirst() + ", here " + ours);
                    }
                }
            }
        }
        System.out.printf("PostgreSQL %d: texts decided %s, %d differences%n", major, decided, differences.size());
        assertThat(differences).isEmpty();
        assertThat(decided)
                .containsKeys(
                        "pg_catalog.bool",
                        "pg_catalog.int4",
                        "pg_catalog.uuid",
                        "pg_catalog.numeric",
                        "pg_catalog.float8",
                        "pg_catalog.timestamptz",
                        "pg_catalog.date");
    }

    private static List<ValueType<?>> types(PostgresDatabase database) {
        List<ValueType<?>> types = new ArrayList<>();
        for (ValueType<?> type : ConstantPgTest.types(database)) {
            if (!(type instanceof ArrayType)) {
                types.add(type);
            }
        }
        return types;
    }

    private static <T> String read(ValueType<T> type, String text) {
        try {
            return "v" + type.print(type.input(text));
        } catch (UndecidableException unknown) {
            return "undecided";
        } catch (EvaluationException refused) {
            return "raises";
        }
    }
}
