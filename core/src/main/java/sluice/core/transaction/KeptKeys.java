package sluice.core.transaction;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;

/// Which rows of one table a kept commit changed, eight bytes for each. Immutable; asked on one thread.
///
/// What is kept is a hash that nobody finds a key for: a row that was not changed counts as changed once in 2^64
/// for each that was.
public final class KeptKeys {
    private static final long BESIDES_BYTES = 200;

    private final List<Integer> keyColumns;
    private final Others others;
    private final long[] hashes;
    private final Hash hash = new Hash();

    /// Whether the commit changed a row.
    public enum Held {
        NO,
        YES,
        /// It changed a row without saying which, or the row has no key to know it by.
        MAYBE
    }

    /// Rows besides those that are known by their key.
    private enum Others {
        NONE,
        SOME,
        ALL
    }

    private KeptKeys(List<Integer> keyColumns, Others others, long[] hashes) {
        this.keyColumns = keyColumns;
        this.others = others;
        this.hashes = hashes;
    }

    /// Whether the table has this key still.
    public boolean areOf(Relation table) {
        return keyColumns.equals(table.keyColumns());
    }

    /// Whether the commit changed the row.
    ///
    /// @param mapping of the tuple to the table
    public Held holds(ColumnMapping mapping, Tuple row) {
        return switch (others) {
            case ALL -> Held.YES;
            case SOME -> Held.MAYBE;
            case NONE -> {
                if (!hash.take(keyColumns, mapping, row)) {
                    yield Held.MAYBE;
                }
                yield Arrays.binarySearch(hashes, hash.value()) >= 0 ? Held.YES : Held.NO;
            }
        };
    }

    public long weightBytes() {
        return BESIDES_BYTES + 8L * hashes.length;
    }

    /// A key's.
    private static final class Hash {
        private final MessageDigest digest;
        private final byte[] length = new byte[4];
        private long value;

        Hash() {
            try {
                digest = MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException impossible) {
                throw new IllegalStateException("every JVM has SHA-256", impossible);
            }
        }

        /// @return whether the tuple has all of the key; else it may be any row's
        boolean take(List<Integer> keyColumns, ColumnMapping mapping, Tuple row) {
            for (int attnum : keyColumns) {
                int position = mapping.position(attnum);
                if (position == ColumnMapping.ABSENT || row.kind(position) != Tuple.Kind.TEXT) {
                    return false;
                }
            }
            if (keyColumns.isEmpty()) {
                return false;
            }
            for (int attnum : keyColumns) {
                int position = mapping.position(attnum);
                ByteBuffer.wrap(length).putInt(row.length(position));
                digest.update(length);
                digest.update(row.bytes(), row.offset(position), row.length(position));
            }
            value = ByteBuffer.wrap(digest.digest()).getLong();
            return true;
        }

        long value() {
            return value;
        }
    }

    /// Takes them from the commit's changes.
    static final class Collecting {
        private static final int FIRST_CAPACITY = 1_024;

        private final Relation table;
        private final int most;
        private final Hash hash = new Hash();
        private long[] hashes = new long[FIRST_CAPACITY];
        private int size;
        private Others others = Others.NONE;
        private @Nullable RelationDefinition mapped;
        private ColumnMapping mapping = ColumnMapping.none();

        Collecting(Relation table, int most) {
            this.table = table;
            this.most = most;
        }

        /// @param change of the table
        /// @return false when there are more than it may take
        boolean add(Change change) {
            map(change.relation());
            return switch (change) {
                case Change.Insert(var _, var row) -> add(row);
                case Change.Update(var _, var old, var row) -> add(row) && (old == null || add(old));
                case Change.Delete(var _, var old) -> add(old);
                case Change.Truncate _ -> {
                    others(Others.ALL);
                    yield true;
                }
            };
        }

        @SuppressWarnings("ReferenceEquality") // another object is only mapped again
        private void map(RelationDefinition definition) {
            if (definition != mapped) {
                mapped = definition;
                mapping = ColumnMapping.of(definition, table);
            }
        }

        private boolean add(Tuple tuple) {
            if (others != Others.NONE) {
                return true;
            }
            if (!hash.take(table.keyColumns(), mapping, tuple)) {
                others(Others.SOME);
                return true;
            }
            if (size == most) {
                return false;
            }
            if (size == hashes.length) {
                hashes = Arrays.copyOf(hashes, Math.min(most, size * 2));
            }
            hashes[size++] = hash.value();
            return true;
        }

        /// Keys are of no use any more.
        private void others(Others rows) {
            others = rows.compareTo(others) > 0 ? rows : others;
            hashes = new long[0];
            size = 0;
        }

        KeptKeys finish() {
            long[] sorted = size == hashes.length ? hashes : Arrays.copyOf(hashes, size);
            Arrays.sort(sorted);
            return new KeptKeys(List.copyOf(table.keyColumns()), others, sorted);
        }
    }
}
