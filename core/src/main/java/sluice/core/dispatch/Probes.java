package sluice.core.dispatch;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.event.Delivery;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.Tuple;
import sluice.core.stream.HeldEvent;
import sluice.core.transaction.Change;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// Tier C, and rows of Tier B that have a value outside what is computed in process: questions to PostgreSQL about
/// single row images. Owned by the engine's thread.
///
/// Life of a probe: asked; when the answer is older than the commit, or than any commit dispatched before it, asked
/// again after a pause, for at most the stamp wait; when it is newer, kept until the engine has passed its snapshot;
/// then it decides, unless a later commit touched the row, which makes the image superseded. Whatever ends otherwise
/// is withheld and counted. Bounded by a rate and by the number outstanding: past either a change is withheld at
/// once, and so it is while it is not known which commits PostgreSQL has yet to show ({@link
/// UnseenCommits#isOverrun}).
final class Probes {
    private static final long RETRY_MILLIS_FIRST = 10;
    private static final long RETRY_MILLIS_MAX = 500;

    /// Where others commit, the log passes an answer sooner than this.
    private static final int MOVE_LOG_AFTER_MILLIS = 100;

    private static final int MOVE_LOG_AGAIN_MILLIS = 1000;

    /// Told when a held event is decided.
    interface Listener {
        /// The event became decided, as sent or as dropped.
        void decided(HeldEvent event);

        /// The event cannot be decided: it is dropped, and counted.
        void withheld(HeldEvent event);
    }

    private static final class Probe {
        final HeldEvent event;
        final ProbedForm form;
        final TableState table;
        final String sql;
        final String key;
        final Xid xid;
        final Lsn commitLsn;
        final Instant deadline;
        final int generation;
        final long dispatched;
        long retryMillis = RETRY_MILLIS_FIRST;

        @Nullable
        Instant retryAt;

        @Nullable
        Stamp stamp;

        boolean visible;

        UnseenCommits.Window window;

        Probe(
                HeldEvent event,
                ProbedForm form,
                TableState table,
                String sql,
                Commit commit,
                String key,
                UnseenCommits unseen) {
            this.dispatched = unseen.count();
            this.window = unseen.window(dispatched);
            this.event = event;
            this.form = form;
            this.table = table;
            this.sql = sql;
            this.key = key;
            this.xid = commit.xid();
            this.commitLsn = commit.lsn();
            this.deadline = commit.deadline();
            this.generation = event.subscription().generation();
        }
    }

    /// The commit a probe belongs to.
    ///
    /// @param deadline until when an answer that is too old is asked for again
    record Commit(Xid xid, Lsn lsn, Instant deadline) {}

    private final EffectSink effects;
    private final EngineMetrics metrics;
    private final EngineSettings settings;
    private final Listener listener;
    private final Supplier<CatalogImage> catalog;
    private final UnseenCommits unseen = new UnseenCommits();
    private final Map<Long, Probe> askedById = new LinkedHashMap<>();
    private final List<Probe> waitingForPosition = new ArrayList<>();
    private final List<Probe> waitingForRetry = new ArrayList<>();
    private long lastId;
    private long second;
    private int askedThisSecond;
    private Instant moveLogAt = Instant.EPOCH;

    /// @param catalog the one the engine goes by
    Probes(
            EffectSink effects,
            EngineMetrics metrics,
            EngineSettings settings,
            Supplier<CatalogImage> catalog,
            Listener listener) {
        this.catalog = catalog;
        this.effects = effects;
        this.metrics = metrics;
        this.settings = settings;
        this.listener = listener;
    }

    /// The commits an answer may be too old for.
    UnseenCommits unseen() {
        return unseen;
    }

    /// Asks about the new tuple of a waiting event.
    ///
    /// @return whether it was asked; otherwise the bounds were met and the change is to be withheld
    boolean ask(HeldEvent event, ProbedForm form, TableState table, Commit commit, Instant now) {
        String sql = event.subscription().rule().question();
        if (sql == null || unseen.isOverrun() || !admits(now) || outstanding() >= settings.probesOutstandingMax()) {
            metrics.probeWithheld(table.relation());
            return false;
        }
        Tuple row = newTuple(event.change());
        String key = rowKey(table.relation(), event.mapping(), row);
        Probe probe = new Probe(event, form, table, sql, commit, key, unseen);
        table.probeStarted();
        put(probe);
        return true;
    }

    /// How many more may be asked about rows that can wait: half of the bounds is for those that cannot.
    int spare(Instant now) {
        beginSecond(now);
        int ofSecond = (settings.probesPerSecondMax() + 1) / 2 - askedThisSecond;
        int atOnce = (settings.probesOutstandingMax() + 1) / 2 - outstanding();
        return unseen.isOverrun() ? 0 : Math.max(0, Math.min(ofSecond, atOnce));
    }

    private void beginSecond(Instant now) {
        if (now.getEpochSecond() != second) {
            second = now.getEpochSecond();
            askedThisSecond = 0;
        }
    }

    private boolean admits(Instant now) {
        beginSecond(now);
        if (askedThisSecond >= settings.probesPerSecondMax()) {
            return false;
        }
        askedThisSecond++;
        return true;
    }

    private int outstanding() {
        return askedById.size() + waitingForPosition.size() + waitingForRetry.size();
    }

    private void put(Probe probe) {
        long id = ++lastId;
        probe.retryAt = null;
        probe.window = unseen.window(probe.dispatched);
        askedById.put(id, probe);
        metrics.probed(probe.table.relation());
        HeldEvent event = probe.event;
        // the commit's own time is of no use here: a rule that reads the clock is PostgreSQL's to decide
        RowImage image = new RowImage(newTuple(event.change()), event.mapping(), Instant.EPOCH);
        effects.emit(new Effect.Probe(
                id, event.subscription().stream().identity(), catalog.get(), probe.table.relation(), image, probe.sql));
    }

    /// @param position everything up to here has been dispatched
    void answered(long id, ProbeOutcome outcome, Lsn position, Instant now) {
        Probe probe = askedById.remove(id);
        if (probe == null) {
            return;
        }
        switch (outcome) {
            case ProbeOutcome.Visible(var stamp) -> stamped(probe, stamp, true, position, now);
            case ProbeOutcome.Hidden(var stamp) -> stamped(probe, stamp, false, position, now);
            case ProbeOutcome.Raised _, ProbeOutcome.Failed _ -> withhold(probe);
        }
    }

    private void stamped(Probe probe, Stamp stamp, boolean visible, Lsn position, Instant now) {
        boolean old = !stamp.snapshot().sees(probe.xid) || !unseen.shows(stamp.snapshot(), probe.window);
        unseen.shown(stamp.snapshot());
        if (old) {
            // the answer is about a time before the commit, or before an earlier one that may have decided who sees
            // the row: PostgreSQL shows commits after the log does, and in another order
            if (now.isAfter(probe.deadline)) {
                withhold(probe);
                return;
            }
            probe.retryAt = now.plusMillis(probe.retryMillis);
            probe.retryMillis = Math.min(probe.retryMillis * 2, RETRY_MILLIS_MAX);
            waitingForRetry.add(probe);
            return;
        }
        probe.stamp = stamp;
        probe.visible = visible;
        if (position.reaches(stamp.insertLsn())) {
            conclude(probe);
        } else {
            if (waitingForPosition.isEmpty()) {
                moveLogAt = now.plusMillis(MOVE_LOG_AFTER_MILLIS);
            }
            waitingForPosition.add(probe);
        }
    }

    /// An answer may be of a position that no reader comes to before somebody commits.
    private void moveLog(Instant now) {
        if (!waitingForPosition.isEmpty() && !now.isBefore(moveLogAt)) {
            moveLogAt = now.plusMillis(MOVE_LOG_AGAIN_MILLIS);
            effects.emit(new Effect.MoveLog());
        }
    }

    /// Everything up to this position has been dispatched.
    void reached(Lsn position) {
        if (waitingForPosition.isEmpty()) {
            return;
        }
        List<Probe> passed = new ArrayList<>();
        for (Probe probe : waitingForPosition) {
            Stamp stamp = probe.stamp;
            if (stamp != null && position.reaches(stamp.insertLsn())) {
                passed.add(probe);
            }
        }
        waitingForPosition.removeAll(passed);
        passed.forEach(this::conclude);
    }

    void tick(Instant now) {
        List<Probe> due = new ArrayList<>(0);
        for (Probe probe : waitingForRetry) {
            Instant retryAt = probe.retryAt;
            if (retryAt == null || !retryAt.isAfter(now)) {
                due.add(probe);
            }
        }
        waitingForRetry.removeAll(due);
        due.forEach(this::put);
        // an answer that never comes, and a position never reached: the row is not sent, and says so
        List<Probe> late = new ArrayList<>(0);
        Instant latest = now.minus(settings.questionTimeout());
        for (Probe probe : askedById.values()) {
            if (probe.deadline.isBefore(latest)) {
                late.add(probe);
            }
        }
        for (Probe probe : waitingForPosition) {
            if (probe.deadline.isBefore(latest)) {
                late.add(probe);
            }
        }
        askedById.values().removeAll(late);
        waitingForPosition.removeAll(late);
        late.forEach(this::withhold);
        moveLog(now);
    }

    /// Another server answers from now on: nothing under way decides anything.
    void withholdAll() {
        unseen.restart();
        List<Probe> all = new ArrayList<>(askedById.values());
        all.addAll(waitingForPosition);
        all.addAll(waitingForRetry);
        askedById.clear();
        waitingForPosition.clear();
        waitingForRetry.clear();
        all.forEach(this::withhold);
    }

    private void conclude(Probe probe) {
        boolean superseded = probe.table.touchedAfter(probe.key, probe.commitLsn);
        probe.table.probeEnded();
        if (isOutdated(probe)) {
            return;
        }
        if (superseded) {
            end(probe);
            return;
        }
        if (!probe.visible && probe.form.hidden() == ProbedForm.Hidden.MAY_HAVE_LEFT) {
            probe.event.drop();
            listener.withheld(probe.event);
            return;
        }
        Delivery decided = probe.visible
                ? probe.form.shown()
                : probe.form.hidden() == ProbedForm.Hidden.LEAVES ? Delivery.LEAVE : null;
        if (decided == null) {
            probe.event.drop();
        } else {
            probe.event.decide(decided);
        }
        listener.decided(probe.event);
    }

    private void withhold(Probe probe) {
        probe.table.probeEnded();
        if (!isOutdated(probe)) {
            end(probe);
        }
    }

    /// The subscription has another rule by now, or none: its events are judged again without this answer.
    private static boolean isOutdated(Probe probe) {
        return probe.generation != probe.event.subscription().generation();
    }

    private void end(Probe probe) {
        metrics.probeWithheld(probe.table.relation());
        probe.event.drop();
        listener.withheld(probe.event);
    }

    static Tuple newTuple(Change change) {
        return switch (change) {
            case Change.Insert insert -> insert.row();
            case Change.Update update -> update.row();
            case Change.Delete delete -> delete.old();
            case Change.Truncate truncate -> throw new IllegalStateException("a truncate has no tuple");
        };
    }

    /// The row's key as text; the same for every row of a table without one, so that any later commit supersedes.
    static String rowKey(Relation relation, ColumnMapping mapping, Tuple tuple) {
        StringBuilder key = new StringBuilder();
        for (int attnum : relation.keyColumns()) {
            int position = mapping.position(attnum);
            if (position == ColumnMapping.ABSENT || tuple.kind(position) != Tuple.Kind.TEXT) {
                return "";
            }
            String text =
                    new String(tuple.bytes(), tuple.offset(position), tuple.length(position), StandardCharsets.UTF_8);
            key.append(text.length()).append(':').append(text);
        }
        return key.toString();
    }
}
