package sluice.core.dispatch;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Rule;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.datum.EvaluationException;
import sluice.core.event.Delivery;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.shape.Operation;
import sluice.core.shape.Projection;
import sluice.core.shape.ShapeRequest.Transitions;
import sluice.core.stream.Subscription;
import sluice.core.transaction.Change;
import sluice.core.value.Truth;
import sluice.core.wal.Lsn;

/// Decides one change for one subscription. Owned by the engine's thread; holds the last answer's details.
///
/// New tuples are judged on the state after the commit, old tuples on the state before it, each by the filter, the
/// rule and, while rights are in motion, the prior rule. Whatever is not a clear yes is not sent.
final class RowJudge {
    /// What becomes of the change.
    enum Outcome {
        /// Not for this subscription.
        NOTHING,
        /// {@link #delivery} says in which form.
        SEND,
        /// It might be, and cannot be decided.
        WITHHOLD,
        /// PostgreSQL has to be asked; {@link #probedForm} says what its answer means.
        PROBE
    }

    /// Told of each decision made in process.
    @FunctionalInterface
    interface Observer {
        /// @param verdict of the rule alone, on an image that the shape's filter admits
        void decided(Subscription subscription, RowImage row, Truth verdict);
    }

    private final EngineMetrics metrics;
    private final EngineSettings.DegradedDeletes degradedDeletes;
    private final Observer observer;
    private boolean raised;
    private @Nullable Delivery delivery;
    private @Nullable ProbedForm probedForm;
    private boolean oldKeyWithheld;
    private boolean gaps;

    private @Nullable RowImage newImage;
    private @Nullable RowImage oldImage;

    private @Nullable Relation relation;
    private @Nullable ColumnMapping mapping;
    private Instant commitTime = Instant.EPOCH;
    private Lsn commitLsn = Lsn.ZERO;

    RowJudge(EngineMetrics metrics, EngineSettings.DegradedDeletes degradedDeletes, Observer observer) {
        this.metrics = metrics;
        this.degradedDeletes = degradedDeletes;
        this.observer = observer;
    }

    void beginCommit(Lsn lsn, Instant time) {
        commitLsn = lsn;
        commitTime = time;
    }

    void beginChange(Relation changed, Change change, ColumnMapping columns) {
        gaps = hasGaps(change);
        relation = changed;
        mapping = columns;
        newImage = imageOf(ChangedRow.newTuple(change));
        oldImage = imageOf(ChangedRow.oldTuple(change));
    }

    /// The form of the last SEND.
    Delivery delivery() {
        Delivery decided = delivery;
        if (decided == null) {
            throw new IllegalStateException("nothing was decided to be sent");
        }
        return decided;
    }

    /// What the answer to the last PROBE means.
    ProbedForm probedForm() {
        ProbedForm asked = probedForm;
        return asked == null ? ProbedForm.of(delivery()) : asked;
    }

    /// Whether the last answer also left the old key's DELETE undecided.
    boolean oldKeyWithheld() {
        return oldKeyWithheld;
    }

    Outcome judge(Subscription subscription, Change change) {
        delivery = null;
        probedForm = null;
        oldKeyWithheld = false;
        return switch (change) {
            case Change.Insert insert -> insert(subscription, insert);
            case Change.Update update -> update(subscription, update);
            case Change.Delete delete -> delete(subscription, delete);
            case Change.Truncate truncate -> Outcome.NOTHING;
        };
    }

    private Outcome insert(Subscription subscription, Change.Insert insert) {
        if (!subscription.operations().include(Operation.INSERT)) {
            return Outcome.NOTHING;
        }
        return newTuple(subscription, insert.row(), Delivery.INSERT);
    }

    private Outcome delete(Subscription subscription, Change.Delete delete) {
        if (!subscription.operations().include(Operation.DELETE)) {
            return Outcome.NOTHING;
        }
        return switch (oldTuple(subscription, delete.old())) {
            case TRUE -> send(Delivery.DELETE);
            case UNDECIDABLE -> {
                if (!degraded(subscription, delete.old())) {
                    yield Outcome.WITHHOLD;
                }
                metrics.degradedDelete(current(relation));
                yield send(Delivery.DEGRADED_DELETE);
            }
            case FALSE, NULL -> Outcome.NOTHING;
        };
    }

    /// Whether the key is sent of a row that may have been in the shape. Never while it is not known which rights
    /// held, and never of a key that the caller may not read: an event without it would tell that a row is gone.
    private boolean degraded(Subscription subscription, Tuple old) {
        return switch (degradedDeletes) {
            case WITHHOLD -> false;
            case DELIVER ->
                !areRightsInMotion(subscription)
                        && subscription.priorRule(commitLsn) == null
                        && mayHaveBeenIn(subscription, old)
                        && showsKey(subscription, old);
        };
    }

    /// What is NULL is no yes, whatever else cannot be decided.
    private boolean mayHaveBeenIn(Subscription subscription, Tuple old) {
        RowImage row = image(old);
        return ask(subscription.filter().predicate(), row) != Truth.NULL
                && ruleTruth(subscription.rule(), row) != Truth.NULL;
    }

    private boolean showsKey(Subscription subscription, Tuple old) {
        List<Integer> key = current(relation).keyColumns();
        RowImage row = image(old);
        int shown = 0;
        for (Projection.Entry column : subscription.projection().entries()) {
            if (key.contains(column.attnum()) && row.kind(column.attnum()) == Tuple.Kind.TEXT) {
                shown++;
            }
        }
        return !key.isEmpty() && shown == key.size();
    }

    private boolean areRightsInMotion(Subscription subscription) {
        return subscription.knowsNoRights(commitLsn) || subscription.showsMoreThanBefore(commitLsn);
    }

    private Outcome update(Subscription subscription, Change.Update update) {
        boolean wantsUpdates = subscription.operations().include(Operation.UPDATE);
        boolean wantsTransitions = subscription.request().transitions() == Transitions.REPORTED;
        if (!wantsUpdates && !wantsTransitions) {
            return Outcome.NOTHING;
        }
        Tuple old = update.old();
        if (old == null) {
            Outcome after = wantsUpdates ? newTuple(subscription, update.row(), Delivery.UPDATE) : Outcome.NOTHING;
            boolean mayHaveLeft = wantsTransitions && isUnannounced(subscription, update);
            return mayHaveLeft ? unseen(after) : after;
        }
        Truth before = oldTuple(subscription, old);
        Outcome after = newTuple(subscription, update.row(), Delivery.UPDATE);
        return switch (after) {
            case SEND, PROBE -> arrived(subscription, after, before, update);
            case WITHHOLD -> Outcome.WITHHOLD;
            case NOTHING -> wantsTransitions ? left(subscription, before, update) : Outcome.NOTHING;
        };
    }

    /// Whether the client does not know that it is not told where the row was: the replica identity of the message
    /// lacks a column that its shape reads, while the catalog's has it still, or again.
    private boolean isUnannounced(Subscription subscription, Change.Update update) {
        if (subscription.announcedDeletes()) {
            return false;
        }
        RelationDefinition definition = update.relation();
        for (int attnum : subscription.rule().readsColumns()) {
            boolean isCarried = attnum == 0
                    ? definition.columns().stream().allMatch(RelationDefinition.Column::inIdentity)
                    : isInIdentity(definition, attnum);
            if (!isCarried) {
                return true;
            }
        }
        for (Column filtered : subscription.filter().columns()) {
            if (!isInIdentity(definition, filtered.attnum())) {
                return true;
            }
        }
        return false;
    }

    private boolean isInIdentity(RelationDefinition definition, int attnum) {
        int position = current(mapping).position(attnum);
        return position != ColumnMapping.ABSENT
                && definition.columns().get(position).inIdentity();
    }

    /// The row may have left without a sign.
    private Outcome unseen(Outcome after) {
        if (after == Outcome.PROBE) {
            probedForm = new ProbedForm(delivery, ProbedForm.Hidden.MAY_HAVE_LEFT);
        }
        return after == Outcome.NOTHING ? Outcome.WITHHOLD : after;
    }

    /// The new tuple is for the subscription, or may be: the old one says in which form.
    private Outcome arrived(Subscription subscription, Outcome after, Truth before, Change.Update update) {
        boolean wantsUpdates = subscription.operations().include(Operation.UPDATE);
        delivery = switch (before) {
            case TRUE -> Delivery.UPDATE_WITH_OLD;
            case FALSE, NULL -> Delivery.ENTER;
            case UNDECIDABLE -> {
                oldKeyWithheld = keyChanged(update);
                yield oldKeyWithheld ? Delivery.INSERT : Delivery.UPDATE;
            }
        };
        boolean asUpdate = delivery == Delivery.UPDATE || delivery == Delivery.UPDATE_WITH_OLD;
        boolean unwanted = asUpdate && !wantsUpdates;
        if (after == Outcome.PROBE) {
            ProbedForm.Hidden hidden = hidden(subscription, before, update);
            probedForm = new ProbedForm(unwanted ? null : delivery, hidden);
            unwanted &= hidden == ProbedForm.Hidden.NOTHING;
        }
        return unwanted ? Outcome.NOTHING : after;
    }

    /// What it means when PostgreSQL hides the new row. Where all that it is asked about was the same before, a row
    /// that is hidden was hidden.
    private ProbedForm.Hidden hidden(Subscription subscription, Truth before, Change.Update update) {
        if (subscription.request().transitions() != Transitions.REPORTED) {
            return ProbedForm.Hidden.NOTHING;
        }
        return switch (before) {
            case TRUE -> ProbedForm.Hidden.LEAVES;
            case UNDECIDABLE ->
                changed(subscription.rule().questionColumns(), update)
                        ? ProbedForm.Hidden.MAY_HAVE_LEFT
                        : ProbedForm.Hidden.NOTHING;
            case FALSE, NULL -> ProbedForm.Hidden.NOTHING;
        };
    }

    /// The new tuple is not for the subscription: tell one that held the old one, and asked for it, that it left.
    private Outcome left(Subscription subscription, Truth before, Change.Update update) {
        return switch (before) {
            case TRUE -> send(ruleShows(subscription, update.row()) ? Delivery.LEAVE_WITH_RECORD : Delivery.LEAVE);
            case UNDECIDABLE -> Outcome.WITHHOLD;
            case FALSE, NULL -> Outcome.NOTHING;
        };
    }

    private Outcome send(Delivery form) {
        delivery = form;
        return Outcome.SEND;
    }

    private Outcome newTuple(Subscription subscription, Tuple tuple, Delivery form) {
        RowImage row = image(tuple);
        Truth filter = ask(subscription.filter().predicate(), row);
        if (filter == Truth.FALSE || filter == Truth.NULL) {
            return Outcome.NOTHING;
        }
        Truth verdict = filter.and(priorTruth(subscription, row)).and(shown(subscription, row));
        delivery = form;
        return switch (subscription.rule().decision()) {
            case Rule.Decision.Everything _ -> outcome(verdict.and(ruled(subscription, row, filter)));
            case Rule.Decision.Compiled _ -> {
                Truth decided = verdict.and(ruled(subscription, row, filter));
                yield verdict == Truth.TRUE && decided == Truth.UNDECIDABLE && mayAsk(subscription.rule(), tuple)
                        ? Outcome.PROBE
                        : outcome(decided);
            }
            case Rule.Decision.Probed _ -> {
                Outcome before = outcome(verdict);
                if (before != Outcome.SEND) {
                    yield before;
                }
                yield mayAsk(subscription.rule(), tuple) ? Outcome.PROBE : Outcome.WITHHOLD;
            }
        };
    }

    /// Whether PostgreSQL can be asked what the rule leaves to it. Of an image that lacks a value it cannot.
    private boolean mayAsk(Rule rule, Tuple tuple) {
        return rule.question() != null && carries(rule.questionColumns(), tuple);
    }

    /// An unchanged TOASTed value of a row that had another key before is nobody's to name: neither a value nor a
    /// mark that the client's own still holds would be true.
    private Truth shown(Subscription subscription, RowImage row) {
        if (!gaps) {
            return Truth.TRUE;
        }
        for (Projection.Entry column : subscription.projection().entries()) {
            int position = row.mapping().position(column.attnum());
            if (position != ColumnMapping.ABSENT && row.tuple().kind(position) == Tuple.Kind.NOT_SENT) {
                return Truth.UNDECIDABLE;
            }
        }
        return Truth.TRUE;
    }

    private static boolean hasGaps(Change change) {
        Tuple row = ChangedRow.newTuple(change);
        for (int i = 0; row != null && i < row.columnCount(); i++) {
            if (row.kind(i) == Tuple.Kind.NOT_SENT) {
                return true;
            }
        }
        return false;
    }

    private static Outcome outcome(Truth verdict) {
        return switch (verdict) {
            case TRUE -> Outcome.SEND;
            case UNDECIDABLE -> Outcome.WITHHOLD;
            case FALSE, NULL -> Outcome.NOTHING;
        };
    }

    private Truth oldTuple(Subscription subscription, Tuple tuple) {
        RowImage row = image(tuple);
        Truth filter = ask(subscription.filter().predicate(), row);
        return filter.and(priorTruth(subscription, row)).and(ruled(subscription, row, filter));
    }

    /// What the rule says of a row. A rule speaks only of rows that the filter admits, so what it says of others is
    /// nobody's to confirm; nor is that it raised, for PostgreSQL evaluates its parts in an order of its own.
    private Truth ruled(Subscription subscription, RowImage row, Truth filter) {
        raised = false;
        Truth verdict = ruleTruth(subscription.rule(), row);
        if (filter == Truth.TRUE && verdict != Truth.UNDECIDABLE && !raised) {
            observer.decided(subscription, row, verdict);
        }
        return verdict;
    }

    /// Whether the policy shows what a row became that the filter no longer admits.
    ///
    /// A rule is composed with the filter's equalities as constants, so it says nothing about a row that breaks
    /// one.
    private boolean ruleShows(Subscription subscription, Tuple tuple) {
        for (FilterTerm term : subscription.filter().conjuncts()) {
            if (term.operator() == FilterTerm.Operator.EQUAL) {
                return false;
            }
        }
        RowImage row = image(tuple);
        return ruleTruth(subscription.rule(), row).and(priorTruth(subscription, row)) == Truth.TRUE;
    }

    /// What was granted at the commit may be known by no reading of the catalog, and then decides nothing. A
    /// catalog newer than the commit widens nothing. Where the prior rule would have hidden the row, no one can
    /// say whether the new one was in force at the commit already: undecidable, so that the subscriber is told.
    private Truth priorTruth(Subscription subscription, RowImage row) {
        if (areRightsInMotion(subscription)) {
            return Truth.UNDECIDABLE;
        }
        Rule prior = subscription.priorRule(commitLsn);
        if (prior == null) {
            return Truth.TRUE;
        }
        return ruleTruth(prior, row) == Truth.TRUE ? Truth.TRUE : Truth.UNDECIDABLE;
    }

    /// What a probed rule says cannot be known here: a question about an old state has no answer any more.
    private Truth ruleTruth(Rule rule, RowImage row) {
        return switch (rule.decision()) {
            case Rule.Decision.Everything() -> Truth.TRUE;
            case Rule.Decision.Compiled(var predicate) -> ask(predicate, row);
            case Rule.Decision.Probed(var sql) -> Truth.UNDECIDABLE;
        };
    }

    /// Whether a probe would be asked about the row as it is: every column the rule reads has a value in the log.
    private boolean carries(List<Integer> attnums, Tuple tuple) {
        RowImage row = image(tuple);
        for (int attnum : attnums) {
            if (attnum == 0) {
                return carriesEverything(row);
            }
            if (!known(row, attnum)) {
                return false;
            }
        }
        return true;
    }

    private boolean carriesEverything(RowImage row) {
        for (var column : current(relation).columns()) {
            if (!known(row, column.attnum())) {
                return false;
            }
        }
        return true;
    }

    private static boolean known(RowImage row, int attnum) {
        return switch (row.kind(attnum)) {
            case TEXT, NULL -> true;
            case UNCHANGED, NOT_SENT -> false;
        };
    }

    private boolean keyChanged(Change.Update update) {
        Tuple old = update.old();
        if (old == null) {
            return false;
        }
        for (int attnum : current(relation).keyColumns()) {
            int position = current(mapping).position(attnum);
            if (position == ColumnMapping.ABSENT || !sameText(old, update.row(), position)) {
                return true;
            }
        }
        return false;
    }

    /// Whether one of these columns is another than before, or may be. 0 stands for all of them.
    private boolean changed(List<Integer> attnums, Change.Update update) {
        Tuple old = update.old();
        if (old == null || attnums.contains(0)) {
            return true;
        }
        for (int attnum : attnums) {
            int position = current(mapping).position(attnum);
            boolean same = position != ColumnMapping.ABSENT
                    && (sameText(old, update.row(), position)
                            || (old.kind(position) == Tuple.Kind.NULL
                                    && update.row().kind(position) == Tuple.Kind.NULL));
            if (!same) {
                return true;
            }
        }
        return false;
    }

    private static boolean sameText(Tuple one, Tuple other, int position) {
        return one.kind(position) == Tuple.Kind.TEXT
                && other.kind(position) == Tuple.Kind.TEXT
                && one.length(position) == other.length(position)
                && java.util.Arrays.equals(
                        one.bytes(),
                        one.offset(position),
                        one.offset(position) + one.length(position),
                        other.bytes(),
                        other.offset(position),
                        other.offset(position) + other.length(position));
    }

    /// One image serves every subscription of the change.
    @SuppressWarnings("ReferenceEquality") // the same tuple object, not an equal one
    private RowImage image(Tuple tuple) {
        RowImage made = newImage;
        if (made != null && made.tuple() == tuple) {
            return made;
        }
        made = oldImage;
        if (made != null && made.tuple() == tuple) {
            return made;
        }
        return new RowImage(tuple, current(mapping), commitTime);
    }

    private @Nullable RowImage imageOf(@Nullable Tuple tuple) {
        return tuple == null ? null : new RowImage(tuple, current(mapping), commitTime);
    }

    /// A row on which PostgreSQL would raise is not visible, and harms nobody else.
    private Truth ask(Predicate predicate, RowImage row) {
        try {
            return predicate.test(row);
        } catch (EvaluationException raised) {
            metrics.evaluationFailed(current(relation));
            this.raised = true;
            return Truth.FALSE;
        }
    }

    private static <T> T current(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("no change was begun");
        }
        return value;
    }
}
