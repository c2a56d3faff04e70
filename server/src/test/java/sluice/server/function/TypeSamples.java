package sluice.server.function;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ValueType;

/// Values of every type that have gone wrong somewhere: limits, signs, blanks, spellings of the same thing.
///
/// As PostgreSQL reads them, not necessarily as it prints them. Small on purpose, so that equalities hit.
final class TypeSamples {
    private static final Map<String, List<String>> BY_TYPE = new HashMap<>();

    static {
        put("bool", "t", "f");
        put("int2", "0", "1", "-1", "2", "3", "7", "100", "32767", "-32768");
        put("int4", "0", "1", "-1", "2", "3", "5", "7", "100", "32768", "2147483647", "-2147483648");
        put(
                "int8",
                "0",
                "1",
                "-1",
                "2",
                "3",
                "7",
                "2147483648",
                "9007199254740993",
                "9223372036854775807",
                "-9223372036854775808");
        put("oid", "0", "1", "16384", "2147483648", "4294967295");
        put("text", "", "a", "A", "b", "abc", "aBc", " a", "a ", "é", "%", "_", "\\", "it''s", "1", "-7", "t", "NULL");
        put("varchar", "", "a", "A", "abc", " a ", "é", "1");
        put(
                "uuid",
                "00000000-0000-0000-0000-00000000000a",
                "00000000-0000-0000-0000-00000000000A",
                "11111111-1111-1111-1111-111111111111",
                "ffffffff-ffff-ffff-ffff-ffffffffffff");
        put("int4[]", "{}", "{1}", "{1,2}", "{2,1}", "{NULL}", "{1,NULL}", "{{1,2},{3,4}}", "[0:1]={1,2}", "{1,1}");
        put("text[]", "{}", "{a}", "{a,b}", "{NULL}", "{\"\"}", "{\"NULL\"}", "{\"a b\",\"c,d\"}", "{{a},{b}}", "{A}");
        put("uuid[]", "{}", "{00000000-0000-0000-0000-00000000000a}", "{NULL}");
    }

    private TypeSamples() {}

    /// Literals of the type without quotes around them; quotes inside are doubled.
    static List<String> of(ValueType<?> type) {
        String name = type.sqlName().replace("pg_catalog.", "");
        List<String> samples = BY_TYPE.get(name);
        if (samples != null) {
            return samples;
        }
        if (type instanceof ArrayType array) {
            return arrays(of(array.element()));
        }
        throw new IllegalStateException("no sample values of type " + name);
    }

    /// A few arrays of any element type.
    private static List<String> arrays(List<String> elements) {
        List<String> arrays = new ArrayList<>(List.of("{}", "{NULL}"));
        for (int i = 0; i < elements.size(); i += 2) {
            arrays.add("{" + quoted(elements.get(i)) + "}");
            arrays.add("{" + quoted(elements.get(i)) + ",NULL," + quoted(elements.getLast()) + "}");
        }
        return arrays;
    }

    private static String quoted(String element) {
        return "\"" + element.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    private static void put(String type, String... samples) {
        BY_TYPE.put(type, List.of(samples));
    }
}
