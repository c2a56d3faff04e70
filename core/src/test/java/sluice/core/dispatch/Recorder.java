package sluice.core.dispatch;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.error.ErrorCode;
import sluice.core.event.EventBody;
import sluice.core.event.PassingEvent;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.SubscriptionTag;

/// What the engine gives each stream, as text, and what is left of it in the stream's queue.
final class Recorder implements FrameSink {
    /// The bound of the world's queues, and a little for frames that are no changes.
    private static final int QUEUE_MAX = 10;

    private final Map<StreamHandle, Received> receivedByStream = new LinkedHashMap<>();

    Received client(Handle handle) {
        Received received = new Received(handle);
        receivedByStream.put(handle, received);
        return received;
    }

    List<Received> all() {
        return List.copyOf(receivedByStream.values());
    }

    @Override
    public void open(StreamHandle stream, byte[] readyFrame) {
        received(stream).handle.queue(readyFrame.length);
        received(stream).frames.add(text(readyFrame));
        received(stream).handle.take();
    }

    @Override
    public void refuse(StreamHandle stream, ErrorCode code, String message) {
        received(stream).refusal = code;
    }

    @Override
    public void change(StreamHandle stream, SubscriptionTag tag, long seq, EventBody body) {
        Received received = received(stream);
        if (received.closed != null) {
            throw new AssertionError("a change after the close of " + stream.streamId());
        }
        received.handle.queue(body.weightBytes());
        received.openWeights.add(body.weightBytes());
        received.openCommit.add("change " + text(tag.labelJson()) + " " + seq + " " + text(body.tail()));
    }

    @Override
    public void retract(StreamHandle stream) {
        Received received = received(stream);
        received.openCommit.removeIf(event -> event.startsWith("change ") || event.startsWith("event: broadcast"));
        received.openWeights.forEach(received.handle::unqueue);
        received.openWeights.clear();
    }

    @Override
    public void passing(StreamHandle stream, SubscriptionTag tag, PassingEvent event) {
        Received received = received(stream);
        if (received.closed != null) {
            throw new AssertionError("an event after the close of " + stream.streamId());
        }
        received.handle.queue(event.weightBytes());
        if (event.kind() == PassingEvent.Kind.BROADCAST) {
            received.openWeights.add(event.weightBytes());
        }
        received.openCommit.add(text(event.kind().head()) + text(tag.labelJson()) + text(event.tail()));
    }

    @Override
    public void frame(StreamHandle stream, byte[] frame) {
        Received received = received(stream);
        received.handle.queue(frame.length);
        if (received.openCommit.isEmpty()) {
            received.frames.add(text(frame));
            received.handle.take();
        } else {
            received.openCommit.add(text(frame));
        }
    }

    @Override
    public void announce(List<StreamHandle> streams, byte[] frame) {
        for (StreamHandle stream : streams) {
            Received received = received(stream);
            received.handle.queue(frame.length);
            received.frames.add(text(frame));
            received.handle.take();
        }
    }

    @Override
    public void expires(StreamHandle stream, Instant at) {
        received(stream).expiresAt = at;
    }

    @Override
    public void close(StreamHandle stream, CloseReason reason, byte[] lastFrame) {
        Received received = received(stream);
        received.openCommit.clear();
        received.frames.add(text(lastFrame));
        received.closed = reason;
    }

    @Override
    public void endCommit() {
        for (Received received : receivedByStream.values()) {
            received.frames.addAll(received.openCommit);
            received.openCommit.clear();
            received.openWeights.clear();
            if (received.handle.waiting() > QUEUE_MAX) {
                throw new AssertionError("the queue of " + received.handle.streamId() + " overflows");
            }
            received.handle.take();
        }
    }

    private Received received(StreamHandle stream) {
        Received received = receivedByStream.get(stream);
        if (received == null) {
            throw new AssertionError("no stream " + stream.streamId());
        }
        return received;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8).strip();
    }
}
