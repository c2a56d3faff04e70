package sluice.testkit.seed;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;

/// Values as PostgreSQL reads them, drawn where faults live: the least, the greatest, the empty, one beyond the
/// usual, and signs that some layer between must escape.
public final class Values {
    private static final List<String> RESERVED = List.of("user", "order", "select", "table", "default", "null", "all");

    private static final List<String> SIGNS = List.of(
            "\"",
            "'",
            "\\",
            "/",
            ",",
            ".",
            "(",
            ")",
            "{",
            "}",
            "[",
            "]",
            ":",
            ";",
            "%",
            "&",
            "=",
            "?",
            "#",
            "$",
            "*",
            "+",
            "-",
            "_",
            "<",
            ">",
            "|",
            "`",
            "~",
            "^",
            "@",
            "!",
            " ",
            "  ",
            "\t",
            "\n",
            "\r",
            "\r\n",
            "\b",
            "\f",
            "\u0001",
            "\u001b",
            "\u007f",
            "\u0085",
            "\u00a0",
            "\u00ad",
            "\u2028",
            "\u2029",
            "\u200b",
            "\u200d",
            "\u202e",
            "\ufeff",
            "\ufffd",
            "\uffff",
            "é",
            "e\u0301",
            "ß",
            "İ",
            "ı",
            "ǆ",
            "Ω",
            "中",
            "\ud83d\ude00",
            "\ud83d\udc69\u200d\ud83d\udcbb",
            "\udbff\udfff",
            "a",
            "B",
            "0",
            "null",
            "NULL",
            "true",
            "NaN",
            "data:",
            "\n\ndata: x",
            "</script>",
            "\\u0000",
            "\\x00",
            "${x}");

    private Values() {}

    /// A name that needs quoting more often than not. At most 63 bytes, PostgreSQL's limit.
    public static String identifier(SeededRandom random) {
        String name = switch (random.weighted(4, 2, 2, 1, 1)) {
            case 0 -> plainName(random);
            case 1 -> random.pick(RESERVED);
            case 2 -> plainName(random).toUpperCase(Locale.ROOT) + " " + plainName(random);
            case 3 -> plainName(random) + random.pick("\"", "'", "\\", ".", "ß", "中", "\ud83d\ude00", ",", "=");
            default -> "n".repeat(random.between(60, 63));
        };
        return name;
    }

    /// Lower case letters, digits and underscores: needs no quoting.
    public static String plainName(SeededRandom random) {
        StringBuilder name = new StringBuilder("t");
        int length = random.between(1, 8);
        for (int i = 0; i < length; i++) {
            name.append("abcdefghijklmnopqrstuvwxyz0123456789_".charAt(random.below(37)));
        }
        return name.toString();
    }

    /// Any text that PostgreSQL can hold: no zero byte, no half of a surrogate pair.
    ///
    /// @param partsMax how many signs or words at most
    public static String text(SeededRandom random, int partsMax) {
        int parts = random.chance(0.1) ? 0 : random.between(0, partsMax);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < parts; i++) {
            text.append(random.flip() ? random.pick(SIGNS) : plainName(random));
        }
        return text.toString();
    }

    public static String int2(SeededRandom random) {
        return edgeOr(random, random.between(-1000, 1000), "-32768", "32767", "0", "-1");
    }

    public static String int4(SeededRandom random) {
        return edgeOr(random, random.between(-100_000, 100_000), "-2147483648", "2147483647", "0", "-1");
    }

    /// Around 2^53 too, where numbers of JavaScript end.
    public static String int8(SeededRandom random) {
        return edgeOr(
                random,
                random.nextLong(),
                "-9223372036854775808",
                "9223372036854775807",
                "9007199254740991",
                "9007199254740993",
                "0",
                "-1");
    }

    public static String numeric(SeededRandom random) {
        if (random.chance(0.3)) {
            return random.pick(
                    "0",
                    "-0.00",
                    "0.000",
                    "1.10",
                    "NaN",
                    "Infinity",
                    "-Infinity",
                    "1e-20",
                    "123456789012345678901234567890",
                    "0.1234567890123456789012345678901234567890",
                    "-99999999999999999999.9999",
                    "1e130");
        }
        String digits = Long.toString(random.between(0, 999_999_999_999L));
        String fraction = random.flip() ? "" : "." + random.between(0, 99_999);
        return (random.flip() ? "-" : "") + digits + fraction;
    }

    public static String float8(SeededRandom random) {
        if (random.chance(0.3)) {
            return random.pick(
                    "0",
                    "-0",
                    "NaN",
                    "Infinity",
                    "-Infinity",
                    "1.7976931348623157e308",
                    "4.9e-324",
                    "0.1",
                    "1e15",
                    "1e16",
                    "123456789012345.6",
                    "0.0001",
                    "0.00001");
        }
        double value = Double.longBitsToDouble(random.nextLong());
        return Double.isFinite(value) ? Double.toString(value) : "1.5";
    }

    public static String bool(SeededRandom random) {
        return random.flip() ? "t" : "f";
    }

    public static String uuid(SeededRandom random) {
        if (random.chance(0.1)) {
            return random.pick("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff");
        }
        return new UUID(random.nextLong(), random.nextLong()).toString();
    }

    /// From the last moment before infinity back to the first one after it, clock changes included.
    public static String timestamptz(SeededRandom random) {
        if (random.chance(0.4)) {
            return random.pick(
                    "infinity",
                    "-infinity",
                    "epoch",
                    "4713-01-02 00:00:00+00 BC",
                    "294276-12-31 23:59:59.999999+00",
                    "0001-01-01 00:00:00+00",
                    "0001-12-31 23:59:59+00 BC",
                    "1999-12-31 23:59:59.999999+00",
                    "2000-02-29 12:00:00+05:45",
                    "2026-03-29 00:59:59.5+00",
                    "2026-03-29 01:00:00+00",
                    "2026-10-25 01:00:00+00",
                    "1800-01-01 00:00:00+00",
                    "9999-12-31 23:59:59+14",
                    "10000-01-01 00:00:00-12");
        }
        return random.between(1900, 2100) + "-" + random.between(1, 12) + "-" + random.between(1, 28) + " "
                + random.between(0, 23) + ":" + random.between(0, 59) + ":" + random.between(0, 59) + "."
                + random.between(0, 999_999) + random.pick("+00", "-03:30", "+10", "+05:45");
    }

    public static String date(SeededRandom random) {
        if (random.chance(0.3)) {
            return random.pick("infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "2000-02-29", "0001-01-01");
        }
        return random.between(1900, 2100) + "-" + random.between(1, 12) + "-" + random.between(1, 28);
    }

    public static String interval(SeededRandom random) {
        if (random.chance(0.3)) {
            return random.pick(
                    "0", "-1 year -2 mons +3 days -04:05:06.789", "178000000 years", "-00:00:00.000001", "1 mon");
        }
        return random.between(-20, 20) + " mons " + random.between(-40, 40) + " days " + random.between(-90_000, 90_000)
                + " seconds";
    }

    public static String bytea(SeededRandom random) {
        int length = random.chance(0.2) ? 0 : random.between(1, 20);
        StringBuilder hex = new StringBuilder("\\x");
        for (int i = 0; i < length; i++) {
            hex.append(String.format(Locale.ROOT, "%02x", random.below(256)));
        }
        return hex.toString();
    }

    /// Objects, arrays and scalars, with keys that repeat and texts that need escaping.
    ///
    /// @param depthMax how deep values are nested at most
    public static String json(SeededRandom random, int depthMax) {
        return switch (depthMax == 0 ? random.weighted(1, 1, 1, 1) : random.weighted(1, 1, 1, 1, 3, 3)) {
            case 0 -> jsonText(text(random, 4));
            case 1 ->
                random.pick("0", "-0", "1.0", "1e3", "9007199254740993", "123456789012345678901234567890", "0.10");
            case 2 -> random.pick("true", "false");
            case 3 -> "null";
            case 4 -> "[" + String.join(random.pick(",", ", "), jsonValues(random, depthMax)) + "]";
            default -> jsonObject(random, depthMax);
        };
    }

    private static List<String> jsonValues(SeededRandom random, int depthMax) {
        List<String> values = new ArrayList<>();
        int count = random.below(4);
        for (int i = 0; i < count; i++) {
            values.add(json(random, depthMax - 1));
        }
        return values;
    }

    private static String jsonObject(SeededRandom random, int depthMax) {
        List<String> members = new ArrayList<>();
        for (String value : jsonValues(random, depthMax)) {
            String key = random.flip() ? random.pick("a", "b", "aa", "") : text(random, 2);
            members.add(jsonText(key) + random.pick(":", ": ") + value);
        }
        return "{" + String.join(random.pick(",", ", "), members) + "}";
    }

    private static String jsonText(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    private static String edgeOr(SeededRandom random, long usual, String... edges) {
        return random.chance(0.3) ? edges[random.below(edges.length)] : Long.toString(usual);
    }
}
