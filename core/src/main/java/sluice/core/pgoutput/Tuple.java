package sluice.core.pgoutput;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// One row image of the log: for each column of its {@link RelationDefinition}, a kind and, for text, a slice.
///
/// Flat and lazily decoded: the slices point into the frame the tuple was read from, which is never written again.
/// Immutable.
public final class Tuple {
    /// What the log says about a column. NULL is SQL's; the other two absences are not.
    public enum Kind {
        /// SQL NULL.
        NULL,
        /// A value in PostgreSQL's text form.
        TEXT,
        /// A TOASTed value the statement did not change: it has a value, which the log does not carry.
        UNCHANGED,
        /// A column outside the replica identity in an old tuple: nothing is known about it.
        NOT_SENT
    }

    private final byte[] bytes;
    private final Kind[] kinds;
    private final int[] offsets;
    private final int[] lengths;

    /// @param offsets where each TEXT column starts in `bytes`; ignored for other kinds
    public Tuple(byte[] bytes, Kind[] kinds, int[] offsets, int[] lengths) {
        this.bytes = bytes;
        this.kinds = kinds;
        this.offsets = offsets;
        this.lengths = lengths;
    }

    public int columnCount() {
        return kinds.length;
    }

    public Kind kind(int column) {
        return kinds[column];
    }

    /// The array the TEXT slices lie in. Read only.
    public byte[] bytes() {
        return bytes;
    }

    public int offset(int column) {
        return offsets[column];
    }

    public int length(int column) {
        return lengths[column];
    }

    /// The text of a TEXT column.
    public String text(int column) {
        if (kinds[column] != Kind.TEXT) {
            throw new IllegalStateException("column " + column + " is " + kinds[column]);
        }
        return new String(bytes, offsets[column], lengths[column], StandardCharsets.UTF_8);
    }

    /// Whether the column holds exactly these bytes of text.
    public boolean holds(int column, byte[] expected) {
        return kinds[column] == Kind.TEXT
                && lengths[column] == expected.length
                && Arrays.equals(
                        bytes, offsets[column], offsets[column] + expected.length, expected, 0, expected.length);
    }

    /// Sum of the text lengths: what the tuple weighs in a change-size limit.
    public int textBytes() {
        int sum = 0;
        for (int i = 0; i < kinds.length; i++) {
            sum += kinds[i] == Kind.TEXT ? lengths[i] : 0;
        }
        return sum;
    }
}
