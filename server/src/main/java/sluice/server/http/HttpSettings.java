package sluice.server.http;

import java.net.InetSocketAddress;
import java.time.Duration;

/// What the HTTP side is told at start.
///
/// @param address where to listen; port 0 takes any free one
/// @param pathPrefix begins with `/` and does not end with one; may be empty
/// @param nodeId begins every stream's id
/// @param requestIdHeader where a request's id is read from
public record HttpSettings(
        InetSocketAddress address,
        String pathPrefix,
        String nodeId,
        String requestIdHeader,
        Limits limits,
        Times times,
        MetricsEndpoint metricsEndpoint,
        TransportChoice transport) {
    /// Bounds.
    ///
    /// @param streamsMax 0 for no bound of its own
    /// @param connectionsMax connections past it are closed unanswered
    /// @param queueEventsMax events one stream may have waiting
    /// @param queueBytesMax bytes one stream may have waiting
    /// @param sendBufferBytes kernel send buffer asked for each connection, so that a client that does not read is
    ///     noticed before it holds megabytes; 0 leaves it to the kernel
    /// @param payloadBytesMax of a broadcast
    public record Limits(
            int streamsMax,
            int connectionsMax,
            int queueEventsMax,
            long queueBytesMax,
            int sendBufferBytes,
            long payloadBytesMax) {
        public static final Limits DEFAULT = new Limits(0, 100_000, 256, 4 << 20, 128 << 10, 256 << 10);
    }

    /// Durations.
    ///
    /// @param header from a request's first byte, or a connection's start, to the end of its head
    /// @param body from the end of the head to the end of the body
    /// @param idle a connection without a request
    /// @param shutdownGrace for requests in flight
    /// @param reconnectSpread clients of a stopping server come back within it; zero tells them nothing
    public record Times(
            Duration heartbeat,
            Duration write,
            Duration header,
            Duration body,
            Duration idle,
            Duration shutdownGrace,
            Duration reconnectSpread) {
        public static final Times DEFAULT = new Times(
                Duration.ofSeconds(20),
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                Duration.ofMinutes(5),
                Duration.ofSeconds(15),
                Duration.ofSeconds(10));

        /// How long a client may take and acknowledge nothing of what is on its way to it. Longer than one
        /// write, so that a client out of reach for a moment is not cut off where little is written.
        Duration silence() {
            return heartbeat.plus(write);
        }
    }

    /// Whether `/metrics` is answered.
    public enum MetricsEndpoint {
        SERVED,
        HIDDEN
    }

    /// Which sockets to use.
    public enum TransportChoice {
        /// The platform's native one where it loads, else the JDK's.
        BEST,
        /// The JDK's.
        PORTABLE
    }
}
