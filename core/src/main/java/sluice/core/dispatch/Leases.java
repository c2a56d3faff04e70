package sluice.core.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Lease;
import sluice.core.authorization.RulePlan;
import sluice.core.authorization.TransientErrors;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.dispatch.EngineMetrics.LeaseResult;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.stream.Subscription;
import sluice.core.wal.TransactionSnapshot;

/// Ends subscriptions from which the time alone has taken every row. Owned by the engine's thread.
///
/// Two kinds of rule are looked at again when their lease ends: a compiled one with a condition that reads the clock
/// and no column, which is evaluated again, and sooner when it names the time at which it turns; and a probed one
/// that reads nothing of a row, about which PostgreSQL is asked. Every other rule is decided for each change anew, so
/// nothing of it is believed.
///
/// The engine's clock says when to look. A row is decided by its commit's time whatever that clock says, so one that
/// is slow shows nothing more; one that is fast ends a subscription early.
///
/// Bounded: one entry for each such subscription, and one more for each time its rule was made anew and turns sooner;
/// so many are looked at in one tick, and so many questions are out. What is over waits for the next tick.
final class Leases {
    static final int BATCH_MAX = 500;
    static final int OUTSTANDING_MAX = 32;

    /// After an answer that does not count.
    private static final Duration AGAIN = Duration.ofSeconds(1);

    /// What the leases need of the engine.
    interface Host {
        @Nullable
        TableState table(int relationOid);

        CatalogImage catalog();

        Instant now();

        /// Ends one subscription with an error event.
        void endSubscription(Subscription subscription, ErrorCode code, String message);
    }

    private record Due(Instant at, Subscription subscription) {}

    /// @param dispatched how many commits had been dispatched: an answer has to show them
    private record Asked(Subscription subscription, int generation, long dispatched, Instant deadline) {}

    private final Host host;
    private final UnseenCommits unseen;
    private final EffectSink effects;
    private final EngineMetrics metrics;
    private final EngineSettings settings;
    private final PriorityQueue<Due> queue = new PriorityQueue<>(Comparator.comparing(Due::at));
    private final Map<Subscription, Instant> dueBySubscription = new LinkedHashMap<>();
    private final Map<Long, Asked> askedById = new LinkedHashMap<>();
    private long lastId;

    Leases(Host host, UnseenCommits unseen, EffectSink effects, EngineMetrics metrics, EngineSettings settings) {
        this.host = host;
        this.unseen = unseen;
        this.effects = effects;
        this.metrics = metrics;
        this.settings = settings;
    }

    /// The planner, which grants no rule that shows nothing at this time.
    RulePlanner over(RulePlanner planner) {
        return (catalog, relation, role, terms) -> {
            RulePlan plan = planner.plan(catalog, relation, role, terms);
            return new RulePlan() {
                @Override
                public List<Fold> folds() {
                    return plan.folds();
                }

                @Override
                public Verdict complete(List<FoldAnswer> answers) {
                    Verdict verdict = plan.complete(answers);
                    Lease lease = verdict instanceof Verdict.Granted(var rule) ? rule.lease() : null;
                    return lease == null || lease.holdsAt(host.now())
                            ? verdict
                            : new Verdict.Refused(ErrorCode.SHAPE_NOT_AUTHORIZED, timeIsOver(relation));
                }
            };
        };
    }

    private static String timeIsOver(Relation relation) {
        return "at this time the policies show this caller no row of table \"" + relation.qualifiedName() + "\"";
    }

    /// The subscription has this rule from here on.
    void watch(Subscription subscription) {
        Instant now = host.now();
        Lease lease = subscription.rule().lease();
        if (lease == null && !subscription.rule().asksOfTheCallerAlone()) {
            return;
        }
        Instant end = now.plus(settings.lease());
        Instant turn = lease == null ? null : lease.turnAfter(now);
        schedule(subscription, turn != null && turn.isBefore(end) ? turn : end);
    }

    private void schedule(Subscription subscription, Instant at) {
        Instant known = dueBySubscription.get(subscription);
        if (known == null || at.isBefore(known)) {
            dueBySubscription.put(subscription, at);
            queue.add(new Due(at, subscription));
        }
    }

    void tick() {
        Instant now = host.now();
        expire(now);
        for (int looked = 0; looked < BATCH_MAX && askedById.size() < OUTSTANDING_MAX; looked++) {
            Due due = queue.peek();
            if (due == null || due.at().isAfter(now)) {
                return;
            }
            queue.remove();
            if (due.at().equals(dueBySubscription.get(due.subscription()))) {
                dueBySubscription.remove(due.subscription());
                look(due.subscription(), now);
            }
        }
    }

    private void look(Subscription subscription, Instant now) {
        TableState table = host.table(subscription.relationOid());
        if (subscription.state() == Subscription.State.ENDED || table == null) {
            return;
        }
        Lease lease = subscription.rule().lease();
        if (lease == null) {
            ask(subscription, table.relation(), now);
        } else if (lease.holdsAt(now)) {
            held(subscription);
        } else {
            revoke(subscription);
        }
    }

    private void ask(Subscription subscription, Relation relation, Instant now) {
        String sql = subscription.rule().question();
        if (sql == null || !subscription.rule().asksOfTheCallerAlone()) {
            return;
        }
        long id = ++lastId;
        askedById.put(
                id,
                new Asked(
                        subscription, subscription.generation(), unseen.count(), now.plus(settings.questionTimeout())));
        RowImage anyRow = CrossChecks.rowOfTheShape(relation, Collections.emptyMap(), List.of());
        effects.emit(new Effect.LeaseCheck(
                new Effect.Probe(id, subscription.stream().identity(), host.catalog(), relation, anyRow, sql)));
    }

    /// An answer to a question that timed out, or to none, changes nothing.
    void answered(long id, ProbeOutcome outcome) {
        Asked asked = askedById.remove(id);
        if (asked == null || asked.subscription().state() == Subscription.State.ENDED) {
            return;
        }
        if (asked.generation() != asked.subscription().generation()) {
            watch(asked.subscription());
            return;
        }
        switch (outcome) {
            case ProbeOutcome.Visible _ -> held(asked.subscription());
            case ProbeOutcome.Hidden(var stamp) -> taken(asked, stamp.snapshot());
            case ProbeOutcome.Raised(var stamp, var sqlState) -> {
                if (TransientErrors.contain(sqlState)) {
                    unavailable(asked.subscription());
                } else {
                    taken(asked, stamp.snapshot());
                }
            }
            case ProbeOutcome.Failed _ -> unavailable(asked.subscription());
        }
    }

    /// An answer from before a commit that was dispatched may be from before what it granted.
    private void taken(Asked asked, TransactionSnapshot snapshot) {
        if (unseen.isOverrun() || !unseen.showsFirst(snapshot, asked.dispatched())) {
            unavailable(asked.subscription());
        } else {
            revoke(asked.subscription());
        }
    }

    private void held(Subscription subscription) {
        metrics.leaseChecked(LeaseResult.HELD);
        watch(subscription);
    }

    private void unavailable(Subscription subscription) {
        metrics.leaseChecked(LeaseResult.UNAVAILABLE);
        schedule(subscription, host.now().plus(AGAIN));
    }

    private void revoke(Subscription subscription) {
        metrics.leaseChecked(LeaseResult.REVOKED);
        TableState table = host.table(subscription.relationOid());
        host.endSubscription(
                subscription,
                ErrorCode.SHAPE_NOT_AUTHORIZED,
                table == null ? "at this time the policies show nothing" : timeIsOver(table.relation()));
    }

    private void expire(Instant now) {
        List<Long> late = new ArrayList<>(0);
        for (Map.Entry<Long, Asked> entry : askedById.entrySet()) {
            if (now.isAfter(entry.getValue().deadline())) {
                late.add(entry.getKey());
            }
        }
        late.forEach(id -> answered(id, new ProbeOutcome.Failed("")));
    }

    /// Another server answers from now on: nothing under way decides anything.
    void abandon() {
        List.copyOf(askedById.keySet()).forEach(id -> answered(id, new ProbeOutcome.Failed("")));
    }
}
