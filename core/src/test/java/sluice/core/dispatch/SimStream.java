package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.StreamState.Framing;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.TransactionSnapshot;

/// One stream: its queue on the server's side, and its client on the other.
/// @param <S> what it knows of its subscriptions
final class SimStream<S extends SimSubscription> implements StreamHandle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern WITHHELD = Pattern.compile("^(\\d+) changes could not be decided");

    /// What lies in the queue.
    ///
    /// @param label of a change or a broadcast, null for other frames
    record Item(@Nullable String label, long seq, String kind, JsonNode data, int weight) {}

    /// Where the engine was when it installed a subscription.
    record Start(int rightsSerial, Lsn from, Caller caller, int epoch) {}

    final String id;
    /// Whoever the engine takes the stream for.
    Caller caller;

    @Nullable
    Caller next;

    /// Everybody the stream was of, or asked to be of.
    final Set<Caller> callers = new LinkedHashSet<>();
    final Map<String, S> shapes = new LinkedHashMap<>();
    final Map<String, SimRoom> rooms = new LinkedHashMap<>();
    final Map<String, ResumePosition> resuming = new LinkedHashMap<>();
    /// Labels that have ended, as far as the engine is concerned.
    final Set<String> ended = new LinkedHashSet<>();
    /// By the request to be taken out of it.
    final Map<Long, String> leaving = new LinkedHashMap<>();
    final Map<String, Start> starts = new LinkedHashMap<>();
    final Map<String, TransactionSnapshot> snapshots = new LinkedHashMap<>();

    private final ArrayDeque<Item> queue = new ArrayDeque<>();
    private final List<Item> open = new ArrayList<>();
    private long takenFrames;
    private long takenBytes;
    boolean wantsDrain;
    boolean opened;
    boolean closed;
    boolean hungUp;
    boolean reads = true;
    private Lsn liveAt = Lsn.ZERO;
    /// The last commit that said something.
    private Lsn spokenAt = Lsn.ZERO;

    private Lsn leftAt = Lsn.ZERO;
    private Lsn leftReached = Lsn.ZERO;
    final Framing framing;

    /// Which transaction has begun and not ended, by the subscription that is apart, or by nothing for the others.
    private final Map<String, Lsn> begun = new LinkedHashMap<>();

    SimStream(String id, Caller caller, Framing framing) {
        this.framing = framing;
        this.id = id;
        this.caller = caller;
        callers.add(caller);
    }

    @Override
    public int shard() {
        return 0;
    }

    @Override
    public String streamId() {
        return id;
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
        wantsDrain = true;
    }

    boolean isAlive() {
        return opened && !closed && !hungUp;
    }

    // ---- the server's side

    static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new AssertionError("no JSON: " + text, e);
        }
    }

    static Item frame(String text, int weight) {
        String[] lines = text.strip().split("\n", -1);
        return new Item(
                null, 0, lines[0].substring("event: ".length()), json(lines[1].substring("data: ".length())), weight);
    }

    void offer(Item item) {
        if (closed) {
            throw new AssertionError("SILENT_AFTER_END: " + item.data() + " after the close of " + id);
        }
        if (item.label() != null && ended.contains(item.label())) {
            throw new AssertionError("SILENT_AFTER_END: " + item.data() + " after the end of " + item.label());
        }
        if (item.kind().equals("error") && item.data().has("sub")) {
            ended.add(item.data().get("sub").asText());
        }
        open.add(item);
    }

    void retract() {
        open.removeIf(item -> item.label() != null);
    }

    void flush() {
        queue.addAll(open);
        open.clear();
        long changes = queue.stream().filter(item -> item.label() != null).count();
        if (changes > SimWorld.QUEUE) {
            throw new AssertionError("BOUNDED: " + changes + " changes in the queue of " + id);
        }
    }

    boolean hasOpen() {
        return open.stream().anyMatch(item -> item.label() != null);
    }

    // ---- the client

    boolean isDrained() {
        return queue.isEmpty();
    }

    /// The client takes what is there, at most so much.
    void read(int most) {
        for (int i = 0; i < most && !queue.isEmpty(); i++) {
            Item item = queue.removeFirst();
            takenFrames++;
            takenBytes += item.weight();
            take(item);
        }
    }

    private void take(Item item) {
        JsonNode data = item.data();
        if (item.kind().equals("broadcast")) {
            SimRoom room = java.util.Objects.requireNonNull(rooms.get(item.label()));
            if (!room.removed) {
                room.broadcast(data);
                inOrder(data);
                begins("", data);
                spokenAt = liveAt;
            }
            return;
        }
        String label = item.label();
        if (label != null) {
            change(label, item);
            return;
        }
        switch (item.kind()) {
            case "ready" -> {
                liveAt = liveAt.max(Lsn.parse(data.get("wal_lsn").asText()));
                results(data.get("subscriptions"));
            }
            case "live" -> {
                S shape = shape(data);
                if (shape != null) {
                    shape.phase = SimSubscription.Phase.LIVE;
                    if (begun.containsKey(shape.label)) {
                        throw new AssertionError("COMMIT_ORDER: no end of " + begun + " before " + data);
                    }
                    Lsn at = Lsn.parse(data.get("wal_lsn").asText());
                    liveAt = shape.position(Lsn.ZERO) == null || at.isAfter(liveAt) ? at.max(liveAt) : liveAt;
                }
            }
            case "commit" -> {
                Lsn ended = begun.remove(data.path("sub").asText());
                // of one that brought a warning, or was for a subscription that the client gave up, it saw nothing
                if (ended != null
                        && !ended.equals(Lsn.parse(data.get("commit_lsn").asText()))) {
                    throw new AssertionError("COMMIT_ORDER: " + id + " is told " + data + " in " + ended);
                }
            }
            case "snapshot_end" -> {
                S shape = shape(data);
                TransactionSnapshot snapshot = snapshots.get(data.get("sub").asText());
                if (shape != null && snapshot != null) {
                    shape.snapshotEnded(snapshot);
                }
            }
            case "warning" -> warned(data);
            case "error" -> {
                S shape = shape(data);
                if (shape != null) {
                    shape.phase = SimSubscription.Phase.ENDED;
                } else if (!data.has("sub") && !data.get("code").asText().equals("token_expired")) {
                    shapes.values().forEach(each -> each.phase = SimSubscription.Phase.ENDED);
                }
            }
            default -> throw new AssertionError("an event of kind " + item.kind());
        }
    }

    private void change(String label, Item item) {
        JsonNode data = item.data();
        S shape = shapes.get(label);
        if (shape != null && shape.removed) {
            return;
        }
        if (shape == null || shape.phase == SimSubscription.Phase.ASKED) {
            throw new AssertionError("a change for " + label + ", which " + id + " does not have");
        }
        shape.change(item.seq(), data);
        if (!data.has("snapshot")) {
            begins(shape.phase == SimSubscription.Phase.LIVE ? "" : shape.label, data);
        }
        if (shape.phase == SimSubscription.Phase.LIVE && !data.has("snapshot")) {
            inOrder(data);
            if (liveAt.equals(spokenAt)) {
                throw new AssertionError("COMMIT_ORDER: " + id + " is given " + data + " after what its commit says");
            }
        }
    }

    /// Positions it was told may be past the beginning of the timeline that goes on.
    void timelineLeft(Lsn at, Lsn reached) {
        leftAt = at;
        leftReached = reached;
        spokenAt = Lsn.ZERO;
    }

    /// The engine has taken out what the client wanted to leave.
    ///
    /// @param request that is answered
    void removed(long request) {
        String label = leaving.remove(request);
        if (label != null) {
            SimRoom room = rooms.get(label);
            if (room != null && room.from != null) {
                room.removed = true;
                ended.add(label);
            }
            S shape = shapes.get(label);
            // one that is not installed yet is none of those removed
            if (shape != null && starts.containsKey(label)) {
                shape.phase = SimSubscription.Phase.ENDED;
                shape.removed = true;
                ended.add(label);
            }
        }
    }

    /// All is at rest: whatever began has ended.
    void settle() {
        for (String apart : begun.keySet()) {
            S shape = shapes.get(apart);
            if (shape == null || shape.phase != SimSubscription.Phase.ENDED) {
                throw new AssertionError("STUCK: " + id + " was not told the end of " + begun);
            }
        }
    }

    /// Between the events of a transaction and the next one's the stream is told the end, where it asked for that.
    private void begins(String apart, JsonNode data) {
        Lsn lsn = Lsn.parse(data.get("commit_lsn").asText());
        Lsn before = framing == Framing.NONE ? null : begun.put(apart, lsn);
        if (before != null && !before.equals(lsn)) {
            throw new AssertionError("COMMIT_ORDER: " + id + " is not told the end of " + before + " before " + data);
        }
    }

    private void inOrder(JsonNode data) {
        Lsn lsn = Lsn.parse(data.get("commit_lsn").asText());
        boolean ofAnotherTimeline = lsn.isAfter(leftAt) && !liveAt.isAfter(leftReached);
        if (lsn.isBefore(liveAt) && !ofAnotherTimeline) {
            throw new AssertionError("COMMIT_ORDER: " + id + " is given " + lsn + " after " + liveAt);
        }
        liveAt = lsn;
    }

    private @Nullable S shape(JsonNode data) {
        S shape = data.has("sub") ? shapes.get(data.get("sub").asText()) : null;
        return shape == null || shape.removed ? null : shape;
    }

    private void warned(JsonNode data) {
        S shape = shape(data);
        if (shape == null) {
            return;
        }
        if (data.get("code").asText().equals("table_truncated")) {
            shape.emptied();
        }
        Matcher withheld = WITHHELD.matcher(data.get("message").asText());
        if (withheld.find()) {
            shape.withheldTold += Long.parseLong(withheld.group(1));
        }
    }

    /// What became of a request for subscriptions.
    void results(JsonNode results) {
        for (JsonNode result : results) {
            S shape = shapes.get(result.get("sub").asText());
            if (shape == null || shape.removed) {
                continue;
            }
            if (!result.get("ok").asBoolean()) {
                shape.phase = SimSubscription.Phase.ENDED;
                continue;
            }
            shape.history = result.get("history").asText();
            ResumePosition resume = resuming.remove(shape.label);
            if (result.path("resumed").asBoolean(false) && resume != null && resume.lsn() != null) {
                shape.resumed();
            } else {
                boolean live = resume != null || shape.initial == sluice.core.shape.ShapeRequest.Initial.NONE;
                Start start = java.util.Objects.requireNonNull(starts.get(shape.label));
                shape.granted(start.rightsSerial(), start.from(), live);
            }
            Start installed = java.util.Objects.requireNonNull(starts.get(shape.label));
            shape.told = new SimSubscription.Told(installed.caller(), installed.epoch());
            // the token may have been replaced before the client read this
            shape.callers.addAll(callers);
            if (callers.size() > 1) {
                shape.moved();
            }
        }
    }

    Lsn liveAt() {
        return liveAt;
    }
}
