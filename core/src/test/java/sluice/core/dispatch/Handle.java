package sluice.core.dispatch;

import sluice.core.stream.StreamHandle;

/// The server's side of a stream in a model world: a queue whose client takes everything at once, or nothing.
final class Handle implements StreamHandle {
    private final String streamId;
    private long frames;
    private long bytes;
    private long takenFrames;
    private long takenBytes;
    boolean reads = true;
    boolean waitsForDrain;

    Handle(String streamId) {
        this.streamId = streamId;
    }

    /// Frames that wait for the client.
    long waiting() {
        return frames - takenFrames;
    }

    @Override
    public int shard() {
        return 0;
    }

    @Override
    public String streamId() {
        return streamId;
    }

    @Override
    public long takenFrames() {
        return takenFrames;
    }

    @Override
    public long takenBytes() {
        return takenBytes;
    }

    @Override
    public void tellWhenDrained() {
        waitsForDrain = true;
    }

    boolean isDrained() {
        return frames == takenFrames;
    }

    void queue(long weight) {
        frames++;
        bytes += weight;
    }

    void unqueue(long weight) {
        frames--;
        bytes -= weight;
    }

    void take() {
        if (reads) {
            takenFrames = frames;
            takenBytes = bytes;
        }
    }
}
