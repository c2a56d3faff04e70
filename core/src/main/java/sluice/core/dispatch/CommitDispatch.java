package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Role;
import sluice.core.error.ErrorCode;
import sluice.core.error.WarningCode;
import sluice.core.event.Delivery;
import sluice.core.event.EventBody;
import sluice.core.event.EventEncoder;
import sluice.core.event.FrameEncoder;
import sluice.core.event.StreamEvent;
import sluice.core.expression.ColumnMapping;
import sluice.core.pgoutput.Tuple;
import sluice.core.shape.Operation;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.HeldCommit;
import sluice.core.stream.HeldEvent;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.transaction.Change;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// One commit at a time, from its changes to what each stream receives. Owned by the engine's thread.
///
/// Life: {@link #begin}, {@link #change} for each change, {@link #end}. A stream that may have to wait for an
/// answer has its part of the commit collected and held, whole and in order; every other stream's part goes
/// straight to the sink. A part larger than a queue can ever be closes its stream at once.
final class CommitDispatch implements Probes.Listener {
    /// What a commit costs a stream besides its bodies.
    private static final int ORDINARY_EVENT_BYTES = 256;

    /// What the dispatch needs of the engine.
    interface Host extends CrossChecks.Host {
        @Nullable
        Role role(String name);

        /// Ends the stream and everything in it, telling the client why.
        void closeStream(StreamState stream, CloseReason reason, ErrorCode code, String message);
    }

    /// Which images of the commit are being dispatched.
    enum Pass {
        /// Net images, to everyone who does not ask for and may not have more.
        NET,
        /// Every image, to roles that bypass row-level security.
        EVERY_IMAGE,
        /// Net images to everyone.
        NET_TO_ALL
    }

    private final Host host;
    private final FrameSink sink;
    private final EngineMetrics metrics;
    private final EngineSettings settings;
    private final EventEncoder encoder;
    private final RowJudge judge;
    private final Probes probes;
    private final CommitOrder order;
    private final CrossChecks checks;
    private final List<StreamState> holding = new ArrayList<>();
    private final Set<Subscription> toTell = new LinkedHashSet<>();
    private final Consumer<Subscription> candidate = this::candidate;

    private Lsn commitLsn = Lsn.ZERO;
    private Xid xid = new Xid(0);
    private Instant commitTime = Instant.EPOCH;
    private Instant now = Instant.EPOCH;
    private Pass pass = Pass.NET_TO_ALL;
    private long serial;
    private boolean open;
    private boolean encoderOnCommit;

    private @Nullable TableState table;
    private @Nullable Change change;
    private @Nullable ColumnMapping mapping;
    private boolean encoderOnChange;

    CommitDispatch(Host host, FrameSink sink, EffectSink effects, EngineMetrics metrics, EngineSettings settings) {
        this.host = host;
        this.sink = sink;
        this.metrics = metrics;
        this.settings = settings;
        this.encoder = new EventEncoder(settings.changeBytesMax());
        this.checks = new CrossChecks(host, sink, effects, metrics, settings);
        this.judge = new RowJudge(metrics, checks);
        this.probes = new Probes(effects, metrics, settings, host::catalog, this);
        this.order = new CommitOrder(probes.unseen());
    }

    Probes probes() {
        return probes;
    }

    /// Another server answers from now on: nothing under way decides anything.
    void abandonQuestions() {
        probes.withholdAll();
        order.restart();
        checks.abandon();
    }

    CommitOrder order() {
        return order;
    }

    CrossChecks checks() {
        return checks;
    }

    boolean isOpen() {
        return open;
    }

    /// Of the commit that is open, or was last.
    Lsn commitLsn() {
        return commitLsn;
    }

    void begin(Xid transaction, Lsn lsn, Instant time, Instant at) {
        xid = transaction;
        commitLsn = lsn;
        commitTime = time;
        now = at;
        open = true;
        serial++;
        encoderOnCommit = false;
        pass = Pass.NET_TO_ALL;
        judge.beginCommit(lsn, time);
        probes.unseen().dispatched(transaction);
    }

    void pass(Pass images) {
        pass = images;
    }

    void change(Change next) {
        TableState found = host.table(next.relation().oid());
        if (found == null) {
            return;
        }
        table = found;
        change = next;
        ColumnMapping columns = found.mapping(next.relation());
        mapping = columns;
        found.committed(commitLsn);
        encoderOnChange = false;
        if (pass != Pass.EVERY_IMAGE) {
            count(found, next);
        }
        if (next instanceof Change.Truncate) {
            truncate(found);
            return;
        }
        judge.beginChange(found.relation(), next, columns);
        if (found.hasProbesOutstanding()) {
            touch(found, next, columns);
        }
        int named = found.index().candidates(newTuple(next), oldTuple(next), columns, candidate);
        metrics.candidates(found.relation(), named);
    }

    private void count(TableState found, Change next) {
        metrics.change(found.relation(), operation(next));
        Tuple row = newTuple(next);
        if (next instanceof Change.Update && row != null) {
            for (int i = 0; i < row.columnCount(); i++) {
                if (row.kind(i) == Tuple.Kind.UNCHANGED) {
                    metrics.unchangedToast(
                            found.relation(), next.relation().columns().get(i).name());
                }
            }
        }
    }

    private void touch(TableState found, Change next, ColumnMapping columns) {
        Tuple row = newTuple(next);
        Tuple old = oldTuple(next);
        if (row != null) {
            found.touched(Probes.rowKey(found.relation(), columns, row), commitLsn);
        }
        if (old != null) {
            found.touched(Probes.rowKey(found.relation(), columns, old), commitLsn);
        }
    }

    private void truncate(TableState found) {
        found.touchedAll(commitLsn);
        for (Subscription subscription : found.index().all()) {
            if (!takesPart(subscription)) {
                continue;
            }
            send(subscription, Delivery.TRUNCATE);
        }
    }

    private boolean takesPart(Subscription subscription) {
        StreamState stream = subscription.stream();
        if (!stream.isOpen() || subscription.state() == Subscription.State.ENDED) {
            return false;
        }
        if (!stream.identity().expiresAt().isAfter(now)) {
            host.closeStream(stream, CloseReason.TOKEN_EXPIRED, ErrorCode.TOKEN_EXPIRED, "the token has expired");
            return false;
        }
        return switch (pass) {
            case NET_TO_ALL -> true;
            case NET -> !bypasses(stream);
            case EVERY_IMAGE -> bypasses(stream);
        };
    }

    private boolean bypasses(StreamState stream) {
        Role role = host.role(stream.identity().role());
        return role != null && role.bypass() != Role.Bypass.NONE;
    }

    private void candidate(Subscription subscription) {
        if (!takesPart(subscription)) {
            return;
        }
        StreamState stream = subscription.stream();
        Change current = present(change);
        if (subscription.state() == Subscription.State.RESOLVING) {
            hold(stream, HeldEvent.waiting(subscription, current, present(mapping)));
            return;
        }
        switch (judge.judge(subscription, current)) {
            case NOTHING -> {}
            case SEND -> {
                noteOldKey(subscription);
                send(subscription, judge.delivery());
            }
            case WITHHOLD -> withhold(subscription, operation(current));
            case PROBE -> {
                noteOldKey(subscription);
                probe(subscription, HeldEvent.waiting(subscription, current, present(mapping)), judge.delivery());
            }
        }
    }

    private void noteOldKey(Subscription subscription) {
        if (judge.oldKeyWithheld()) {
            withhold(subscription, Operation.DELETE);
        }
    }

    private void send(Subscription subscription, Delivery form) {
        StreamState stream = subscription.stream();
        if (stream.holds()) {
            hold(stream, held(subscription, form));
            return;
        }
        if (form == Delivery.TRUNCATE && !subscription.operations().include(Operation.TRUNCATE)) {
            warnOfTruncate(subscription, present(change));
            return;
        }
        prepareEncoder();
        give(subscription, body(subscription, form));
    }

    /// Its body is made here, where all who see the change share one.
    private HeldEvent held(Subscription subscription, Delivery form) {
        EventBody shared = null;
        if (form != Delivery.TRUNCATE) {
            prepareEncoder();
            shared = body(subscription, form);
        }
        return HeldEvent.decided(subscription, present(change), present(mapping), form, shared);
    }

    private void warnOfTruncate(Subscription subscription, Change truncate) {
        sink.frame(
                subscription.stream().handle(),
                FrameEncoder.frame(new StreamEvent.Warning(
                        subscription.label(),
                        WarningCode.TABLE_TRUNCATED,
                        "table \"" + truncate.relation().qualifiedName() + "\" was truncated",
                        "rows received before may be gone",
                        "subscribe to TRUNCATE, or read the table again")));
    }

    private EventBody body(Subscription subscription, Delivery form) {
        return form == Delivery.TRUNCATE
                ? encoder.truncate()
                : encoder.body(form.operation(), form.transition(), subscription.projection(), form.images());
    }

    private void prepareEncoder() {
        if (!encoderOnCommit) {
            encoder.beginCommit(commitLsn, commitTime);
            encoderOnCommit = true;
        }
        if (!encoderOnChange) {
            encoder.beginChange(present(change), present(mapping));
            encoderOnChange = true;
        }
    }

    private void give(Subscription subscription, EventBody body) {
        StreamState stream = subscription.stream();
        stream.charge(serial, body.weightBytes());
        if (stream.commitEvents() > settings.queueEventsMax() || stream.commitBytes() > settings.queueBytesMax()) {
            lag(stream);
            return;
        }
        sink.change(stream.handle(), subscription.tag(), subscription.nextSeq(), body);
    }

    private void lag(StreamState stream) {
        host.closeStream(
                stream,
                CloseReason.STREAM_LAGGING,
                ErrorCode.STREAM_LAGGING,
                "a commit does not fit in the stream's queue");
    }

    private void hold(StreamState stream, HeldEvent event) {
        if (stream.charge(serial, ORDINARY_EVENT_BYTES)) {
            stream.held().addLast(new HeldCommit(xid, commitLsn, commitTime));
            holding.add(stream);
        }
        if (stream.heldEvents() >= settings.queueEventsMax()
                || stream.heldBytes() + event.weightBytes() > settings.queueBytesMax()) {
            lag(stream);
            return;
        }
        stream.held().getLast().events().add(event);
        stream.addHeld(1, event.weightBytes());
    }

    private void probe(Subscription subscription, HeldEvent event, Delivery form) {
        Probes.Commit commit = new Probes.Commit(xid, commitLsn, now.plus(settings.stampWait()));
        hold(subscription.stream(), event);
        if (subscription.stream().isOpen() && !probes.ask(event, form, present(table), commit, now)) {
            event.drop();
            withhold(subscription, operation(event.change()));
        }
    }

    private void withhold(Subscription subscription, Operation operation) {
        TableState subscribed = host.table(subscription.relationOid());
        if (subscribed != null) {
            metrics.withheld(subscribed.relation(), operation);
        }
        // deletes outside the replica identity were announced when the shape was granted
        if (operation != Operation.DELETE || !subscription.announcedDeletes()) {
            subscription.countWithheld();
            toTell.add(subscription);
        }
    }

    /// The commit is complete: what nothing waits for is released, and each shard gets its batch.
    void end() {
        open = false;
        for (StreamState stream : holding) {
            release(stream);
        }
        holding.clear();
        sink.endCommit();
        tellWithheld(now);
        change = null;
        table = null;
    }

    private void tellWithheld(Instant at) {
        for (Iterator<Subscription> waiting = toTell.iterator(); waiting.hasNext(); ) {
            Subscription subscription = waiting.next();
            boolean gone = subscription.state() == Subscription.State.ENDED
                    || !subscription.stream().isOpen();
            long untold = gone ? 0 : subscription.tellWithheld(at);
            if (gone || untold > 0) {
                waiting.remove();
            }
            if (untold > 0) {
                sink.frame(
                        subscription.stream().handle(),
                        FrameEncoder.frame(new StreamEvent.Warning(
                                subscription.label(),
                                WarningCode.CHANGES_WITHHELD,
                                untold + " changes could not be decided and were withheld",
                                "rows may be missing or out of date",
                                "read the rows again; see docs/operating.md for the causes")));
            }
        }
    }

    /// Time has passed: answers that are due again are asked for, and what could not be told before is.
    void tick(Instant at) {
        now = at;
        probes.tick(at);
        checks.tick();
        tellWithheld(at);
    }

    @Override
    public void decided(HeldEvent event) {
        settle(event);
    }

    @Override
    public void withheld(HeldEvent event) {
        withhold(event.subscription(), operation(event.change()));
        settle(event);
    }

    private void settle(HeldEvent event) {
        StreamState stream = event.subscription().stream();
        if (!open && stream.isOpen()) {
            release(stream);
            sink.endCommit();
            tellWithheld(now);
        }
    }

    /// A subscription got its new rule, or ended: what waited for it is judged again.
    void settled(Subscription subscription, Instant at) {
        now = at;
        checks.watch(subscription);
        StreamState stream = subscription.stream();
        for (HeldCommit commit : stream.held()) {
            for (HeldEvent event : commit.events()) {
                if (event.subscription() == subscription && event.isWaiting() && !event.isCurrent()) {
                    rejudge(commit, event);
                }
            }
        }
        if (!open && stream.isOpen()) {
            release(stream);
            sink.endCommit();
            tellWithheld(at);
        }
    }

    private void release(StreamState stream) {
        ArrayDeque<HeldCommit> held = stream.held();
        while (stream.isOpen() && !held.isEmpty() && held.getFirst().isDecided()) {
            if (!stream.identity().expiresAt().isAfter(now)) {
                host.closeStream(stream, CloseReason.TOKEN_EXPIRED, ErrorCode.TOKEN_EXPIRED, "the token has expired");
                return;
            }
            HeldCommit commit = held.getFirst();
            if (!stillHolds(commit)) {
                return;
            }
            held.removeFirst();
            stream.addHeld(-commit.events().size(), -commit.weightBytes());
            write(stream, commit);
        }
    }

    /// Judges again what was decided under a rule that has changed since (image and rights of one moment).
    ///
    /// @return whether everything is decided still
    private boolean stillHolds(HeldCommit commit) {
        for (HeldEvent event : commit.events()) {
            if (event.delivery() != null && !event.isCurrent()) {
                rejudge(commit, event);
            }
        }
        return commit.isDecided();
    }

    private void rejudge(HeldCommit commit, HeldEvent event) {
        Subscription subscription = event.subscription();
        if (event.delivery() == Delivery.TRUNCATE && subscription.state() != Subscription.State.ENDED) {
            event.decide(Delivery.TRUNCATE);
            return;
        }
        TableState subscribed = host.table(subscription.relationOid());
        switch (subscription.state()) {
            case ENDED -> event.drop();
            case RESOLVING -> event.waitAgain();
            case ACTIVE -> {
                if (subscribed == null) {
                    event.drop();
                    return;
                }
                // the tuple is read by the definition it came under, whatever the catalog says by now
                event.map(subscribed.mapping(event.change().relation()));
                judge.beginCommit(commit.commitLsn(), commit.commitTime());
                judge.beginChange(subscribed.relation(), event.change(), event.mapping());
                switch (judge.judge(subscription, event.change())) {
                    case NOTHING -> event.drop();
                    case SEND -> event.decide(judge.delivery());
                    case WITHHOLD -> {
                        event.drop();
                        withhold(subscription, operation(event.change()));
                    }
                    case PROBE -> {
                        event.waitAgain();
                        Probes.Commit about =
                                new Probes.Commit(commit.xid(), commit.commitLsn(), now.plus(settings.stampWait()));
                        if (!probes.ask(event, judge.delivery(), subscribed, about, now)) {
                            event.drop();
                            withhold(subscription, operation(event.change()));
                        }
                    }
                }
                restoreCommit();
            }
        }
    }

    private void restoreCommit() {
        judge.beginCommit(commitLsn, commitTime);
        TableState current = table;
        ColumnMapping columns = mapping;
        Change dispatched = change;
        if (current != null && columns != null && dispatched != null) {
            judge.beginChange(current.relation(), dispatched, columns);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the encoder is begun once for each change object, equal or not
    private void write(StreamState stream, HeldCommit commit) {
        encoder.beginCommit(commit.commitLsn(), commit.commitTime());
        Change encoded = null;
        for (HeldEvent event : commit.events()) {
            Delivery form = event.delivery();
            Subscription subscription = event.subscription();
            if (form == null || subscription.state() == Subscription.State.ENDED) {
                continue;
            }
            if (form == Delivery.TRUNCATE && !subscription.operations().include(Operation.TRUNCATE)) {
                warnOfTruncate(subscription, event.change());
                continue;
            }
            EventBody ready = event.body();
            if (ready == null && encoded != event.change()) {
                encoder.beginChange(event.change(), event.mapping());
                encoded = event.change();
            }
            sink.change(
                    stream.handle(),
                    subscription.tag(),
                    subscription.nextSeq(),
                    ready != null ? ready : body(subscription, form));
        }
        encoderOnCommit = false;
        encoderOnChange = false;
    }

    /// Forgets what a closed stream held.
    static void forget(StreamState stream) {
        for (HeldCommit commit : stream.held()) {
            for (HeldEvent event : commit.events()) {
                event.drop();
            }
        }
        stream.held().clear();
    }

    static Operation operation(Change change) {
        return switch (change) {
            case Change.Insert insert -> Operation.INSERT;
            case Change.Update update -> Operation.UPDATE;
            case Change.Delete delete -> Operation.DELETE;
            case Change.Truncate truncate -> Operation.TRUNCATE;
        };
    }

    static @Nullable Tuple newTuple(Change change) {
        return switch (change) {
            case Change.Insert insert -> insert.row();
            case Change.Update update -> update.row();
            case Change.Delete delete -> null;
            case Change.Truncate truncate -> null;
        };
    }

    static @Nullable Tuple oldTuple(Change change) {
        return switch (change) {
            case Change.Insert insert -> null;
            case Change.Update update -> update.old();
            case Change.Delete delete -> delete.old();
            case Change.Truncate truncate -> null;
        };
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("no change is being dispatched");
        }
        return value;
    }
}
