package sluice.core.transaction;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;

/// One tuple with the definition it was sent under; several definitions of a relation can occur in one transaction.
record Image(RelationDefinition relation, Tuple tuple) {
    /// Memory of a tuple besides its text: three arrays and their headers.
    private static final long TUPLE_BYTES = 120;

    private static final long COLUMN_BYTES = 12;

    /// This image where columns it does not carry take what an earlier image of the same row carried.
    Image filledFrom(@Nullable Image earlier) {
        if (earlier == null || !has(Tuple.Kind.UNCHANGED)) {
            return this;
        }
        Tuple source = earlier.under(relation).tuple();
        Builder builder = new Builder(tuple.columnCount());
        for (int i = 0; i < tuple.columnCount(); i++) {
            boolean known = source.kind(i) == Tuple.Kind.TEXT || source.kind(i) == Tuple.Kind.NULL;
            builder.copy(tuple.kind(i) == Tuple.Kind.UNCHANGED && known ? source : tuple, i);
        }
        return new Image(relation, builder.build());
    }

    /// This image where nothing is said to be unchanged: there is no earlier state it could refer to.
    Image standingAlone() {
        if (!has(Tuple.Kind.UNCHANGED)) {
            return this;
        }
        Builder builder = new Builder(tuple.columnCount());
        for (int i = 0; i < tuple.columnCount(); i++) {
            if (tuple.kind(i) == Tuple.Kind.UNCHANGED) {
                builder.absent(i, Tuple.Kind.NOT_SENT);
            } else {
                builder.copy(tuple, i);
            }
        }
        return new Image(relation, builder.build());
    }

    /// Only what the replica identity carries; the rest may be of another moment.
    Image identityOnly() {
        return identityOnly(relation);
    }

    /// The same by the replica identity that the relation had at that moment.
    Image identityOnly(RelationDefinition then) {
        List<RelationDefinition.Column> columns = relation.columns();
        Builder builder = new Builder(tuple.columnCount());
        for (int i = 0; i < tuple.columnCount(); i++) {
            RelationDefinition.Column before =
                    i < then.columns().size() ? then.columns().get(i) : null;
            if (before != null && before.inIdentity() && isSame(before, columns.get(i))) {
                builder.copy(tuple, i);
            } else {
                builder.absent(i, Tuple.Kind.NOT_SENT);
            }
        }
        return new Image(relation, builder.build());
    }

    /// The same row under another definition: what is not the same column, at its own place, is not sent. A name
    /// alone may be another column's meanwhile, whose value is not for everybody.
    Image under(RelationDefinition other) {
        if (same(other, relation) || other.columns().equals(relation.columns())) {
            return new Image(other, tuple);
        }
        Builder builder = new Builder(other.columns().size());
        for (int i = 0; i < other.columns().size(); i++) {
            boolean same = i < tuple.columnCount() && isSame(other.columns().get(i), columnAt(i));
            if (same) {
                builder.copy(tuple, i);
            } else {
                builder.absent(i, Tuple.Kind.NOT_SENT);
            }
        }
        return new Image(other, builder.build());
    }

    /// The same row under another definition, to be found again by its key, which nobody is shown: columns are
    /// where they were, whatever they are called by now, unless one was dropped, when they are matched by name.
    Image forKeyUnder(RelationDefinition other) {
        boolean inPlace = other.columns().size() >= relation.columns().size();
        Builder builder = new Builder(other.columns().size());
        for (int i = 0; i < other.columns().size(); i++) {
            RelationDefinition.Column column = other.columns().get(i);
            int from = inPlace ? i : position(relation, column);
            if (from < 0 || from >= tuple.columnCount() || columnAt(from).typeOid() != column.typeOid()) {
                builder.absent(i, Tuple.Kind.NOT_SENT);
            } else {
                builder.copy(tuple, from, i);
            }
        }
        return new Image(other, builder.build());
    }

    private RelationDefinition.Column columnAt(int position) {
        return relation.columns().get(position);
    }

    @SuppressWarnings("ReferenceEquality") // the decoder hands out one object until the relation is sent anew
    static boolean same(RelationDefinition a, RelationDefinition b) {
        return a == b;
    }

    private static int position(RelationDefinition relation, RelationDefinition.Column wanted) {
        for (int i = 0; i < relation.columns().size(); i++) {
            if (isSame(relation.columns().get(i), wanted)) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isSame(RelationDefinition.Column one, RelationDefinition.Column other) {
        return one.name().equals(other.name()) && one.typeOid() == other.typeOid();
    }

    private boolean has(Tuple.Kind kind) {
        for (int i = 0; i < tuple.columnCount(); i++) {
            if (tuple.kind(i) == kind) {
                return true;
            }
        }
        return false;
    }

    static long weightBytes(@Nullable Image image) {
        if (image == null) {
            return 0;
        }
        return TUPLE_BYTES + COLUMN_BYTES * image.tuple.columnCount() + image.tuple.textBytes();
    }

    /// Collects the columns of a new tuple with bytes of its own.
    static final class Builder {
        private final Tuple.Kind[] kinds;
        private final int[] offsets;
        private final int[] lengths;
        private final RecordBuffer text = new RecordBuffer();

        Builder(int columns) {
            kinds = new Tuple.Kind[columns];
            offsets = new int[columns];
            lengths = new int[columns];
        }

        void copy(Tuple from, int column) {
            copy(from, column, column);
        }

        void copy(Tuple from, int column, int to) {
            if (from.kind(column) == Tuple.Kind.TEXT) {
                text(to, from.bytes(), from.offset(column), from.length(column));
            } else {
                absent(to, from.kind(column));
            }
        }

        void absent(int column, Tuple.Kind kind) {
            kinds[column] = kind;
        }

        void text(int column, byte[] bytes, int offset, int length) {
            kinds[column] = Tuple.Kind.TEXT;
            offsets[column] = text.length();
            lengths[column] = length;
            text.putBytes(bytes, offset, length);
        }

        Tuple build() {
            byte[] bytes = java.util.Arrays.copyOf(text.array(), text.length());
            return new Tuple(bytes, kinds, offsets, lengths);
        }
    }
}
