package sluice.server.http;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jctools.queues.atomic.SpscAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import sluice.core.stream.CloseReason;
import sluice.server.logging.RequestLog.EndedStream;

/// One event loop's streams and connections.
///
/// Everything here belongs to the loop's thread, but for the batches: the engine fills one, the loop empties it and
/// gives it back. Two timers serve all streams: a sweep for deadlines and the heartbeat wheel.
final class Shard {
    /// Empty batches kept for the engine. Past it, batches are made and dropped.
    private static final int SPARE_BATCHES = 8;

    private static final long SWEEP_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

    private final int index;
    private final EventLoop loop;
    private final HttpContext context;
    private final Endpoints endpoints;
    private final HeartbeatWheel wheel = new HeartbeatWheel();
    private final Set<Swept> connections = new HashSet<>();
    private List<SseStream> unfinished = new ArrayList<>();
    private @Nullable FrameQueue spareQueue;
    private boolean leaving;

    private final SpscAtomicArrayQueue<ShardBatch> spareBatches = new SpscAtomicArrayQueue<>(SPARE_BATCHES);
    private final AtomicLong backlog = new AtomicLong();

    /// The engine's thread only.
    private ShardBatch filling = new ShardBatch(this);

    Shard(int index, EventLoop loop, HttpContext context, Endpoints endpoints) {
        this.index = index;
        this.loop = loop;
        this.context = context;
        this.endpoints = endpoints;
    }

    void start() {
        HttpSettings.Times times = context.settings().times();
        long sweep = Math.min(
                SWEEP_NANOS_MAX,
                Math.min(times.write().toNanos(), times.header().toNanos()) / 8);
        Unawaited.start(loop.scheduleWithFixedDelay(this::sweep, sweep, sweep, TimeUnit.NANOSECONDS));
        long tick = Math.max(1, times.heartbeat().toNanos() / HeartbeatWheel.BUCKETS);
        Unawaited.start(loop.scheduleAtFixedRate(this::tick, tick, tick, TimeUnit.NANOSECONDS));
    }

    int index() {
        return index;
    }

    EventLoop loop() {
        return loop;
    }

    HttpSettings.Limits limits() {
        return context.settings().limits();
    }

    HttpSettings.Times times() {
        return context.settings().times();
    }

    long nanos() {
        return System.nanoTime();
    }

    boolean isLeaving() {
        return leaving;
    }

    /// The handlers of one of its connections.
    Http1 http1(Channel channel) {
        return new Http1(channel, this, context, endpoints);
    }

    Http2 http2() {
        return new Http2(this, context, endpoints);
    }

    // The engine's side.

    ShardBatch filling() {
        return filling;
    }

    /// Hands the batch over, if anything is in it, and takes an empty one.
    void flush() {
        ShardBatch full = filling;
        if (full.size() == 0) {
            return;
        }
        ShardBatch spare = spareBatches.poll();
        filling = spare != null ? spare : new ShardBatch(this);
        handOver(full);
    }

    /// Hands over a batch that is not {@link #filling}, which goes before whatever that one has.
    void handOver(ShardBatch batch) {
        backlog.addAndGet(batch.size());
        loop.execute(batch);
    }

    /// Deliveries handed over and not yet taken by the loop.
    long backlog() {
        return backlog.get();
    }

    // The loop's side.

    void delivered(ShardBatch batch, int entries) {
        backlog.addAndGet(-entries);
        if (batch.isKept()) {
            spareBatches.offer(batch);
        }
    }

    /// An empty queue to fill and pump; given back by leaving it empty.
    FrameQueue borrowQueue() {
        FrameQueue spare = spareQueue;
        if (spare == null || !spare.isEmpty()) {
            // never a queue that still holds another stream's frames
            spare = new FrameQueue();
            spareQueue = spare;
        }
        return spare;
    }

    void lentQueueIsKept(FrameQueue queue) {
        if (spareQueue == queue) {
            spareQueue = null;
        }
    }

    void watch(SseStream stream) {
        unfinished.add(stream);
    }

    void watch(Swept connection) {
        connections.add(connection);
        if (leaving) {
            connection.leave();
        }
    }

    void forget(Swept connection) {
        connections.remove(connection);
    }

    void opened(SseStream stream) {
        wheel.add(stream);
    }

    void leftWheel(SseStream stream, int bucket, int slot) {
        wheel.remove(stream, bucket, slot);
    }

    /// The stream takes no room any more.
    void gone(SseStream stream) {
        context.streamGone();
    }

    void tell(SseStream stream, CloseReason reason) {
        context.gate().closed(stream, reason);
    }

    void drained(SseStream stream) {
        context.gate().drained(stream);
    }

    void ended(SseStream stream, CloseReason reason, @Nullable String error) {
        context.metrics().streamClosed(reason);
        context.log().streamEnded(new EndedStream(stream.requestId(), stream.streamId(), reason, error));
    }

    void unexpected(String requestId, Throwable cause) {
        context.log().unexpected(requestId, cause);
    }

    private void tick() {
        wheel.tick(nanos(), context.clock().millis());
    }

    private void sweep() {
        long now = nanos();
        List<SseStream> still = new ArrayList<>();
        List<SseStream> looked = unfinished;
        unfinished = still;
        for (SseStream stream : looked) {
            if (stream.sweepUnfinished(now)) {
                still.add(stream);
            }
        }
        for (Swept connection : connections.toArray(Swept[]::new)) {
            connection.sweep(now);
        }
    }

    /// Ends every stream and every connection without a request.
    void leave() {
        leaving = true;
        for (SseStream stream : wheel.streams()) {
            stream.end(
                    CloseReason.SERVER_SHUTDOWN, ClosingFrames.shutdown(times().reconnectSpread(), context.random()));
        }
        for (Swept connection : connections.toArray(Swept[]::new)) {
            connection.leave();
        }
    }
}
