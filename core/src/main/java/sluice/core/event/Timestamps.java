package sluice.core.event;

import java.time.Instant;

/// Times as events print them.
final class Timestamps {
    private Timestamps() {}

    /// RFC 3339 in UTC, the fraction without trailing zeros and left out when it is zero.
    static String rfc3339(Instant time) {
        String seconds = Instant.ofEpochSecond(time.getEpochSecond()).toString();
        if (time.getNano() == 0) {
            return seconds;
        }
        String digits = Integer.toString(1_000_000_000 + time.getNano()).substring(1);
        int end = digits.length();
        while (digits.charAt(end - 1) == '0') {
            end--;
        }
        return seconds.substring(0, seconds.length() - 1) + "." + digits.substring(0, end) + "Z";
    }
}
