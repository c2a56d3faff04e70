package sluice.server.http;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sluice.core.event.EventBody;
import sluice.core.event.PassingEvent;
import sluice.core.stream.FrameHead;
import sluice.core.stream.SubscriptionTag;

/// Frames of one stream that wait to be written, in order. Not shared between threads.
///
/// A change is held as a reference to its shared body, not as a copy: the bytes of a frame exist only while they are
/// being written. The ring grows by doubling; its bounds are the stream's to check, since
/// only a whole commit may enter.
final class FrameQueue {
    private static final int FIRST_CAPACITY = 8;

    private @Nullable SubscriptionTag[] tags = new SubscriptionTag[FIRST_CAPACITY];
    private long[] seqs = new long[FIRST_CAPACITY];

    /// `EventBody` for a change, `PassingEvent`, or `byte[]` for a whole frame.
    private @Nullable Object[] bodies = new Object[FIRST_CAPACITY];

    private int head;
    private int size;
    private long weightBytes;

    /// Where the head of a change is put together; as long as the longest so far.
    private byte[] changeHead = new byte[0];

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    long weightBytes() {
        return weightBytes;
    }

    static int weight(Object body) {
        if (body instanceof EventBody event) {
            return event.weightBytes();
        }
        return body instanceof PassingEvent event ? event.weightBytes() : ((byte[]) body).length;
    }

    /// @param tag null for a whole frame
    /// @param body an `EventBody`, a `PassingEvent` or a whole frame's bytes
    void add(@Nullable SubscriptionTag tag, long seq, Object body) {
        if (size == bodies.length) {
            grow();
        }
        int slot = (head + size) & (bodies.length - 1);
        tags[slot] = tag;
        seqs[slot] = seq;
        bodies[slot] = body;
        size++;
        weightBytes += weight(body);
    }

    private void grow() {
        int capacity = bodies.length;
        @Nullable SubscriptionTag[] widerTags = new SubscriptionTag[capacity * 2];
        long[] widerSeqs = new long[capacity * 2];
        @Nullable Object[] widerBodies = new Object[capacity * 2];
        for (int i = 0; i < size; i++) {
            int slot = (head + i) & (capacity - 1);
            widerTags[i] = tags[slot];
            widerSeqs[i] = seqs[slot];
            widerBodies[i] = bodies[slot];
        }
        tags = widerTags;
        seqs = widerSeqs;
        bodies = widerBodies;
        head = 0;
    }

    /// How many frames from the front fit in so many bytes; at least one.
    int countWithin(int bytesMax) {
        long total = 0;
        for (int i = 0; i < size; i++) {
            total += length((head + i) & (bodies.length - 1));
            if (total > bytesMax) {
                return Math.max(i, 1);
            }
        }
        return size;
    }

    /// Exact bytes of the first frames.
    int lengthOf(int count) {
        int total = 0;
        for (int i = 0; i < count; i++) {
            total = Math.addExact(total, length((head + i) & (bodies.length - 1)));
        }
        return total;
    }

    private int length(int slot) {
        Object body = body(slot);
        if (body instanceof EventBody event) {
            return FrameHead.length(event, tag(slot), seqs[slot]) + event.tail().length;
        }
        if (body instanceof PassingEvent event) {
            return event.kind().head().length + tag(slot).labelJson().length + event.tail().length;
        }
        return ((byte[]) body).length;
    }

    /// Moves the first frames into the buffer and forgets them.
    void writeTo(ByteBuf out, int count) {
        for (int i = 0; i < count; i++) {
            Object body = body(head);
            if (body instanceof EventBody event) {
                writeChange(out, tag(head), seqs[head], event);
            } else if (body instanceof PassingEvent event) {
                out.writeBytes(event.kind().head());
                out.writeBytes(tag(head).labelJson());
                out.writeBytes(event.tail());
            } else {
                out.writeBytes((byte[]) body);
            }
            weightBytes -= weight(body);
            tags[head] = null;
            bodies[head] = null;
            head = (head + 1) & (bodies.length - 1);
            size--;
        }
    }

    private void writeChange(ByteBuf out, SubscriptionTag tag, long seq, EventBody event) {
        int length = FrameHead.length(event, tag, seq);
        if (changeHead.length < length) {
            changeHead = new byte[length];
        }
        FrameHead.write(changeHead, 0, event, tag, seq);
        out.writeBytes(changeHead, 0, length);
        out.writeBytes(event.tail());
    }

    private Object body(int slot) {
        Object body = bodies[slot];
        if (body == null) {
            throw new IllegalStateException("empty slot " + slot + " of " + size);
        }
        return body;
    }

    private SubscriptionTag tag(int slot) {
        SubscriptionTag tag = tags[slot];
        if (tag == null) {
            throw new IllegalStateException("a change without a subscription in slot " + slot);
        }
        return tag;
    }

    /// Drops everything, e.g. of a stream that is gone.
    void clear() {
        Arrays.fill(tags, null);
        Arrays.fill(bodies, null);
        head = 0;
        size = 0;
        weightBytes = 0;
    }
}
