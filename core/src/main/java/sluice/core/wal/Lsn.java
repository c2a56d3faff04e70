package sluice.core.wal;

/// A position in PostgreSQL's write-ahead log, printed `X/X` in upper-case hex without padding as PostgreSQL prints
/// it.
///
/// @param bits the 64-bit position, compared unsigned
public record Lsn(long bits) implements Comparable<Lsn> {
    /// Position 0/0, which PostgreSQL never assigns to a record.
    public static final Lsn ZERO = new Lsn(0);

    private static final long PAGE_BYTES = 8192;
    private static final long PAGE_HEADER_BYTES_MAX = 40;

    /// @throws IllegalArgumentException when the text is not `hex/hex` with at most eight digits a side
    public static Lsn parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 1 || slash > 8 || text.length() - slash < 2 || text.length() - slash > 9) {
            throw new IllegalArgumentException("not an LSN: \"" + text + "\"");
        }
        return new Lsn((half(text, 0, slash) << 32) | half(text, slash + 1, text.length()));
    }

    private static long half(String text, int from, int to) {
        long value = 0;
        for (int i = from; i < to; i++) {
            int digit = Character.digit(text.charAt(i), 16);
            if (digit < 0 || text.charAt(i) > 'f') {
                throw new IllegalArgumentException("not an LSN: \"" + text + "\"");
            }
            value = value << 4 | digit;
        }
        return value;
    }

    public boolean isAfter(Lsn other) {
        return compareTo(other) > 0;
    }

    public boolean isBefore(Lsn other) {
        return compareTo(other) < 0;
    }

    /// Whether the log has been read up to `target`.
    ///
    /// An insert position right behind a page header names the same point as the end of the page before it, which
    /// is what a walsender reports (pages are 8 KiB; the header takes at most 40 bytes).
    public boolean reaches(Lsn target) {
        long intoPage = target.bits & (PAGE_BYTES - 1);
        long point = intoPage <= PAGE_HEADER_BYTES_MAX ? target.bits - intoPage : target.bits;
        return Long.compareUnsigned(bits, point) >= 0;
    }

    /// The later of the two.
    public Lsn max(Lsn other) {
        return isBefore(other) ? other : this;
    }

    /// The earlier of the two.
    public Lsn min(Lsn other) {
        return isAfter(other) ? other : this;
    }

    @Override
    public int compareTo(Lsn other) {
        return Long.compareUnsigned(bits, other.bits);
    }

    @Override
    public String toString() {
        return Long.toHexString(bits >>> 32).toUpperCase(java.util.Locale.ROOT) + "/"
                + Long.toHexString(bits & 0xFFFF_FFFFL).toUpperCase(java.util.Locale.ROOT);
    }
}
