package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.error.ErrorCode;
import sluice.core.event.EventBody;
import sluice.core.event.PassingEvent;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.SubscriptionTag;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

/// Where the simulated engine puts what streams receive: looked at by the judge, then queued. Everything goes into
/// the trace.
final class SimSink implements FrameSink {
    /// What it needs to know of the engine.
    interface Host {
        Lsn position();

        SimStream.Start start(SimStream stream, SimShape shape);

        /// The end of the last commit that was dispatched.
        Lsn dispatchedUntil();
    }

    /// Whether everything that happens is printed, too.
    private static final boolean TELL = Boolean.getBoolean("sluice.tell");

    final Map<String, SimStream> streams = new LinkedHashMap<>();
    private final SimJudge judge;
    private final Supplier<Host> host;
    private @Nullable TransactionSnapshot ending;
    private long trace = 17;
    long changes;

    SimSink(SimJudge judge, Supplier<Host> host) {
        this.judge = judge;
        this.host = host;
    }

    /// If a `snapshot_end` comes of the next step, its rows were of this snapshot.
    void snapshotEnds(TransactionSnapshot snapshot) {
        ending = snapshot;
    }

    void note(Input input) {
        note(told(input));
    }

    private static String told(Input input) {
        if (input instanceof Input.CatalogAnswer(var id, var image)) {
            return "CatalogAnswer " + id
                    + (image == null
                            ? ""
                            : image.stamp().toString()
                                    + image.relations().stream()
                                            .map(Relation::rightsFingerprint)
                                            .toList());
        }
        return input instanceof Input.Tick
                ? "Tick"
                : input.toString().replaceAll("sluice\\.[A-Za-z.$]*@[0-9a-f]+|\\[B@[0-9a-f]+", "");
    }

    void note(String what) {
        trace = trace * 31 + what.hashCode();
        if (TELL) {
            System.out.println(what);
        }
    }

    long trace() {
        return trace;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8).strip();
    }

    @Override
    public void open(StreamHandle handle, byte[] readyFrame) {
        SimStream stream = (SimStream) handle;
        note("open " + text(readyFrame));
        stream.opened = true;
        installed(stream, stream.shapes.keySet());
        installed(stream, stream.rooms.keySet());
        for (JsonNode result : SimStream.frame(text(readyFrame), 0).data().get("subscriptions")) {
            if (result.path("resumed").asBoolean(false)) {
                judge.resumed(stream, result.get("sub").asText());
            }
        }
        whole(stream, readyFrame);
    }

    /// Its subscriptions begin where the engine is.
    void installed(SimStream stream, Collection<String> labels) {
        for (String label : labels) {
            SimShape shape = stream.shapes.get(label);
            if (shape != null) {
                stream.starts.put(label, host.get().start(stream, shape));
            }
            SimRoom room = stream.rooms.get(label);
            if (room != null) {
                room.from = host.get().dispatchedUntil();
            }
        }
    }

    @Override
    public void refuse(StreamHandle handle, ErrorCode code, String message) {
        SimStream stream = (SimStream) handle;
        note("refuse " + code);
        stream.closed = true;
        stream.shapes.values().forEach(shape -> shape.phase = SimShape.Phase.ENDED);
    }

    @Override
    public void change(StreamHandle handle, SubscriptionTag tag, long seq, EventBody body) {
        SimStream stream = (SimStream) handle;
        String label = text(tag.labelJson()).replace("\"", "");
        JsonNode data = SimStream.json("{" + text(body.tail()));
        note(stream.id + " " + label + " " + seq + " " + text(body.tail()));
        changes++;
        SimShape shape = stream.shapes.get(label);
        if (shape == null) {
            throw new AssertionError("a change for " + label + ", which " + stream.id + " does not have");
        }
        stream.offer(new SimStream.Item(label, seq, "change", data, body.weightBytes()));
        judge.given(stream, shape, data, host.get().position());
    }

    @Override
    public void retract(StreamHandle handle) {
        note("retract");
        ((SimStream) handle).retract();
    }

    @Override
    public void passing(StreamHandle handle, SubscriptionTag tag, PassingEvent event) {
        SimStream stream = (SimStream) handle;
        String label = text(tag.labelJson()).replace("\"", "");
        JsonNode data = SimStream.json("{" + text(event.tail()).substring(1));
        note(stream.id + " " + label + " " + text(event.tail()));
        stream.offer(new SimStream.Item(label, 0, "broadcast", data, event.weightBytes()));
    }

    @Override
    public void frame(StreamHandle handle, byte[] frame) {
        whole((SimStream) handle, frame);
    }

    @Override
    public void announce(List<StreamHandle> handles, byte[] frame) {
        handles.forEach(handle -> frame(handle, frame));
    }

    private void whole(SimStream stream, byte[] frame) {
        note(stream.id + " " + text(frame).replaceAll("\"server_time\":\"[^\"]*\"", ""));
        SimStream.Item item = SimStream.frame(text(frame), frame.length);
        stream.offer(item);
        TransactionSnapshot snapshot = ending;
        if (item.kind().equals("snapshot_end") && snapshot != null) {
            stream.snapshots.put(item.data().get("sub").asText(), snapshot);
        }
        if (!stream.hasOpen()) {
            stream.flush();
        }
    }

    @Override
    public void expires(StreamHandle handle, Instant at) {
        SimStream stream = (SimStream) handle;
        if (stream.next != null) {
            stream.caller = stream.next;
        }
    }

    @Override
    public void close(StreamHandle handle, CloseReason reason, byte[] lastFrame) {
        SimStream stream = (SimStream) handle;
        note(stream.id + " closed " + reason);
        stream.retract();
        stream.offer(SimStream.frame(text(lastFrame), lastFrame.length));
        stream.flush();
        stream.closed = true;
    }

    @Override
    public void endCommit() {
        streams.values().forEach(SimStream::flush);
    }
}
