package sluice.core.transaction;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/// A priority queue that holds at most so many bytes in memory and the rest in sorted runs on disk.
///
/// Elements may be added at any time; those added while polling must not come before what was polled last, or they
/// come late. Equal elements come in any order.
final class SpillHeap<T> {
    /// Runs merged at once: bounds open files and their buffers.
    private static final int FAN_IN = 32;

    private final Comparator<? super T> order;
    private final RecordCodec<T> codec;
    private final SpillStore store;
    private long bytesMax;
    private final RecordBuffer record = new RecordBuffer();

    private ArrayList<T> memory = new ArrayList<>();
    private int next;
    private long memoryBytes;
    private final PriorityQueue<T> late;
    private List<SpillStore.Run> runs = new ArrayList<>();
    private final PriorityQueue<Cursor> heads;
    private Phase phase = Phase.FILLING;

    /// Filling gathers without order; the first look sorts.
    private enum Phase {
        FILLING,
        DRAINING
    }

    /// Where the smallest element lies.
    private enum Source {
        EMPTY,
        MEMORY,
        LATE,
        RUN
    }

    SpillHeap(Comparator<? super T> order, RecordCodec<T> codec, SpillStore store, long bytesMax) {
        this.order = order;
        this.codec = codec;
        this.store = store;
        this.bytesMax = bytesMax;
        this.late = new PriorityQueue<>(order);
        this.heads = new PriorityQueue<>((a, b) -> order.compare(a.head, b.head));
    }

    boolean hasSpilled() {
        return !runs.isEmpty();
    }

    long memoryBytes() {
        return memoryBytes;
    }

    void add(T element) {
        memoryBytes += codec.weightBytes(element);
        if (phase == Phase.FILLING) {
            memory.add(element);
        } else {
            late.add(element);
        }
        if (memoryBytes > bytesMax) {
            spill();
        }
    }

    @Nullable
    T peek() {
        drain();
        return best(smallest());
    }

    @Nullable
    T poll() {
        drain();
        Source source = smallest();
        T best = best(source);
        switch (source) {
            case EMPTY -> {}
            case MEMORY -> {
                next++;
                memoryBytes -= weight(best);
            }
            case LATE -> {
                late.remove();
                memoryBytes -= weight(best);
            }
            case RUN -> {
                Cursor cursor = heads.remove();
                if (cursor.advance()) {
                    heads.add(cursor);
                } else {
                    cursor.close();
                }
            }
        }
        return best;
    }

    private long weight(@Nullable T element) {
        return element == null ? 0 : codec.weightBytes(element);
    }

    private Source smallest() {
        Source source = next < memory.size() ? Source.MEMORY : Source.EMPTY;
        if (!late.isEmpty() && isBefore(Source.LATE, source)) {
            source = Source.LATE;
        }
        if (!heads.isEmpty() && isBefore(Source.RUN, source)) {
            source = Source.RUN;
        }
        return source;
    }

    private boolean isBefore(Source candidate, Source chosen) {
        T best = best(chosen);
        T other = best(candidate);
        return best == null || (other != null && order.compare(other, best) < 0);
    }

    private @Nullable T best(Source source) {
        return switch (source) {
            case EMPTY -> null;
            case MEMORY -> memory.get(next);
            case LATE -> late.peek();
            case RUN -> {
                Cursor cursor = heads.peek();
                yield cursor == null ? null : cursor.head;
            }
        };
    }

    /// Sets how much is held in memory from here on.
    void limit(long bytes) {
        bytesMax = bytes;
    }

    /// Forgets everything and gives the space of all runs back.
    void reset() {
        for (Cursor cursor : heads) {
            cursor.reader.close();
        }
        heads.clear();
        for (SpillStore.Run run : runs) {
            run.delete();
        }
        runs.clear();
        memory.clear();
        late.clear();
        next = 0;
        memoryBytes = 0;
        phase = Phase.FILLING;
    }

    private void drain() {
        if (phase == Phase.DRAINING) {
            return;
        }
        phase = Phase.DRAINING;
        memory.sort(order);
        while (runs.size() > FAN_IN) {
            mergeOnce();
        }
        for (SpillStore.Run run : runs) {
            open(run);
        }
    }

    private void open(SpillStore.Run run) {
        Cursor cursor = new Cursor(run);
        if (cursor.advance()) {
            heads.add(cursor);
        } else {
            cursor.close();
        }
    }

    private void spill() {
        List<T> rest = new ArrayList<>(memory.subList(next, memory.size()));
        rest.addAll(late);
        rest.sort(order);
        SpillStore.Writer writer = store.create();
        for (T element : rest) {
            write(element, writer);
        }
        SpillStore.Run run = writer.finish();
        runs.add(run);
        memory = new ArrayList<>();
        next = 0;
        late.clear();
        memoryBytes = 0;
        if (phase == Phase.DRAINING) {
            open(run);
            if (heads.size() > 2 * FAN_IN) {
                compact();
            }
        }
    }

    /// Makes one run of what all open runs still hold.
    private void compact() {
        List<SpillStore.Run> old = runs;
        SpillStore.Run rest = writeHeads();
        for (SpillStore.Run run : old) {
            run.delete();
        }
        runs = new ArrayList<>(List.of(rest));
        open(rest);
    }

    private SpillStore.Run writeHeads() {
        SpillStore.Writer writer = store.create();
        while (!heads.isEmpty()) {
            Cursor cursor = heads.remove();
            write(cursor.head, writer);
            if (cursor.advance()) {
                heads.add(cursor);
            } else {
                cursor.close();
            }
        }
        return writer.finish();
    }

    private void write(T element, SpillStore.Writer writer) {
        record.clear();
        record.putInt(0);
        codec.write(element, record);
        int size = record.length() - 4;
        byte[] bytes = record.array();
        for (int i = 0; i < 4; i++) {
            bytes[i] = (byte) (size >>> (24 - 8 * i));
        }
        writer.write(bytes, 0, record.length());
    }

    private void mergeOnce() {
        List<SpillStore.Run> merged = new ArrayList<>();
        for (int from = 0; from < runs.size(); from += FAN_IN) {
            List<SpillStore.Run> group = runs.subList(from, Math.min(from + FAN_IN, runs.size()));
            for (SpillStore.Run run : group) {
                open(run);
            }
            merged.add(writeHeads());
        }
        for (SpillStore.Run run : runs) {
            run.delete();
        }
        runs = merged;
    }

    /// Reads one run, a record ahead.
    private final class Cursor {
        private final SpillStore.Reader reader;
        private final byte[] chunk = new byte[32 * 1024];
        private final RecordBuffer record = new RecordBuffer();
        private int position;
        private int limit;

        private T head;

        @SuppressWarnings("NullAway.Init") // the head is there from one successful advance to the next
        Cursor(SpillStore.Run run) {
            this.reader = run.open();
        }

        boolean advance() {
            if (position == limit && !refill()) {
                return false;
            }
            byte[] size = record.fill(4);
            take(size, 4);
            int length = record.takeInt();
            take(record.fill(length), length);
            head = codec.read(record);
            return true;
        }

        void close() {
            reader.close();
        }

        private void take(byte[] target, int length) {
            int done = 0;
            while (done < length) {
                if (position == limit && !refill()) {
                    throw new SpillException("a spilled run ends in the middle of a record");
                }
                int count = Math.min(length - done, limit - position);
                System.arraycopy(chunk, position, target, done, count);
                position += count;
                done += count;
            }
        }

        private boolean refill() {
            int count = reader.read(chunk, 0, chunk.length);
            position = 0;
            limit = Math.max(count, 0);
            return count > 0;
        }
    }
}
