package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Origin;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Role;
import sluice.core.catalog.Stamp;
import sluice.core.dispatch.CommitDispatch.Pass;
import sluice.core.error.ErrorCode;
import sluice.core.resume.BufferedBroadcast.Said;
import sluice.core.session.Identity;
import sluice.core.stream.ChannelSubscription;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.transaction.Change;
import sluice.core.transaction.Transaction;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

/// The one writer: takes inputs, gives effects, owns every subscription. Never waits.
///
/// Confined to one thread. Each commit is one step: its tables' rights are made as new as the commit (for which the
/// line may park, {@link #acceptsWal}), its changes are decided and handed to the sink, then its end may be
/// confirmed.
public final class Engine
        implements Subscribing.Host,
                RightsKeeper.Host,
                Feeds.Host,
                Installation.Host,
                ControlDesk.Host,
                InstalledShapes.Host,
                OpenStreams.Host,
                SessionWatch.Host,
                ChannelDesk.Host {
    private final EffectSink effects;
    private final FrameSink sink;
    private final EngineMetrics metrics;
    private final EngineSettings settings;
    private final RulePlanner planner;
    private final Questions questions;
    private RightsKeeper rights;
    private final CatalogLine line;
    private final CommitDispatch dispatch;
    private final CatalogSchedule schedule;
    private final SessionWatch sessions;
    private final Feeds feeds;

    private final Subscribing subscribing;
    private final ControlDesk desk;
    private final InstalledShapes shapes;
    private final ChannelDesk channels;

    private final OpenStreams streams;
    private final List<Input> deferred = new ArrayList<>();

    private Instant now = Instant.EPOCH;
    private Lsn position = Lsn.ZERO;
    private Lsn lastDispatchedEnd = Lsn.ZERO;
    private boolean replicating;
    private boolean awaitingHistory;
    private long lastRequestBeforeHistory;

    private long lastRequestId;

    private WalEvent.@Nullable SpilledBegin spilled;
    private boolean everyImageGiven;

    /// What an engine is wired to.
    ///
    /// @param catalog read before the first event of the log
    /// @param sessions null where no session is ever ended
    public record Ports(
            EffectSink effects,
            FrameSink sink,
            EngineMetrics metrics,
            RulePlanner planner,
            CatalogImage catalog,
            @Nullable SessionRules sessions) {
        /// Without sessions that end.
        public Ports(
                EffectSink effects, FrameSink sink, EngineMetrics metrics, RulePlanner planner, CatalogImage catalog) {
            this(effects, sink, metrics, planner, catalog, null);
        }
    }

    public Engine(Ports ports, EngineSettings settings) {
        this.effects = ports.effects();
        this.sink = ports.sink();
        this.metrics = ports.metrics();
        this.planner = ports.planner();
        this.settings = settings;
        this.questions = new Questions(effects, settings.questionTimeout());
        this.rights = new RightsKeeper(this, ports.catalog());
        this.schedule = new CatalogSchedule(effects, settings, () -> ++lastRequestId);
        this.dispatch = new CommitDispatch(this, sink, effects, metrics, settings);
        this.shapes = new InstalledShapes(this, dispatch, sink, metrics, settings.unindexedShapesMax());
        this.channels = new ChannelDesk(this, sink, effects, settings);
        this.subscribing = new Subscribing(this, effects, () -> ++lastRequestId);
        this.streams = new OpenStreams(this, dispatch, subscribing, effects, sink);
        this.sessions = new SessionWatch(this, effects, metrics, ports.sessions());
        sessions.tick(now);
        this.desk = new ControlDesk(this, subscribing, effects, sink);
        this.feeds =
                new Feeds(this, dispatch, new Feeds.Ports(sink, effects, metrics, () -> ++lastRequestId), settings);
        this.line = new CatalogLine(effects, settings.reloadTimeout(), order());
    }

    /// Whether the next event of the log may be given. False while the line waits for a catalog.
    public boolean acceptsWal() {
        return line.isFree() && !awaitingHistory;
    }

    /// Everything up to here has been dispatched.
    @Override
    public Lsn position() {
        return position;
    }

    /// A parked commit has everything before it behind itself, though the position is still where
    /// the last one ended.
    @Override
    public Lsn dispatchedUntil() {
        return position.max(line.parkedAt());
    }

    public int streamCount() {
        return streams.all().size();
    }

    public void step(Input input, Instant at) {
        now = at;
        // between the pieces of a spilled commit nothing may move what the commit is judged by; each of these answers a
        // bounded question or an admitted connection, so the list is as bounded as they are
        boolean movesNothing = input instanceof Input.Wal
                || input instanceof Input.Closed
                || input instanceof Input.Count
                || input instanceof Input.Lagging;
        if (dispatch.isOpen() && !movesNothing) {
            if (!(input instanceof Input.Tick)) {
                deferred.add(input);
            }
            return;
        }
        handle(input);
    }

    /// Feeds what is behind, for a bounded time.
    ///
    /// @return whether there is more to do at once
    public boolean proceed(Instant at) {
        now = at;
        return !dispatch.isOpen() && feeds.catchUp().proceed(at);
    }

    private void handle(Input input) {
        switch (input) {
            case Input.Replicating(var from, var incarnation) -> {
                replicating = true;
                feeds.startsAt(from, incarnation);
                advance(from);
            }
            case Input.Interrupted() -> feeds.interrupted();
            case Input.Drained(var handle) -> drained(handle);
            case Input.Wal(var event) -> wal(event);
            case Input.CatalogAnswer(var id, var image) -> catalogAnswered(id, image);
            case Input.RightsAnswer(var fingerprint, var stamp) -> {
                shown(stamp);
                schedule.polled(fingerprint, now);
                dispatch.checks().polled(stamp, schedule.catalog());
            }
            case Input.FoldsAnswer(var id, var answers) -> questions.answered(id, answers);
            case Input.ProbeAnswer(var id, var outcome) -> dispatch.probes().answered(id, outcome, position, now);
            case Input.CrossCheckAnswer(var id, var outcome) ->
                dispatch.checks().answered(id, outcome);
            case Input.LeaseAnswer(var id, var outcome) -> dispatch.leases().answered(id, outcome);
            case Input.Open open -> open(open);
            case Input.Closed closed -> streams.closed(closed.stream());
            case Input.Control control -> desk.handle(control);
            case Input.HookAnswered(var id, var answer, var random) ->
                channels.hooks().answered(id, answer, random);
            case Input.DropShapes(var id, var selection) -> desk.drop(id, selection);
            case Input.Count(var id) ->
                effects.emit(new Effect.Counted(id, CensusTaker.count(rights, streams.all(), sessions.blindness())));
            case Input.Lagging(var late) -> streams.lag().is(late);
            case Input.Tick() -> tick();
            case Input.SnapshotRead(var id, var outcome) -> feeds.read(id, outcome);
            case Input.SnapshotRows(var id, var rows) -> feeds.rows(id, rows);
            case Input.PieceRead(var id, var changes) -> feeds.catchUp().pieceRead(id, changes);
            case Input.KeysRead(var id, var keys) -> feeds.catchUp().keysRead(id, keys);
        }
    }

    private void wal(WalEvent event) {
        if (!acceptsWal()) {
            throw new IllegalStateException("the line is parked and was given " + event.getClass());
        }
        switch (event) {
            case WalEvent.Committed committed -> {
                if (!committed.transaction().endLsn().isAfter(lastDispatchedEnd)) {
                    metrics.duplicateDiscarded();
                    return;
                }
                parkOrRelease(committed);
            }
            case WalEvent.SpilledBegin begin -> parkOrRelease(begin);
            case WalEvent.SpilledImages(var changes, var weight) -> {
                everyImageGiven = true;
                feeds.spilled(changes);
                dispatchAll(Pass.EVERY_IMAGE, changes);
            }
            case WalEvent.SpilledChunk(var changes, var weight) -> {
                sessions.before(changes, dispatch.commitLsn(), now);
                feeds.spilled(changes);
                dispatchAll(everyImageGiven ? Pass.NET : Pass.NET_TO_ALL, changes);
            }
            case WalEvent.SpilledEnd end -> {
                WalEvent.SpilledBegin begin = spilled;
                spilled = null;
                if (begin == null) {
                    throw new IllegalStateException("the end of a spilled commit without its begin");
                }
                List<Said> said = channels.said(end.messages(), begin.commitLsn(), begin.commitTime());
                feeds.keep(begin, end.kept(), said, now);
                broadcast(said);
                endCommit(begin.endLsn());
            }
            case WalEvent.LoneMessage(var lsn, var message) -> channels.emitted(message);
            case WalEvent.TimelineLeft(var at) -> timelineLeft(at);
            case WalEvent.Idle(var walEnd) -> {
                advance(walEnd);
                effects.emit(new Effect.Confirm(position));
            }
        }
    }

    /// A failover. If nothing dispatched and no catalog gone by lies past `at`, all goes on. Else streams hold
    /// rows, and rights are known, that never were: all begins anew with a catalog of the new history. Answers
    /// under way are of the server that was left, and decide nothing.
    private void timelineLeft(Lsn at) {
        feeds.interrupted();
        boolean lost = lastDispatchedEnd.isAfter(at) || rights.knowsPast(at);
        if (lost) {
            // first: what is withheld below would let go what streams hold of commits that never were
            streams.historyLost();
        }
        feeds.timelineLeft(at, position);
        // before anything is answered: whoever is told a position from now on is told one of this history
        lastDispatchedEnd = lastDispatchedEnd.min(at);
        position = position.min(at);
        sessions.timelineLeft(at);
        dispatch.abandonQuestions();
        schedule.restart();
        lastRequestBeforeHistory = lastRequestId;
        subscribing.abandonCatalogs();
        questions.abandon();
        if (lost) {
            feeds.historyLost(at);
            awaitingHistory = true;
        }
        effects.emit(new Effect.Confirm(position));
    }

    private void parkOrRelease(WalEvent event) {
        List<Integer> outdated = CatalogDemand.outdated(event, rights, order().unseen());
        if (outdated.isEmpty()) {
            release(event);
        } else {
            line.park(event, CommitStart.xid(event), outdated, ++lastRequestId, now);
        }
    }

    private void release(WalEvent event) {
        rights.reconcile(CommitStart.announced(event), CommitStart.commitLsn(event));
        rights.dispatching(CommitStart.xid(event), CommitStart.commitLsn(event));
        if (event instanceof WalEvent.Committed(var transaction)) {
            dispatch(transaction);
        } else if (event instanceof WalEvent.SpilledBegin begin) {
            spilled = begin;
            everyImageGiven = false;
            dispatch.begin(begin.xid(), begin.commitLsn(), begin.commitTime(), now);
        }
    }

    private void dispatch(Transaction transaction) {
        sessions.before(transaction.changes(), transaction.commitLsn(), now);
        List<Said> said = channels.said(transaction.messages(), transaction.commitLsn(), transaction.commitTime());
        feeds.keep(transaction, said, now);
        dispatch.begin(transaction.xid(), transaction.commitLsn(), transaction.commitTime(), now);
        if (!transaction.everyImage().isEmpty()) {
            dispatchAll(Pass.EVERY_IMAGE, transaction.everyImage());
        }
        dispatchAll(transaction.everyImage().isEmpty() ? Pass.NET_TO_ALL : Pass.NET, transaction.changes());
        broadcast(said);
        endCommit(transaction.endLsn());
    }

    private void broadcast(List<Said> said) {
        for (Said one : said) {
            for (ChannelSubscription to : channels.joined(one.channel())) {
                dispatch.broadcast(to, one.event());
            }
        }
    }

    private void dispatchAll(Pass pass, List<Change> changes) {
        dispatch.pass(pass);
        for (Change change : changes) {
            dispatch.change(change);
        }
    }

    private void endCommit(Lsn endLsn) {
        dispatch.end();
        lastDispatchedEnd = endLsn;
        streams.commitEnded();
        advance(endLsn);
        effects.emit(new Effect.Confirm(position));
        List<Input> waiting = List.copyOf(deferred);
        deferred.clear();
        waiting.forEach(this::handle);
    }

    private void advance(Lsn reached) {
        position = position.max(reached);
        dispatch.probes().reached(position);
        feeds.snapshots().reached();
    }

    private void tick() {
        sessions.tick(now);
        dispatch.tick(now);
        questions.tick(now);
        CatalogLine.Release moved = line.tick(now, lastRequestId + 1);
        lastRequestId++;
        released(moved);
        subscribing.tick(now);
        schedule.tick(now);
        channels.tick();
        feeds.tick(now);
        streams.lag().tick();
    }

    private void drained(StreamHandle handle) {
        StreamState stream = stream(handle.streamId());
        if (stream != null) {
            dispatch.drained(stream, now);
            feeds.drained(stream);
        }
    }

    private void shown(@Nullable Stamp stamp) {
        if (stamp != null) {
            order().shown(stamp, position);
        }
    }

    private void catalogAnswered(long requestId, @Nullable CatalogImage given) {
        CatalogImage image = requestId <= lastRequestBeforeHistory ? null : given;
        shown(image == null ? null : image.stamp());
        if (schedule.isOut(requestId)) {
            if (image != null && awaitingHistory) {
                awaitingHistory = false;
                rights = new RightsKeeper(this, image);
                effects.emit(new Effect.UseCatalog(image));
            } else if (image != null) {
                take(image, null);
            }
            schedule.loaded(image == null ? null : image.rights(), now);
            return;
        }
        if (subscribing.catalogAnswered(requestId, image)) {
            return;
        }
        List<Integer> asked = line.askedBy(requestId);
        if (image != null && !asked.isEmpty() && line.isNewEnough(image.stamp())) {
            take(image, asked);
        }
        released(line.answered(requestId, image == null ? null : image.stamp(), now));
    }

    @Override
    public void take(CatalogImage answer, @Nullable List<Integer> asked) {
        if (rights.apply(answer, asked)) {
            effects.emit(new Effect.UseCatalog(rights.catalog()));
            if (asked != null) {
                schedule.movedBesides();
            }
        }
    }

    private void released(CatalogLine.@Nullable Release moved) {
        switch (moved) {
            case null -> {}
            case CatalogLine.Release.Ready(var event) -> release(event);
            case CatalogLine.Release.GaveUp(var event, var oids) -> {
                effects.emit(new Effect.Log(new Notice(
                        Notice.Level.ERROR,
                        "catalog reload timed out; the shapes of its tables end",
                        List.of("tables", String.valueOf(oids)))));
                rights.unavailable(oids, CommitStart.xid(event));
                release(event);
            }
        }
    }

    private void open(Input.Open open) {
        if (!replicating || awaitingHistory) {
            sink.refuse(open.stream(), ErrorCode.NOT_REPLICATING, "replication has not started");
            return;
        }
        streams.open(open);
    }

    @Override
    public @Nullable StreamState stream(String streamId) {
        return streams.stream(streamId);
    }

    @Override
    public boolean admitsUnindexed() {
        return shapes.admitsUnindexed();
    }

    @Override
    public void add(Subscription subscription, TableState table) {
        shapes.add(subscription, table);
    }

    @Override
    public void endSubscription(Subscription subscription, ErrorCode code, String message) {
        shapes.end(subscription, code, message);
    }

    @Override
    public void columnsMoved(Subscription subscription) {
        shapes.tellColumns(subscription);
    }

    @Override
    public void settled(Subscription subscription) {
        shapes.identityMoved(subscription);
        shapes.tellColumns(subscription);
        dispatch.settled(subscription, now);
        desk.settled(subscription);
    }

    @Override
    public void unsubscribe(Subscription subscription) {
        shapes.unsubscribe(subscription);
    }

    @Override
    public ControlDesk desk() {
        return desk;
    }

    @Override
    public void rebind(StreamState stream, Identity identity) {
        sessions.closed(stream);
        stream.rebind(identity);
        sessions.opened(stream);
        sink.expires(stream.handle(), identity.expiresAt());
        rights.callerChanged(List.copyOf(stream.subscriptions()));
    }

    @Override
    public void closeStream(StreamState stream, CloseReason reason, ErrorCode code, String message) {
        streams.close(stream, reason, code, message);
    }

    @Override
    public void forget(StreamState stream) {
        desk.closed(stream);
        sessions.closed(stream);
        feeds.forget(stream);
        shapes.forget(stream);
        channels.forget(stream);
        HeldRelease.forget(stream);
    }

    @Override
    public ChannelDesk channels() {
        return channels;
    }

    @Override
    public boolean hasRoom(StreamState stream, int bytes) {
        return !stream.isBehind() && stream.hasRoom(1, bytes, settings.queueEventsMax(), settings.queueBytesMax());
    }

    @Override
    public Iterable<TableState> tables() {
        return rights.tables().all();
    }

    @Override
    public List<TableState> tablesNamed(String schema, String table) {
        return rights.tables().named(schema, table);
    }

    @Override
    public @Nullable TableState table(int relationOid) {
        return rights.table(relationOid);
    }

    @Override
    public @Nullable Role role(String name) {
        return rights.catalog().role(name);
    }

    @Override
    public CatalogImage catalog() {
        return rights.catalog();
    }

    @Override
    public long catalogVersion() {
        return rights.version();
    }

    @Override
    public SessionWatch sessions() {
        return sessions;
    }

    @Override
    public Questions questions() {
        return questions;
    }

    @Override
    public RulePlanner planner() {
        return dispatch.checks().over(dispatch.leases().over(planner));
    }

    @Override
    public void recompose(int relationOid, Origin.Question question) {
        TableState table = rights.table(relationOid);
        if (table != null) {
            rights.recompose(table, question);
        }
    }

    @Override
    public Feeds feeds() {
        return feeds;
    }

    @Override
    public boolean fallBehind(StreamState stream, long commitNumber) {
        return feeds.fallBehind(stream, commitNumber);
    }

    @Override
    public CommitOrder order() {
        return dispatch.order();
    }

    @Override
    public EngineSettings settings() {
        return settings;
    }

    @Override
    public EngineMetrics metrics() {
        return metrics;
    }

    @Override
    public Instant now() {
        return now;
    }
}
