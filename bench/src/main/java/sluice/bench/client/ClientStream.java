package sluice.bench.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/// One stream of the load. The client's thread only.
final class ClientStream implements FrameListener {
    private enum State {
        OPENING,
        OPEN,
        GONE
    }

    private final SocketChannel channel;
    private final byte[] request;
    private final Totals totals;
    private final ChunkReader reader = new ChunkReader();
    private final DeliveryChecker checker;
    private State state = State.OPENING;
    private long receiptMicros;

    /// @param request the whole HTTP request; not changed afterwards
    ClientStream(SocketChannel channel, byte[] request, Totals totals) {
        this.channel = channel;
        this.request = request;
        this.totals = totals;
        this.checker = new DeliveryChecker(totals.faults());
    }

    int missing(int rows) {
        return checker.missing(rows);
    }

    /// @return false when the connection cannot be used
    boolean connected(SelectionKey key) {
        try {
            channel.finishConnect();
            ByteBuffer rest = ByteBuffer.wrap(request);
            // A request is smaller than the send buffer of a new connection, so one write takes it.
            channel.write(rest);
            if (rest.hasRemaining()) {
                return gone("the request was not taken in one write");
            }
            key.interestOps(SelectionKey.OP_READ);
            return true;
        } catch (IOException e) {
            return gone("connecting: " + e.getMessage());
        }
    }

    /// @return false when the connection has ended
    boolean readable(ReadBuffer buffer) {
        int length;
        try {
            length = buffer.fill(channel);
        } catch (IOException e) {
            return gone("reading: " + e.getMessage());
        }
        if (length < 0) {
            return gone("the server closed the connection");
        }
        receiptMicros = WallClock.micros();
        long before = totals.events();
        reader.read(buffer.bytes(), length, buffer.assembly(), this);
        totals.read(length, totals.events() != before);
        return state != State.GONE && (!reader.hasEnded() || gone("the server ended the response"));
    }

    /// @return false, for the caller to return
    private boolean gone(String why) {
        switch (state) {
            case OPENING -> totals.streamRefused(why);
            case OPEN -> totals.streamGone(why);
            case GONE -> {}
        }
        state = State.GONE;
        return false;
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // Nothing is left to do with it.
            totals.failure("closing: " + e.getMessage());
        }
    }

    @Override
    public void ready(boolean accepted) {
        if (state != State.OPENING) {
            totals.failure("a second ready");
            return;
        }
        state = State.OPEN;
        if (accepted) {
            totals.streamReady();
        } else {
            totals.streamRefused("a subscription was refused");
        }
    }

    @Override
    public void change(long seq, long row, long commitMicros, long calledMicros) {
        int before = checker.rows();
        checker.received(row, seq);
        received(before, commitMicros, calledMicros);
    }

    @Override
    public void broadcast(long number, long takenMicros, long calledMicros) {
        int before = checker.rows();
        checker.received(number);
        received(before, takenMicros, calledMicros);
    }

    private void received(int rowsBefore, long sentMicros, long calledMicros) {
        if (checker.rows() != rowsBefore) {
            totals.distinctRow();
        }
        totals.received(receiptMicros, sentMicros, calledMicros);
    }

    @Override
    public void failure(String text) {
        totals.failure(text);
    }

    @Override
    public void other() {
        // A heartbeat.
    }

    @Override
    public void unreadable(String problem) {
        gone(problem);
    }
}
