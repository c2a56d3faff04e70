package sluice.core.dispatch;

import sluice.core.event.FrameEncoder;
import sluice.core.event.StreamEvent;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;

/// Whole frames on their way to a stream: whatever the engine gives is counted, so that it knows what a queue holds.
final class Frames {
    private Frames() {}

    static void give(FrameSink sink, StreamState stream, StreamEvent event) {
        give(sink, stream, FrameEncoder.frame(event));
    }

    static void give(FrameSink sink, StreamState stream, byte[] frame) {
        stream.given(frame.length);
        sink.frame(stream.handle(), frame);
    }
}
