package sluice.server.config;

import java.math.BigDecimal;
import java.util.List;

/// How a value is read.
///
/// @param words the values a choice allows; empty for the other forms
public record Kind(Form form, List<String> words) {
    static final Kind TEXT = new Kind(Form.TEXT, List.of());
    static final Kind SECRET = new Kind(Form.SECRET, List.of());
    static final Kind FLAG = new Kind(Form.FLAG, List.of("true", "false"));
    static final Kind DURATION = new Kind(Form.DURATION, List.of());
    static final Kind SIZE = new Kind(Form.SIZE, List.of());
    static final Kind COUNT = new Kind(Form.COUNT, List.of());
    static final Kind SHARE = new Kind(Form.SHARE, List.of());
    static final Kind ADDRESS = new Kind(Form.ADDRESS, List.of());

    public Kind {
        words = List.copyOf(words);
    }

    static Kind of(String... words) {
        return new Kind(Form.CHOICE, List.of(words));
    }

    /// The form of a value.
    public enum Form {
        TEXT,
        SECRET,
        FLAG,
        DURATION,
        SIZE,
        COUNT,
        SHARE,
        ADDRESS,
        CHOICE
    }

    /// The value as the form's type; two texts with one meaning give equal results.
    ///
    /// @throws IllegalArgumentException saying what to write instead; never repeats the text
    Object parse(String text) {
        return switch (form) {
            case TEXT -> text;
            case SECRET -> new Secret(text);
            case DURATION -> GoDuration.parse(text);
            case SIZE -> ByteSize.parse(text);
            case ADDRESS -> ListenAddress.parse(text);
            case FLAG, CHOICE -> word(text);
            case COUNT -> count(text);
            case SHARE -> share(text);
        };
    }

    private String word(String text) {
        if (!words.contains(text)) {
            throw new IllegalArgumentException("write " + String.join(" or ", words));
        }
        return text;
    }

    private static Integer count(String text) {
        if (!text.matches("[0-9]{1,9}")) {
            throw new IllegalArgumentException("not a number: write digits only, less than 1000000000");
        }
        return Integer.valueOf(text);
    }

    private static BigDecimal share(String text) {
        if (!text.matches("[0-9](\\.[0-9]{1,6})?") || new BigDecimal(text).compareTo(BigDecimal.ONE) > 0) {
            throw new IllegalArgumentException("not a share: write a number from 0 to 1, e.g. 0.25");
        }
        BigDecimal value = new BigDecimal(text);
        return value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros();
    }
}
