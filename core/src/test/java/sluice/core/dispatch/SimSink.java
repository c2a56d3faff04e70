package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
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
final class SimSink<S extends SimSubscription> implements FrameSink {
    /// What it needs to know of the engine.
    interface Host<S extends SimSubscription> {
        Lsn position();

        SimStream.Start start(SimStream<S> stream, S shape);

        /// The end of the last commit that was dispatched.
        Lsn dispatchedUntil();
    }

    /// Who looks at what the engine gives away, at the moment it does.
    interface Judge<S extends SimSubscription> {
        void resumed(SimStream<S> stream, String label);

        /// @param position where the engine is
        void given(SimStream<S> stream, S shape, JsonNode event, Lsn position);
    }

    /// What objects without words of their own are printed as, which differs from run to run.
    private static final Pattern IDENTITY = Pattern.compile("sluice\\.[A-Za-z.$]*@[0-9a-f]+|\\[B@[0-9a-f]+");

    /// Whether everything that happens is printed, too.
    private static final boolean TELL = Boolean.getBoolean("sluice.tell");

    final Map<String, SimStream<S>> streams = new LinkedHashMap<>();
    private final Judge<S> judge;
    private final Supplier<Host<S>> host;
    private @Nullable TransactionSnapshot ending;
    private long trace = 17;
    long changes;

    SimSink(Judge<S> judge, Supplier<Host<S>> host) {
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
                : IDENTITY.matcher(input.toString()).replaceAll("");
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

    @SuppressWarnings("unchecked") // every stream is one that the world made
    private SimStream<S> of(StreamHandle handle) {
        return (SimStream<S>) handle;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8).strip();
    }

    @Override
    public void open(StreamHandle handle, byte[] readyFrame) {
        SimStream<S> stream = of(handle);
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
    void installed(SimStream<S> stream, Collection<String> labels) {
        for (String label : labels) {
            S shape = stream.shapes.get(label);
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
        SimStream<S> stream = of(handle);
        note("refuse " + code);
        stream.closed = true;
        stream.shapes.values().forEach(shape -> shape.phase = SimSubscription.Phase.ENDED);
    }

    @Override
    public void change(StreamHandle handle, SubscriptionTag tag, long seq, EventBody body) {
        SimStream<S> stream = of(handle);
        String label = text(tag.labelJson()).replace("\"", "");
        JsonNode data = SimStream.json("{" + text(body.tail()));
        note(stream.id + " " + label + " " + seq + " " + text(body.tail()));
        changes++;
        S shape = stream.shapes.get(label);
        if (shape == null) {
            throw new AssertionError("a change for " + label + ", which " + stream.id + " does not have");
        }
        stream.offer(new SimStream.Item(label, seq, "change", data, body.weightBytes()));
        judge.given(stream, shape, data, host.get().position());
    }

    @Override
    public void retract(StreamHandle handle) {
        note("retract");
        of(handle).retract();
    }

    @Override
    public void passing(StreamHandle handle, SubscriptionTag tag, PassingEvent event) {
        SimStream<S> stream = of(handle);
        String label = text(tag.labelJson()).replace("\"", "");
        JsonNode data = SimStream.json("{" + text(event.tail()).substring(1));
        note(stream.id + " " + label + " " + text(event.tail()));
        stream.offer(new SimStream.Item(label, 0, "broadcast", data, event.weightBytes()));
    }

    @Override
    public void frame(StreamHandle handle, byte[] frame) {
        whole(of(handle), frame);
    }

    @Override
    public void announce(List<StreamHandle> handles, byte[] frame) {
        handles.forEach(handle -> frame(handle, frame));
    }

    private void whole(SimStream<S> stream, byte[] frame) {
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
        SimStream<S> stream = of(handle);
        if (stream.next != null) {
            stream.caller = stream.next;
        }
    }

    @Override
    public void close(StreamHandle handle, CloseReason reason, byte[] lastFrame) {
        SimStream<S> stream = of(handle);
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
