package sluice.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import java.util.List;

/// A new connection: HTTP/2 when it begins with HTTP/2's preface, else HTTP/1.1, which may upgrade.
///
/// Removes itself once it knows; until then it has the deadline of a request's head.
final class ConnectionStart extends ByteToMessageDecoder implements Swept {
    private final SocketChannel channel;
    private final Shard shard;
    private final long deadlineNanos;

    private ConnectionStart(SocketChannel channel, Shard shard) {
        this.channel = channel;
        this.shard = shard;
        this.deadlineNanos = shard.nanos() + shard.times().header().toNanos();
    }

    /// Begins every connection.
    static ChannelInitializer<SocketChannel> initializer(Connections connections) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                if (connections.admit(channel)) {
                    channel.pipeline()
                            .addLast(new ConnectionStart(
                                    channel, connections.shards().of(channel.eventLoop())));
                }
            }
        };
    }

    @Override
    public void handlerAdded(ChannelHandlerContext handler) {
        shard.watch(this);
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext handler) {
        shard.forget(this);
    }

    @Override
    public void channelInactive(ChannelHandlerContext handler) throws Exception {
        shard.forget(this);
        super.channelInactive(handler);
    }

    @Override
    public void sweep(long nowNanos) {
        if (nowNanos - deadlineNanos >= 0) {
            Unawaited.close(channel);
        }
    }

    @Override
    public void leave() {
        Unawaited.close(channel);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext handler, Throwable cause) {
        Unawaited.close(channel);
    }

    @Override
    protected void decode(ChannelHandlerContext handler, ByteBuf in, List<Object> out) {
        ByteBuf preface = Http2CodecUtil.connectionPrefaceBuf();
        try {
            int length = Math.min(in.readableBytes(), preface.readableBytes());
            boolean matches = in.slice(in.readerIndex(), length).equals(preface.slice(0, length));
            if (matches && length < preface.readableBytes()) {
                return;
            }
            ChannelPipeline pipeline = handler.pipeline();
            if (matches) {
                shard.http2().addTo(pipeline);
            } else {
                shard.http1(channel).begin();
            }
            pipeline.remove(this);
        } finally {
            preface.release();
        }
    }
}
