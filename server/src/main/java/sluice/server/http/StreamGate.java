package sluice.server.http;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.ControlRequest;
import sluice.core.dispatch.ShapeSelection;
import sluice.core.error.ErrorCode;
import sluice.core.session.Identity;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.StreamState.Framing;
import sluice.server.metrics.Metrics.StreamRefusal;

/// What the HTTP side needs of the engine. Every method is called on event loops and must not block.
///
/// For each stream given to {@link #open} the engine answers with `FrameSink.open` or `FrameSink.refuse`. After that
/// {@link #closed} is called exactly once, unless the engine refused or closed the stream itself. A client may hang
/// up before the answer: then `closed` comes first and the answer is ignored.
public interface StreamGate {
    /// Why no stream may open now, null when one may, which then counts as opened.
    ///
    /// @param streams open now
    @Nullable
    Refusal admit(int streams);

    void open(OpenStream opening);

    void closed(StreamHandle stream, CloseReason reason);

    /// Hands over a request about an open stream. Answered, once, with `HttpServer.answered`.
    void control(ControlCall call);

    /// Hands over an operator's wish. Answered likewise.
    void drop(DropCall call);

    /// A verified caller's request about a stream.
    ///
    /// @param number its answer comes under this
    /// @param streamId as the client named it
    /// @param requestId for log lines and hooks only
    record ControlCall(long number, String streamId, Identity caller, ControlRequest request, String requestId) {}

    /// @param number its answer comes under this
    /// @param requestId for log lines only
    record DropCall(long number, ShapeSelection selection, String requestId) {}

    /// The stream's queue is empty, which the engine had asked to be told.
    void drained(StreamHandle stream);

    /// @param message one short fact for the client
    record Refusal(ErrorCode code, StreamRefusal reason, String message) {}

    /// A verified request for a stream.
    ///
    /// @param requestId for log lines and hooks only
    record OpenStream(
            StreamHandle stream,
            Identity identity,
            List<SubscriptionRequest> subscriptions,
            Framing framing,
            String requestId) {
        public OpenStream {
            subscriptions = List.copyOf(subscriptions);
        }
    }
}
