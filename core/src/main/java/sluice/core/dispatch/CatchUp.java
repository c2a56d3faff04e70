package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.NewestImages.Newer;
import sluice.core.error.ErrorCode;
import sluice.core.event.StreamEvent;
import sluice.core.resume.BufferedCommit;
import sluice.core.resume.BufferedFile;
import sluice.core.resume.ResumeBuffer;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptKeys;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

/// Streams and subscriptions that are fed from the buffer until they are where the log is.
///
/// A stream whose queue had no room for a commit is behind: it gets that commit and all later ones from here, in
/// order, as its client takes them. A subscription that reads a snapshot or replays what it missed is apart from its
/// stream, and goes live when it is where its stream is. While a stream is behind, what is apart of it waits.
///
/// Works in rounds of a bounded number of changes, between which the log and everything else go on. A reader behind
/// what the buffer has let go of is told: the stream closes, the subscription ends. Owned by the engine's thread.
final class CatchUp {
    /// Changes judged in one round.
    private static final int CHANGES_A_ROUND = 256;

    /// What it needs of the engine.
    interface Host extends CommitDispatch.Host {
        @Override
        void endSubscription(Subscription subscription, ErrorCode code, String message);
    }

    private static final class Lanes {
        @Nullable
        Lane ofStream;

        final ArrayDeque<Lane> apart = new ArrayDeque<>(1);
        boolean ready;

        @Nullable
        Lane first() {
            return ofStream != null ? ofStream : apart.peekFirst();
        }
    }

    private final Host host;
    private final CommitDispatch dispatch;
    private final FrameSink sink;
    private final EngineSettings settings;
    private final ResumeBuffer buffer;
    private final PieceReads pieces;
    private final KeyReads keys;
    private final Map<StreamState, Lanes> lanesByStream = new LinkedHashMap<>();
    private final ArrayDeque<StreamState> ready = new ArrayDeque<>();
    private int budget;

    CatchUp(Host host, CommitDispatch dispatch, Feeds.Ports ports, EngineSettings settings, ResumeBuffer buffer) {
        this.host = host;
        this.dispatch = dispatch;
        this.sink = ports.sink();
        this.pieces = new PieceReads(ports.effects(), ports.requestIds());
        this.settings = settings;
        this.buffer = buffer;
        this.keys = new KeyReads(ports.effects(), ports.requestIds(), buffer);
    }

    /// The stream gets this commit and those after it from the buffer.
    void behind(StreamState stream, long commitNumber) {
        stream.fallBehind();
        lanes(stream).ofStream = new Lane(stream, null, null, commitNumber);
        stream.handle().tellWhenDrained();
    }

    /// The subscription, apart from its stream, gets this commit and those after it.
    ///
    /// @param seen the snapshot whose rows it has: commits in it are passed over
    void apart(Subscription subscription, long commitNumber, @Nullable TransactionSnapshot seen) {
        StreamState stream = subscription.stream();
        lanes(stream).apart.addLast(new Lane(stream, subscription, seen, commitNumber));
        wake(stream);
    }

    private Lanes lanes(StreamState stream) {
        return lanesByStream.computeIfAbsent(stream, _ -> new Lanes());
    }

    /// The stream may have room again.
    void wake(StreamState stream) {
        Lanes lanes = lanesByStream.get(stream);
        if (lanes != null && !lanes.ready) {
            lanes.ready = true;
            ready.addLast(stream);
        }
    }

    /// Time has passed: every reader is looked at, also one whose client takes nothing.
    void tick() {
        for (StreamState stream : List.copyOf(lanesByStream.keySet())) {
            Lanes lanes = lanesByStream.get(stream);
            if (lanes != null && stream.isOpen()) {
                for (Lane lane : lanesOf(lanes)) {
                    fellOut(lane);
                }
                wake(stream);
            }
        }
    }

    private static List<Lane> lanesOf(Lanes lanes) {
        List<Lane> all = new ArrayList<>(lanes.apart);
        if (lanes.ofStream != null) {
            all.addFirst(lanes.ofStream);
        }
        return all;
    }

    /// Commits with this number or a later one are being read by somebody.
    long readsFrom() {
        long from = Long.MAX_VALUE;
        for (Lanes lanes : lanesByStream.values()) {
            for (Lane lane : lanesOf(lanes)) {
                from = Math.min(from, lane.next());
            }
        }
        return from;
    }

    /// The position up to which the stream has, or has waiting in its queue, all that is for it.
    Lsn completeUntil(StreamState stream) {
        Lanes lanes = lanesByStream.get(stream);
        Lsn complete = host.position();
        if (!stream.held().isEmpty()) {
            complete = complete.min(stream.held().getFirst().commitLsn());
        }
        Lane lane = lanes == null ? null : lanes.ofStream;
        if (lane != null) {
            BufferedCommit under = lane.commit() != null ? lane.commit() : lane.upcoming(buffer);
            complete = under == null ? complete : complete.min(under.lsn());
        }
        return complete;
    }

    void forget(StreamState stream) {
        Lanes lanes = lanesByStream.remove(stream);
        if (lanes != null) {
            lanesOf(lanes).forEach(this::leave);
        }
    }

    /// The reader goes no further.
    private void leave(Lane lane) {
        pieces.forget(lane);
        leaveFile(lane);
    }

    private void leaveFile(Lane lane) {
        BufferedFile file = lane.takeFile();
        if (file != null) {
            buffer.release(file);
        }
    }

    /// A piece of a spilled commit was read.
    ///
    /// @param changes null when it could not be
    void pieceRead(long readId, @Nullable List<Change> changes) {
        Lane lane = pieces.answered(readId, changes);
        if (lane != null && changes != null) {
            wake(lane.stream());
        } else if (lane != null) {
            tellGone(lane, "changes that were kept could not be read");
        }
    }

    /// It was read which rows a spilled commit changed.
    ///
    /// @param read null when they are too many, or could not be read
    void keysRead(long readId, @Nullable KeptKeys read) {
        keys.answered(readId, read);
        List.copyOf(lanesByStream.keySet()).forEach(this::wake);
    }

    void forget(Subscription subscription) {
        Lanes lanes = lanesByStream.get(subscription.stream());
        if (lanes != null) {
            for (Lane lane : List.copyOf(lanes.apart)) {
                if (subscription.equals(lane.only())) {
                    lanes.apart.remove(lane);
                    leave(lane);
                }
            }
        }
    }

    /// One round.
    ///
    /// @return whether there is more to do at once
    boolean proceed(Instant now) {
        budget = CHANGES_A_ROUND;
        while (budget > 0) {
            StreamState stream = ready.pollFirst();
            if (stream == null) {
                return false;
            }
            Lanes lanes = lanesByStream.get(stream);
            if (lanes == null) {
                continue;
            }
            lanes.ready = false;
            Lane lane = stream.isOpen() ? lanes.first() : null;
            if (lane == null) {
                forget(stream);
            } else if (advance(lanes, lane, now)) {
                wake(stream);
            }
        }
        return !ready.isEmpty();
    }

    /// @return whether the stream can go on at once
    private boolean advance(Lanes lanes, Lane lane, Instant now) {
        StreamState stream = lane.stream();
        if (!hasRoom(lane)) {
            stall(lane);
            return false;
        }
        BufferedCommit commit = lane.commit();
        if (commit == null) {
            budget--;
            if (fellOut(lane)) {
                return stream.isOpen();
            }
            commit = lane.upcoming(buffer);
            if (commit == null) {
                return caughtUp(lanes, lane, now);
            }
            Lane.Images images = dispatch.bypasses(stream) ? Lane.Images.EVERY : Lane.Images.NET;
            lane.begin(commit, buffer, images);
        }
        if (lane.isAtStart() && !fits(lane)) {
            stall(lane);
            return false;
        }
        if (!seesNewer(lane, commit)) {
            pieces.look(lane, PieceReads.Progress.STALLED);
            return false;
        }
        if (lane.needsPiece()) {
            pieces.ask(lane);
            return false;
        }
        return advance(lane, commit, now);
    }

    /// The reader waits for its client; or for answers, and is looked at with each tick: a queue that is empty
    /// would say at once that it has drained.
    private void stall(Lane lane) {
        StreamState stream = lane.stream();
        pieces.look(lane, PieceReads.Progress.STALLED);
        if (stream.queuedFrames() > 0) {
            stream.handle().tellWhenDrained();
        }
    }

    /// Whether the reader may go on, as far as it has to know which rows later commits changed. It is told if
    /// nobody will; in the middle of a commit what cannot be known is withheld, since a commit is never torn.
    private boolean seesNewer(Lane lane, BufferedCommit commit) {
        List<TableState> probed = new ArrayList<>(0);
        for (int oid : lane.probedOids()) {
            TableState table = host.table(oid);
            if (table != null) {
                probed.add(table);
            }
        }
        return switch (keys.after(commit.number(), probed)) {
            case ALL -> true;
            case SOON -> false;
            case NEVER -> {
                if (lane.isAtStart()) {
                    tellGone(lane, "which rows a large commit changed again is not known");
                }
                yield !lane.isAtStart();
            }
        };
    }

    /// @return whether the stream can go on at once
    private boolean advance(Lane lane, BufferedCommit commit, Instant now) {
        StreamState stream = lane.stream();
        lane.recipient().replays(commit.lsn());
        dispatch.beginReplay(commit, now);
        boolean paced = false;
        for (Change change = lane.peek();
                change != null && budget > 0 && stream.isOpen() && hasRoom(lane) && !paced;
                change = lane.peek()) {
            paced = !give(lane, commit, change, now);
            budget--;
        }
        for (Lane.Broadcast broadcast = lane.peekBroadcast();
                broadcast != null && budget > 0 && stream.isOpen() && hasRoom(lane);
                broadcast = lane.peekBroadcast()) {
            dispatch.broadcast(broadcast.to(), broadcast.said().event());
            lane.broadcastDone();
            budget--;
        }
        pieces.look(lane, paced ? PieceReads.Progress.STALLED : PieceReads.Progress.GOES_ON);
        if (lane.commit() == null) {
            lane.recipient().replays(null);
            leaveFile(lane);
        }
        dispatch.endReplay();
        // what may be asked of PostgreSQL in a second is asked with the ticks
        return stream.isOpen() && !paced;
    }

    /// @return false when PostgreSQL has been asked enough for now
    private boolean give(Lane lane, BufferedCommit commit, Change change, Instant now) {
        long most = eventsRoom(lane);
        if (lane.isNextProbed()) {
            most = Math.min(most, dispatch.probes().spare(now));
        }
        if (most == 0) {
            return false;
        }
        TableState table = host.table(change.relation().oid());
        dispatch.replay(
                change,
                lane.takeReaders(most),
                () -> table == null ? Newer.UNKNOWN : lane.newer(change, commit, table, buffer));
        return true;
    }

    private boolean hasRoom(Lane lane) {
        int share = share(lane);
        StreamState stream = lane.stream();
        return eventsRoom(lane) > 0
                && stream.queuedBytes() + stream.promisedBytes() + stream.heldBytes()
                        < settings.queueBytesMax() / share;
    }

    private long eventsRoom(Lane lane) {
        StreamState stream = lane.stream();
        return Math.max(1, settings.queueEventsMax() / share(lane))
                - stream.queuedFrames()
                - stream.promisedFrames()
                - stream.heldEvents();
    }

    /// What is apart leaves the other half to what is live.
    private static int share(Lane lane) {
        return lane.only() == null ? 1 : 2;
    }

    /// Whether the commit enters the queue whole, or is larger than any queue and has this one to itself.
    private boolean fits(Lane lane) {
        StreamState stream = lane.stream();
        long waiting = stream.queuedFrames() + stream.heldEvents();
        return waiting == 0
                || (waiting + lane.eventsMax() <= settings.queueEventsMax()
                        && stream.queuedBytes() + stream.heldBytes() + lane.bytesEstimate()
                                <= settings.queueBytesMax());
    }

    private boolean fellOut(Lane lane) {
        if (!lane.isAtStart() || (lane.isWithin(buffer) && !lane.hasLostSight())) {
            return false;
        }
        tellGone(
                lane,
                lane.only() == null
                        ? "the client fell further behind than changes are kept"
                        : "changes after the position or the snapshot are no longer kept");
        return true;
    }

    private void tellGone(Lane lane, String message) {
        Subscription only = lane.only();
        if (only == null) {
            host.closeStream(lane.stream(), CloseReason.STREAM_LAGGING, ErrorCode.STREAM_LAGGING, message);
        } else {
            host.endSubscription(only, ErrorCode.RESUME_TOO_OLD, message);
        }
    }

    private boolean caughtUp(Lanes lanes, Lane lane, Instant now) {
        StreamState stream = lane.stream();
        Subscription only = lane.only();
        if (only == null) {
            stream.caughtUp();
            lanes.ofStream = null;
        } else if (!stream.held().isEmpty()) {
            // what it caught up with waits for an answer still
            return false;
        } else {
            lanes.apart.remove(lane);
            only.goLive();
            dispatch.tellWithheld(only, now);
            Frames.give(sink, stream, new StreamEvent.Live(only.label(), host.position()));
        }
        return true;
    }
}
