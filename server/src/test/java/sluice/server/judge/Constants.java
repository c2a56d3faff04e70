package sluice.server.judge;

import java.util.List;
import java.util.Locale;

/// Texts that mean something to one argument of one function; random texts would only ever raise there.
final class Constants {
    private static final List<String> FIELDS = List.of(
            "year",
            "month",
            "day",
            "hour",
            "minute",
            "second",
            "week",
            "quarter",
            "decade",
            "century",
            "millennium",
            "dow",
            "isodow",
            "doy",
            "isoyear",
            "epoch",
            "milliseconds",
            "microseconds",
            "Day",
            "julian",
            "timezone",
            "timezone_hour",
            "mon",
            "years",
            "nothing");
    private static final List<String> ZONES = List.of(
            "UTC", "Europe/Vienna", "America/New_York", "+02", "-05:30", "EST", "Z", "utc", "Asia/Kolkata", "x");
    private static final List<String> LIKE =
            List.of("a%", "%b", "_", "%", "a\\%", "a\\\\", "%é%", "A_c", "a\\", "", "%a%b%", "__", "a", "\\a", "%%");
    private static final List<String> REGEX = List.of(
            "^a",
            "b$",
            "[ab]+",
            "a.c",
            "^(a|b)$",
            "\\d",
            "A",
            "^$",
            "a\\.b",
            "^[a-c]+$",
            "é",
            "a*",
            "^a?b",
            ".",
            "(",
            "[^a]",
            "\\w",
            "a|b",
            "$",
            "^",
            "a{2}",
            "\\.",
            "[[:alpha:]]",
            "b\\Z",
            "\\s",
            "^.$");
    private static final List<String> SIMILAR = List.of("a%", "%(b|y)%", "[ab]", "_", "%", "a|b", "(a|b)*", "ab?");
    private static final List<String> SEPARATORS = List.of(",", "/", "", "a", "ab", " ");
    private static final List<String> FORMATS = List.of("YYYY-MM-DD", "HH24:MI:SS", "999.99", "FM9999", "Day", "YYYY");
    private static final List<String> NULL_HANDLING =
            List.of("raise_exception", "use_json_null", "delete_key", "return_target");
    private static final List<String> SETS = List.of("a", " ", "ab", "", " a", "é");

    private Constants() {}

    /// Whether it reads the text form of another type, which few texts are.
    static boolean readsText(Callable callable) {
        return callable.kind() == Callable.Kind.CAST
                && JudgedColumn.spelt(callable.result())
                && List.of("text", "varchar", "bpchar")
                        .contains(callable.arguments().getFirst())
                && !List.of("text", "varchar", "bpchar", "name", "word").contains(callable.result());
    }

    /// Empty where any value will do.
    static List<String> of(Callable callable, int argument) {
        if (!callable.arguments().get(argument).equals("text")) {
            return List.of();
        }
        String name = callable.kind() == Callable.Kind.OPERATOR ? callable.symbol() : callable.name();
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "date_trunc", "date_part", "extract" -> argument == 0 ? FIELDS : ZONES;
            case "timezone" -> ZONES;
            case "textlike",
                    "textnlike",
                    "texticlike",
                    "texticnlike",
                    "bpcharlike",
                    "bpcharnlike",
                    "bpchariclike",
                    "bpcharicnlike",
                    "namelike",
                    "namenlike",
                    "nameiclike",
                    "nameicnlike",
                    "like",
                    "notlike",
                    "like_escape" -> argument == 1 ? LIKE : List.of();
            case "textregexeq",
                    "textregexne",
                    "texticregexeq",
                    "texticregexne",
                    "bpcharregexeq",
                    "bpcharregexne",
                    "bpcharicregexeq",
                    "bpcharicregexne",
                    "nameregexeq",
                    "nameregexne",
                    "nameicregexeq",
                    "nameicregexne",
                    "regexp_like",
                    "regexp_match",
                    "regexp_replace",
                    "regexp_count",
                    "regexp_substr",
                    "regexp_instr",
                    "regexp_split_to_array" -> argument == 1 ? REGEX : List.of();
            case "similar_to_escape", "similar_escape" -> argument == 0 ? SIMILAR : List.of("\\", "#");
            case "split_part", "string_to_array", "array_to_string" -> argument == 1 ? SEPARATORS : List.of();
            case "encode", "decode" -> argument == 1 ? List.of("hex", "base64", "escape", "HEX", "x") : List.of();
            case "to_char", "to_date", "to_timestamp", "to_number" -> argument == 1 ? FORMATS : List.of();
            case "btrim", "ltrim", "rtrim" -> argument == 1 ? SETS : List.of();
            case "jsonb_set_lax" -> argument == 4 ? NULL_HANDLING : List.of();
            default -> List.of();
        };
    }
}
