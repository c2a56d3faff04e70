package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;

/// HTTP/2 by both roads, with the JDK's client and with one that knows beforehand.
class Http2Test {
    private static TestServer server;
    private static EventLoopGroup loops;

    @BeforeAll
    static void start() throws Exception {
        server = new TestServer();
        loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    }

    @AfterAll
    static void stop() {
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        server.close();
    }

    @BeforeEach
    void forget() {
        server.opened.clear();
        server.closed.clear();
    }

    private static HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .timeout(Duration.ofSeconds(20));
    }

    @Test
    void a_connection_is_upgraded_and_carries_requests_and_streams() throws Exception {
        try (HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()) {
            HttpResponse<String> health =
                    client.send(request("/healthz").build(), HttpResponse.BodyHandlers.ofString());
            assertThat(health.version()).isEqualTo(HttpClient.Version.HTTP_2);
            assertThat(health.body()).isEqualTo("{\"status\":\"ok\"}\n");
            HttpResponse<String> nothing = client.send(
                    request("/nothing")
                            .POST(HttpRequest.BodyPublishers.ofString("x"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(nothing.statusCode()).isEqualTo(404);
            HttpResponse<String> large = client.send(
                    request("/sluice/v1/stream")
                            .POST(HttpRequest.BodyPublishers.ofString("x".repeat((1 << 20) + 1)))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(large.statusCode()).isEqualTo(400);
            assertThat(large.body()).contains("bad_request");
            readStream(client);
        }
        assertThat(server.nextClosed().reason()).isEqualTo(CloseReason.CLIENT_CLOSED);
    }

    @Test
    void the_upgrading_request_itself_may_open_a_stream() throws Exception {
        try (HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()) {
            readStream(client);
        }
    }

    private static void readStream(HttpClient client) throws Exception {
        HttpResponse<java.io.InputStream> response = client.send(
                request("/sluice/v1/stream")
                        .header("Authorization", "Bearer " + server.tokens.of("alice"))
                        .POST(HttpRequest.BodyPublishers.ofString("{\"subscriptions\":[]}"))
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        assertThat(response.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(response.statusCode()).isEqualTo(200);
        StreamHandle stream = server.nextOpened();
        assertThat(response.headers().firstValue("sluice-stream-id")).contains(stream.streamId());
        assertThat(response.headers().firstValue("content-type")).contains("text/event-stream");
        // larger than a flow control window, so that writing must wait for reading
        server.commit(List.of(stream), 1, 100, 5_000);
        BufferedReader reader = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        assertThat(reader.readLine()).isEqualTo("event: ready");
        int seq = 0;
        while (seq < 100) {
            String line = reader.readLine();
            if (line.startsWith("data: {\"sub\"")) {
                assertThat(line).contains("\"seq\":" + ++seq + ",");
            }
        }
        reader.close();
    }

    /// One stream of a client with prior knowledge.
    private static final class Exchange extends ChannelInboundHandlerAdapter {
        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof Http2HeadersFrame headers) {
                seen.add("status " + headers.headers().status());
            }
            if (message instanceof Http2DataFrame data) {
                seen.add(data.content().toString(StandardCharsets.UTF_8));
                if (data.isEndStream()) {
                    seen.add("end");
                }
            }
            ReferenceCountUtil.release(message);
        }

        String next() throws InterruptedException {
            String one = seen.poll(10, TimeUnit.SECONDS);
            if (one == null) {
                throw new AssertionError("nothing came");
            }
            return one;
        }
    }

    private static Channel connect() {
        return new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(
                                        Http2FrameCodecBuilder.forClient().build(),
                                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                    }
                })
                .connect(InetAddress.getLoopbackAddress(), server.port())
                .syncUninterruptibly()
                .channel();
    }

    private static Http2StreamChannel send(Channel connection, Exchange exchange, String method, String path)
            throws Exception {
        Http2StreamChannel stream = new Http2StreamChannelBootstrap(connection)
                .handler(exchange)
                .open()
                .get();
        stream.writeAndFlush(new DefaultHttp2HeadersFrame(
                        new DefaultHttp2Headers()
                                .method(method)
                                .path(path)
                                .scheme("http")
                                .authority("a")
                                .set("authorization", "Bearer " + server.tokens.of("alice")),
                        true))
                .sync();
        return stream;
    }

    @Test
    void prior_knowledge_needs_no_upgrade_and_streams_share_a_connection() throws Exception {
        Channel connection = connect();
        List<Exchange> exchanges = new ArrayList<>();
        List<Http2StreamChannel> channels = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Exchange exchange = new Exchange();
            exchanges.add(exchange);
            channels.add(send(connection, exchange, "POST", "/sluice/v1/stream"));
            assertThat(exchange.next()).isEqualTo("status 200");
            assertThat(exchange.next()).startsWith("event: ready\n");
        }
        List<StreamHandle> streams = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            streams.add(server.nextOpened());
        }
        server.commit(streams, 1, 2, 10);
        for (Exchange exchange : exchanges) {
            assertThat(exchange.next()).contains("\"seq\":1,").contains("\"seq\":2,");
        }
        // one leaves, one is closed, the others go on
        channels.get(3)
                .writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.CANCEL))
                .sync();
        assertThat(server.nextClosed()).isEqualTo(new TestServer.Closed(streams.get(3), CloseReason.CLIENT_CLOSED));
        server.engine(() -> server.shards()
                .close(streams.get(4), CloseReason.TOKEN_EXPIRED, "last\n\n".getBytes(StandardCharsets.UTF_8)));
        assertThat(exchanges.get(4).next()).isEqualTo("last\n\n");
        assertThat(exchanges.get(4).next()).isEmpty();
        assertThat(exchanges.get(4).next()).isEqualTo("end");
        server.commit(streams, 3, 1, 10);
        assertThat(exchanges.get(5).next()).contains("\"seq\":3,");
        Exchange health = new Exchange();
        send(connection, health, "GET", "/healthz");
        assertThat(health.next()).isEqualTo("status 200");
        connection.close().sync();
        for (int i = 0; i < 18; i++) {
            assertThat(server.nextClosed().reason()).isEqualTo(CloseReason.CLIENT_CLOSED);
        }
        assertThat(server.closed.poll(200, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void draining_ends_streams_and_lets_the_connection_go() throws Exception {
        try (TestServer own = new TestServer()) {
            TestServer before = server;
            server = own;
            try {
                Channel connection = connect();
                Exchange exchange = new Exchange();
                send(connection, exchange, "POST", "/sluice/v1/stream");
                assertThat(exchange.next()).isEqualTo("status 200");
                assertThat(exchange.next()).startsWith("event: ready");
                own.http().drain();
                assertThat(exchange.next()).contains("server_shutdown");
                assertThat(connection.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
            } finally {
                server = before;
            }
        }
    }
}
