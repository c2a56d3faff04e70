package sluice.bench.client;

import java.util.Arrays;

/// Judges what one stream received: each row once, in order, and `seq` without a step.
///
/// Rows are numbered from 1 in the order in which they were committed, and every stream is to receive each. Both
/// numbers are looked at, because they fail apart: the row says what was lost before the server numbered the event,
/// `seq` what was lost after. One thread's.
final class DeliveryChecker {
    /// Above it a row counts as unexpected; the bits for all of them take 12 KiB a stream, and
    /// only as they are used.
    static final int ROWS_MAX = 100_000;

    private static final long[] NONE = {};

    private final Faults faults;
    private long[] seen = NONE;
    private long highestRow;
    private int rows;
    private long lastSeq;

    DeliveryChecker(Faults faults) {
        this.faults = faults;
    }

    /// Takes the next event of the stream.
    void received(long row, long seq) {
        boolean stepped = seq == lastSeq + 1;
        lastSeq = Math.max(lastSeq, seq);
        if (row < 1 || row > ROWS_MAX) {
            faults.unexpected();
            return;
        }
        if (!add((int) row)) {
            faults.duplicate();
            return;
        }
        if (!stepped) {
            faults.brokenSeq();
        }
        if (row < highestRow) {
            faults.late();
        } else {
            highestRow = row;
        }
    }

    /// Takes the next event of the stream, of a kind that has no `seq`.
    void received(long row) {
        received(row, lastSeq + 1);
    }

    private boolean add(int row) {
        int word = row >> 6;
        if (word >= seen.length) {
            seen = Arrays.copyOf(seen, Math.max(word + 1, seen.length * 2));
        }
        long bit = 1L << row;
        if ((seen[word] & bit) != 0) {
            return false;
        }
        seen[word] |= bit;
        rows++;
        return true;
    }

    /// Different rows received.
    int rows() {
        return rows;
    }

    /// How many of the rows 1 to `last` have not come.
    int missing(int last) {
        int found = 0;
        for (int word = 0; word < seen.length && word << 6 <= last; word++) {
            long bits = seen[word];
            int beyond = (word << 6) + 63 - last;
            if (beyond > 0) {
                bits = bits << beyond;
            }
            found += Long.bitCount(bits);
        }
        return last - found;
    }
}
