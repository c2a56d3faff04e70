package sluice.server.logging;

import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The id that ties a request's log lines together.
public final class RequestId {
    static final int CHARS_MAX = 128;

    private RequestId() {}

    /// The header's value when it is 1 to 128 visible ASCII characters, else a new UUID.
    ///
    /// It is a label and decides nothing, so a client may choose it.
    public static String of(@Nullable String header, RandomGenerator random) {
        if (header != null && isUsable(header)) {
            return header;
        }
        long high = (random.nextLong() & 0xFFFF_FFFF_FFFF_0FFFL) | 0x4000L;
        long low = (random.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low).toString();
    }

    private static boolean isUsable(String header) {
        return !header.isEmpty()
                && header.length() <= CHARS_MAX
                && header.chars().allMatch(character -> character > ' ' && character < 0x7F);
    }
}
