package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.event.FrameEncoder;
import sluice.core.event.StreamEvent;
import sluice.core.event.SubscriptionResult;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.StreamState;
import sluice.core.wal.Lsn;

/// The streams that are open or being opened. Owned by the engine's thread.
///
/// Life of one: its subscriptions are resolved; then, in one step, they are installed and `ready` is written; it ends
/// by the client, by the server, or with the commit being dispatched, whose indexes are left alone until it is over.
final class OpenStreams {
    /// What they need of the engine.
    interface Host extends Installation.Host {
        /// Everything up to here has been dispatched.
        Lsn position();

        SessionWatch sessions();

        /// The stream is gone: whatever else knows of it forgets it.
        void forget(StreamState stream);
    }

    private final Host host;
    private final CommitDispatch dispatch;
    private final Subscribing subscribing;
    private final EffectSink effects;
    private final FrameSink sink;
    private final LagTeller lag;
    private final Map<String, StreamState> streamsById = new LinkedHashMap<>();
    private final Map<StreamHandle, SubscribeFlow> opening = new LinkedHashMap<>();
    private final List<StreamState> closing = new ArrayList<>();

    OpenStreams(Host host, CommitDispatch dispatch, Subscribing subscribing, EffectSink effects, FrameSink sink) {
        this.host = host;
        this.dispatch = dispatch;
        this.subscribing = subscribing;
        this.effects = effects;
        this.sink = sink;
        this.lag = new LagTeller(sink, host.settings(), streamsById.values());
    }

    /// Tells these streams how late changes arrive.
    LagTeller lag() {
        return lag;
    }

    Collection<StreamState> all() {
        return streamsById.values();
    }

    /// The open stream of this id, null when there is none.
    @Nullable
    StreamState stream(String streamId) {
        StreamState stream = streamsById.get(streamId);
        return stream == null || !stream.isOpen() ? null : stream;
    }

    void open(Input.Open open) {
        StreamState stream = new StreamState(open.stream(), open.identity(), open.framing());
        if (host.sessions().refuses(stream, sink, host.now())) {
            return;
        }
        SubscribeFlow flow =
                subscribing.flow(stream, new SubscribeFlow.Asked(open.requests(), open.requestName()), this::opened);
        opening.put(open.stream(), flow);
        subscribing.begin(flow);
    }

    /// Installs what was granted and writes `ready` in one step: every later commit reaches the stream.
    private void opened(SubscribeFlow flow) {
        StreamState stream = flow.stream();
        StreamHandle handle = stream.handle();
        opening.remove(handle);
        // the session may have ended while PostgreSQL was asked about the caller
        if (host.sessions().refuses(stream, sink, host.now())) {
            return;
        }
        streamsById.put(handle.streamId(), stream);
        host.sessions().opened(stream);
        Installation installation = new Installation(host, effects, stream, null);
        List<SubscriptionResult> results = installation.install(flow);
        byte[] ready = FrameEncoder.frame(new StreamEvent.Ready(
                handle.streamId(),
                host.now(),
                host.settings().heartbeat().toMillis(),
                installation.completeFrom(host.position()),
                lag.millis(),
                results));
        stream.given(ready.length);
        sink.open(handle, ready);
        installation.warn(sink);
    }

    /// Ends the stream and everything in it, telling the client why.
    void close(StreamState stream, CloseReason reason, ErrorCode code, String message) {
        if (!stream.isOpen()) {
            return;
        }
        stream.close();
        StreamEvent.Action action = code.retryable() ? StreamEvent.Action.RESNAPSHOT : null;
        sink.close(
                stream.handle(),
                reason,
                FrameEncoder.frame(new StreamEvent.Failure(null, code, message, action, null)));
        // the indexes are being walked: they are left alone until the commit is over
        if (dispatch.isOpen()) {
            closing.add(stream);
        } else {
            forget(stream);
        }
    }

    /// The commit is over: the streams that ended in it are forgotten.
    void commitEnded() {
        closing.forEach(this::forget);
        closing.clear();
    }

    /// The connection is gone.
    void closed(StreamHandle handle) {
        SubscribeFlow flow = opening.remove(handle);
        if (flow != null) {
            subscribing.drop(flow);
        }
        StreamState stream = stream(handle.streamId());
        if (stream != null) {
            stream.close();
            forget(stream);
        }
    }

    private void forget(StreamState stream) {
        streamsById.remove(stream.handle().streamId());
        host.forget(stream);
    }

    /// What clients hold may never have been: every stream ends, and what is being opened is refused.
    void historyLost() {
        String message = "the database was failed over, and commits that had been delivered are not part of it";
        for (Map.Entry<StreamHandle, SubscribeFlow> waiting : opening.entrySet()) {
            subscribing.drop(waiting.getValue());
            sink.refuse(waiting.getKey(), ErrorCode.NOT_REPLICATING, message);
        }
        opening.clear();
        List.copyOf(streamsById.values())
                .forEach(stream -> close(stream, CloseReason.HISTORY_LOST, ErrorCode.HISTORY_LOST, message));
        sink.endCommit();
    }
}
