package sluice.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.server.logging.RequestId;

/// Requests of one HTTP/1.1 connection, or the one request of an HTTP/2 stream.
///
/// Life: HEAD, BODY, HANDLING, RESPONDING and back to IDLE; or LINGERING, after an answer that ends the connection;
/// or HANDED_OVER, once a stream has taken it. One request at a time: pipelined ones wait, bounded, and reading stops
/// meanwhile. Every state has a deadline, kept by the shard's sweep. Loop thread only.
final class RequestReader extends ChannelInboundHandlerAdapter implements Swept {
    static final int BODY_BYTES_MAX = 1 << 20;

    /// Messages of pipelined requests that may wait; reading stops long before, so more can only
    /// come from one read.
    private static final int WAITING_MAX = 1024;

    private static final int WAITING_STOPS_READING = 16;

    /// Far past every bound of those who answer; only a fault gets here.
    private static final long HANDLING_NANOS = TimeUnit.MINUTES.toNanos(2);

    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(2);

    private enum Phase {
        IDLE,
        HEAD,
        BODY,
        HANDLING,
        RESPONDING,
        LINGERING,
        HANDED_OVER
    }

    private final Channel channel;
    private final Shard shard;
    private final HttpContext context;
    private final Endpoints endpoints;
    private final Protocol protocol;
    private final Queue<Object> waiting = new ArrayDeque<>(0);

    private Phase phase = Phase.HEAD;
    private long deadlineNanos;
    private boolean keepAlive = true;
    private boolean takingWaiting;
    private int bodyReserved;
    private @Nullable HttpRequest head;
    private @Nullable ByteArrayOutputStream body;
    private @Nullable Request handled;
    private @Nullable SseStream stream;

    /// What the connection speaks.
    enum Protocol {
        HTTP1,
        HTTP2
    }

    RequestReader(Channel channel, Shard shard, HttpContext context, Endpoints endpoints, Protocol protocol) {
        this.channel = channel;
        this.shard = shard;
        this.context = context;
        this.endpoints = endpoints;
        this.protocol = protocol;
        this.deadlineNanos = shard.nanos() + shard.times().header().toNanos();
    }

    Channel channel() {
        return channel;
    }

    Shard shard() {
        return shard;
    }

    /// How a stream on this connection would be framed.
    StreamFraming framing() {
        if (protocol == Protocol.HTTP2) {
            return StreamFraming.HTTP2;
        }
        HttpRequest request = head;
        if (request != null && !request.protocolVersion().isKeepAliveDefault()) {
            return StreamFraming.RAW;
        }
        return keepAlive ? StreamFraming.CHUNKED : StreamFraming.CHUNKED_LAST;
    }

    /// Does something about the request in progress on its loop; what it throws is the request's answer.
    void onLoop(Runnable task) {
        shard.loop().execute(() -> {
            try {
                task.run();
            } catch (RequestException e) {
                refuse(e.code(), e.getMessage());
            } catch (RuntimeException e) {
                failed(e);
            }
        });
    }

    boolean isIdle() {
        return phase == Phase.IDLE || phase == Phase.HEAD;
    }

    boolean isWaitingForAnswer() {
        return phase == Phase.HANDLING && channel.isActive();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext handler) {
        shard.watch(this);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext handler) {
        shard.forget(this);
        dropWaiting();
        releaseBody();
    }

    /// The connection has had a request already: there need not be another.
    void awaitNext() {
        phase = Phase.IDLE;
        deadlineNanos = shard.nanos() + shard.times().idle().toNanos();
    }

    /// Bytes came in: a request's first ones start its clock.
    void bytesArrived() {
        if (phase == Phase.IDLE) {
            phase = Phase.HEAD;
            deadlineNanos = shard.nanos() + shard.times().header().toNanos();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext handler, Object message) {
        switch (phase) {
            case IDLE, HEAD, BODY -> take(message);
            case HANDLING, RESPONDING -> queue(message);
            case LINGERING, HANDED_OVER -> ReferenceCountUtil.release(message);
        }
    }

    private void queue(Object message) {
        if (waiting.size() >= WAITING_MAX) {
            ReferenceCountUtil.release(message);
            Unawaited.close(channel);
            return;
        }
        waiting.add(message);
        if (waiting.size() >= WAITING_STOPS_READING) {
            channel.config().setAutoRead(false);
        }
    }

    private void take(Object message) {
        try {
            if (message instanceof HttpRequest request) {
                start(request);
            }
            if (message instanceof HttpContent content && (phase == Phase.BODY)) {
                add(content);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void start(HttpRequest request) {
        head = request;
        body = null;
        phase = Phase.BODY;
        deadlineNanos = shard.nanos() + shard.times().body().toNanos();
        String problem = problem(request);
        if (problem != null) {
            reject(problem);
            return;
        }
        keepAlive = HttpUtil.isKeepAlive(request);
        if (HttpUtil.is100ContinueExpected(request) && protocol == Protocol.HTTP1) {
            Unawaited.start(channel.writeAndFlush(new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER)));
        }
    }

    /// Why the request is not answered as asked, null when nothing speaks against it.
    private @Nullable String problem(HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            return "the request is malformed";
        }
        if (protocol == Protocol.HTTP1) {
            HttpVersion version = request.protocolVersion();
            if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
                return "the protocol version is not supported";
            }
            int hosts = request.headers().getAll(HttpHeaderNames.HOST).size();
            if (hosts > 1 || (hosts == 0 && version.equals(HttpVersion.HTTP_1_1))) {
                return "the request must name one host";
            }
            List<String> encodings = request.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
            // whatever is not plainly chunked, another server on the way may have read differently
            boolean plain = encodings.isEmpty()
                    || (encodings.size() == 1
                            && encodings.get(0).strip().equalsIgnoreCase("chunked")
                            && version.equals(HttpVersion.HTTP_1_1));
            if (!plain) {
                return "the transfer encoding is not supported";
            }
        }
        if (HttpUtil.getContentLength(request, 0L) > BODY_BYTES_MAX) {
            return tooLarge();
        }
        return null;
    }

    private static String tooLarge() {
        return "the body is larger than " + BODY_BYTES_MAX + " bytes";
    }

    private void add(HttpContent content) {
        if (content.decoderResult().isFailure()) {
            reject("the request is malformed");
            return;
        }
        ByteBuf bytes = content.content();
        if (bytes.isReadable()) {
            ByteArrayOutputStream sofar = body == null ? new ByteArrayOutputStream(bytes.readableBytes()) : body;
            body = sofar;
            if (sofar.size() + bytes.readableBytes() > BODY_BYTES_MAX) {
                reject(tooLarge());
                return;
            }
            if (!context.reserveBody(bytes.readableBytes())) {
                reject(ErrorCode.TOO_MANY_STREAMS, "too many large requests at once");
                return;
            }
            bodyReserved += bytes.readableBytes();
            byte[] copy = new byte[bytes.readableBytes()];
            bytes.readBytes(copy);
            sofar.writeBytes(copy);
        }
        if (content instanceof LastHttpContent) {
            handle();
        }
    }

    private Request request(byte[] content) {
        HttpRequest request = head;
        if (request == null) {
            throw new IllegalStateException("a body without a head");
        }
        String id = RequestId.of(request.headers().get(context.settings().requestIdHeader()), context.random());
        return Request.of(request, content, id);
    }

    private void handle() {
        ByteArrayOutputStream sofar = body;
        body = null;
        Request request = request(sofar == null ? new byte[0] : sofar.toByteArray());
        handled = request;
        phase = Phase.HANDLING;
        deadlineNanos = shard.nanos() + HANDLING_NANOS;
        try {
            endpoints.handle(request, this);
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    /// Handling broke; the client learns no more than that.
    void failed(Throwable cause) {
        Request request = handled;
        context.log().unexpected(request == null ? "" : request.requestId(), cause);
        refuse(ErrorCode.INTERNAL, "the request could not be handled");
    }

    private void releaseBody() {
        context.releaseBody(bodyReserved);
        bodyReserved = 0;
    }

    private void reject(String message) {
        reject(ErrorCode.BAD_REQUEST, message);
    }

    /// The rest of what is coming cannot be trusted, so it is not read.
    private void reject(ErrorCode code, String message) {
        handled = request(new byte[0]);
        body = null;
        keepAlive = false;
        phase = Phase.HANDLING;
        refuse(code, message);
    }

    /// An upgrade request whose body is too large; only its head was kept.
    void rejectTooLarge(HttpMessage oversized) {
        if (oversized instanceof HttpRequest request && isIdle()) {
            head = request;
            reject(tooLarge());
        } else {
            Unawaited.close(channel);
        }
    }

    void refuse(ErrorCode code, String message) {
        refuse(code, message, Map.of());
    }

    void refuse(ErrorCode code, String message, Map<String, String> headers) {
        Request request = handled;
        if (request != null && phase == Phase.HANDLING) {
            endpoints.logRefusal(request, code, message);
        }
        Answer answer = Answer.error(code, message);
        if (code == ErrorCode.UNAUTHORIZED) {
            // whoever refuses for want of a good token, the engine included, asks for one
            answer = answer.with("WWW-Authenticate", "Bearer");
        }
        for (Map.Entry<String, String> header : headers.entrySet()) {
            answer = answer.with(header.getKey(), header.getValue());
        }
        respond(answer);
    }

    /// Answers the request in progress; nothing happens when there is none any more.
    void respond(Answer answer) {
        HttpRequest request = head;
        if (phase != Phase.HANDLING || request == null) {
            return;
        }
        phase = Phase.RESPONDING;
        stream = null;
        releaseBody();
        deadlineNanos = shard.nanos() + shard.times().write().toNanos();
        boolean last = !keepAlive || context.isDraining();
        ByteBuf content = request.method().equals(HttpMethod.HEAD)
                ? Unpooled.EMPTY_BUFFER
                : Unpooled.wrappedBuffer(answer.body());
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(answer.status()), content);
        for (Map.Entry<String, String> header : answer.headers().entrySet()) {
            response.headers().set(header.getKey(), header.getValue());
        }
        response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, answer.body().length);
        if (last && protocol == Protocol.HTTP1) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (protocol == Protocol.HTTP1 && !request.protocolVersion().isKeepAliveDefault()) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
        Unawaited.start(channel.writeAndFlush(response)
                .addListener((ChannelFutureListener) written -> responded(written, last)));
    }

    private void responded(ChannelFuture written, boolean last) {
        if (!written.isSuccess()) {
            Unawaited.close(channel);
            return;
        }
        if (protocol == Protocol.HTTP2) {
            // the stream ends by itself once the client has said all; a reset now could overtake the answer
            phase = Phase.LINGERING;
            deadlineNanos = shard.nanos() + LINGER_NANOS;
        } else if (last) {
            linger();
        } else {
            awaitNext();
            head = null;
            handled = null;
            takeWaiting();
        }
    }

    /// Closes in two steps, so that a client still sending reads the answer before its sending fails.
    private void linger() {
        phase = Phase.LINGERING;
        deadlineNanos = shard.nanos() + LINGER_NANOS;
        dropWaiting();
        channel.config().setAutoRead(true);
        if (channel instanceof DuplexChannel duplex) {
            Unawaited.start(duplex.shutdownOutput());
        }
    }

    private void takeWaiting() {
        if (takingWaiting) {
            return;
        }
        takingWaiting = true;
        try {
            while (phase == Phase.IDLE || phase == Phase.HEAD || phase == Phase.BODY) {
                Object next = waiting.poll();
                if (next == null) {
                    break;
                }
                take(next);
            }
        } finally {
            takingWaiting = false;
        }
        if (waiting.size() < WAITING_STOPS_READING && !channel.config().isAutoRead()) {
            channel.config().setAutoRead(true);
        }
    }

    private void dropWaiting() {
        for (Object message = waiting.poll(); message != null; message = waiting.poll()) {
            ReferenceCountUtil.release(message);
        }
    }

    /// The request will be answered by a stream, or refused through it.
    void becomes(SseStream opening) {
        stream = opening;
    }

    /// The stream takes the connection: it becomes the only handler.
    void handOver(SseStream opened) {
        phase = Phase.HANDED_OVER;
        stream = null;
        if (!waiting.isEmpty()) {
            opened.clientSpoke();
        }
        channel.pipeline().addLast(opened);
        strip(channel.pipeline(), opened);
        channel.config().setAutoRead(true);
    }

    /// Takes every handler but the stream out, the decoder last, so that bytes it still holds reach the stream.
    private static void strip(ChannelPipeline pipeline, SseStream stream) {
        for (Map.Entry<String, ChannelHandler> entry : pipeline.toMap().entrySet()) {
            if (entry.getValue() != stream && !(entry.getValue() instanceof StrictRequestDecoder)) {
                pipeline.remove(entry.getValue());
            }
        }
        for (Map.Entry<String, ChannelHandler> entry : pipeline.toMap().entrySet()) {
            if (entry.getValue() != stream) {
                pipeline.remove(entry.getValue());
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext handler) {
        shard.forget(this);
        dropWaiting();
        releaseBody();
        SseStream opening = stream;
        if (opening != null) {
            stream = null;
            opening.disconnected();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext handler, Throwable cause) {
        Unawaited.close(channel);
    }

    @Override
    public void sweep(long nowNanos) {
        if (phase != Phase.HANDED_OVER && nowNanos - deadlineNanos >= 0) {
            Unawaited.close(channel);
        }
    }

    @Override
    public void leave() {
        if (phase == Phase.IDLE || phase == Phase.HEAD) {
            Unawaited.close(channel);
        }
    }
}
