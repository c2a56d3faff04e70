package sluice.core.stream;

import java.nio.charset.StandardCharsets;
import sluice.core.event.EventBody;
import sluice.core.value.ByteSink;

/// The part of a change frame that differs from one subscription to the next:
///
/// ```
/// event: change
/// id: <commit lsn>:<seq>
/// data: {"sub":<label>,"seq":<seq>,
/// ```
///
/// {@link EventBody#tail} follows it without anything between. A body of no commit has no position to come back to:
/// its frame has no `id` line. Allocates nothing, so any shard may call it for every
/// delivery.
public final class FrameHead {
    private static final byte[] EVENT = ascii("event: change");
    private static final byte[] ID = ascii("\nid: ");
    private static final byte[] DATA = ascii("\ndata: {\"sub\":");
    private static final byte[] SEQ = ascii(",\"seq\":");
    private static final int FIXED = EVENT.length + DATA.length + SEQ.length + 1;

    private FrameHead() {}

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /// Bytes the head takes, the tail not counted.
    public static int length(EventBody body, SubscriptionTag tag, long seq) {
        int digits = digits(seq);
        int id = body.hasPosition() ? ID.length + body.commitLsn().length + 1 + digits : 0;
        return FIXED + id + tag.labelJson().length + digits;
    }

    /// Writes the head.
    ///
    /// @param into has room for {@link #length} bytes from `at`
    /// @param seq from 1
    /// @return where the tail goes
    public static int write(byte[] into, int at, EventBody body, SubscriptionTag tag, long seq) {
        int digits = digits(seq);
        int next = copy(EVENT, into, at);
        if (body.hasPosition()) {
            next = copy(ID, into, next);
            next = copy(body.commitLsn(), into, next);
            into[next++] = ':';
            next = decimal(seq, digits, into, next);
        }
        next = copy(DATA, into, next);
        next = copy(tag.labelJson(), into, next);
        next = copy(SEQ, into, next);
        next = decimal(seq, digits, into, next);
        into[next++] = ',';
        return next;
    }

    /// Appends the head.
    public static void append(ByteSink out, EventBody body, SubscriptionTag tag, long seq) {
        out.put(EVENT);
        if (body.hasPosition()) {
            out.put(ID);
            out.put(body.commitLsn());
            out.put(':');
            out.putDecimal(seq);
        }
        out.put(DATA);
        out.put(tag.labelJson());
        out.put(SEQ);
        out.putDecimal(seq);
        out.put(',');
    }

    private static int copy(byte[] part, byte[] into, int at) {
        System.arraycopy(part, 0, into, at, part.length);
        return at + part.length;
    }

    private static int digits(long seq) {
        int digits = 1;
        for (long rest = seq; rest >= 10; rest /= 10) {
            digits++;
        }
        return digits;
    }

    private static int decimal(long seq, int digits, byte[] into, int at) {
        long rest = seq;
        for (int i = at + digits - 1; i >= at; i--) {
            into[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return at + digits;
    }
}
