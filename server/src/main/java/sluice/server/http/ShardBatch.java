package sluice.server.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sluice.core.event.EventBody;
import sluice.core.event.PassingEvent;
import sluice.core.stream.SubscriptionTag;

/// What one commit gives the streams of one shard, in columns. Filled by the engine's thread, then handed over whole
/// and read by the shard's loop, then used again: a delivery costs a few array slots and no object.
final class ShardBatch implements Runnable {
    private static final int FIRST_CAPACITY = 64;

    /// Takes back the changes and broadcasts before it that the batch gives the same stream.
    private static final Object RETRACTION = new Object();

    /// A batch that grew past this is not kept: one huge commit must not hold its memory for ever.
    static final int KEPT_CAPACITY_MAX = 64 * 1024;

    private final Shard shard;
    private @Nullable SseStream[] streams = new SseStream[FIRST_CAPACITY];
    private @Nullable SubscriptionTag[] tags = new SubscriptionTag[FIRST_CAPACITY];
    private long[] seqs = new long[FIRST_CAPACITY];
    private @Nullable Object[] bodies = new Object[FIRST_CAPACITY];

    /// The stream's next entry, -1 after its last. Made by the loop.
    private int[] next = new int[FIRST_CAPACITY];

    /// Streams with entries, each once, in order of their first. Made by the loop.
    private @Nullable SseStream[] touched = new SseStream[FIRST_CAPACITY];

    private int size;

    ShardBatch(Shard shard) {
        this.shard = shard;
    }

    int size() {
        return size;
    }

    boolean isKept() {
        return streams.length <= KEPT_CAPACITY_MAX;
    }

    void add(SseStream stream, @Nullable SubscriptionTag tag, long seq, Object body) {
        if (size == streams.length) {
            int capacity = size * 2;
            streams = Arrays.copyOf(streams, capacity);
            tags = Arrays.copyOf(tags, capacity);
            seqs = Arrays.copyOf(seqs, capacity);
            bodies = Arrays.copyOf(bodies, capacity);
            next = new int[capacity];
            touched = new SseStream[capacity];
        }
        streams[size] = stream;
        tags[size] = tag;
        seqs[size] = seq;
        bodies[size] = body;
        size++;
    }

    /// On the shard's loop: each stream gets its part, all of it in one go.
    @Override
    public void run() {
        int count = group();
        int entries = size;
        try {
            for (int i = 0; i < count; i++) {
                SseStream stream = touched[i];
                if (stream != null) {
                    giveTo(stream);
                }
            }
        } finally {
            clear(count);
            shard.delivered(this, entries);
        }
    }

    /// A failure ends this stream, whose commit may be torn, and no other.
    private void giveTo(SseStream stream) {
        int head = stream.takeBatchHead();
        try {
            stream.accept(this, head);
        } catch (RuntimeException | OutOfMemoryError e) {
            // no room for this stream's bytes, direct memory included
            stream.failed(e);
        }
    }

    void retract(SseStream stream) {
        add(stream, null, 0, RETRACTION);
    }

    private int group() {
        int count = 0;
        for (int i = 0; i < size; i++) {
            SseStream stream = streams[i];
            next[i] = -1;
            if (stream == null) {
                continue;
            }
            int tail = stream.appendToBatch(i);
            if (tail < 0) {
                touched[count++] = stream;
            } else {
                next[tail] = i;
            }
        }
        return count;
    }

    int next(int entry) {
        return next[entry];
    }

    int weight(int entry) {
        return FrameQueue.weight(body(entry));
    }

    /// Leaves out of a stream's entries the changes and broadcasts that were taken back; whole frames stay.
    ///
    /// @param head the stream's first entry
    /// @return the first that is left, -1 when none is
    int dropRetracted(int head) {
        int retraction = -1;
        for (int entry = head; entry >= 0; entry = next[entry]) {
            retraction = body(entry) == RETRACTION ? entry : retraction;
        }
        if (retraction < 0) {
            return head;
        }
        int first = -1;
        int last = -1;
        for (int entry = head; entry >= 0; entry = next[entry]) {
            boolean takenBack = entry < retraction && isOfCommit(body(entry));
            if (takenBack || body(entry) == RETRACTION) {
                continue;
            }
            if (last < 0) {
                first = entry;
            } else {
                next[last] = entry;
            }
            last = entry;
        }
        if (last >= 0) {
            next[last] = -1;
        }
        return first;
    }

    /// Presence is of no commit.
    private static boolean isOfCommit(Object body) {
        return body instanceof EventBody
                || (body instanceof PassingEvent event && event.kind() == PassingEvent.Kind.BROADCAST);
    }

    void moveTo(FrameQueue queue, int entry) {
        queue.add(tags[entry], seqs[entry], body(entry));
    }

    private Object body(int entry) {
        Object body = bodies[entry];
        if (body == null) {
            throw new IllegalStateException("empty entry " + entry + " of " + size);
        }
        return body;
    }

    private void clear(int touchedCount) {
        Arrays.fill(streams, 0, size, null);
        Arrays.fill(tags, 0, size, null);
        Arrays.fill(bodies, 0, size, null);
        Arrays.fill(touched, 0, touchedCount, null);
        size = 0;
    }
}
