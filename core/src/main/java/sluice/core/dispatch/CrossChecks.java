package sluice.core.dispatch;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.CrossCheck;
import sluice.core.authorization.Origin;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.authorization.TransientErrors;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.catalog.Stamp;
import sluice.core.dispatch.EngineMetrics.CheckResult;
import sluice.core.dispatch.EngineMetrics.Divergence;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.error.WarningCode;
import sluice.core.event.FrameEncoder;
import sluice.core.event.StreamEvent;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.stream.FrameSink;
import sluice.core.stream.Subscription;
import sluice.core.value.Truth;

/// Asks PostgreSQL to confirm decisions that were made in process. Nothing waits for the answers. Owned by the
/// engine's thread.
///
/// What is asked is whether the policies admit the very image that was decided, under the same caller. That reads
/// no table, so no later commit makes an answer wrong; only rights, functions and types do. An answer that differs is
/// therefore a suspicion first: it counts once a later rights poll finds the catalog as it was at the decision, and
/// is discarded when rights or definitions moved in between. A poll that does not come within the stamp wait confirms
/// it too: rather a rule too many decided by PostgreSQL.
///
/// A rule that diverged is decided by PostgreSQL from then on, for every subscription of its table made of the same
/// policies, until the process ends; where queries per change are not permitted its subscriptions end. Rules that
/// read the clock are not asked about: PostgreSQL's answer is about another time.
///
/// Bounded: by the questions outstanding, suspicions included, by a rate, and by the size of the images kept for
/// them. Past any of these a decision is not asked about, and counted.
final class CrossChecks implements RowJudge.Observer {
    static final int OUTSTANDING_MAX = 64;
    static final int PER_SECOND_MAX = 200;
    private static final int IMAGE_BYTES_MAX = 64 * 1024;

    /// Past this many rules the one used by no new subscription for longest is counted anew.
    private static final int RULES_MAX = 10_000;

    /// Past this many rules found wrong none is decided in process.
    private static final int DOWNGRADED_MAX = 10_000;

    /// What the checks need of the engine.
    interface Host {
        @Nullable
        TableState table(int relationOid);

        CatalogImage catalog();

        /// Moves whenever rights or definitions did.
        long catalogVersion();

        Instant now();

        /// Composes the rules again of the table's subscriptions that are made of these policies.
        void recompose(int relationOid, Origin.Question question);
    }

    private record Key(int relationOid, String sql) {}

    private record Asked(
            Subscription subscription, Origin origin, Truth verdict, long catalogVersion, Instant deadline) {}

    /// An answer that differs.
    ///
    /// @param deadline after which it counts without a poll
    private record Suspicion(Asked asked, Divergence kind, Stamp stamp, Instant deadline) {}

    private final Host host;
    private final FrameSink sink;
    private final EffectSink effects;
    private final EngineMetrics metrics;
    private final EngineSettings settings;
    private final Map<Key, CrossCheck> checksByRule = new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, CrossCheck> eldest) {
            return size() > RULES_MAX;
        }
    };
    private final Set<Key> downgraded = new LinkedHashSet<>();
    private final Map<Long, Asked> askedById = new LinkedHashMap<>();
    private final List<Suspicion> suspicions = new ArrayList<>();
    private long lastId;
    private long second;
    private int askedThisSecond;

    CrossChecks(Host host, FrameSink sink, EffectSink effects, EngineMetrics metrics, EngineSettings settings) {
        this.host = host;
        this.sink = sink;
        this.effects = effects;
        this.metrics = metrics;
        this.settings = settings;
    }

    /// The planner, with every rule that diverged left to PostgreSQL.
    RulePlanner over(RulePlanner planner) {
        return (catalog, relation, role, terms) -> downgrading(planner, catalog, relation, role, terms);
    }

    private RulePlan downgrading(
            RulePlanner planner, CatalogImage catalog, Relation relation, Role role, List<FilterTerm> terms) {
        RulePlan plan = planner.plan(catalog, relation, role, terms);
        return new RulePlan() {
            @Override
            public List<Fold> folds() {
                return plan.folds();
            }

            @Override
            public Verdict complete(List<FoldAnswer> answers) {
                Verdict verdict = plan.complete(answers);
                return verdict instanceof Verdict.Granted(var rule) ? downgraded(relation, rule, verdict) : verdict;
            }
        };
    }

    private RulePlan.Verdict downgraded(Relation relation, Rule rule, RulePlan.Verdict verdict) {
        Origin origin = rule.origin();
        if (origin == null) {
            return verdict;
        }
        boolean wrong = downgraded.size() >= DOWNGRADED_MAX
                || downgraded.contains(new Key(relation.oid(), origin.question().sql()));
        return wrong
                ? origin.byQuery(
                        relation.qualifiedName(),
                        "a row was decided otherwise than PostgreSQL decides it",
                        rule.meaning())
                : verdict;
    }

    /// The subscription has this rule from here on: its decisions are counted, and a rule that admits every row of
    /// the shape is confirmed at once.
    void watch(Subscription subscription) {
        Origin origin = subscription.rule().origin();
        EngineSettings.CrossChecking checking = settings.crossChecking();
        // the rule of one that has ended may have been made for another caller than its stream's present one
        boolean comparable = subscription.state() == Subscription.State.ACTIVE
                && subscription.rule().lasting() == Rule.Lasting.UNTIL_THE_ROW_CHANGES;
        if (origin == null || !comparable || checking.first() == 0) {
            subscription.checkedBy(null);
            return;
        }
        Key key = new Key(subscription.relationOid(), origin.question().sql());
        subscription.checkedBy(
                checksByRule.computeIfAbsent(key, _ -> new CrossCheck(checking.first(), checking.every())));
        TableState table = host.table(subscription.relationOid());
        if (table != null && subscription.rule().decision() instanceof Rule.Decision.Everything) {
            RowImage row = rowOfTheShape(
                    table.relation(),
                    origin.pinned().textByAttnum(),
                    origin.question().columns());
            if (carries(row, table.relation(), origin.question())) {
                ask(subscription, origin, row, Truth.TRUE);
            }
        }
    }

    /// A row that has what the filter makes constant and NULL elsewhere. A rule that admits every row of the shape
    /// admits this one.
    ///
    /// @param read attnums that are NULL where they are not pinned; the others are not sent
    static RowImage rowOfTheShape(Relation relation, Map<Integer, String> pinnedByAttnum, List<Integer> read) {
        int count = relation.columns().size();
        List<RelationDefinition.Column> columns = new ArrayList<>(count);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Tuple.Kind[] kinds = new Tuple.Kind[count];
        int[] offsets = new int[count];
        int[] lengths = new int[count];
        for (int i = 0; i < count; i++) {
            Column column = relation.columns().get(i);
            columns.add(new RelationDefinition.Column(column.name(), column.typeOid(), column.typmod(), false));
            String pinned = pinnedByAttnum.get(column.attnum());
            kinds[i] = pinned != null
                    ? Tuple.Kind.TEXT
                    : read.contains(column.attnum()) ? Tuple.Kind.NULL : Tuple.Kind.NOT_SENT;
            if (pinned != null) {
                byte[] text = pinned.getBytes(StandardCharsets.UTF_8);
                offsets[i] = bytes.size();
                lengths[i] = text.length;
                bytes.writeBytes(text);
            }
        }
        RelationDefinition definition =
                new RelationDefinition(relation.oid(), relation.schema(), relation.name(), 'd', columns);
        return new RowImage(
                new Tuple(bytes.toByteArray(), kinds, offsets, lengths),
                ColumnMapping.of(definition, relation),
                Instant.EPOCH);
    }

    @Override
    public void decided(Subscription subscription, RowImage row, Truth verdict) {
        CrossCheck check = subscription.crossCheck();
        Origin origin = subscription.rule().origin();
        if (check == null || origin == null || !check.isDue()) {
            return;
        }
        TableState table = host.table(subscription.relationOid());
        boolean asked = table != null
                && carries(row, table.relation(), origin.question())
                && ask(subscription, origin, row, verdict);
        if (!asked) {
            check.cameToNothing();
        }
    }

    /// Whether the image has every column the policies read: of others nothing can be asked.
    private static boolean carries(RowImage row, Relation relation, Origin.Question question) {
        boolean whole = question.columns().contains(0);
        for (Column column : relation.columns()) {
            Tuple.Kind kind = row.kind(column.attnum());
            boolean known = kind == Tuple.Kind.TEXT || kind == Tuple.Kind.NULL;
            if (!known && (whole || question.columns().contains(column.attnum()))) {
                return false;
            }
        }
        return true;
    }

    private boolean ask(Subscription subscription, Origin origin, RowImage row, Truth verdict) {
        TableState table = host.table(subscription.relationOid());
        if (table == null) {
            return false;
        }
        Relation relation = table.relation();
        if (row.tuple().bytes().length > IMAGE_BYTES_MAX
                || askedById.size() + suspicions.size() >= OUTSTANDING_MAX
                || !admits(host.now())) {
            metrics.crossChecked(relation, CheckResult.DROPPED);
            return false;
        }
        long id = ++lastId;
        Instant deadline = host.now().plus(settings.questionTimeout());
        askedById.put(id, new Asked(subscription, origin, verdict, host.catalogVersion(), deadline));
        effects.emit(new Effect.CrossCheck(new Effect.Probe(
                id,
                subscription.stream().identity(),
                host.catalog(),
                relation,
                row,
                origin.question().sql())));
        return true;
    }

    private boolean admits(Instant now) {
        if (now.getEpochSecond() != second) {
            second = now.getEpochSecond();
            askedThisSecond = 0;
        }
        return askedThisSecond++ < PER_SECOND_MAX;
    }

    /// An answer to a question that timed out, or to none, changes nothing.
    void answered(long id, ProbeOutcome outcome) {
        Asked asked = askedById.remove(id);
        if (asked == null) {
            return;
        }
        switch (outcome) {
            case ProbeOutcome.Visible(var stamp) -> compare(asked, stamp, Truth.TRUE);
            case ProbeOutcome.Hidden(var stamp) -> compare(asked, stamp, Truth.FALSE);
            case ProbeOutcome.Raised(var stamp, var sqlState) -> raised(asked, stamp, sqlState);
            case ProbeOutcome.Failed _ -> cameToNothing(asked, CheckResult.FAILED);
        }
    }

    private void compare(Asked asked, Stamp stamp, Truth answer) {
        if ((answer == Truth.TRUE) == (asked.verdict() == Truth.TRUE)) {
            count(asked, CheckResult.AGREED);
        } else {
            suspect(asked, answer == Truth.TRUE ? Divergence.WE_SAID_NO : Divergence.WE_SAID_YES, stamp);
        }
    }

    /// Where PostgreSQL raises nothing may have been shown. Of a row that was not shown it says nothing, and an
    /// error that may pass says nothing of the policies.
    private void raised(Asked asked, Stamp stamp, String sqlState) {
        if (asked.verdict() == Truth.TRUE && !TransientErrors.contain(sqlState)) {
            suspect(asked, Divergence.POSTGRESQL_RAISED, stamp);
        } else {
            cameToNothing(asked, CheckResult.FAILED);
        }
    }

    private void suspect(Asked asked, Divergence kind, Stamp stamp) {
        suspicions.add(new Suspicion(asked, kind, stamp, host.now().plus(settings.stampWait())));
    }

    /// The rights were polled.
    ///
    /// @param stamp of the poll; null when it failed
    /// @param catalog whether it is the one the poll found
    void polled(@Nullable Stamp stamp, Catalog catalog) {
        List<Suspicion> confirmed = new ArrayList<>(0);
        for (Suspicion suspicion : suspicions) {
            if (stamp != null && catalog == Catalog.AS_POLLED && !stamp.isOlderThan(suspicion.stamp())) {
                confirmed.add(suspicion);
            }
        }
        conclude(confirmed);
    }

    /// Whether the catalog the engine goes by is the one a poll found.
    enum Catalog {
        AS_POLLED,
        MAY_HAVE_MOVED
    }

    void tick() {
        Instant now = host.now();
        List<Long> late = new ArrayList<>(0);
        for (Map.Entry<Long, Asked> entry : askedById.entrySet()) {
            if (now.isAfter(entry.getValue().deadline())) {
                late.add(entry.getKey());
            }
        }
        for (Long id : late) {
            Asked asked = askedById.remove(id);
            if (asked != null) {
                cameToNothing(asked, CheckResult.FAILED);
            }
        }
        List<Suspicion> unrefuted = new ArrayList<>(0);
        for (Suspicion suspicion : suspicions) {
            if (now.isAfter(suspicion.deadline())) {
                unrefuted.add(suspicion);
            }
        }
        conclude(unrefuted);
    }

    /// Another server answers from now on: nothing under way is to be compared.
    void abandon() {
        List<Asked> all = new ArrayList<>(askedById.values());
        suspicions.forEach(suspicion -> all.add(suspicion.asked()));
        askedById.clear();
        suspicions.clear();
        all.forEach(asked -> cameToNothing(asked, CheckResult.INCOMPARABLE));
    }

    private void conclude(List<Suspicion> ended) {
        suspicions.removeAll(ended);
        for (Suspicion suspicion : ended) {
            Asked asked = suspicion.asked();
            if (asked.catalogVersion() != host.catalogVersion()) {
                cameToNothing(asked, CheckResult.INCOMPARABLE);
            } else {
                diverged(asked, suspicion.kind());
            }
        }
    }

    private void cameToNothing(Asked asked, CheckResult result) {
        count(asked, result);
        CrossCheck check = asked.subscription().crossCheck();
        if (check != null) {
            check.cameToNothing();
        }
    }

    private void count(Asked asked, CheckResult result) {
        TableState table = host.table(asked.subscription().relationOid());
        if (table != null) {
            metrics.crossChecked(table.relation(), result);
        }
    }

    private void diverged(Asked asked, Divergence kind) {
        int oid = asked.subscription().relationOid();
        TableState table = host.table(oid);
        if (table == null) {
            return;
        }
        Relation relation = table.relation();
        Origin.Question question = asked.origin().question();
        metrics.crossChecked(relation, CheckResult.DIVERGED);
        metrics.diverged(relation, kind);
        effects.emit(new Effect.Log(new Notice(
                Notice.Level.ERROR,
                "a row was decided otherwise than PostgreSQL decides it; PostgreSQL decides by these policies from"
                        + " here on",
                List.of(
                        "table",
                        relation.qualifiedName(),
                        "policies",
                        String.join(", ", question.policies()),
                        "kind",
                        kind.wireName()))));
        if (downgraded.add(new Key(oid, question.sql()))) {
            metrics.downgraded(relation);
            tell(table, question, kind);
            host.recompose(oid, question);
        }
    }

    private void tell(TableState table, Origin.Question question, Divergence kind) {
        for (Subscription subscription : table.index().all()) {
            Origin origin = subscription.rule().origin();
            if (origin != null && origin.question().sql().equals(question.sql())) {
                Frames.give(
                        sink,
                        subscription.stream(),
                        FrameEncoder.frame(new StreamEvent.Warning(
                                subscription.label(),
                                WarningCode.TIER_DOWNGRADED,
                                "a row of table \"" + table.relation().qualifiedName()
                                        + "\" was decided otherwise than PostgreSQL decides it",
                                switch (kind) {
                                    case WE_SAID_YES, POSTGRESQL_RAISED ->
                                        "rows that may not be read may have been sent";
                                    case WE_SAID_NO -> "rows that may be read may be missing";
                                },
                                "read the rows again; changes are decided by PostgreSQL from here on")));
            }
        }
        sink.endCommit();
    }
}
