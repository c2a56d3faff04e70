package sluice.server.function;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ValueType;

/// Values of every type that have gone wrong somewhere: limits, signs, blanks, spellings of the same thing.
///
/// As PostgreSQL reads them, not necessarily as it prints them. Small on purpose, so that equalities hit.
final class TypeSamples {
    private static final Map<String, List<String>> BY_TYPE = new HashMap<>();

    /// By C symbol and position of the argument.
    private static final Map<Pattern, List<String>> BY_ARGUMENT = new LinkedHashMap<>();

    private static final String[] JSON = {
        "null",
        "true",
        "false",
        "0",
        "1",
        "1.0",
        "-7",
        "1.50e1",
        "1e3",
        "-0.0",
        "12345678901234567890",
        "2147483648",
        "0.5",
        "\"\"",
        "\"a\"",
        "\"A\"",
        "\"1\"",
        "\"a\\n\\u00e9\\\"\\\\\"",
        "\"\\ud83d\\ude00\"",
        "{}",
        "[]",
        "[null]",
        "{\"a\":1}",
        "{\"a\" : 1.0, \"b\":null}",
        "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"1\":\"x\"}",
        "{\"b\":1,\"a\":2,\"b\":3}",
        "{\"bb\":1,\"c\":2,\"A\":\"a\"}",
        "[1]",
        " [1, 2 ,2] ",
        "[\"a\",\"b\",1]",
        "[[1,2],{\"a\":1}]",
        "[\"a\",[\"a\"]]",
        "{\"\":[]}",
        "[{\"a\":1},{\"a\":2}]",
        "{\"a\":[]}",
        "\"\\t\\u0001\"",
        "[1,\"1\",true]",
        "{\"a\":1,\"b\":2}",
        "1e-7",
        "0e5"
    };

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
        put(
                "text",
                "",
                "a",
                "A",
                "b",
                "abc",
                "aBc",
                " a",
                "a ",
                "é",
                "%",
                "_",
                "\\",
                "it''s",
                "1",
                "-7",
                "t",
                "NULL",
                "ab,cd,,e",
                ",",
                "x😀y",
                "aab",
                "abcabc",
                "hex",
                "BASE64",
                "escape",
                "6162",
                "YWI=",
                "YW I",
                "\\\\141",
                "0",
                "-1",
                "[1,2]");
        put("varchar", "", "a", "A", "abc", " a ", "é", "1");
        put("bpchar", "", "a", "a ", "a  ", "A", " a", "abc ", "b", "a\t", "é ", "1", "a%");
        put("name", "", "UTF8", "a", "A", "abc", "é", "1", "a ", "%", "x".repeat(62) + "é", "x".repeat(63));
        put("\"char\"", "", "a", "A", "b", "1", " ", "~");
        put("bytea", "\\x", "\\x00", "\\x61", "\\x6162", "\\x61626361", "\\xff", "\\x5c5c", "\\xc3a9", "\\x0001ff");
        put("json", JSON);
        put("jsonb", JSON);
        put(
                "uuid",
                "00000000-0000-0000-0000-00000000000a",
                "00000000-0000-0000-0000-00000000000A",
                "11111111-1111-1111-1111-111111111111",
                "ffffffff-ffff-ffff-ffff-ffffffffffff");
        put("int4[]", "{}", "{1}", "{1,2}", "{2,1}", "{NULL}", "{1,NULL}", "{{1,2},{3,4}}", "[0:1]={1,2}", "{1,1}");
        put(
                "text[]",
                "{}",
                "{a}",
                "{a,b}",
                "{NULL}",
                "{\"\"}",
                "{\"NULL\"}",
                "{\"a b\",\"c,d\"}",
                "{{a},{b}}",
                "{A}",
                "{a,b,1}",
                "{0}",
                "{-1,a}",
                "{1,\" 0\"}");
        put("uuid[]", "{}", "{00000000-0000-0000-0000-00000000000a}", "{NULL}");
        argument("jsonb?_object_field(_text)? 1", "a b c aa A");
        argument("pg_convert_(to|from) 1", "UTF8 utf-8 LATIN1");
        argument("binary_(en|de)code 1", "hex base64 escape HEX x");
        argument("binary_decode 0", "616b 61\t6B 6 6g YWI= YW=I YQ== YQ = é a\\\\141 \\401 \\14");
        argument(
                "split_part 2|[lr]pad 1|(bytea|text)_substr [12]|(text|bytea)overlay [23]",
                "0 1 -1 2 3 -2 5 2147483647 -2147483648");
        numbers();
        times();
        intervals();
        networks();
        ranges();
        arguments();
        if (Boolean.getBoolean("sluice.long")) {
            anywhere(new Random(Long.getLong("sluice.seed", 20_261_129L)));
        }
    }

    private TypeSamples() {}

    /// Values that nobody has thought of.
    private static void anywhere(Random random) {
        for (int i = 0; i < 150; i++) {
            int digits = 1 + random.nextInt(40);
            BigInteger unscaled =
                    new BigInteger(digits * 3, random).multiply(BigInteger.valueOf(random.nextInt(3) - 1));
            add("numeric", new BigDecimal(unscaled, random.nextInt(30)).toPlainString());
            add("float8", Double.toString(Double.longBitsToDouble(random.nextLong())));
            add("float8", Double.toString((random.nextInt(2_000_001) - 1_000_000) / 1000.0));
            add("float4", Float.toString(Float.intBitsToFloat(random.nextInt())));
            LocalDate day = LocalDate.ofEpochDay(random.nextInt(-719_000, 1_500_000));
            LocalTime time = LocalTime.ofNanoOfDay(random.nextLong(86_400_000_000L) * 1000);
            add("date", day.toString());
            add("time", time.toString());
            add("timetz", time + String.format(Locale.ROOT, "%+03d:%02d", random.nextInt(-15, 16), random.nextInt(60)));
            add("timestamp", day + " " + time);
            add("timestamptz", day.plusDays(random.nextInt(3)) + " " + time + "+00");
            int months = random.nextInt(-1000, 1000);
            add(
                    "interval",
                    months + " mons " + random.nextInt(-1000, 1000) + " days " + random.nextInt() / 1000.0 + " s");
        }
    }

    private static void times() {
        put(
                "date",
                ("2000-01-01 1999-12-31 1970-01-01 2024-02-29 2024-12-30 2024-12-31 2021-01-03 2021-01-04 2020-12-31"
                                + " 2100-03-01 9999-12-31 10000-01-01 0001-01-01 5874897-12-31 294276-12-31 294277-01-01"
                                + " 2024-01-31 2000-02-29 1582-10-15 infinity -infinity")
                        .split(" "));
        add("date", "0001-12-31 BC", "0044-03-15 BC", "4714-11-24 BC", "0100-01-01 BC", "1001-06-30 BC");
        List<String> moments = List.of(
                "2000-01-01 00:00:00",
                "1999-12-31 23:59:59.999999",
                "1970-01-01 00:00:00",
                "2024-02-29 12:34:56.789",
                "2024-02-29 12:34:56.7895",
                "2024-03-10 07:30:00",
                "2024-03-31 01:30:00",
                "2024-10-27 01:30:00.5",
                "2021-01-03 23:00:00",
                "2020-12-31 00:00:00.000001",
                "2024-01-31 10:20:30.123456",
                "2024-12-30 00:00:00",
                "1969-12-31 23:59:59.5",
                "1900-01-01 12:00:00",
                "0001-01-01 00:00:00",
                "0001-12-31 23:59:59 BC",
                "0044-03-15 12:00:00.25 BC",
                "4714-11-24 00:00:00 BC",
                "10000-06-15 06:07:08",
                "294276-12-31 23:59:59.999999",
                "294276-12-31 00:00:00",
                "infinity",
                "-infinity");
        put("timestamp", moments.toArray(String[]::new));
        put(
                "timestamptz",
                moments.stream()
                        .map(moment -> moment.endsWith("infinity")
                                ? moment
                                : moment.endsWith(" BC") ? moment.replace(" BC", "+00 BC") : moment + "+00")
                        .toArray(String[]::new));
        put(
                "time",
                ("00:00:00 00:00:00.000001 01:02:03 12:00:00 12:34:56.789 12:34:56.7895 23:59:59.999999 24:00:00"
                                + " 10:20:30.5 23:59:59.5")
                        .split(" "));
        put(
                "timetz",
                ("00:00:00+00 12:00:00+00 14:00:00+02 10:00:00-02 24:00:00+00 24:00:00-15:59 00:00:00+15:59:59"
                                + " 23:59:59.999999+05:30 12:34:56.789-03:30 01:02:03+00:00:30 12:00:00-00:30 04:00:00-08")
                        .split(" "));
    }

    private static void arguments() {
        argument(
                "(extract_.*|.*_part|(timestamp|timestamptz|interval)_trunc|timestamptz_trunc_zone) 0",
                "microseconds milliseconds second minute hour day week month quarter year decade century millennium dow"
                        + " isodow doy isoyear julian epoch timezone timezone_hour timezone_minute YEAR usec mons");
        argument(
                "((timestamp|timestamptz|timetz)_zone 0|timestamptz_trunc_zone 2)",
                "UTC utc Etc/UTC Europe/Berlin America/New_York Asia/Kolkata Australia/Sydney Europe/London Nowhere");
        argument(
                "(timestamp|timestamptz|timetz)_izone 0", "00:00:00 01:00:00 -05:30:00 15:59:59 00:00:30.5 -100:00:00");
        argument("(time|timetz|timestamp|timestamptz)_scale 1", "-1 0 1 2 3 4 5 6");
        argument(
                "interval_scale 1",
                "-1 0 2147418112 2147418115 2147418118 2147483647 327679 196607 131071 589823"
                        + " 67174399 134283263 268500991 201392127 402718719 469827583 470351871 268435458");
        argument("make_(date|timestamp|timestamptz) 0", "2024 -44 1 0 9999 294276 294277 5874897 -4713 -4714");
        argument("make_(date|timestamp|timestamptz) [12]", "1 2 11 12 13 24 28 29 30 31 0");
        argument("make_(time 0|timestamptz? 3)", "0 1 12 23 24 25 -1");
        argument("make_(time 1|timestamptz? 4)", "0 1 30 59 60 -1");
        argument("make_(time 2|timestamptz? 5)", "0 1 30.5 59.999999 59.9999999 60 60.1 -1 NaN Infinity 0.0000005");
        argument("make_interval 6", "0 1.5 -1.5 1e-7 0.0000005 1e12 1e19 NaN Infinity -59.999999");
        argument(
                "(interval_mul|interval_div) 1|mul_d_interval 0",
                "0 1 -1 2 0.5 -0.5 0.1 1.5 3 7 0.333333333333 1e-7"
                        + " 1e9 1e300 NaN Infinity -Infinity 30.4 -0.0416666666 12 365.25");
        argument("date_(pli|mii) 1", "0 1 -1 30 365 -366 2147483647 -2147483648 2000000000 -2500000");
        argument(
                "float8_timestamptz 0",
                "0 1 -1 1e9 1700000000.123456 1700000000.1234565 -1.5 9224318016000 9224318015999.999 -210866803200"
                        + " -210866803201 1e300 NaN Infinity -Infinity 0.0000005 0.0000015");
    }

    private static void networks() {
        put(
                "inet",
                ("10.0.0.1 10.0.0.0/8 10.0.0.1/8 10.1.2.3/31 10.1.2.2/31 0.0.0.0 0.0.0.0/0 255.255.255.255"
                                + " 255.255.255.255/0 128.0.0.0/1 192.168.1.5/24 192.168.1.0/24 192.168.0.0/16 ::/0 :: ::1 ::2"
                                + " ::1.2.3.4 ::ffff:10.0.0.1 ::ffff:0:1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8::/32"
                                + " 2001:db8::5 2001:db8:0:0:1::/65 2001:db8::1:0:0:5/127 1:0:0:2:0:0:0:3 1:0:2:3:4:5:6:7"
                                + " fe80::1/64 1::/64 8000::/1 0:0:1:2:3:4:5:6/63 1:2:3:4:5:6:0:0")
                        .split(" "));
        put(
                "cidr",
                ("10.0.0.0/8 10.0.0.1/32 0.0.0.0/0 128.0.0.0/1 10.1.128.0/17 192.168.1.0/24 10.1.2.2/31 ::/0 ::1/128"
                                + " 2001:db8::/32 2001:db8:0:0:8000::/65 10.0.0.0/16 255.255.255.255/32 ::1.2.0.0/112")
                        .split(" "));
        String addresses = "00:00:00:00:00:00 ff:ff:ff:ff:ff:ff 08:00:2b:01:02:03 08:00:2b:01:02:04 80:00:00:00:00:01";
        put("macaddr", addresses.split(" "));
        put(
                "macaddr8",
                (addresses + " 08:00:2b:ff:fe:01:02:03 ff:ff:ff:ff:ff:ff:ff:ff 7f:00:00:00:00:00:00:00").split(" "));
        argument("(inet|cidr)_set_masklen 1", "-1 0 1 8 24 31 32 33 64 65 127 128 129 -2");
        argument(
                "inetpl 1|inetmi_int8 1",
                "0 1 -1 255 256 -256 4294967295 4294967296 -4294967296 9223372036854775807"
                        + " -9223372036854775808 65536");
    }

    private static void ranges() {
        ranges("int4range", "-2147483648 -1 0 1 2 3 7 2147483646 2147483647");
        ranges("int8range", "-9223372036854775808 -1 0 1 2 3 9223372036854775806 9223372036854775807");
        ranges("numrange", "-Infinity -1.5 0 1 1.0 1.00 2.5 Infinity NaN");
        ranges("daterange", "-infinity 4714-11-24_BC 2000-01-01 2000-01-02 2024-02-29 5874897-12-30 infinity");
        String moments =
                "-infinity 0044-03-15_00:00:00_BC 2000-01-01 2000-01-01_00:00:00.000001 2024-02-29_12:00 infinity";
        ranges("tsrange", moments);
        ranges("tstzrange", moments);
        argument("range_constructor3 2", "[] [) (] () [ ][ [}");
    }

    /// @param ends ascending, blanks written as underscores
    private static void ranges(String type, String ends) {
        List<String> all = List.of(ends.split(" "));
        List<String> ranges = new ArrayList<>(List.of("empty", "(,)"));
        for (int low = 0; low < all.size(); low++) {
            String from = "\"" + all.get(low).replace("_", " ") + "\"";
            ranges.add("[" + from + ",)");
            ranges.add("(," + from + ")");
            for (int high = low; high < Math.min(all.size(), low + 3); high++) {
                String to = "\"" + all.get(high).replace("_", " ") + "\"";
                ranges.add("[" + from + "," + to + ")");
                ranges.add("(" + from + "," + to + ")");
                if (high < all.size() - 1) {
                    ranges.add("(" + from + "," + to + "]");
                    ranges.add("[" + from + "," + to + "]");
                }
            }
        }
        put(type, ranges.toArray(String[]::new));
    }

    private static void intervals() {
        put(
                "interval",
                "0",
                "1 month",
                "30 days",
                "29 days 24:00:00",
                "720:00:00",
                "1 day",
                "24:00:00",
                "-1 day",
                "-24:00:00",
                "1 year",
                "12 mons",
                "360 days",
                "365 days",
                "1 year 2 mons 3 days 04:05:06.789",
                "-1 year -2 mons +3 days -04:05:06.789",
                "1 mon -1 day 00:00:01",
                "-1 mon +1 day -00:00:01",
                "-13 mons",
                "00:00:00.000001",
                "-00:00:00.000001",
                "01:30:00",
                "-01:30:00",
                "00:30:30.5",
                "7 days",
                "1000 years",
                "-5000 years",
                "35 days 36:00:00",
                "-35 days +36:00:00",
                "100000:00:00",
                "2147483647 mons",
                "-2147483648 mons",
                "2147483647 days",
                "-2147483648 days",
                "2562047788:00:54.775807",
                "178956970 years 7 mons 2147483647 days 2562047788:00:54",
                "14 mons 45 days 23:59:59.999999");
    }

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

    /// What the argument of a function can be, where any value of its type would hardly ever be understood.
    ///
    /// @param position of the argument, from 0
    static List<String> of(String symbol, int position, ValueType<?> type, int major) {
        for (Map.Entry<Pattern, List<String>> argument : BY_ARGUMENT.entrySet()) {
            if (argument.getKey().matcher(symbol + " " + position).matches()) {
                return argument.getValue();
            }
        }
        return of(type, major);
    }

    /// With the values that only newer majors read.
    static List<String> of(ValueType<?> type, int major) {
        List<String> samples = of(type);
        if (major < 17 || !type.sqlName().equals("pg_catalog.interval")) {
            return samples;
        }
        List<String> more = new ArrayList<>(samples);
        more.addAll(List.of("infinity", "-infinity"));
        return more;
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

    /// A few arrays of any element type, some of two dimensions or numbered from elsewhere.
    private static List<String> arrays(List<String> elements) {
        String a = quoted(elements.getFirst());
        String b = quoted(elements.getLast());
        List<String> arrays = new ArrayList<>(List.of(
                "{}",
                "{NULL}",
                "{" + a + "," + b + "}",
                "{" + b + "," + a + "," + b + "}",
                "[0:1]={" + a + "," + b + "}",
                "[-2:0]={" + b + ",NULL," + a + "}",
                "{{" + a + "," + b + "}}",
                "{{" + a + "," + b + "},{NULL," + a + "}}",
                "[1:1][0:1]={{" + b + "," + a + "}}"));
        for (int i = 0; i < elements.size(); i += 2) {
            arrays.add("{" + quoted(elements.get(i)) + "}");
            arrays.add("{" + quoted(elements.get(i)) + ",NULL," + quoted(elements.getLast()) + "}");
        }
        return arrays;
    }

    private static String quoted(String element) {
        return "\"" + element.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    private static void argument(String symbolAndPosition, String samples) {
        BY_ARGUMENT.put(Pattern.compile(symbolAndPosition), List.of(samples.split(" ")));
    }

    private static void add(String type, String... samples) {
        List<String> all = new ArrayList<>(BY_TYPE.getOrDefault(type, List.of()));
        all.addAll(List.of(samples));
        BY_TYPE.put(type, all);
    }

    private static void put(String type, String... samples) {
        BY_TYPE.put(type, List.of(samples));
    }
}
