package sluice.server.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/// What every new connection is given, and how many there are. Thread-safe.
final class Connections implements ChannelFutureListener {
    private final HttpContext context;
    private final StreamShards shards;
    private final AtomicInteger open = new AtomicInteger();
    private final CompletableFuture<Void> drained = new CompletableFuture<>();

    Connections(HttpContext context, StreamShards shards) {
        this.context = context;
        this.shards = shards;
    }

    StreamShards shards() {
        return shards;
    }

    /// Counts the connection, or closes it when there are as many as may be or the server is stopping.
    boolean admit(Channel channel) {
        int now = open.incrementAndGet();
        Unawaited.start(channel.closeFuture().addListener(this));
        if (now > context.settings().limits().connectionsMax() || context.isDraining()) {
            Unawaited.close(channel);
            return false;
        }
        return true;
    }

    @Override
    public void operationComplete(ChannelFuture closed) {
        if (open.decrementAndGet() == 0 && context.isDraining()) {
            drained.complete(null);
        }
    }

    /// Done when the last connection is gone. Asked after draining began.
    CompletableFuture<Void> drained() {
        if (open.get() == 0) {
            drained.complete(null);
        }
        return drained;
    }
}
