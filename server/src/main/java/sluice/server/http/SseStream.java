package sluice.server.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.ReferenceCountUtil;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;

/// One client's stream, and the only handler left in its pipeline.
///
/// Life: OPENING until the engine answers the request; OPEN; CLOSING while the last frames are written; CLOSED when
/// the connection is gone or the request was refused. Owned by its shard's event loop, but for the two counts of what
/// was taken, which the engine's thread reads. Whatever ends the stream is told once: see {@link StreamGate}.
///
/// A quiet stream holds no queue, no timer, no codec and no buffer.
final class SseStream extends ChannelInboundHandlerAdapter implements StreamHandle, ChannelFutureListener {
    /// Frames are turned into bytes in pieces of about this size, and only while the connection takes them.
    private static final int WRITE_BYTES_MAX = 64 * 1024;

    private static final VarHandle TAKEN_FRAMES = counter("takenFrames");
    private static final VarHandle TAKEN_BYTES = counter("takenBytes");

    private static VarHandle counter(String field) {
        try {
            return MethodHandles.lookup().findVarHandle(SseStream.class, field, long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private enum State {
        OPENING,
        OPEN,
        CLOSING,
        CLOSED
    }

    private final Shard shard;
    private final Channel channel;
    private final StreamFraming framing;
    private final String streamId;
    private final String requestId;
    private long expiresAtMillis;

    private State state = State.OPENING;
    private @Nullable RequestReader request;
    private @Nullable FrameQueue queue;
    private boolean writing;

    private int wheelBucket = -1;
    private int wheelSlot;
    private int batchHead = -1;
    private int batchTail;

    private long lastWriteNanos;
    private int writesGiven;
    private int writesDone;
    private boolean watched;
    private int writesSeenDone;
    private long progressNanos;

    private boolean spoken;
    private boolean drainAwaited;
    private volatile long takenFrames;
    private volatile long takenBytes;

    SseStream(Shard shard, RequestReader request, String streamId, String requestId, long expiresAtMillis) {
        this.shard = shard;
        this.channel = request.channel();
        this.framing = request.framing();
        this.request = request;
        this.streamId = streamId;
        this.requestId = requestId;
        this.expiresAtMillis = expiresAtMillis;
    }

    @Override
    public int shard() {
        return shard.index();
    }

    @Override
    public String streamId() {
        return streamId;
    }

    @Override
    public long takenFrames() {
        return takenFrames;
    }

    @Override
    public long takenBytes() {
        return takenBytes;
    }

    @Override
    public void tellWhenDrained() {
        shard.loop().execute(() -> {
            drainAwaited = true;
            tellIfDrained();
        });
    }

    private void tellIfDrained() {
        if (drainAwaited && state == State.OPEN && queue == null) {
            drainAwaited = false;
            shard.drained(this);
        }
    }

    Shard owner() {
        return shard;
    }

    String requestId() {
        return requestId;
    }

    /// The engine said yes.
    void open(byte[] readyFrame) {
        RequestReader opening = request;
        if (state != State.OPENING || opening == null) {
            return;
        }
        if (shard.isLeaving()) {
            refuse(ErrorCode.SERVER_SHUTDOWN, "the server is stopping");
            shard.tell(this, CloseReason.SERVER_SHUTDOWN);
            return;
        }
        request = null;
        state = State.OPEN;
        opening.handOver(this);
        shard.opened(this);
        FrameQueue first = shard.borrowQueue();
        first.add(null, 0, readyFrame);
        write(framing.head(streamId));
        pump(first);
    }

    /// The engine, or the shard in its place, said no.
    void refuse(ErrorCode code, String message) {
        RequestReader opening = request;
        if (state != State.OPENING || opening == null) {
            return;
        }
        state = State.CLOSED;
        request = null;
        shard.gone(this);
        opening.refuse(code, message);
    }

    /// Index of the stream's last entry in the batch before this one, -1 when this is its first.
    int appendToBatch(int entry) {
        int tail = batchHead < 0 ? -1 : batchTail;
        if (batchHead < 0) {
            batchHead = entry;
        }
        batchTail = entry;
        return tail;
    }

    int takeBatchHead() {
        int head = batchHead;
        batchHead = -1;
        return head;
    }

    /// The stream's part of one commit: all of it enters the queue, or none of it and the stream ends.
    ///
    /// The engine gives no more than there is room for. The bounds here are twice its own: they end a stream whose
    /// queue grows for another reason before it can harm others.
    void accept(ShardBatch batch, int head) {
        if (state != State.OPEN) {
            return;
        }
        int first = batch.dropRetracted(head);
        long events = 0;
        long bytes = 0;
        for (int entry = first; entry >= 0; entry = batch.next(entry)) {
            events++;
            bytes += batch.weight(entry);
        }
        FrameQueue target = queue != null ? queue : shard.borrowQueue();
        if (target.size() + events > 2L * shard.limits().queueEventsMax()
                || target.weightBytes() + bytes > 2 * shard.limits().queueBytesMax()) {
            end(CloseReason.STREAM_LAGGING, ClosingFrames.lagging());
            return;
        }
        for (int entry = first; entry >= 0; entry = batch.next(entry)) {
            batch.moveTo(target, entry);
        }
        pump(target);
    }

    /// Ends the stream for a reason of the shard's own and tells the engine.
    void end(CloseReason reason, byte[] lastFrame) {
        if (state == State.OPEN) {
            finish(reason, lastFrame);
            shard.tell(this, reason);
        }
    }

    /// Ends the stream as the engine asked; it expects no report.
    void endByEngine(CloseReason reason, byte[] lastFrame) {
        if (state == State.OPEN) {
            finish(reason, lastFrame);
        }
    }

    private void finish(CloseReason reason, byte[] lastFrame) {
        state = State.CLOSING;
        progressNanos = shard.nanos();
        shard.ended(this, reason, null);
        // whatever waits is of whole commits, so it goes first; this frame is past the bounds by design
        FrameQueue target = queue != null ? queue : shard.borrowQueue();
        target.add(null, 0, lastFrame);
        pump(target);
        watch();
    }

    /// Writes while the connection takes it, then keeps what is left.
    private void pump(FrameQueue pending) {
        if (writing) {
            keep(pending);
            return;
        }
        writing = true;
        try {
            do {
                while (!pending.isEmpty() && channel.isWritable()) {
                    take(pending);
                }
                channel.flush();
            } while (!pending.isEmpty() && channel.isWritable() && channel.isActive());
            if (pending.isEmpty() && state == State.CLOSING) {
                Unawaited.start(
                        channel.writeAndFlush(framing.last()).addListener((ChannelFutureListener) this::saidAll));
            }
        } finally {
            writing = false;
        }
        keep(pending);
        if (queue != null || writesDone() != writesGiven) {
            watch();
        }
    }

    /// The body is complete. A client that was promised more of the connection may be asking already.
    private void saidAll(ChannelFuture written) {
        boolean goesOn = framing == StreamFraming.CHUNKED && !spoken && !shard.isLeaving();
        if (!written.isSuccess() || !goesOn || state != State.CLOSING) {
            Unawaited.close(channel);
            return;
        }
        disconnected();
        shard.http1(channel).goOnAfter(this);
    }

    private void take(FrameQueue pending) {
        int frames = pending.size();
        long bytes = pending.weightBytes();
        write(framing.frames(channel.alloc(), pending, pending.countWithin(WRITE_BYTES_MAX)));
        frames -= pending.size();
        bytes -= pending.weightBytes();
        // bytes before frames: the engine may see the one without the other, and then thinks the queue fuller
        TAKEN_BYTES.setRelease(this, takenBytes + bytes);
        TAKEN_FRAMES.setRelease(this, takenFrames + frames);
    }

    private void keep(FrameQueue pending) {
        if (state == State.CLOSED) {
            pending.clear();
            queue = null;
        } else if (!pending.isEmpty()) {
            if (queue != pending) {
                queue = pending;
                shard.lentQueueIsKept(pending);
            }
        } else {
            queue = null;
            tellIfDrained();
        }
    }

    private void write(Object message) {
        writesGiven++;
        lastWriteNanos = shard.nanos();
        if (framing == StreamFraming.HTTP2) {
            Unawaited.start(channel.write(message).addListener(this));
        } else {
            Unawaited.start(channel.write(message, channel.voidPromise()));
        }
    }

    /// An HTTP/2 stream's write is done; plain connections are asked instead, which costs no object.
    @Override
    public void operationComplete(ChannelFuture future) {
        writesDone++;
    }

    private int writesDone() {
        if (framing == StreamFraming.HTTP2) {
            return writesDone;
        }
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? writesGiven : writesGiven - buffer.size();
    }

    private void watch() {
        if (!watched && state != State.CLOSED) {
            watched = true;
            writesSeenDone = writesDone();
            progressNanos = shard.nanos();
            shard.watch(this);
        }
    }

    /// Ends a stream whose client takes nothing. Says whether there is still something to watch.
    boolean sweepUnfinished(long nowNanos) {
        int done = writesDone();
        boolean finished = state == State.CLOSED || (state == State.OPEN && queue == null && done == writesGiven);
        if (finished) {
            watched = false;
            return false;
        }
        if (done != writesSeenDone && state == State.OPEN) {
            writesSeenDone = done;
            progressNanos = nowNanos;
            return true;
        }
        if (nowNanos - progressNanos < shard.times().write().toNanos()) {
            return true;
        }
        watched = false;
        if (state == State.OPEN) {
            state = State.CLOSING;
            shard.ended(
                    this,
                    CloseReason.WRITE_FAILED,
                    "a write did not finish within " + shard.times().write());
            shard.tell(this, CloseReason.WRITE_FAILED);
        }
        abort();
        return false;
    }

    private void abort() {
        if (framing != StreamFraming.HTTP2) {
            // without it the kernel would go on offering the unread bytes for minutes
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
        }
        Unawaited.close(channel);
    }

    void heartbeat(long nowNanos, long nowMillis) {
        if (state != State.OPEN) {
            return;
        }
        if (nowMillis >= expiresAtMillis) {
            end(CloseReason.TOKEN_EXPIRED, ClosingFrames.expired());
            return;
        }
        boolean quiet = nowNanos - lastWriteNanos >= shard.times().heartbeat().toNanos() / 4;
        if (quiet && queue == null && channel.isWritable() && writesDone() == writesGiven) {
            write(framing.heartbeat(channel.alloc()));
            channel.flush();
            if (writesDone() != writesGiven) {
                watch();
            }
        }
    }

    /// The stream goes on under another token.
    void expires(long atMillis) {
        expiresAtMillis = atMillis;
    }

    void placeInWheel(int bucket, int slot) {
        wheelBucket = bucket;
        wheelSlot = slot;
    }

    /// The connection is gone, whoever ended it, or is no longer this stream's.
    void disconnected() {
        if (state == State.CLOSED) {
            return;
        }
        State before = state;
        state = State.CLOSED;
        request = null;
        queue = null;
        if (wheelBucket >= 0) {
            shard.leftWheel(this, wheelBucket, wheelSlot);
            wheelBucket = -1;
        }
        shard.gone(this);
        if (before == State.OPENING || before == State.OPEN) {
            shard.ended(this, CloseReason.CLIENT_CLOSED, null);
            shard.tell(this, CloseReason.CLIENT_CLOSED);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        disconnected();
    }

    /// A client has nothing to say on a connection that is a stream; what it says is lost, so nothing follows it.
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ReferenceCountUtil.release(message);
        clientSpoke();
    }

    void clientSpoke() {
        spoken = true;
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        FrameQueue waiting = queue;
        if (waiting != null && !writing && channel.isWritable()) {
            pump(waiting);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof RuntimeException || cause instanceof Error) {
            shard.unexpected(requestId, cause);
        }
        Unawaited.close(channel);
    }

    /// A part could not be given whole, so the stream must not go on.
    void failed(Throwable cause) {
        shard.unexpected(requestId, cause);
        if (state == State.OPEN) {
            state = State.CLOSING;
            shard.ended(this, CloseReason.WRITE_FAILED, cause.getClass().getSimpleName());
            shard.tell(this, CloseReason.WRITE_FAILED);
        }
        abort();
    }
}
