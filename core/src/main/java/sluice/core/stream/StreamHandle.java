package sluice.core.stream;

/// The server's side of one stream, opaque to the engine: it comes in with the request that opened the stream and
/// goes out with everything sent to it.
public interface StreamHandle {
    /// Which shard owns the stream, from 0.
    int shard();

    /// The id the client knows the stream by.
    String streamId();

    /// How many of the frames given to the stream have left its queue since it opened, the first one included. Any
    /// thread; may be a moment old, never ahead.
    long takenFrames();

    /// The same in bytes as {@link FrameSink} was given them.
    long takenBytes();

    /// Asks to be told once, by an input, when the stream's queue is empty. Engine's thread.
    void tellWhenDrained();
}
