package sluice.core.resume;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;

/// The parts of one table, or what was said in one channel, in the order of commits, oldest first. Grows by doubling;
/// the buffer's budget bounds it.
final class EntryRing<E extends BufferedEntry> {
    private static final int FIRST_CAPACITY = 4;

    private @Nullable Object[] entries = new Object[FIRST_CAPACITY];
    private int head;
    private int size;

    int size() {
        return size;
    }

    void addLast(E entry) {
        if (size == entries.length) {
            @Nullable Object[] wider = new Object[entries.length * 2];
            for (int i = 0; i < size; i++) {
                wider[i] = get(i);
            }
            entries = wider;
            head = 0;
        }
        entries[(head + size) & (entries.length - 1)] = entry;
        size++;
    }

    E removeFirst() {
        E first = get(0);
        entries[head] = null;
        head = (head + 1) & (entries.length - 1);
        size--;
        if (size == 0 && entries.length > FIRST_CAPACITY) {
            entries = new Object[FIRST_CAPACITY];
            head = 0;
        }
        return first;
    }

    @SuppressWarnings("unchecked") // nothing else is put in
    E get(int index) {
        Object entry = entries[(head + index) & (entries.length - 1)];
        if (index < 0 || index >= size || entry == null) {
            throw new IndexOutOfBoundsException(index + " of " + size);
        }
        return (E) entry;
    }

    /// The index of the first entry whose commit has this number or a later one; {@link #size} when there is none.
    int indexOf(long number) {
        return first(commit -> commit.number() >= number);
    }

    /// The index of the first entry whose commit lies at or after this position; {@link #size} when there is none.
    int indexOf(Lsn position) {
        return first(commit -> !commit.lsn().isBefore(position));
    }

    private int first(Predicate<BufferedCommit> reached) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (reached.test(get(middle).commit())) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }
}
