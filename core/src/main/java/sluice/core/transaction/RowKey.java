package sluice.core.transaction;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.Tuple;

/// A key as bytes: for each key column its kind and, for text, length and text. No key is the beginning of another of
/// the same columns.
@SuppressWarnings("EnumOrdinal") // keys are compared within one transaction only
final class RowKey {
    /// Starts no ordinary key: those start with a kind's ordinal.
    private static final int OPAQUE = 0x7F;

    private RowKey() {}

    static byte[] of(Tuple tuple, int[] positions) {
        int size = 0;
        for (int position : positions) {
            size += tuple.kind(position) == Tuple.Kind.TEXT ? 5 + tuple.length(position) : 1;
        }
        byte[] key = new byte[size];
        int at = 0;
        for (int position : positions) {
            Tuple.Kind kind = tuple.kind(position);
            key[at++] = (byte) kind.ordinal();
            if (kind == Tuple.Kind.TEXT) {
                int length = tuple.length(position);
                for (int shift = 24; shift >= 0; shift -= 8) {
                    key[at++] = (byte) (length >>> shift);
                }
                System.arraycopy(tuple.bytes(), tuple.offset(position), key, at, length);
                at += length;
            }
        }
        return key;
    }

    /// Whether the tuple carries all of the key.
    static boolean isKnown(@Nullable Tuple tuple, int[] positions) {
        if (tuple == null) {
            return false;
        }
        for (int position : positions) {
            if (tuple.kind(position) != Tuple.Kind.TEXT && tuple.kind(position) != Tuple.Kind.NULL) {
                return false;
            }
        }
        return true;
    }

    /// A key no row has, for a row whose key is not known.
    static byte[] opaque(long sequence) {
        byte[] key = new byte[9];
        key[0] = OPAQUE;
        for (int i = 0; i < 8; i++) {
            key[1 + i] = (byte) (sequence >>> (56 - 8 * i));
        }
        return key;
    }

    static int[] allPositions(int columns) {
        int[] positions = new int[columns];
        Arrays.setAll(positions, i -> i);
        return positions;
    }
}
