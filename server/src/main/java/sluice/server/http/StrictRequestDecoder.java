package sluice.server.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/// An HTTP/1.1 decoder that refuses what two servers could read as different requests.
///
/// Repeated or conflicting lengths are refused by the base class; a length beside a chunked body here, where the base
/// class would quietly drop the length.
final class StrictRequestDecoder extends HttpRequestDecoder {
    /// Room for a token of the largest size that is accepted and the usual headers around it.
    private static final int HEAD_BYTES_MAX = 32 * 1024;

    private final RequestReader reader;

    StrictRequestDecoder(RequestReader reader) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(8 * 1024)
                .setMaxHeaderSize(HEAD_BYTES_MAX)
                .setMaxChunkSize(64 * 1024)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        this.reader = reader;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        reader.bytesArrived();
        super.channelRead(context, message);
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        throw new IllegalArgumentException("a content length beside a chunked body");
    }
}
