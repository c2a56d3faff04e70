package sluice.server.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;

/// Upgrades to HTTP/2, unless an earlier request of the connection still waits for its answer: the switch would
/// overtake it. Any other kind of upgrade is an ordinary request.
final class UpgradeWhenIdle extends HttpServerUpgradeHandler {
    private final RequestReader reader;

    UpgradeWhenIdle(SourceCodec source, UpgradeCodecFactory target, RequestReader reader) {
        super(source, target, RequestReader.BODY_BYTES_MAX);
        this.reader = reader;
    }

    @Override
    protected boolean shouldHandleUpgradeRequest(HttpRequest request) {
        return reader.isIdle()
                && request.decoderResult().isSuccess()
                && "h2c".equalsIgnoreCase(request.headers().get(HttpHeaderNames.UPGRADE))
                && request.headers().contains("HTTP2-Settings");
    }

    /// The answer is the reader's to give, as for any other body that is too large.
    @Override
    protected void handleOversizedMessage(ChannelHandlerContext context, HttpMessage oversized) {
        reader.rejectTooLarge(oversized);
    }
}
