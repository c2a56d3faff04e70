package sluice.server.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.util.AsciiString;

/// The handlers of one HTTP/1.1 connection: there for its requests, away while it is a stream, and there again for
/// what the client asks after it. Loop thread only.
final class Http1 {
    private final Channel channel;
    private final Shard shard;
    private final HttpContext context;
    private final Endpoints endpoints;

    Http1(Channel channel, Shard shard, HttpContext context, Endpoints endpoints) {
        this.channel = channel;
        this.shard = shard;
        this.context = context;
        this.endpoints = endpoints;
    }

    /// The first request's head has its deadline from now on.
    void begin() {
        add(reader());
    }

    /// A stream ended and left the connection as good as it found it.
    void goOnAfter(SseStream stream) {
        RequestReader reader = reader();
        reader.awaitNext();
        add(reader);
        channel.pipeline().remove(stream);
    }

    private RequestReader reader() {
        return new RequestReader(channel, shard, context, endpoints, RequestReader.Protocol.HTTP1);
    }

    private void add(RequestReader reader) {
        ChannelPipeline pipeline = channel.pipeline();
        StrictRequestDecoder decoder = new StrictRequestDecoder(reader);
        HttpResponseEncoder encoder = new HttpResponseEncoder();
        pipeline.addLast(decoder, encoder);
        pipeline.addLast(upgrade(pipeline, decoder, encoder, reader));
        pipeline.addLast(reader);
    }

    /// HTTP/2 by `Upgrade: h2c`, taken only from a connection that has no other request in progress.
    private HttpServerUpgradeHandler upgrade(
            ChannelPipeline pipeline, StrictRequestDecoder decoder, HttpResponseEncoder encoder, RequestReader reader) {
        HttpServerUpgradeHandler.SourceCodec source = upgraded -> {
            pipeline.remove(reader);
            pipeline.remove(encoder);
            pipeline.remove(decoder);
        };
        HttpServerUpgradeHandler.UpgradeCodecFactory target =
                protocol -> AsciiString.contentEqualsIgnoreCase(Http2CodecUtil.HTTP_UPGRADE_PROTOCOL_NAME, protocol)
                        ? shard.http2().upgradeCodec()
                        : null;
        return new UpgradeWhenIdle(source, target, reader);
    }
}
