package sluice.core.transaction;

import java.util.Arrays;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// What one message did to one key. A message that changes the key touches two: the row leaves one and arrives at the
/// other, under the same sequence number.
///
/// @param epoch the relation, and within it the stretch of the transaction with one set of key columns
/// @param sequence the message's place in the transaction, from 1
/// @param old what the log carried of the row before, null when it carried nothing
/// @param row the row after, null when there is none at this key
record Touch(
        int epoch,
        byte[] key,
        long sequence,
        Kind kind,
        @Nullable Image old,
        @Nullable Image row) {
    /// In the order in which two touches of one message at one key apply.
    enum Kind {
        DELETE,
        LEAVE,
        ARRIVE,
        INSERT,
        UPDATE
    }

    static final Comparator<Touch> BY_KEY = (a, b) -> {
        int order = Integer.compare(a.epoch, b.epoch);
        order = order != 0 ? order : Arrays.compareUnsigned(a.key, b.key);
        order = order != 0 ? order : Long.compare(a.sequence, b.sequence);
        return order != 0 ? order : a.kind.compareTo(b.kind);
    };

    boolean sameKey(Touch other) {
        return epoch == other.epoch && Arrays.equals(key, other.key);
    }
}
