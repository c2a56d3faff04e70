package sluice.server.config;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Durations as Go writes them: `1500ms`, `30s`, `1h30m`, `0`.
final class GoDuration {
    private static final Pattern PART = Pattern.compile("([0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)");
    private static final Pattern WHOLE = Pattern.compile("(?:" + PART.pattern() + ")+");
    private static final BigDecimal LONGEST_NANOS = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final int LENGTH_MAX = 64;

    private GoDuration() {}

    /// @throws IllegalArgumentException when the text has another form, is negative or longer than 292 years
    static Duration parse(String text) {
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        if (text.length() > LENGTH_MAX || !WHOLE.matcher(text).matches()) {
            throw new IllegalArgumentException("not a duration: write it like 1500ms, 30s, 5m or 1h30m");
        }
        BigDecimal nanos = BigDecimal.ZERO;
        Matcher part = PART.matcher(text);
        while (part.find()) {
            nanos = nanos.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(nanosOf(part.group(2)))));
        }
        if (nanos.compareTo(LONGEST_NANOS) > 0) {
            throw new IllegalArgumentException("a duration that long cannot be meant");
        }
        return Duration.ofNanos(nanos.longValue());
    }

    private static long nanosOf(String unit) {
        return switch (unit) {
            case "ns" -> 1L;
            case "us", "µs", "μs" -> 1_000L;
            case "ms" -> 1_000_000L;
            case "s" -> 1_000_000_000L;
            case "m" -> 60_000_000_000L;
            case "h" -> 3_600_000_000_000L;
            default -> throw new IllegalStateException(unit);
        };
    }
}
