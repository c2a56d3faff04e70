package sluice.core.resume;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;

/// The parts of one table in the order of their commits, oldest first. Grows by doubling; the buffer's budget bounds
/// it.
final class PartRing {
    private static final int FIRST_CAPACITY = 4;

    private @Nullable BufferedPart[] parts = new BufferedPart[FIRST_CAPACITY];
    private int head;
    private int size;

    int size() {
        return size;
    }

    void addLast(BufferedPart part) {
        if (size == parts.length) {
            @Nullable BufferedPart[] wider = new BufferedPart[parts.length * 2];
            for (int i = 0; i < size; i++) {
                wider[i] = get(i);
            }
            parts = wider;
            head = 0;
        }
        parts[(head + size) & (parts.length - 1)] = part;
        size++;
    }

    BufferedPart removeFirst() {
        BufferedPart first = get(0);
        parts[head] = null;
        head = (head + 1) & (parts.length - 1);
        size--;
        if (size == 0 && parts.length > FIRST_CAPACITY) {
            parts = new BufferedPart[FIRST_CAPACITY];
            head = 0;
        }
        return first;
    }

    BufferedPart get(int index) {
        BufferedPart part = parts[(head + index) & (parts.length - 1)];
        if (index < 0 || index >= size || part == null) {
            throw new IndexOutOfBoundsException(index + " of " + size);
        }
        return part;
    }

    /// The index of the first part whose commit has this number or a later one; {@link #size} when there is none.
    int indexOf(long number) {
        return first(commit -> commit.number() >= number);
    }

    /// The index of the first part whose commit lies at or after this position; {@link #size} when there is none.
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
