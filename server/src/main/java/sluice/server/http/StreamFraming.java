package sluice.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;

/// How a stream's bytes are wrapped for its connection, once the HTTP codec is out of the pipeline.
///
/// Each constant is shared by all streams and holds nothing of theirs: a stream pays no memory for its framing.
enum StreamFraming {
    /// HTTP/1.1: each write is one chunk, and the connection goes on after the stream.
    CHUNKED,
    /// HTTP/1.1 from a client that wants no further answer on the connection.
    CHUNKED_LAST,
    /// HTTP/1.0, as some proxies still speak it upstream: the end of the connection ends the body.
    RAW,
    HTTP2;

    private static final byte[] HEARTBEAT = ascii(": hb\n\n");
    private static final byte[] LINE_END = ascii("\r\n");
    private static final byte[] LAST_CHUNK = ascii("0\r\n\r\n");
    private static final byte[] HEAD = ascii("""
        HTTP/1.1 200 OK\r
        Content-Type: text/event-stream\r
        Cache-Control: no-store, no-transform\r
        X-Accel-Buffering: no\r
        Vary: Authorization\r
        Sluice-Stream-Id: \
        """);
    private static final byte[] KEPT = ascii("\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n");
    private static final byte[] CHUNKED_CLOSED = ascii("\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    private static final byte[] CLOSED = ascii("\r\nConnection: close\r\n\r\n");

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /// The response's head.
    Object head(String streamId) {
        return switch (this) {
            case CHUNKED -> Unpooled.wrappedBuffer(HEAD, ascii(streamId), KEPT);
            case CHUNKED_LAST -> Unpooled.wrappedBuffer(HEAD, ascii(streamId), CHUNKED_CLOSED);
            case RAW -> Unpooled.wrappedBuffer(HEAD, ascii(streamId), CLOSED);
            case HTTP2 -> {
                Http2Headers headers = new DefaultHttp2Headers()
                        .status("200")
                        .set("content-type", "text/event-stream")
                        .set("cache-control", "no-store, no-transform")
                        .set("x-accel-buffering", "no")
                        .set("vary", "Authorization")
                        .set("sluice-stream-id", streamId);
                yield new DefaultHttp2HeadersFrame(headers);
            }
        };
    }

    /// The first frames of a queue as one message; they leave the queue.
    Object frames(ByteBufAllocator allocator, FrameQueue queue, int count) {
        int length = queue.lengthOf(count);
        ByteBuf out = begin(allocator, length);
        queue.writeTo(out, count);
        return end(out);
    }

    Object heartbeat(ByteBufAllocator allocator) {
        ByteBuf out = begin(allocator, HEARTBEAT.length);
        out.writeBytes(HEARTBEAT);
        return end(out);
    }

    private ByteBuf begin(ByteBufAllocator allocator, int length) {
        return switch (this) {
            case CHUNKED, CHUNKED_LAST -> {
                ByteBuf out = allocator.directBuffer(length + 12);
                writeHex(out, length);
                out.writeBytes(LINE_END);
                yield out;
            }
            case RAW, HTTP2 -> allocator.directBuffer(length);
        };
    }

    private Object end(ByteBuf out) {
        return switch (this) {
            case CHUNKED, CHUNKED_LAST -> out.writeBytes(LINE_END);
            case RAW -> out;
            case HTTP2 -> new DefaultHttp2DataFrame(out);
        };
    }

    private static void writeHex(ByteBuf out, int value) {
        int shift = 28;
        while (shift > 0 && value >>> shift == 0) {
            shift -= 4;
        }
        for (; shift >= 0; shift -= 4) {
            int digit = value >>> shift & 0xF;
            out.writeByte(digit < 10 ? '0' + digit : 'a' + digit - 10);
        }
    }

    /// What tells the client that the body is complete.
    Object last() {
        return switch (this) {
            case CHUNKED, CHUNKED_LAST -> Unpooled.wrappedBuffer(LAST_CHUNK);
            case RAW -> Unpooled.EMPTY_BUFFER;
            case HTTP2 -> new DefaultHttp2DataFrame(true);
        };
    }
}
