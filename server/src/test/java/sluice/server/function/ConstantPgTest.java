package sluice.server.function;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.ArrayType;
import sluice.core.datum.DatumFormatException;
import sluice.core.datum.Datums;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// Constants as the server stores them in expressions, read back as the values they are: for every sample of every
/// type that is known.
class ConstantPgTest {
    private static final Pattern VALUE = Pattern.compile(":constvalue (\\d+) \\[ ([-0-9 ]*) ]");

    @Test
    void every_constant_stored_by_postgresql_18_is_read_as_the_value_it_prints() {
        compare(18);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void every_constant_stored_by_older_majors_is_read_as_the_value_it_prints(int major) {
        compare(major);
    }

    @Test
    void every_scalar_type_has_the_server_s_name_length_alignment_and_array() {
        try (PostgresDatabase database =
                PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("type_forms")) {
            for (ValueType<?> type : types(database)) {
                if (type instanceof ArrayType) {
                    continue;
                }
                List<@Nullable String> form = database.rows(
                                "SELECT typlen, typalign, typarray, oid = '" + type.sqlName()
                                        + "'::regtype FROM pg_type WHERE oid = ?",
                                type.oid())
                        .getFirst();
                assertThat(form)
                        .as("length, alignment, array and name of %s", type)
                        .containsExactly(
                                Integer.toString(type.storage().length()),
                                switch (type.storage().alignment()) {
                                    case 1 -> "c";
                                    case 2 -> "s";
                                    case 4 -> "i";
                                    default -> "d";
                                },
                                Integer.toString(type.arrayOid()),
                                "t");
            }
        }
    }

    private static void compare(int major) {
        List<String> differences = new ArrayList<>();
        int compared = 0;
        try (PostgresDatabase database = PostgresCluster.of(major).createDatabase("constants")) {
            CanonicalValues values = new CanonicalValues(database);
            database.execute("CREATE TABLE holder (nothing int)");
            for (ValueType<?> type : types(database)) {
                List<String> samples = TypeSamples.of(type, major);
                Map<String, String> stored = store(database, type, samples);
                for (String sample : samples) {
                    String expected = type.text(values.value(type, sample));
                    String read = read(type, String.valueOf(stored.get(sample)));
                    compared++;
                    if (!read.equals(expected)) {
                        differences.add(type + " '" + sample + "' is " + expected + ", read as " + read);
                    }
                }
            }
        }
        System.out.printf("PostgreSQL %d: %,d constants read, %d differences%n", major, compared, differences.size());
        assertThat(differences).isEmpty();
        assertThat(compared).isGreaterThan(300);
    }

    /// Scalars and arrays, of which every function asks some.
    static List<ValueType<?>> types(PostgresDatabase database) {
        List<ValueType<?>> types = new ArrayList<>();
        for (List<@Nullable String> row : database.rows(
                "SELECT oid::int8 FROM pg_type WHERE oid < 16384 AND typtype IN ('b', 'r', 'm') ORDER BY oid")) {
            ValueType<?> type = ValueTypes.ofOid(Integer.parseUnsignedInt(String.valueOf(row.getFirst())));
            if (type != null) {
                types.add(type);
            }
        }
        return types;
    }

    /// The expressions of columns' defaults, by sample. A default is folded to a constant of the column's type; of
    /// what does not come as one the differences tell.
    private static Map<String, String> store(PostgresDatabase database, ValueType<?> type, List<String> samples) {
        List<String> columns = new ArrayList<>();
        for (int i = 0; i < samples.size(); i++) {
            columns.add("c" + i + " " + type.sqlName() + " DEFAULT '" + samples.get(i) + "'::" + type.sqlName());
        }
        database.execute("DROP TABLE holder", "CREATE TABLE holder (" + String.join(", ", columns) + ")");
        Map<String, String> stored = new LinkedHashMap<>();
        for (List<@Nullable String> row : database.rows(
                "SELECT adnum, adbin FROM pg_attrdef WHERE adrelid = 'holder'::regclass ORDER BY adnum")) {
            stored.put(
                    samples.get(Integer.parseInt(String.valueOf(row.getFirst())) - 1), String.valueOf(row.getLast()));
        }
        return stored;
    }

    private static String read(ValueType<?> type, String expression) {
        Matcher value = VALUE.matcher(expression);
        if (!expression.startsWith("{CONST") || !value.find()) {
            return "no constant";
        }
        String[] words =
                value.group(2).isBlank() ? new String[0] : value.group(2).trim().split(" ");
        byte[] bytes = new byte[words.length];
        for (int i = 0; i < words.length; i++) {
            bytes[i] = Byte.parseByte(words[i]);
        }
        try {
            return type.text(Datums.decode(type, bytes));
        } catch (DatumFormatException unknownForm) {
            return String.valueOf(unknownForm.getMessage());
        }
    }
}
