package sluice.core.dispatch;

import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.EngineMetrics.Resumed;
import sluice.core.error.ErrorCode;
import sluice.core.event.EventBody;
import sluice.core.event.StreamEvent;
import sluice.core.resume.BufferedBroadcast;
import sluice.core.resume.BufferedCommit;
import sluice.core.resume.BufferedPart;
import sluice.core.resume.ResumeBuffer;
import sluice.core.resume.UntoldChanges;
import sluice.core.shape.ShapeRequest;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.stream.ChannelSubscription;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptCommit;
import sluice.core.transaction.Transaction;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;

/// Where a subscription's rows come from besides the commit being dispatched: the buffer of recent commits, and
/// snapshots. Owned by the engine's thread.
final class Feeds {
    /// What they need of the engine.
    interface Host extends CatchUp.Host, SnapshotReads.Host {
        SessionWatch sessions();
    }

    /// Where they put what they give, ask and count.
    record Ports(FrameSink sink, EffectSink effects, EngineMetrics metrics, LongSupplier requestIds) {}

    private final Host host;
    private final FrameSink sink;
    private final EngineMetrics metrics;
    private final EngineSettings.Feeding settings;
    private final ResumeBuffer buffer;
    private final UntoldChanges untold;
    private final CatchUp catchUp;

    /// The tables that the spilled commit under way has changed so far.
    private final Set<Integer> spilledOids = new LinkedHashSet<>();

    private final SnapshotReads snapshots;
    private String history = "";
    private int histories;

    /// Positions after the first and up to the second may be of a timeline that was left, or of the one that
    /// goes on.
    private Lsn ambiguousAfter = Lsn.ZERO;

    private Lsn ambiguousUntil = Lsn.ZERO;

    Feeds(Host host, CommitDispatch dispatch, Ports ports, EngineSettings settings) {
        this.host = host;
        this.sink = ports.sink();
        this.metrics = ports.metrics();
        this.settings = settings.feeding();
        this.buffer = new ResumeBuffer(
                settings.feeding().buffer(), kept -> ports.effects().emit(new Effect.DropKept(kept)));
        this.untold = dispatch.untold();
        this.catchUp = new CatchUp(host, dispatch, ports, settings, buffer);
        this.snapshots = new SnapshotReads(host, catchUp, ports, settings);
    }

    CatchUp catchUp() {
        return catchUp;
    }

    SnapshotReads snapshots() {
        return snapshots;
    }

    /// The log is read from here on.
    ///
    /// @param incarnation names this reading of the slot, other than any before
    void startsAt(Lsn position, String incarnation) {
        buffer.startsAt(position);
        if (history.isEmpty()) {
            history = incarnation;
        }
    }

    /// Another timeline goes on from a position, and this far the one before had been followed and told of.
    void timelineLeft(Lsn at, Lsn reached) {
        if (reached.isAfter(at)) {
            ambiguousAfter = ambiguousUntil.equals(Lsn.ZERO) ? at : ambiguousAfter.min(at);
            ambiguousUntil = ambiguousUntil.max(reached);
        }
    }

    private boolean isAmbiguous(Lsn position) {
        return position.isAfter(ambiguousAfter) && !position.isAfter(ambiguousUntil);
    }

    /// Another history goes on from this position, which what was delivered is not all part of.
    void historyLost(Lsn position) {
        buffer.restart(position, host.order().unseen().count());
        histories++;
    }

    /// Keeps a commit that is about to be dispatched.
    ///
    /// @param said by the commit, in channels that somebody has joined
    void keep(Transaction transaction, List<BufferedBroadcast.Said> said, Instant now) {
        BufferedCommit commit = new BufferedCommit(
                host.order().unseen().count(), transaction.xid(), transaction.commitLsn(), transaction.commitTime());
        buffer.append(commit, transaction, this::isKept, now);
        buffer.append(commit, said, now);
    }

    /// Rows of the tables that end sessions are sent to nobody, so none are kept.
    private boolean isKept(int relationOid) {
        TableState table = host.table(relationOid);
        return table != null
                && !host.sessions()
                        .isWatched(table.relation().schema(), table.relation().name());
    }

    /// Changes of a spilled commit are being dispatched.
    void spilled(List<Change> changes) {
        int last = 0;
        for (Change change : changes) {
            int oid = change.relation().oid();
            if (oid != last && isKept(oid)) {
                spilledOids.add(oid);
            }
            last = oid;
        }
    }

    /// Keeps a spilled commit at its end, if it is kept at all: else nothing before it is of use any more.
    void keep(WalEvent.SpilledBegin begin, @Nullable KeptCommit kept, List<BufferedBroadcast.Said> said, Instant now) {
        BufferedCommit commit = numbered(begin);
        if (kept != null) {
            buffer.append(commit, kept, spilledOids, now);
        } else {
            spilledOids.forEach(oid -> buffer.skip(commit, oid));
        }
        spilledOids.clear();
        buffer.append(commit, said, now);
    }

    /// A spilled commit is numbered when it begins.
    private BufferedCommit numbered(WalEvent.SpilledBegin begin) {
        return new BufferedCommit(
                host.order().unseen().count() - 1, begin.xid(), begin.commitLsn(), begin.commitTime());
    }

    /// @return whether the buffer has the commit; if not, nothing was done
    boolean fallBehind(StreamState stream, long commitNumber) {
        for (Subscription subscription : stream.subscriptions()) {
            if (!subscription.isApart() && !buffer.reaches(subscription.relationOid(), commitNumber)) {
                return false;
            }
        }
        for (ChannelSubscription joined : stream.channels()) {
            if (!buffer.reaches(joined.channel(), commitNumber)) {
                return false;
            }
        }
        catchUp.behind(stream, commitNumber);
        return true;
    }

    /// What a subscription's history is called: a position taken under another is worth nothing.
    String history(String rightsDigest) {
        return history + (histories == 0 ? "" : "-" + histories) + "." + rightsDigest;
    }

    /// A subscription was installed: it goes live at once, replays what it missed or reads its rows first.
    ///
    /// @return whether it missed nothing; null when it did not ask to resume
    @Nullable
    Resumed install(Subscription subscription, TableState table, String rightsDigest) {
        subscription.startsWith(host.order().unseen().count());
        subscription.history(rightsDigest);
        ResumePosition position = subscription.request().resume();
        if (position != null) {
            Resumed outcome = resume(subscription, table, position, rightsDigest);
            metrics.resumed(outcome);
            return outcome;
        }
        if (readsSnapshot(subscription)) {
            subscription.startsWith(0);
            subscription.stepApart();
            snapshots.begin(subscription);
        }
        return null;
    }

    /// Whether it asked for a snapshot that this server does not give.
    boolean lacksSnapshot(Subscription subscription) {
        return settings.snapshots() == EngineSettings.Snapshots.DISABLED
                && subscription.request().resume() == null
                && subscription.request().initial() == ShapeRequest.Initial.SNAPSHOT;
    }

    private boolean readsSnapshot(Subscription subscription) {
        return settings.snapshots() == EngineSettings.Snapshots.SERVED
                && subscription.request().initial() == ShapeRequest.Initial.SNAPSHOT;
    }

    private Resumed resume(Subscription subscription, TableState table, ResumePosition position, String rightsDigest) {
        Lsn lsn = position.lsn();
        if (lsn == null || !covers(table, lsn, position, rightsDigest)) {
            return Resumed.NO;
        }
        BufferedPart first = buffer.next(table.relation().oid(), lsn);
        if (first != null) {
            subscription.startsWith(first.commit().number());
        }
        subscription.stepApart();
        catchUp.apart(subscription, subscription.firstCommit(), null);
        return Resumed.YES;
    }

    private boolean covers(TableState table, Lsn lsn, ResumePosition position, String rightsDigest) {
        String told = position.history();
        boolean sameHistory = told == null ? histories == 0 : told.equals(history(rightsDigest));
        return sameHistory
                && position.scope() == ResumePosition.Scope.SHAPE
                && !lsn.isAfter(host.position())
                && !isAmbiguous(lsn)
                && !lsn.isBefore(table.movedUntil())
                && !untold.mayBeBefore(table.relation().oid(), told == null ? null : rightsDigest, lsn)
                && buffer.covers(table.relation().oid(), lsn);
    }

    /// What the client is told besides the result, when its position could not be read.
    void tellUnreadable(Subscription subscription) {
        ResumePosition position = subscription.request().resume();
        if (position != null && position.lsn() == null) {
            Frames.give(
                    sink,
                    subscription.stream(),
                    new StreamEvent.Failure(
                            subscription.label(),
                            ErrorCode.INVALID_RESUME,
                            "the resume position is not an LSN; the subscription is live from now on",
                            StreamEvent.Action.RESNAPSHOT,
                            null));
        }
    }

    void read(long joinId, SnapshotOutcome outcome) {
        snapshots.read(joinId, outcome);
    }

    void rows(long joinId, List<EventBody> rows) {
        snapshots.rows(joinId, rows);
    }

    /// The connection to the log was lost, or another server answers.
    void interrupted() {
        snapshots.restart();
    }

    void drained(StreamState stream) {
        catchUp.wake(stream);
        snapshots.wake(stream);
    }

    void tick(Instant now) {
        long pinned = Math.min(host.order().unseen().oldest(), Math.min(catchUp.readsFrom(), snapshots.readsFrom()));
        buffer.tick(now, pinned);
        untold.tick(buffer::covers);
        catchUp.tick();
        snapshots.tick();
        metrics.buffered(buffer.weightBytes(), buffer.age(now));
    }

    void forget(Subscription subscription) {
        catchUp.forget(subscription);
        snapshots.forget(subscription);
    }

    void forget(StreamState stream) {
        catchUp.forget(stream);
    }
}
