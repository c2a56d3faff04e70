package sluice.server.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.ControlAnswer;
import sluice.server.jwks.TokenVerifier;
import sluice.server.logging.RequestLog;
import sluice.server.metrics.Metrics;

/// The listening server.
///
/// Life: made; {@link #start}; {@link #drain}, which ends streams and lets requests in flight finish; {@link #close}.
/// Each step once, in this order, on any thread but an event loop.
public final class HttpServer implements AutoCloseable {
    private final HttpSettings settings;
    private final HttpContext context;
    private final EventLoopGroup loops;
    private final Transport transport;
    private final StreamShards shards;
    private final Endpoints endpoints;
    private final Connections connections;
    private @Nullable Channel listener;

    /// What the server needs of others.
    ///
    /// @param blocking runs what may wait, on virtual threads; the server bounds what it gives it
    /// by its connections
    /// @param random thread-safe
    public record Collaborators(
            TokenVerifier verifier,
            StreamGate gate,
            Supplier<Readiness> readiness,
            Metrics metrics,
            RequestLog log,
            ExtraRoutes extraRoutes,
            DiagnosticsReport diagnostics,
            Executor blocking,
            RandomGenerator random,
            InstantSource clock,
            SessionCheck sessions) {
        /// Without looking sessions up.
        public Collaborators(
                TokenVerifier verifier,
                StreamGate gate,
                Supplier<Readiness> readiness,
                Metrics metrics,
                RequestLog log,
                ExtraRoutes extraRoutes,
                DiagnosticsReport diagnostics,
                Executor blocking,
                RandomGenerator random,
                InstantSource clock) {
            this(
                    verifier,
                    gate,
                    readiness,
                    metrics,
                    log,
                    extraRoutes,
                    diagnostics,
                    blocking,
                    random,
                    clock,
                    SessionCheck.NONE);
        }
    }

    /// @param loopCount event loops, one for each core
    /// @param loopThreads makes their threads
    public HttpServer(HttpSettings settings, Collaborators collaborators, int loopCount, ThreadFactory loopThreads) {
        this.settings = settings;
        this.context = new HttpContext(settings, collaborators);
        this.transport = Transport.of(settings.transport());
        this.loops = transport.loops(loopCount, loopThreads);
        this.endpoints = new Endpoints(context);
        this.shards = new StreamShards(loops, context, endpoints);
        this.connections = new Connections(context, shards);
    }

    /// Where the engine puts what streams receive.
    public StreamShards shards() {
        return shards;
    }

    /// The answer to a request that was handed to the gate; any thread.
    ///
    /// @param number the request's
    public void answered(long number, ControlAnswer answer) {
        endpoints.control().answered(number, answer);
    }

    /// Begins to listen.
    ///
    /// @throws IOException when the address cannot be bound, naming it
    public void start() throws IOException {
        for (Shard shard : shards.all()) {
            shard.loop().execute(shard::start);
        }
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(transport.serverChannel())
                .option(ChannelOption.SO_BACKLOG, 4096)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childHandler(ConnectionStart.initializer(connections));
        if (settings.limits().sendBufferBytes() > 0) {
            bootstrap.childOption(ChannelOption.SO_SNDBUF, settings.limits().sendBufferBytes());
        }
        transport.boundSilence(bootstrap, settings.times().silence());
        var bound = bootstrap.bind(settings.address()).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            Unawaited.start(loops.shutdownGracefully(0, 1, TimeUnit.SECONDS));
            throw new IOException("cannot listen on " + settings.address() + ": "
                    + String.valueOf(bound.cause().getMessage()));
        }
        listener = bound.channel();
    }

    /// The port listened on.
    public int port() {
        Channel listening = listener;
        if (listening == null) {
            throw new IllegalStateException("the server was not started");
        }
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    /// Streams open or being opened.
    public int streams() {
        return context.streams();
    }

    /// Stops accepting, ends every stream with `server_shutdown`, and waits for what is in
    /// flight, at most the grace.
    public void drain() throws InterruptedException {
        context.startDraining();
        Channel listening = listener;
        if (listening != null) {
            listening.close().await();
        }
        for (Shard shard : shards.all()) {
            shard.loop().execute(shard::leave);
        }
        try {
            connections.drained().get(settings.times().shutdownGrace().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // the grace is over: whoever is left is cut off by close
        } catch (ExecutionException e) {
            throw new IllegalStateException("waiting for connections failed", e);
        }
    }

    /// Cuts what is left and ends the loops.
    @Override
    public void close() {
        Channel listening = listener;
        if (listening != null) {
            Unawaited.close(listening);
        }
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(6, TimeUnit.SECONDS);
    }
}
