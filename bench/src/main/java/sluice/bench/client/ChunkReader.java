package sluice.bench.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Reads one response of HTTP/1.1 with a chunked body of Server-Sent Events, in pieces of any size.
///
/// Life: the head; then size, data and line end of each chunk in turn; ended after the chunk of size 0. Between two
/// reads it keeps no more than the unfinished part of one frame.
final class ChunkReader {
    static final byte[] NOTHING = {};

    private static final int HEAD_BYTES_MAX = 16 * 1024;
    private static final byte[] STATUS_OK = "HTTP/1.1 200 ".getBytes(StandardCharsets.US_ASCII);

    private enum State {
        HEAD,
        SIZE,
        SIZE_EXTENSION,
        DATA,
        DATA_END,
        ENDED,
        BROKEN
    }

    private State state = State.HEAD;
    private int chunkLeft;

    /// Of the head while it is incomplete, later of a frame.
    private byte[] kept = NOTHING;

    /// Takes what a read brought.
    ///
    /// @param assembly is overwritten
    void read(byte[] bytes, int length, Assembly assembly, FrameListener listener) {
        int at = state == State.HEAD ? head(bytes, length, listener) : 0;
        if (state == State.HEAD || state == State.BROKEN) {
            return;
        }
        assembly.clear();
        if (!assembly.append(kept, 0, kept.length)) {
            broken("a frame is too large", listener);
            return;
        }
        while (at < length && state != State.ENDED && state != State.BROKEN) {
            at = step(bytes, at, length, assembly);
        }
        if (state == State.BROKEN) {
            broken("the chunks cannot be read", listener);
            return;
        }
        kept = assembly.takeFrames(listener);
    }

    /// The server ended the response in order.
    boolean hasEnded() {
        return state == State.ENDED;
    }

    private int step(byte[] bytes, int at, int length, Assembly assembly) {
        byte next = bytes[at];
        switch (state) {
            case SIZE -> {
                int digit = Character.digit(next, 16);
                if (digit >= 0 && chunkLeft <= Assembly.BYTES_MAX) {
                    chunkLeft = chunkLeft * 16 + digit;
                } else {
                    state = next == '\r' || next == ';' ? State.SIZE_EXTENSION : State.BROKEN;
                }
            }
            case SIZE_EXTENSION -> {
                if (next == '\n') {
                    state = chunkLeft == 0 ? State.ENDED : State.DATA;
                }
            }
            case DATA -> {
                int count = Math.min(chunkLeft, length - at);
                if (!assembly.append(bytes, at, count)) {
                    state = State.BROKEN;
                    return length;
                }
                chunkLeft -= count;
                if (chunkLeft == 0) {
                    state = State.DATA_END;
                }
                return at + count;
            }
            case DATA_END -> {
                if (next == '\n') {
                    state = State.SIZE;
                } else if (next != '\r') {
                    state = State.BROKEN;
                }
            }
            case HEAD, ENDED, BROKEN -> throw new IllegalStateException("no chunk is read in state " + state);
        }
        return at + 1;
    }

    /// @return where the body begins, once the head is complete
    private int head(byte[] bytes, int length, FrameListener listener) {
        int before = kept.length;
        byte[] head = Arrays.copyOf(kept, before + length);
        System.arraycopy(bytes, 0, head, before, length);
        int end = endOfHead(head);
        if (end < 0) {
            kept = head;
            if (head.length > HEAD_BYTES_MAX) {
                broken("the response's head does not end", listener);
            }
            return length;
        }
        if (!Arrays.equals(head, 0, STATUS_OK.length, STATUS_OK, 0, STATUS_OK.length)) {
            String answer = new String(head, StandardCharsets.UTF_8);
            String body = answer.substring(end).strip();
            broken(answer.lines().findFirst().orElse("") + " " + body.replaceAll("\\s+", " "), listener);
            return length;
        }
        kept = NOTHING;
        state = State.SIZE;
        return end - before;
    }

    private static int endOfHead(byte[] head) {
        for (int i = 3; i < head.length; i++) {
            if (head[i] == '\n' && head[i - 1] == '\r' && head[i - 2] == '\n' && head[i - 3] == '\r') {
                return i + 1;
            }
        }
        return -1;
    }

    private void broken(String problem, FrameListener listener) {
        state = State.BROKEN;
        kept = NOTHING;
        listener.unreadable(problem);
    }
}
