package sluice.server.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ServerUpgradeCodec;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import org.jspecify.annotations.Nullable;

/// The handlers of one HTTP/2 connection.
///
/// Each of its streams is a channel of its own with the same request reader as HTTP/1.1. The connection is left
/// when it has had no stream for the idle time, or takes no bytes for the write timeout.
final class Http2 {
    private static final int STREAMS_MAX = 1_000;
    private static final int HEADER_BYTES_MAX = 32 * 1024;

    /// A gateway ends streams by reset, so many a second are normal; without end they are an attack.
    private static final int RESETS_MAX = 4_000;

    private static final int RESETS_SECONDS = 30;

    /// Frames without content in a row that a sound client has no reason to send.
    private static final int EMPTY_FRAMES_MAX = 2;

    /// Answers to pings, settings and the like that wait for a client which asks for them and does not read.
    private static final int ANSWERS_WAITING_MAX = 10_000;

    private final Shard shard;
    private final Http2FrameCodec codec;
    private final Http2MultiplexHandler multiplex;

    Http2(Shard shard, HttpContext context, Endpoints endpoints) {
        this.shard = shard;
        codec = Http2FrameCodecBuilder.forServer()
                .initialSettings(Http2Settings.defaultSettings()
                        .maxConcurrentStreams(STREAMS_MAX)
                        .maxHeaderListSize(HEADER_BYTES_MAX))
                .decoderEnforceMaxRstFramesPerWindow(RESETS_MAX, RESETS_SECONDS)
                .decoderEnforceMaxConsecutiveEmptyDataFrames(EMPTY_FRAMES_MAX)
                .encoderEnforceMaxQueuedControlFrames(ANSWERS_WAITING_MAX)
                .gracefulShutdownTimeoutMillis(
                        context.settings().times().shutdownGrace().toMillis())
                .build();
        multiplex = new Http2MultiplexHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline()
                        .addLast(
                                new Http2StreamFrameToHttpObjectCodec(true),
                                new RequestReader(stream, shard, context, endpoints, RequestReader.Protocol.HTTP2));
            }
        });
    }

    void addTo(ChannelPipeline pipeline) {
        pipeline.addLast(new Guard(), codec, multiplex, new End());
    }

    HttpServerUpgradeHandler.UpgradeCodec upgradeCodec() {
        return new Http2ServerUpgradeCodec(codec, new Guard(), multiplex, new End());
    }

    /// What a client did wrong ends here without a line in the log, since it may do it as often as it likes. The
    /// codec has said goodbye and closes.
    private static final class End extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext handler, Throwable cause) {
            if (!(cause instanceof Http2Exception)) {
                Unawaited.start(handler.close());
            }
        }
    }

    /// Watches the connection as a whole.
    private final class Guard extends ChannelInboundHandlerAdapter implements Swept {
        private @Nullable Channel channel;
        private long quietSinceNanos = shard.nanos();
        private long takenNanos = shard.nanos();
        private long pendingSeen;

        @Override
        public void handlerAdded(ChannelHandlerContext handler) {
            channel = handler.channel();
            shard.watch(this);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext handler) {
            shard.forget(this);
        }

        @Override
        public void channelInactive(ChannelHandlerContext handler) {
            shard.forget(this);
            handler.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext handler, Throwable cause) {
            Unawaited.start(handler.close());
        }

        @Override
        public void sweep(long nowNanos) {
            Channel connection = channel;
            if (connection == null) {
                return;
            }
            if (codec.connection().numActiveStreams() > 0) {
                quietSinceNanos = nowNanos;
            } else if (nowNanos - quietSinceNanos >= shard.times().idle().toNanos()) {
                Unawaited.close(connection);
            }
            ChannelOutboundBuffer buffer = connection.unsafe().outboundBuffer();
            long pending = buffer == null ? 0 : buffer.totalPendingWriteBytes();
            if (pending == 0 || pending < pendingSeen) {
                takenNanos = nowNanos;
            } else if (nowNanos - takenNanos >= 2 * shard.times().write().toNanos()) {
                connection.unsafe().closeForcibly();
                connection.pipeline().fireChannelInactive();
            }
            pendingSeen = pending;
        }

        @Override
        public void leave() {
            Channel connection = channel;
            if (connection != null) {
                // says goodbye, lets the streams end, then closes
                Unawaited.close(connection);
            }
        }
    }
}
