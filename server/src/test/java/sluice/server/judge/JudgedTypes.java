package sluice.server.judge;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The types under judgement, each with values that lie where evaluators go wrong: spellings of one value, signs,
/// ends, blanks, NULL inside. Few of each, so that equalities are met.
final class JudgedTypes {
    /// `pg_type.typname` to text forms of values.
    private final Map<String, List<String>> values = new LinkedHashMap<>();

    /// Range types to their subtypes.
    static final Map<String, String> RANGES = ranges();

    private static final List<String> ARRAY_ELEMENTS = List.of(
            "bool",
            "int2",
            "int4",
            "int8",
            "oid",
            "float4",
            "float8",
            "numeric",
            "text",
            "varchar",
            "bpchar",
            "name",
            "uuid",
            "bytea",
            "date",
            "time",
            "timestamp",
            "timestamptz",
            "interval",
            "jsonb",
            "inet",
            "mood",
            "citext");

    private static Map<String, String> ranges() {
        Map<String, String> ranges = new LinkedHashMap<>();
        ranges.put("int4range", "int4");
        ranges.put("int8range", "int8");
        ranges.put("numrange", "numeric");
        ranges.put("daterange", "date");
        ranges.put("tsrange", "timestamp");
        ranges.put("tstzrange", "timestamptz");
        return Collections.unmodifiableMap(ranges);
    }

    private JudgedTypes() {}

    static JudgedTypes of(int major) {
        JudgedTypes types = new JudgedTypes();
        types.numbers();
        types.texts();
        types.moments(major);
        types.documents();
        types.networks();
        types.ownTypes();
        types.rangeValues();
        for (String element : ARRAY_ELEMENTS) {
            types.values.put("_" + element, arrays(types.of(element)));
        }
        types.add("_text", "{a,b}", "{a}", "{0}", "{k}", "{-1}", "{a,b,c}", "{A,b}");
        return types;
    }

    /// In a fixed order.
    List<String> names() {
        return List.copyOf(values.keySet());
    }

    boolean has(String type) {
        return values.containsKey(type);
    }

    List<String> of(String type) {
        List<String> found = values.get(type);
        if (found == null) {
            throw new IllegalArgumentException("type " + type);
        }
        return found;
    }

    /// Texts to cast to the type: its values, other spellings of them, and what is no value.
    List<String> spellings(String type) {
        List<String> texts = new ArrayList<>(of(type));
        texts.addAll(
                switch (type) {
                    case "bool" ->
                        List.of("t", "f", "TRUE", "yes", "no", "on", "off", "1", "0", " t ", "y", "of", "o", "");
                    case "int2", "int4", "int8", "oid", "small" ->
                        List.of(
                                " 1 ",
                                "+1",
                                "1.0",
                                "1e2",
                                "0x1F",
                                "1_000",
                                "",
                                "-0",
                                "007",
                                "99999999999999999999",
                                "0b1");
                    case "float4", "float8", "numeric", "score" ->
                        List.of(
                                " 1 ", "+1", "1.", ".5", "1e2", "inf", "-inf", "nan", "", "-0", "1_0", "0x1F", "1e400",
                                "5e-1");
                    case "uuid" ->
                        List.of(
                                "{00000000-0000-0000-0000-00000000000A}",
                                "0000000000000000000000000000000a",
                                "x",
                                "",
                                "00000000-0000-0000-0000-00000000000",
                                " 00000000-0000-0000-0000-00000000000a");
                    case "date", "timestamp", "timestamptz" ->
                        List.of(
                                "2024-01-01T12:00:00Z",
                                "20240101",
                                "Jan 1 2024",
                                "2024-01-01 12:00:00+02",
                                "epoch",
                                "1/2/2024",
                                "2024-13-01",
                                "2024-02-30",
                                "",
                                "2024-01-01 24:00:00",
                                "2024-1-1",
                                "2024-01-01 12:00",
                                "2024-01-01 12:00:00.1234567",
                                " 2024-01-01 ",
                                "12:00");
                    case "time", "timetz" ->
                        List.of("12:00", "120000", "12:00 PM", "", "25:00", "12:00:00Z", "T12:00:00");
                    case "interval" ->
                        List.of("1 hour", "P1D", "PT1H", "1-2", "3 4:05:06", "1 day ago", "1.5 days", "", "x");
                    case "json", "jsonb" ->
                        List.of("{\"a\": 1}", "[1 , 2]", "", "{", "nul", "\"\\u0000\"", "01", "1.0e1");
                    case "inet", "cidr" -> List.of("10.1", "10.0.0.256", "10.0.0.1/33", "", "10.0.0.0/8 ", "::FFFF:1");
                    case "bytea" -> List.of("abc", "\\x6", "\\X61", "\\141", "\\xzz", "\\\\");
                    default -> List.of("", "x", "{1", "{ 1 , 2 }", "{\"a\",b}", "[1:1]={1}", "{NULL,null}");
                });
        return List.copyOf(texts);
    }

    /// Elements whose array type is judged too.
    List<String> arrayElements() {
        return ARRAY_ELEMENTS;
    }

    static String literal(String text, String type) {
        return "'" + text.replace("'", "''") + "'::" + type;
    }

    private void add(String type, String... texts) {
        List<String> all = new ArrayList<>(values.getOrDefault(type, List.of()));
        all.addAll(List.of(texts));
        values.put(type, List.copyOf(all));
    }

    private void numbers() {
        add("bool", "t", "f");
        add("int2", "0", "1", "2", "-1", "3", "7", "100", "32767", "-32768");
        add("int4", "0", "1", "2", "-1", "3", "7", "10", "65", "2147483647", "-2147483648", "65536");
        add("int8", "0", "1", "2", "-1", "3", "9007199254740993", "9007199254740992", "9223372036854775807");
        add("int8", "-9223372036854775808", "2147483648", "4294967296");
        add("oid", "0", "1", "2", "2147483648", "4294967295", "16384");
        add("float4", "0", "-0", "1", "1.5", "-1.5", "0.1", "2", "16777216", "NaN", "Infinity", "-Infinity", "3.4e38");
        add("float4", "1e-45", "1e10", "2.5", "3.5", "1e6", "1e-5");
        add("float8", "0", "-0", "1", "1.5", "-1.5", "0.1", "2", "9007199254740992", "NaN", "Infinity", "-Infinity");
        add(
                "float8",
                "1e15",
                "1e16",
                "0.30000000000000004",
                "4.9e-324",
                "1.7976931348623157e308",
                "2.5",
                "0.5",
                "1e-5");
        add("numeric", "0", "0.00", "1", "1.0", "1.00", "-1.5", "2.5", "0.1", "2", "10", "100", "1e-20", "-0.5");
        add("numeric", "123456789012345678901234567890", "NaN", "Infinity", "-Infinity", "9007199254740993");
        add("numeric", "99999999.99", "0.000000000000000000000000000001", "3.5");
    }

    private void texts() {
        add("text", "", "a", "b", "A", "ab", "abc", "a ", " a", "a%", "a_c", "a\\", "é", "É", "ß", "ss", "İ", "ı");
        add("text", "e\u0301", "1", "01", "-1", "1.0", "t", "true", "NULL", "NaN", "2024-01-01", "{}", "[1]", "k");
        add("text", "{\"a\": 1}", "a,b", "a/b/c", "a\nb", "\ud83d\ude00", "00000000-0000-0000-0000-00000000000a", "x");
        add("text", "it's", "Z", "ok", "\uff21", "10.0.0.1", "\\x61", "1 day", "aBc dEf", "i", "I", "\t", "\u00a0a");
        add("varchar", "", "a", "b", "ab", "a ", "é", "A", "1", "{}", "{NULL}", "abc", "a\\", "aé", "%", "ß");
        add("bpchar", "", "a", "a ", "a  ", "{}", "{NULL}", "ab", "b", "A", "é", " a", "1", "%");
        add("name", "", "a", "b", "A", "é", "a b", "ab", "1");
        add("citext", "", "a", "A", "b", "B", "ab", "aB", "a ", "é", "É", "1", "%", "_", "Ab c", "[");
        add("uuid", "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b");
        add("uuid", "11111111-1111-1111-1111-111111111111", "ffffffff-ffff-ffff-ffff-ffffffffffff");
        add("bytea", "\\x", "\\x00", "\\x61", "\\x6100", "\\xff", "\\x6162", "\\x61ff00", "\\xc3a9", "\\x25");
    }

    private void moments(int major) {
        add("date", "2024-01-01", "2024-02-29", "2023-12-31", "infinity", "-infinity", "0001-01-01", "0044-03-15 BC");
        add("date", "1999-12-31", "2000-01-01", "1970-01-01", "5874897-12-31", "4713-01-01 BC", "2024-03-31");
        add("time", "00:00:00", "23:59:59.999999", "24:00:00", "12:00:00", "12:00:00.5", "01:02:03", "13:00:00");
        add("timetz", "12:00:00+00", "13:00:00+01", "12:00:00-05", "24:00:00+00", "00:00:00+15:59", "12:00:00.5+05:30");
        add("timetz", "00:00:00+00", "07:00:00-05");
        add("timestamp", "2024-01-01 00:00:00", "2024-01-01 12:00:00", "2023-12-31 23:59:59.999999", "infinity");
        add("timestamp", "-infinity", "0044-03-15 00:00:00 BC", "2024-03-31 02:30:00", "2000-01-01 00:00:00");
        add("timestamp", "294276-12-31 23:59:59.999999", "2024-02-29 01:02:03.5", "1969-12-31 23:59:59.5");
        add("timestamptz", "2024-01-01 00:00:00+00", "2024-01-01 01:00:00+01", "2024-01-01 12:00:00+00", "infinity");
        add(
                "timestamptz",
                "-infinity",
                "0044-03-15 00:00:00+00 BC",
                "2024-03-31 01:00:00+00",
                "2000-01-01 00:00:00+00");
        add("timestamptz", "2023-12-31 23:59:59.999999+00", "2024-02-29 01:02:03.5+00", "1883-11-18 12:00:00+00");
        add("interval", "1 day", "24:00:00", "1 mon", "30 days", "1 year", "12 mons", "0", "-1 day", "-24:00:00");
        add("interval", "00:00:00.000001", "1 year 2 mons 3 days 04:05:06.789", "1 mon -30 days", "-1 mon");
        add("interval", "100000 years", "1 day -24:00:00", "01:30:00", "-00:00:01.5", "15 days 12:00:00");
        if (major >= 17) {
            add("interval", "infinity", "-infinity");
        }
    }

    private void documents() {
        add("json", "null", "1", "\"a\"", "{\"a\": 1}", "{\"a\": 1, \"a\": 2}", "[1, 2]", "[]", "{}", " 1 ");
        add("json", "{\"a\":{\"b\":\"c\"}}", "true", "\"\"", "{\"k\":null}", "1.50", "[[\"a\"],null,\"k\"]");
        add("json", "\"\\u00e9\"", "{\"a\":[1,{\"b\":2}]}", "-0", "1e2");
        add("jsonb", "null", "1", "1.0", "\"a\"", "\"\"", "true", "false", "{\"a\":1}", "{\"a\":null}");
        add("jsonb", "{\"a\":{\"b\":\"c\"}}", "[1,\"a\",null]", "[]", "{}", "[[1]]", "{\"k\":\"v\",\"a\":1}", "1.50");
        add("jsonb", "[1,2]", "[1,1,2]", "{\"a\":[1,{\"b\":2}]}", "\"k\"", "[\"k\",\"a\"]", "{\"aa\":1,\"b\":2}", "2");
        add("jsonb", "12345678901234567890", "\"1\"", "\"é\"", "1e2", "{\"\":0}", "[null]", "-0", "\"b\"");
    }

    private void networks() {
        add("inet", "10.0.0.1", "10.0.0.0/8", "10.0.0.1/8", "::1", "192.168.1.5/24", "0.0.0.0/0", "::/0", "fe80::1/64");
        add("inet", "::ffff:10.0.0.1", "255.255.255.255", "10.0.0.0/32", "192.168.1.0/24", "2001:db8::5");
        add("cidr", "10.0.0.0/8", "10.0.0.1/32", "::/0", "192.168.1.0/24", "2001:db8::/32", "0.0.0.0/0", "10.0.0.0/16");
        add("macaddr", "00:00:00:00:00:00", "08:00:2b:01:02:03", "80:00:00:00:00:01", "ff:ff:ff:ff:ff:ff");
        add("macaddr8", "08:00:2b:ff:fe:01:02:03", "08:00:2b:01:02:03:04:05", "ff:ff:ff:ff:ff:ff:ff:ff");
    }

    private void ownTypes() {
        add("mood", "sad", "ok", "happy", "a", "Z", "first");
        add("small", "0", "1", "2", "-1", "7");
        add("word", "", "a", "b", "A", "é", "a ");
        add("flag", "t", "f");
        add("score", "0", "1.0", "1.00", "2.50", "-1.50", "NaN");
    }

    private void rangeValues() {
        String dates = "0044-03-15 BC;1999-12-31;2000-01-01;2024-01-01;2024-02-29;infinity";
        String moments = "-infinity;2000-01-01 00:00:00;2024-01-01 00:00:00;2024-01-01 12:00:00;2024-02-29 01:02:03.5";
        ranges("int4range", "-1;0;1;2;3;7");
        ranges("int8range", "-1;0;1;2;3;9007199254740993");
        ranges("numrange", "-1.5;0;1;1.0;2.5;100");
        ranges("daterange", dates);
        ranges("tsrange", moments);
        ranges("tstzrange", moments);
    }

    /// @param ends ascending
    private void ranges(String type, String ends) {
        List<String> all = List.of(ends.split(";", -1));
        List<String> texts = new ArrayList<>(List.of("empty", "(,)"));
        for (int low = 0; low < all.size(); low++) {
            for (int high = low; high < all.size(); high += 2) {
                String from = "\"" + all.get(low) + "\"";
                String to = "\"" + all.get(high) + "\"";
                texts.add("[" + from + "," + to + ")");
                texts.add("(" + from + "," + to + "]");
                texts.add("[" + from + "," + to + "]");
            }
        }
        texts.add("(,\"" + all.get(2) + "\"]");
        texts.add("[\"" + all.get(2) + "\",)");
        texts.add("[\"" + all.get(3) + "\",)");
        values.put(type, List.copyOf(texts));
    }

    /// Empty, with NULL, of two dimensions, and with bounds that do not start at one.
    private static List<String> arrays(List<String> elements) {
        String a = quoted(elements.getFirst());
        String b = quoted(elements.get(1));
        String c = quoted(elements.get(2 % elements.size()));
        String d = quoted(elements.getLast());
        return List.of(
                "{}",
                "{" + a + "}",
                "{" + a + "," + b + "}",
                "{" + b + "," + a + "}",
                "{" + a + ",NULL}",
                "{NULL}",
                "{NULL," + a + "}",
                "{NULL," + b + "," + c + "}",
                "{{" + a + "," + b + "},{" + c + ",NULL}}",
                "[0:1]={" + a + "," + b + "}",
                "{" + a + "," + a + "}",
                "{" + c + "," + d + "," + a + "}",
                "[2:2]={" + a + "}",
                "{" + b + "}",
                "{" + d + "}",
                "{{" + a + "," + b + "}}",
                "{" + a + "," + b + "," + c + "}");
    }

    private static String quoted(String element) {
        return "\"" + element.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
