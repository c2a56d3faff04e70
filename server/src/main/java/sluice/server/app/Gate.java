package sluice.server.app;

import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.Input;
import sluice.core.dispatch.Notice;
import sluice.core.error.ErrorCode;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;
import sluice.server.http.StreamGate;
import sluice.server.logging.NoticeLog;
import sluice.server.metrics.Metrics.StreamRefusal;
import sluice.server.runtime.EngineThread;

/// Where the HTTP side meets the engine's thread. Thread-safe.
final class Gate implements StreamGate {
    private static final int REQUEST_IDS_MAX = 100_000;

    private final EngineThread engine;
    private final Replication replication;
    private final MemoryGate memory;
    /// For log lines only. Full: the id used longest ago is forgotten, and its stream's lines go without.
    private final Map<String, String> requestIdsByStream = Caffeine.newBuilder()
            .maximumSize(REQUEST_IDS_MAX)
            .<String, String>build()
            .asMap();

    /// For log lines only; as many as requests wait for the engine.
    private final Map<Long, String> requestIdsByNumber = new ConcurrentHashMap<>();

    Gate(EngineThread engine, Replication replication, MemoryGate memory) {
        this.engine = engine;
        this.replication = replication;
        this.memory = memory;
    }

    @Override
    public @Nullable Refusal admit(int streams) {
        return replication.isServing()
                ? memory.admit(streams)
                : new Refusal(
                        ErrorCode.NOT_REPLICATING,
                        StreamRefusal.NOT_REPLICATING,
                        "this server has not started replicating; try again later");
    }

    @Override
    public void open(OpenStream opening) {
        requestIdsByStream.put(opening.stream().streamId(), opening.requestId());
        engine.submit(new Input.Open(
                opening.stream(), opening.identity(), opening.subscriptions(), opening.framing(), opening.requestId()));
    }

    @Override
    public void closed(StreamHandle stream, CloseReason reason) {
        requestIdsByStream.remove(stream.streamId());
        engine.submit(new Input.Closed(stream, reason));
    }

    @Override
    public void control(ControlCall call) {
        requestIdsByNumber.put(call.number(), call.requestId());
        engine.submit(
                new Input.Control(call.number(), call.streamId(), call.caller(), call.request(), call.requestId()));
    }

    @Override
    public void drop(DropCall call) {
        requestIdsByNumber.put(call.number(), call.requestId());
        engine.submit(new Input.DropShapes(call.number(), call.selection()));
    }

    /// The request is over.
    void answered(long number) {
        requestIdsByNumber.remove(number);
    }

    @Override
    public void drained(StreamHandle stream) {
        engine.submit(new Input.Drained(stream));
    }

    /// Writes an engine's notice, with the id of the request it is a consequence of and of the one that opened the
    /// stream it is about.
    void log(Notice notice) {
        String streamId = notice.field("stream_id");
        String opener = streamId == null ? null : requestIdsByStream.get(streamId);
        String number = notice.field(Notice.REQUEST);
        String cause = number == null ? null : requestIdsByNumber.get(Long.valueOf(number));
        Notice named = number == null ? notice : notice.without(Notice.REQUEST);
        if (cause != null) {
            named = named.with("request_id", cause);
        }
        if (opener != null) {
            named = named.with(cause == null ? "request_id" : "stream_request_id", opener);
        }
        NoticeLog.write(named);
    }
}
