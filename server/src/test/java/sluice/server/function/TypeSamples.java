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
        numbers();
    }

    private TypeSamples() {}

    private static void numbers() {
        String decimals = "0 0.0 0.00 1 1.0 1.00 -1 -1.0 2 3 7 10 0.5 -0.5 1.5 2.5 -2.5 0.05 1e-5 0.0001 0.001"
                + " 9999 10000 10001 99999999 1e8 12345.6789 -12345.6789 0.3333333333333333 3.14159265358979323846"
                + " 32767.4 32767.5 -32768.5 -32768.4 2147483647.4 2147483647.5 9223372036854775807"
                + " 9223372036854775807.5 -9223372036854775808 9223372036854775808 1e15 1e16 1e20 1e-20 1e100 1e-100"
                + " 1e308 1e309 1e-330 100.000 1000000 6.0 4.50 1e-16 123456789012345678901234567890.123456789"
                + " 0.99995 9.9995 99.995 1e38 1e39 1e-46 NaN Infinity -Infinity";
        put("numeric", decimals.split(" "));
        String floats = "0 -0 1 -1 2 3 7 0.5 -0.5 1.5 2.5 -2.5 0.1 0.2 0.3 1e-4 0.00012345 1e-5 123456 1e6 1234567"
                + " 16777216 16777217 1e10 1e14 32767.5 -32768.5 32768 2147483647 2147483648 -2147483648 9.2233720e18"
                + " 1e20 1e37 3e38 3.4028235e38 -3.4028235e38 1.17549435e-38 1e-45 3e-45 1e-40 0.3333333333 8388608.5"
                + " 9.8765e-20 1e30 NaN Infinity -Infinity";
        put("float4", floats.split(" "));
        put(
                "float8",
                (floats + " 1e15 1e14 999999999999999 999999999999999.9 123456789012345.67 9007199254740993 1e16 1e22"
                                + " 1e23 9.5e22 5e-324 1e-323 1.5e-323 2e-323 2.2250738585072014e-308 1e-310"
                                + " 1.7976931348623157e308 -1.7976931348623157e308 1e300 1e-300 0.1234567890123456789"
                                + " 3.4028236e38 9223372036854775807 9223372036854774784 -9223372036854775808 1e-46"
                                + " 0.333333333333333333 1.1 1e-16 3.0000000000000004 2147483647.5 4.35")
                        .split(" "));
    }

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
