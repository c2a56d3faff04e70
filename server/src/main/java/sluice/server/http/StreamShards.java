package sluice.server.http;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.error.ErrorCode;
import sluice.core.event.EventBody;
import sluice.core.event.PassingEvent;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.SubscriptionTag;

/// The engine's way to the streams: one batch a shard and commit.
///
/// Every method of the sink is called on the engine's thread alone. A change costs no object; a shard is woken once a
/// commit. Opening, refusing, closing and a frame outside a commit go at once and keep their order, since a loop runs
/// its tasks in the order they came.
///
/// When shards cannot keep up, their batches wait in memory, so whoever feeds the engine asks {@link #hasRoom} before
/// each commit and holds the line while the answer is no: then the log waits in PostgreSQL. One commit adds at most
/// one queue's worth of entries for each stream.
public final class StreamShards implements FrameSink {
    /// Deliveries a shard may have waiting before no further commit should be dispatched.
    static final long BACKLOG_MAX = 1_000_000;

    private final List<Shard> shards;
    private final Map<EventExecutor, Shard> shardsByLoop;

    StreamShards(EventLoopGroup loops, HttpContext context, Endpoints endpoints) {
        List<Shard> made = new ArrayList<>();
        Map<EventExecutor, Shard> byLoop = new HashMap<>();
        for (EventExecutor executor : loops) {
            Shard shard = new Shard(made.size(), (EventLoop) executor, context, endpoints);
            made.add(shard);
            byLoop.put(executor, shard);
        }
        shards = Collections.unmodifiableList(made);
        shardsByLoop = Collections.unmodifiableMap(byLoop);
    }

    List<Shard> all() {
        return shards;
    }

    Shard of(EventLoop loop) {
        Shard shard = shardsByLoop.get(loop);
        if (shard == null) {
            throw new IllegalStateException("a connection on a loop that is not ours");
        }
        return shard;
    }

    /// Whether another commit may be dispatched. Any thread.
    public boolean hasRoom() {
        for (Shard shard : shards) {
            if (shard.backlog() > BACKLOG_MAX) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void open(StreamHandle stream, byte[] readyFrame) {
        SseStream target = (SseStream) stream;
        target.owner().loop().execute(() -> target.open(readyFrame));
    }

    @Override
    public void refuse(StreamHandle stream, ErrorCode code, String message) {
        SseStream target = (SseStream) stream;
        target.owner().loop().execute(() -> target.refuse(code, message));
    }

    @Override
    public void change(StreamHandle stream, SubscriptionTag tag, long seq, EventBody body) {
        SseStream target = (SseStream) stream;
        target.owner().filling().add(target, tag, seq, body);
    }

    @Override
    public void retract(StreamHandle stream) {
        SseStream target = (SseStream) stream;
        target.owner().filling().retract(target);
    }

    @Override
    public void passing(StreamHandle stream, SubscriptionTag tag, PassingEvent event) {
        SseStream target = (SseStream) stream;
        target.owner().filling().add(target, tag, 0, event);
    }

    @Override
    public void frame(StreamHandle stream, byte[] frame) {
        SseStream target = (SseStream) stream;
        Shard shard = target.owner();
        if (shard.filling().size() == 0) {
            // nothing of a commit is before it, so it need not wait for one to end and is no part of one
            shard.filling().add(target, null, 0, frame);
            shard.flush();
        } else {
            shard.filling().add(target, null, 0, frame);
        }
    }

    @Override
    public void announce(List<StreamHandle> streams, byte[] frame) {
        Map<Shard, ShardBatch> batches = new LinkedHashMap<>();
        for (StreamHandle stream : streams) {
            SseStream target = (SseStream) stream;
            batches.computeIfAbsent(target.owner(), ShardBatch::new).add(target, null, 0, frame);
        }
        batches.forEach(Shard::handOver);
    }

    @Override
    public void close(StreamHandle stream, CloseReason reason, byte[] lastFrame) {
        SseStream target = (SseStream) stream;
        target.owner().loop().execute(() -> target.endByEngine(reason, lastFrame));
    }

    @Override
    public void expires(StreamHandle stream, Instant at) {
        SseStream target = (SseStream) stream;
        target.owner().loop().execute(() -> target.expires(at.toEpochMilli()));
    }

    @Override
    public void endCommit() {
        for (Shard shard : shards) {
            shard.flush();
        }
    }
}
