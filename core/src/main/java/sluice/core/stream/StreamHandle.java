package sluice.core.stream;

/// The server's side of one stream, opaque to the engine: it comes in with the request that opened the stream and
/// goes out with everything sent to it.
public interface StreamHandle {
    /// Which shard owns the stream, from 0.
    int shard();

    /// The id the client knows the stream by.
    String streamId();
}
