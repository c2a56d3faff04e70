package sluice.core.dispatch;

import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Rule;
import sluice.core.catalog.Role;
import sluice.core.dispatch.NewestImages.Newer;
import sluice.core.error.ErrorCode;
import sluice.core.error.WarningCode;
import sluice.core.event.Delivery;
import sluice.core.event.EventBody;
import sluice.core.event.EventEncoder;
import sluice.core.event.PassingEvent;
import sluice.core.event.StreamEvent;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.Tuple;
import sluice.core.resume.BufferedCommit;
import sluice.core.resume.UntoldChanges;
import sluice.core.shape.Operation;
import sluice.core.stream.ChannelSubscription;
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
/// straight to the sink. A part that does not fit in its stream's queue is taken back whole, and the stream is fed
/// from the buffer: {@link #beginReplay}, {@link #replay} and {@link #endReplay} give it an earlier commit by the
/// same code. What is not in the buffer cannot be given later, so then the stream is closed.
final class CommitDispatch implements Probes.Listener {
    /// Stands where no commit has been dispatched.
    static final BufferedCommit NONE = new BufferedCommit(0, new Xid(0), Lsn.ZERO, Instant.EPOCH);

    private static final Supplier<Newer> NEWEST = () -> Newer.NO;

    /// What the dispatch needs of the engine.
    interface Host extends CrossChecks.Host, Leases.Host {
        @Nullable
        Role role(String name);

        /// Ends the stream and everything in it, telling the client why.
        void closeStream(StreamState stream, CloseReason reason, ErrorCode code, String message);

        /// The stream has no room for this commit: it is fed from the buffer from there on, in order.
        ///
        /// @return whether the buffer has the commit; if not, nothing was done
        boolean fallBehind(StreamState stream, long commitNumber);

        /// Everything up to here has been dispatched.
        Lsn position();

        ChannelDesk channels();
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
    private final Leases leases;
    private final WithheldTeller withheld;
    private final HeldRelease held;
    private final TransactionEnds ends;
    private final CommitParts parts;
    private final Consumer<Subscription> candidate = this::candidate;

    private BufferedCommit commit = NONE;
    private Instant now = Instant.EPOCH;
    private Pass pass = Pass.NET_TO_ALL;
    private boolean open;
    private boolean encoderOnCommit;
    private boolean replaying;
    private Supplier<Newer> newer = NEWEST;

    private @Nullable TableState table;
    private @Nullable Change change;
    private @Nullable ColumnMapping mapping;
    private boolean encoderOnChange;

    CommitDispatch(Host host, FrameSink sink, EffectSink effects, EngineMetrics metrics, EngineSettings settings) {
        this.host = host;
        this.sink = sink;
        this.metrics = metrics;
        this.settings = settings;
        this.withheld = new WithheldTeller(sink, metrics);
        this.encoder = new EventEncoder(settings.changeBytesMax(), metrics::cut);
        this.checks = new CrossChecks(host, sink, effects, metrics, settings);
        // what was asked about an earlier commit would be answered about a later one
        this.judge = new RowJudge(metrics, settings.degradedDeletes(), (subscription, row, verdict) -> {
            if (!replaying) {
                checks.decided(subscription, row, verdict);
            }
        });
        this.probes = new Probes(effects, metrics, settings, host::catalog, this);
        this.order = new CommitOrder(probes.unseen());
        this.ends = new TransactionEnds(sink);
        this.parts = new CommitParts(host, sink, ends, settings);
        this.held = new HeldRelease(
                host,
                new HeldRelease.Ports(sink, withheld, ends, probes, metrics::cut),
                settings,
                new RowJudge(metrics, settings.degradedDeletes(), checks));
        this.leases = new Leases(host, probes.unseen(), effects, metrics, settings);
    }

    Probes probes() {
        return probes;
    }

    /// Another server answers from now on: nothing under way decides anything.
    void abandonQuestions() {
        probes.withholdAll();
        order.restart();
        checks.abandon();
        leases.abandon();
    }

    /// The subscription has its rule: what has to be confirmed of it, and looked at again, is noted.
    void watch(Subscription subscription) {
        checks.watch(subscription);
        leases.watch(subscription);
    }

    Leases leases() {
        return leases;
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
        return commit.lsn();
    }

    void begin(Xid xid, Lsn lsn, Instant time, Instant at) {
        open = true;
        begin(new BufferedCommit(probes.unseen().count(), xid, lsn, time), CommitParts.Origin.LOG, at);
        probes.unseen().dispatched(xid);
    }

    /// An earlier commit is given to a stream that has not had it.
    void beginReplay(BufferedCommit earlier, Instant at) {
        replaying = true;
        begin(earlier, CommitParts.Origin.BUFFER, at);
    }

    private void begin(BufferedCommit next, CommitParts.Origin origin, Instant at) {
        commit = next;
        now = at;
        encoderOnCommit = false;
        pass = Pass.NET_TO_ALL;
        parts.begin(next, origin);
        judge.beginCommit(next.lsn(), next.time());
    }

    /// One change of the commit being replayed.
    ///
    /// @param subscriptions of one stream, each on the change's table
    /// @param newerImage whether a later commit changed the row again
    void replay(Change next, List<Subscription> subscriptions, Supplier<Newer> newerImage) {
        if (take(next) == null) {
            return;
        }
        newer = newerImage;
        for (Subscription subscription : subscriptions) {
            if (next instanceof Change.Truncate) {
                truncate(subscription);
            } else {
                candidate(subscription);
            }
        }
    }

    void endReplay() {
        replaying = false;
        newer = NEWEST;
        finish();
    }

    /// Whether a stream takes part in what is dispatched live: one that is behind gets it from the buffer.
    private boolean attends(Subscription subscription) {
        return replaying || (!subscription.stream().isBehind() && !subscription.isApart());
    }

    void pass(Pass images) {
        pass = images;
    }

    void change(Change next) {
        TableState found = take(next);
        if (found == null) {
            return;
        }
        found.committed(commit.lsn());
        if (pass != Pass.EVERY_IMAGE) {
            count(found, next);
        }
        if (next instanceof Change.Truncate) {
            truncate(found);
            return;
        }
        ColumnMapping columns = present(mapping);
        if (found.hasProbesOutstanding()) {
            touch(found, next, columns);
        }
        int named = found.index().candidates(ChangedRow.newTuple(next), ChangedRow.oldTuple(next), columns, candidate);
        metrics.candidates(found.relation(), named);
    }

    /// Makes it the change being dispatched.
    ///
    /// @return its table, null when that is not served
    private @Nullable TableState take(Change next) {
        TableState found = host.table(next.relation().oid());
        if (found == null) {
            return null;
        }
        table = found;
        change = next;
        ColumnMapping columns = found.mapping(next.relation(), commit.lsn());
        mapping = columns;
        encoderOnChange = false;
        if (!(next instanceof Change.Truncate)) {
            judge.beginChange(found.relation(), next, columns);
        }
        return found;
    }

    private void count(TableState found, Change next) {
        metrics.change(found.relation(), ChangedRow.operation(next));
        Tuple row = ChangedRow.newTuple(next);
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
        Tuple row = ChangedRow.newTuple(next);
        Tuple old = ChangedRow.oldTuple(next);
        if (row != null) {
            found.touched(Probes.rowKey(found.relation(), columns, row), commit.lsn());
        }
        if (old != null) {
            found.touched(Probes.rowKey(found.relation(), columns, old), commit.lsn());
        }
    }

    private void truncate(TableState found) {
        found.touchedAll(commit.lsn());
        found.index().all().forEach(this::truncate);
    }

    private void truncate(Subscription subscription) {
        if (takesPart(subscription)) {
            send(subscription, Delivery.TRUNCATE);
        }
    }

    private boolean takesPart(Subscription subscription) {
        StreamState stream = subscription.stream();
        if (!stream.isOpen() || subscription.state() == Subscription.State.ENDED || !attends(subscription)) {
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

    boolean bypasses(StreamState stream) {
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
            parts.hold(stream, HeldEvent.waiting(subscription, current, present(mapping)));
            return;
        }
        switch (judge.judge(subscription, current)) {
            case NOTHING -> {}
            case SEND -> {
                noteOldKey(subscription);
                send(subscription, judge.delivery());
            }
            case WITHHOLD -> withhold(subscription, ChangedRow.operation(current));
            case PROBE -> {
                noteOldKey(subscription);
                probe(subscription, HeldEvent.waiting(subscription, current, present(mapping)));
            }
        }
    }

    /// What the commit says, after its rows.
    void broadcast(ChannelSubscription to, PassingEvent event) {
        parts.broadcast(to, event, now);
    }

    private void noteOldKey(Subscription subscription) {
        if (judge.oldKeyWithheld()) {
            withhold(subscription, Operation.DELETE);
        }
    }

    private void send(Subscription subscription, Delivery form) {
        StreamState stream = subscription.stream();
        if (stream.holds()) {
            parts.hold(stream, held(subscription, form));
            return;
        }
        if (form == Delivery.TRUNCATE && !subscription.operations().include(Operation.TRUNCATE)) {
            ends.given(subscription.recipient(), commit.xid(), commit.lsn(), commit.time());
            warnOfTruncate(sink, subscription, present(change));
            return;
        }
        prepareEncoder();
        parts.give(subscription, body(encoder, subscription, form));
    }

    /// Its body is made here, where all who see the change share one.
    private HeldEvent held(Subscription subscription, Delivery form) {
        EventBody shared = null;
        if (form != Delivery.TRUNCATE) {
            prepareEncoder();
            shared = body(encoder, subscription, form);
        }
        return HeldEvent.decided(subscription, present(change), present(mapping), form, shared);
    }

    static void warnOfTruncate(FrameSink sink, Subscription subscription, Change truncate) {
        Frames.give(
                sink,
                subscription.stream(),
                new StreamEvent.Warning(
                        subscription.label(),
                        WarningCode.TABLE_TRUNCATED,
                        "table \"" + truncate.relation().qualifiedName() + "\" was truncated",
                        "rows received before may be gone",
                        "subscribe to TRUNCATE, or read the table again"));
    }

    static EventBody body(EventEncoder encoder, Subscription subscription, Delivery form) {
        return form == Delivery.TRUNCATE
                ? encoder.truncate()
                : encoder.body(form.operation(), form.transition(), subscription.projection(), form.images());
    }

    private void prepareEncoder() {
        if (!encoderOnCommit) {
            encoder.beginCommit(commit.lsn(), commit.time());
            encoderOnCommit = true;
        }
        if (!encoderOnChange) {
            encoder.beginChange(present(change), present(mapping));
            encoderOnChange = true;
        }
    }

    private void probe(Subscription subscription, HeldEvent event) {
        ProbedForm form = judge.probedForm();
        // PostgreSQL is asked about the row as it is now: only its newest image may be asked about
        Newer later = subscription.rule().decision() instanceof Rule.Decision.Probed ? newer.get() : Newer.NO;
        if (later != Newer.NO) {
            if (later != Newer.YES || form.hidden() == ProbedForm.Hidden.MAY_HAVE_LEFT) {
                withhold(subscription, ChangedRow.operation(event.change()));
            }
            return;
        }
        // the row of an earlier commit is asked about as it is now: nothing after it has changed it
        Lsn asOf = replaying ? host.position() : commit.lsn();
        Probes.Commit about = new Probes.Commit(commit.xid(), asOf, now.plus(settings.stampWait()));
        parts.hold(subscription.stream(), event);
        if (event.isWaiting()
                && subscription.stream().isOpen()
                && !probes.ask(event, form, present(table), about, now)) {
            event.drop();
            withhold(subscription, ChangedRow.operation(event.change()));
        }
    }

    private void withhold(Subscription subscription, Operation operation) {
        withheld.withhold(subscription, operation, commit.lsn(), host.table(subscription.relationOid()));
    }

    private void tellWithheld() {
        withheld.tell(now, givenUntil());
    }

    /// No stream was given a later position.
    private Lsn givenUntil() {
        return host.position().max(commit.lsn());
    }

    /// The subscription is about to be told that it is where the log is: what was withheld of it comes before.
    void tellWithheld(Subscription subscription, Instant at) {
        withheld.tellAtOnce(subscription, at, givenUntil());
    }

    /// What clients that left may not have heard of.
    UntoldChanges untold() {
        return withheld.untold();
    }

    /// The commit is complete: what nothing waits for is released, and each shard gets its batch.
    void end() {
        open = false;
        finish();
    }

    private void finish() {
        for (StreamState stream : parts.takeHolding()) {
            held.release(stream, now);
        }
        ends.end();
        sink.endCommit();
        tellWithheld();
        change = null;
        table = null;
    }

    /// Time has passed: answers that are due again are asked for, and what could not be told before is.
    void tick(Instant at) {
        now = at;
        probes.tick(at);
        checks.tick();
        leases.tick();
        tellWithheld();
    }

    @Override
    public void decided(HeldEvent event) {
        settle(event);
    }

    @Override
    public void withheld(HeldEvent event) {
        Subscription subscription = event.subscription();
        withheld.withhold(
                subscription,
                ChangedRow.operation(event.change()),
                heldCommit(event),
                host.table(subscription.relationOid()));
        settle(event);
    }

    /// The commit of an event that waits; of one that no longer does, the earliest there can be.
    private static Lsn heldCommit(HeldEvent event) {
        for (HeldCommit waiting : event.subscription().stream().held()) {
            if (waiting.events().contains(event)) {
                return waiting.commitLsn();
            }
        }
        return Lsn.ZERO;
    }

    private void settle(HeldEvent event) {
        StreamState stream = event.subscription().stream();
        if (!open && stream.isOpen()) {
            held.release(stream, now);
            ends.end();
            sink.endCommit();
            tellWithheld();
        }
    }

    /// The stream's queue has room again.
    void drained(StreamState stream, Instant at) {
        now = at;
        if (!open && stream.isOpen()) {
            held.release(stream, now);
            ends.end();
            sink.endCommit();
        }
    }

    /// A subscription got its new rule, or ended: what waited for it is judged again.
    void settled(Subscription subscription, Instant at) {
        now = at;
        watch(subscription);
        StreamState stream = subscription.stream();
        for (HeldCommit waiting : stream.held()) {
            for (HeldEvent event : waiting.events()) {
                if (event.subscription() == subscription && event.isWaiting() && !event.isCurrent()) {
                    held.rejudge(waiting, event, now);
                }
            }
        }
        if (!open && stream.isOpen()) {
            held.release(stream, now);
            ends.end();
            sink.endCommit();
            tellWithheld();
        }
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("no change is being dispatched");
        }
        return value;
    }
}
