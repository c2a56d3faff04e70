package sluice.server.config;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A number of bytes.
///
/// @param bytes never negative
public record ByteSize(long bytes) {
    private static final Pattern FORM = Pattern.compile("([0-9]{1,18})(B|KiB|MiB|GiB|TiB)?");

    public ByteSize {
        if (bytes < 0) {
            throw new IllegalArgumentException("a size is not negative");
        }
    }

    /// Reads `262144`, `256KiB`, `64MiB`, `2GiB`.
    ///
    /// @throws IllegalArgumentException when the text has another form or does not fit into 63 bits
    public static ByteSize parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not a size: write bytes, or a number with KiB, MiB or GiB");
        }
        String unit = matcher.group(2) == null ? "B" : matcher.group(2);
        int shift = 10 * "BKMGT".indexOf(unit.charAt(0));
        try {
            return new ByteSize(Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << shift));
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("a size that large cannot be meant", e);
        }
    }

    /// The shortest form that {@link #parse} reads back.
    @Override
    public String toString() {
        long rest = bytes;
        int unit = 0;
        while (unit < 4 && rest > 0 && rest % 1024 == 0) {
            rest /= 1024;
            unit++;
        }
        return unit == 0 ? Long.toString(rest) : String.format(Locale.ROOT, "%d%ciB", rest, "BKMGT".charAt(unit));
    }
}
