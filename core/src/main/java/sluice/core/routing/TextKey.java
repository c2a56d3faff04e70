package sluice.core.routing;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.Tuple;

/// A run of bytes as a hash key that can point into a tuple, so that a look-up allocates nothing.
final class TextKey {
    private static final byte[] NOTHING = {};

    private byte[] bytes = NOTHING;
    private int offset;
    private int length;

    static TextKey of(String text) {
        TextKey key = new TextKey();
        key.bytes = text.getBytes(StandardCharsets.UTF_8);
        key.length = key.bytes.length;
        return key;
    }

    /// Points the key at a TEXT column, for one look-up.
    void look(Tuple tuple, int column) {
        bytes = tuple.bytes();
        offset = tuple.offset(column);
        length = tuple.length(column);
    }

    /// Lets go of the tuple.
    void release() {
        bytes = NOTHING;
        offset = 0;
        length = 0;
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = offset; i < offset + length; i++) {
            hash = 31 * hash + bytes[i];
        }
        return hash;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TextKey that
                && Arrays.equals(bytes, offset, offset + length, that.bytes, that.offset, that.offset + that.length);
    }
}
