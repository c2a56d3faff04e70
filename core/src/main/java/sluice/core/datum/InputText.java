package sluice.core.datum;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The spellings that casts from text understand besides what the server prints, as far as all majors read them
/// alike.
///
/// `22P02` is raised only where every major refuses the text.
final class InputText {
    private static final String INVALID_TEXT = "22P02";

    private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]+");
    private static final Pattern DECIMAL = Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,4})?");

    /// Letters and signs that numbers of some major or of the C library may have: hexadecimal digits, separators.
    private static final Pattern UNCLEAR =
            Pattern.compile("[+-]?0[xXoObB].*|.*_.*|[+-]?(?i:nan)(\\(.*)?|.*[eE][+-]?[0-9]+");

    private static final Pattern MOMENT = Pattern.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})"
            + "(?:[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\\.([0-9]{1,6}))?)?)?(Z|[+-][0-9]{2}(?::[0-9]{2})?)?");

    private static final int LENGTH_MAX = 1000;

    private InputText() {}

    /// Without the white space around it (`isspace`).
    static String trimmed(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && isSpace(text.charAt(start))) {
            start++;
        }
        while (end > start && isSpace(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(start, end);
    }

    private static boolean isSpace(char c) {
        return c == ' ' || (c >= '\t' && c <= '\r');
    }

    static EvaluationException invalid() {
        return new EvaluationException(INVALID_TEXT);
    }

    static long integer(String text) {
        String number = trimmed(text);
        if (!INTEGER.matcher(number).matches()) {
            throw notNumber(number);
        }
        try {
            return Long.parseLong(number);
        } catch (NumberFormatException tooBig) {
            throw new EvaluationException("22003");
        }
    }

    /// A decimal number as it is written, with an exponent of at most four digits.
    static String decimal(String text) {
        String number = trimmed(text);
        if (number.length() > LENGTH_MAX) {
            throw new UndecidableException();
        }
        if (!DECIMAL.matcher(number).matches()) {
            throw notNumber(number);
        }
        return number;
    }

    static BigDecimal exactDecimal(String text) {
        return new BigDecimal(decimal(text));
    }

    private static EvaluationException notNumber(String text) {
        return UNCLEAR.matcher(text).matches() ? new UndecidableException() : invalid();
    }

    /// `NaN`, `Infinity` or `-Infinity` where the text is one of their spellings, else the text.
    static String special(String text) {
        return switch (trimmed(text).toLowerCase(Locale.ROOT)) {
            case "nan" -> "NaN";
            case "inf", "+inf", "infinity", "+infinity" -> "Infinity";
            case "-inf", "-infinity" -> "-Infinity";
            default -> text;
        };
    }

    /// The first letters of a word for true or false, in any case.
    static boolean truth(String text) {
        String word = trimmed(text).toLowerCase(Locale.ROOT);
        return switch (word) {
            case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1" -> true;
            case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0" -> false;
            default -> throw invalid();
        };
    }

    /// Microseconds of a moment in ISO 8601 since 2000-01-01, its zone subtracted where asked.
    static long moment(String text, Zone zone) {
        Matcher fields = MOMENT.matcher(trimmed(text));
        if (!fields.matches()) {
            throw new UndecidableException();
        }
        long micros = days(fields) * Interval.MICROS_PER_DAY + clock(fields);
        String written = fields.group(8);
        if (zone == Zone.IGNORED || written == null || written.equals("Z")) {
            return micros;
        }
        int minutes = written.length() > 3 ? Integer.parseInt(written.substring(4)) : 0;
        int hours = Integer.parseInt(written.substring(1, 3));
        if (minutes > 59 || hours > 14 || fields.group(4) == null) {
            throw new UndecidableException();
        }
        long offset = (hours * 60L + minutes) * 60_000_000;
        return written.charAt(0) == '-' ? micros + offset : micros - offset;
    }

    /// What a written zone does: nothing to a `timestamp`.
    enum Zone {
        SUBTRACTED,
        IGNORED
    }

    private static long days(Matcher fields) {
        int year = Integer.parseInt(fields.group(1));
        try {
            LocalDate date = LocalDate.of(year, Integer.parseInt(fields.group(2)), Integer.parseInt(fields.group(3)));
            if (year == 0) {
                throw new UndecidableException();
            }
            return TimeTypes.days(date);
        } catch (DateTimeException notDate) {
            throw new UndecidableException();
        }
    }

    private static long clock(Matcher fields) {
        if (fields.group(4) == null) {
            return 0;
        }
        int hour = Integer.parseInt(fields.group(4));
        int minute = Integer.parseInt(fields.group(5));
        int second = fields.group(6) == null ? 0 : Integer.parseInt(fields.group(6));
        if (hour > 23 || minute > 59 || second > 59) {
            throw new UndecidableException();
        }
        String fraction = fields.group(7) == null ? "" : fields.group(7);
        long micros = Long.parseLong((fraction + "000000").substring(0, 6));
        return ((hour * 60L + minute) * 60 + second) * 1_000_000 + micros;
    }

    /// Thirty-two hexadecimal digits, a hyphen behind any four of them, braces around the whole.
    static String uuid(String text) {
        boolean braces = text.startsWith("{");
        int at = braces ? 1 : 0;
        StringBuilder digits = new StringBuilder();
        while (digits.length() < 32 && at < text.length()) {
            char c = text.charAt(at++);
            if (c == '-' && digits.length() % 4 == 0 && !digits.isEmpty() && text.charAt(at - 2) != '-') {
                continue;
            }
            if (c > 'f' || Character.digit(c, 16) < 0) {
                throw invalid();
            }
            digits.append(Character.toLowerCase(c));
        }
        if (digits.length() != 32 || !text.substring(at).equals(braces ? "}" : "")) {
            throw invalid();
        }
        return digits.substring(0, 8) + "-" + digits.substring(8, 12) + "-" + digits.substring(12, 16) + "-"
                + digits.substring(16, 20) + "-" + digits.substring(20);
    }
}
