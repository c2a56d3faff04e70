package sluice.server.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.ControlAnswer;
import sluice.core.event.EventBody;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.SubscriptionTag;
import sluice.core.wal.Lsn;
import sluice.server.logging.RequestLog;
import sluice.server.metrics.Metrics;

/// A listening server with a small stand-in for the engine: it opens every stream and remembers what it was told.
final class TestServer implements AutoCloseable {
    static final byte[] READY = "event: ready\ndata: {\"stream_id\":\"x\"}\n\n".getBytes(StandardCharsets.UTF_8);

    record Closed(StreamHandle stream, CloseReason reason) {}

    final TestTokens tokens = new TestTokens();
    final BlockingQueue<StreamGate.OpenStream> opened = new LinkedBlockingQueue<>();
    final BlockingQueue<Closed> closed = new LinkedBlockingQueue<>();
    final BlockingQueue<StreamGate.ControlCall> controls = new LinkedBlockingQueue<>();
    final BlockingQueue<StreamGate.DropCall> drops = new LinkedBlockingQueue<>();
    volatile @Nullable ControlAnswer controlAnswer = new ControlAnswer.Done();
    final Metrics metrics = new Metrics();
    volatile StreamGate.@Nullable Refusal refusal;
    volatile boolean answers = true;
    volatile Readiness readiness = new Readiness(
            Readiness.Verdict.READY,
            Readiness.Catalog.LOADED,
            Readiness.Reader.REPLICATING,
            new Lsn(0x1_0000_00AAL),
            0.25,
            Readiness.Lag.NORMAL);

    private final ExecutorService blocking = Executors.newVirtualThreadPerTaskExecutor();
    private final ExecutorService engine = Executors.newSingleThreadExecutor();
    private final HttpServer server;

    TestServer() throws IOException {
        this(settings -> settings);
    }

    TestServer(UnaryOperator<HttpSettings> change) throws IOException {
        this(change, ExtraRoutes.NONE);
    }

    TestServer(UnaryOperator<HttpSettings> change, ExtraRoutes routes) throws IOException {
        this(change, routes, DiagnosticsReport.HIDDEN);
    }

    TestServer(UnaryOperator<HttpSettings> change, ExtraRoutes routes, DiagnosticsReport diagnostics)
            throws IOException {
        HttpSettings settings = change.apply(new HttpSettings(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                "/sluice/v1",
                "n1",
                "X-Request-ID",
                HttpSettings.Limits.DEFAULT,
                HttpSettings.Times.DEFAULT,
                HttpSettings.MetricsEndpoint.SERVED,
                HttpSettings.TransportChoice.BEST));
        server = new HttpServer(
                settings,
                new HttpServer.Collaborators(
                        tokens.verifier(),
                        new Gate(),
                        () -> readiness,
                        metrics,
                        new RequestLog(System::nanoTime),
                        routes,
                        diagnostics,
                        blocking,
                        new java.security.SecureRandom(),
                        InstantSource.system()),
                2,
                Thread.ofPlatform().name("loop-", 0).factory());
        server.start();
    }

    static UnaryOperator<HttpSettings> limits(UnaryOperator<HttpSettings.Limits> change) {
        return s -> new HttpSettings(
                s.address(),
                s.pathPrefix(),
                s.nodeId(),
                s.requestIdHeader(),
                change.apply(s.limits()),
                s.times(),
                s.metricsEndpoint(),
                s.transport());
    }

    static UnaryOperator<HttpSettings> times(UnaryOperator<HttpSettings.Times> change) {
        return s -> new HttpSettings(
                s.address(),
                s.pathPrefix(),
                s.nodeId(),
                s.requestIdHeader(),
                s.limits(),
                change.apply(s.times()),
                s.metricsEndpoint(),
                s.transport());
    }

    static HttpSettings.Times shortTimes(Duration heartbeat, Duration write) {
        return new HttpSettings.Times(
                heartbeat,
                write,
                Duration.ofMillis(400),
                Duration.ofMillis(600),
                Duration.ofMillis(800),
                Duration.ofSeconds(5),
                Duration.ofSeconds(10));
    }

    /// Streams whose queue is empty, as the engine was told.
    final BlockingQueue<StreamHandle> drained = new LinkedBlockingQueue<>();

    private final class Gate implements StreamGate {
        @Override
        public void drained(StreamHandle stream) {
            drained.add(stream);
        }

        @Override
        public @Nullable Refusal admit(int streams) {
            return refusal;
        }

        @Override
        public void open(OpenStream opening) {
            if (answers) {
                engine(() -> server.shards().open(opening.stream(), READY));
            }
            opened.add(opening);
        }

        @Override
        public void control(ControlCall call) {
            controls.add(call);
            ControlAnswer answer = controlAnswer;
            if (answer != null) {
                server.answered(call.number(), answer);
            }
        }

        @Override
        public void drop(DropCall call) {
            drops.add(call);
            server.answered(call.number(), new ControlAnswer.Dropped(2));
        }

        @Override
        public void closed(StreamHandle stream, CloseReason reason) {
            closed.add(new Closed(stream, reason));
        }
    }

    HttpServer http() {
        return server;
    }

    StreamShards shards() {
        return server.shards();
    }

    int port() {
        return server.port();
    }

    RawClient client() throws IOException {
        return new RawClient(port());
    }

    /// Does something on the engine's thread and waits for it.
    void engine(Runnable task) {
        try {
            engine.submit(task).get(20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /// A stream of alice's with its head and `ready` read.
    RawClient stream() throws IOException {
        RawClient client = client();
        client.openStream(tokens.of("alice"));
        assertReady(client);
        return client;
    }

    static void assertReady(RawClient client) throws IOException {
        String head = client.head();
        if (!head.startsWith("HTTP/1.1 200 OK\r\n")) {
            throw new AssertionError(head);
        }
        String ready = client.event();
        if (!ready.startsWith("event: ready\n")) {
            throw new AssertionError(ready);
        }
    }

    StreamHandle nextOpened() throws InterruptedException {
        StreamGate.OpenStream opening = opened.poll(10, TimeUnit.SECONDS);
        if (opening == null) {
            throw new AssertionError("no stream was opened");
        }
        return opening.stream();
    }

    Closed nextClosed() throws InterruptedException {
        Closed one = closed.poll(15, TimeUnit.SECONDS);
        if (one == null) {
            throw new AssertionError("no stream was closed");
        }
        return one;
    }

    /// One commit with so many changes for each stream, `seq` counting on from the first.
    void commit(List<StreamHandle> streams, long firstSeq, int changes, int bodyBytes) {
        engine(() -> {
            for (int i = 0; i < changes; i++) {
                EventBody body = body(bodyBytes);
                for (StreamHandle stream : streams) {
                    shards().change(stream, TAG, firstSeq + i, body);
                }
            }
            shards().endCommit();
        });
    }

    static final SubscriptionTag TAG = SubscriptionTag.of("docs");

    static EventBody body(int bytes) {
        String tail = "\"op\":\"INSERT\",\"pad\":\"" + "x".repeat(bytes) + "\"}\n\n";
        return new EventBody("0/1A2B".getBytes(StandardCharsets.US_ASCII), tail.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        server.close();
        engine.shutdownNow();
        blocking.shutdownNow();
    }
}
