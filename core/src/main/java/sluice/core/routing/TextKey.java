package sluice.core.routing;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sluice.core.expression.EqualTexts;
import sluice.core.pgoutput.Tuple;

/// A run of bytes as a hash key that can point into a tuple, so that a look-up allocates nothing.
///
/// Of what equal values may spell apart it holds only what they share, so equal values have equal keys.
final class TextKey {
    private static final byte[] NOTHING = {};

    private byte[] bytes = NOTHING;
    private int offset;
    private int length;

    static TextKey of(String text, EqualTexts equality) {
        TextKey key = new TextKey();
        key.bytes = text.getBytes(StandardCharsets.UTF_8);
        key.length = key.bytes.length;
        key.reduce(equality);
        return key;
    }

    /// Points the key at a TEXT column, for one look-up.
    void look(Tuple tuple, int column, EqualTexts equality) {
        bytes = tuple.bytes();
        offset = tuple.offset(column);
        length = tuple.length(column);
        reduce(equality);
    }

    /// Lets go of the tuple.
    void release() {
        bytes = NOTHING;
        offset = 0;
        length = 0;
    }

    private void reduce(EqualTexts equality) {
        switch (equality) {
            case IDENTICAL, UNRELATED -> {}
            case WITHOUT_TRAILING_BLANKS -> drop(' ');
            case WITHOUT_TRAILING_ZEROS -> {
                if (hasPoint()) {
                    drop('0');
                    length -= bytes[offset + length - 1] == '.' ? 1 : 0;
                }
            }
            case WITHOUT_SIGN_OF_ZERO -> {
                if (length == 2 && bytes[offset] == '-' && bytes[offset + 1] == '0') {
                    offset++;
                    length--;
                }
            }
        }
    }

    private boolean hasPoint() {
        for (int i = offset; i < offset + length; i++) {
            if (bytes[i] == '.') {
                return true;
            }
        }
        return false;
    }

    private void drop(char trailing) {
        while (length > 0 && bytes[offset + length - 1] == trailing) {
            length--;
        }
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
