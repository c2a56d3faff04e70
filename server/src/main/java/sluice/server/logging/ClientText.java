package sluice.server.logging;

import java.nio.charset.StandardCharsets;

/// Text a client chose, on its way to a log.
public final class ClientText {
    public static final int BYTES_MAX = 256;

    private ClientText() {}

    /// The text, at most 256 bytes of UTF-8 long, never cut inside a character.
    public static String cut(String text) {
        if (text.length() <= BYTES_MAX / 3) {
            return text;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= BYTES_MAX) {
            return text;
        }
        int end = BYTES_MAX;
        while (end > 0 && (bytes[end] & 0xC0) == 0x80) {
            end--;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }
}
