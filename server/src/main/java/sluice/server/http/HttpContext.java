package sluice.server.http;

import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import sluice.server.jwks.TokenVerifier;
import sluice.server.logging.RequestLog;
import sluice.server.metrics.Metrics;

/// What all connections of a server share. Thread-safe.
final class HttpContext {
    /// Bodies are read before their token is judged, so what strangers can make this server hold has a bound.
    static final long BODIES_BYTES_MAX = 64L << 20;

    private final HttpSettings settings;
    private final HttpServer.Collaborators collaborators;
    private final AtomicInteger streams = new AtomicInteger();
    private final AtomicLong streamSequence = new AtomicLong();
    private final AtomicLong bodyBytes = new AtomicLong();
    private final AtomicBoolean draining = new AtomicBoolean();

    HttpContext(HttpSettings settings, HttpServer.Collaborators collaborators) {
        this.settings = settings;
        this.collaborators = collaborators;
    }

    HttpSettings settings() {
        return settings;
    }

    TokenVerifier verifier() {
        return collaborators.verifier();
    }

    StreamGate gate() {
        return collaborators.gate();
    }

    Supplier<Readiness> readiness() {
        return collaborators.readiness();
    }

    Metrics metrics() {
        return collaborators.metrics();
    }

    RequestLog log() {
        return collaborators.log();
    }

    ExtraRoutes extraRoutes() {
        return collaborators.extraRoutes();
    }

    DiagnosticsReport diagnostics() {
        return collaborators.diagnostics();
    }

    Executor blocking() {
        return collaborators.blocking();
    }

    RandomGenerator random() {
        return collaborators.random();
    }

    InstantSource clock() {
        return collaborators.clock();
    }

    SessionCheck sessions() {
        return collaborators.sessions();
    }

    boolean isDraining() {
        return draining.get();
    }

    void startDraining() {
        draining.set(true);
    }

    int streams() {
        return streams.get();
    }

    /// Takes room for so much more of a request's body, unless all bodies together hold as much as they may.
    boolean reserveBody(int bytes) {
        if (bodyBytes.addAndGet(bytes) > BODIES_BYTES_MAX) {
            bodyBytes.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    void releaseBody(int bytes) {
        bodyBytes.addAndGet(-bytes);
    }

    /// Counts one more stream, unless there are as many as may be.
    boolean reserveStream() {
        int max = settings.limits().streamsMax();
        int now = streams.incrementAndGet();
        if (max > 0 && now > max) {
            streams.decrementAndGet();
            return false;
        }
        metrics().streams(now);
        return true;
    }

    void streamGone() {
        metrics().streams(streams.decrementAndGet());
    }

    /// `<node>.<unix nanoseconds>-<sequence>`: unique over restarts, and no secret.
    String newStreamId() {
        var now = clock().instant();
        long nanos = Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano());
        return settings.nodeId() + "." + nanos + "-" + streamSequence.incrementAndGet();
    }
}
