package sluice.core.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Origin;
import sluice.core.authorization.RulePlan;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Function;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.catalog.Stamp;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.event.SubscriptionResult.Indexing;
import sluice.core.expression.FoldAnswer;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.shape.Filter;
import sluice.core.shape.Projection;
import sluice.core.stream.Subscription;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// The catalog the engine goes by, its tables, and what becomes of open subscriptions when either moves.
///
/// A newer answer replaces an older one table by table, never the other way round. Where rights of a table moved,
/// each of its subscriptions has its rule composed again. One that shows other rows ends the subscription: what its
/// client holds is of the rule before, and nothing in the log says which rows came or went. One that means the same
/// goes on, with the columns that are granted now; until the stream has passed the answer, rows shown by columns
/// granted since, and rows of a rule that was another in between, are undecidable. Owned by the engine's thread.
final class RightsKeeper {
    /// What the keeper needs of the engine.
    interface Host {
        /// Every commit before this position has been dispatched: the position, or where the parked
        /// commit begins.
        Lsn dispatchedUntil();

        Instant now();

        Questions questions();

        RulePlanner planner();

        EngineMetrics metrics();

        CommitOrder order();

        /// Ends one subscription with an error event.
        void endSubscription(Subscription subscription, ErrorCode code, String message);

        /// The columns the subscription shows are other ones now.
        void columnsMoved(Subscription subscription);

        /// The subscription has its new rule: what waited for it can be decided.
        void settled(Subscription subscription);
    }

    private final Host host;
    private CatalogImage catalog;
    private final Tables tables = new Tables();
    private final Set<TableState> inDoubt = new LinkedHashSet<>();
    private long version;

    RightsKeeper(Host host, CatalogImage initial) {
        this.host = host;
        this.catalog = initial;
        for (Relation relation : initial.relations()) {
            tables.add(firstSeen(relation, initial.stamp()));
        }
    }

    /// What the rights were before the answer is not known: commits before it cannot be decided.
    private static TableState firstSeen(Relation relation, Stamp stamp) {
        TableState table = new TableState(relation, stamp);
        table.rightsMoved(stamp.insertLsn());
        return table;
    }

    CatalogImage catalog() {
        return catalog;
    }

    /// Moves whenever rights or definitions moved.
    long version() {
        return version;
    }

    /// Whether anything gone by was read after this position.
    boolean knowsPast(Lsn position) {
        for (TableState table : tables.all()) {
            if (table.stamp().insertLsn().isAfter(position)) {
                return true;
            }
        }
        return catalog.stamp().insertLsn().isAfter(position);
    }

    @Nullable
    TableState table(int oid) {
        return tables.table(oid);
    }

    Tables tables() {
        return tables;
    }

    /// A table of this name that subscriptions know under another oid: it was created anew.
    @Nullable
    TableState subscribedNamesake(RelationDefinition definition) {
        for (TableState table : tables.named(definition.schema(), definition.name())) {
            if (table.index().size() > 0 && table.relation().oid() != definition.oid()) {
                return table;
            }
        }
        return null;
    }

    /// Takes an answer over.
    ///
    /// @param asked the tables it was asked for, null for all there are
    ///
    /// @return whether anything moved
    boolean apply(CatalogImage answer, @Nullable List<Integer> asked) {
        CatalogImage before = catalog;
        long versionBefore = version;
        List<Integer> covered = asked != null ? asked : tables.oids();
        List<Integer> newer = new ArrayList<>();
        for (int oid : covered) {
            TableState known = tables.table(oid);
            if (known == null || !answer.stamp().isOlderThan(known.stamp())) {
                newer.add(oid);
            }
        }
        catalog = before.with(answer, newer);
        boolean everyRule = dictionaryMoved(before.dictionary(), catalog.dictionary());
        if (everyRule) {
            version++;
            host.questions().forget();
        }
        for (int oid : newer) {
            move(oid, answer, everyRule);
        }
        if (everyRule) {
            for (TableState table : tables.all()) {
                if (!newer.contains(table.relation().oid())) {
                    composeAll(table, answer.stamp());
                }
            }
        }
        for (Relation relation : answer.relations()) {
            if (tables.table(relation.oid()) == null) {
                tables.add(firstSeen(relation, answer.stamp()));
                version++;
            }
        }
        return version != versionBefore;
    }

    /// Roles, the functions a rule may call and the types its constants have bring no Relation
    /// message of their own.
    private static boolean dictionaryMoved(CatalogImage.Dictionary before, CatalogImage.Dictionary after) {
        if (!before.rolesByName().equals(after.rolesByName()) || typesMoved(before, after)) {
            return true;
        }
        // a function dropped and made anew has another oid under the same name, so one more or less is a move too
        int known = 0;
        for (Function function : after.functionsByOid().values()) {
            Function was = before.functionsByOid().get(function.oid());
            if (was == null || !was.version().equals(function.version()) || !sameRights(was, function)) {
                return true;
            }
            known++;
        }
        return known != before.functionsByOid().size();
    }

    /// A known type is another by now: a label was renamed, a field added. A new type moves nothing.
    private static boolean typesMoved(CatalogImage.Dictionary before, CatalogImage.Dictionary after) {
        for (Map.Entry<Integer, PgType> known : before.typesByOid().entrySet()) {
            PgType now = after.typesByOid().get(known.getKey());
            if (now != null && !now.equals(known.getValue())) {
                return true;
            }
        }
        return false;
    }

    private static boolean sameRights(Function one, Function other) {
        return one.executableByRole().equals(other.executableByRole());
    }

    private void move(int oid, CatalogImage answer, boolean everyRule) {
        TableState table = tables.table(oid);
        Relation now = answer.relation(oid);
        if (table == null) {
            return;
        }
        if (now == null) {
            version++;
            gone(table, answer);
            return;
        }
        Relation before = table.relation();
        Stamp stamp = answer.stamp();
        boolean rightsMoved = !before.rightsFingerprint().equals(now.rightsFingerprint());
        boolean definitionMoved = !before.fingerprint().equals(now.fingerprint());
        boolean fed = before.feed().reaches(now.feed());
        reload(table, now, stamp);
        if (!answer.succession().connects(before, now)) {
            doubt(table, host.order().rightsKnownFrom(before, now, stamp));
            table.moved(stamp.insertLsn());
        }
        if (!before.schema().equals(now.schema()) || !before.name().equals(now.name())) {
            renamed(table, before);
            table.moved(stamp.insertLsn());
            return;
        }
        if (!rightsMoved && !definitionMoved && !everyRule && fed) {
            return;
        }
        version++;
        table.moved(stamp.insertLsn());
        if (rightsMoved || everyRule) {
            table.rightsMoved(stamp.insertLsn());
        }
        RequestException uneven = ShapeReader.uneven(now);
        unsettle(table.index().all(), table.rightsMovedUntil());
        for (Subscription subscription : table.index().all()) {
            if (!now.isServed()) {
                host.endSubscription(
                        subscription,
                        ErrorCode.RELATION_UNPUBLISHED,
                        "table \"" + now.qualifiedName() + "\" is no longer published with all its changes");
            } else if (uneven != null) {
                host.endSubscription(subscription, uneven.code(), uneven.getMessage());
            } else if (!fed) {
                host.endSubscription(
                        subscription,
                        ErrorCode.SCHEMA_CHANGED,
                        "rows of table \"" + now.qualifiedName() + "\" may have changed without a word in the log: its"
                                + " publication, its partitions or its storage moved");
            } else if (definitionMoved && !sameColumns(subscription, before, now)) {
                endChanged(subscription, now);
            } else {
                if (definitionMoved && ShownColumns.differ(subscription, before, now)) {
                    subscription.columnsMoved();
                }
                compose(subscription, table);
            }
        }
    }

    /// The name a client asked for may be another table's by now.
    private void renamed(TableState table, Relation before) {
        version++;
        for (Subscription subscription : table.index().all()) {
            endChanged(subscription, before);
        }
    }

    /// Columns that were written anew behind one that was dropped are not known in rows of before.
    private void reload(TableState table, Relation now, Stamp stamp) {
        List<Integer> renewed = now.renewedSince(table.relation());
        tables.reloaded(table, now, stamp, host.order().unseen());
        if (!renewed.isEmpty()) {
            // the commit that waits may have rows of before and after it altered the table
            Lsn next = new Lsn(host.dispatchedUntil().bits() + 1);
            table.renewed()
                    .add(
                            renewed,
                            host.order().columnsKnownFrom(renewed, now, stamp).max(next));
        }
    }

    /// Of commits up to there nobody can say under which rights they were made: those of before may have given way
    /// to others that were gone again when the catalog was read.
    private void doubt(TableState table, CommitOrder.RightsKnown known) {
        table.rightsMoved(known.lsn());
        table.doubts().add(known, host.dispatchedUntil());
        if (table.doubts().areOpen()) {
            inDoubt.add(table);
        }
        for (Subscription subscription : table.index().all()) {
            subscription.rightsUnknown(host.dispatchedUntil(), known.lsn());
        }
    }

    /// This commit is about to be dispatched: where it wrote the rights that were read, they are
    /// known from here on.
    void dispatching(Xid xid, Lsn commitLsn) {
        for (Iterator<TableState> all = inDoubt.iterator(); all.hasNext(); ) {
            TableState table = all.next();
            if (table.doubts().cleared(xid, commitLsn)) {
                for (Subscription subscription : table.index().all()) {
                    subscription.rightsKnownFrom(table.doubts().until());
                }
            }
            if (!table.doubts().areOpen()) {
                all.remove();
            }
        }
    }

    private void composeAll(TableState table, Stamp stamp) {
        table.rightsMoved(stamp.insertLsn());
        unsettle(table.index().all(), table.rightsMovedUntil());
        for (Subscription subscription : table.index().all()) {
            compose(subscription, table);
        }
    }

    /// These policies are decided by PostgreSQL from here on. What was decided by them before may be wrong: nobody
    /// goes on from a position of before, whether or not he heard of it.
    void recompose(TableState table, Origin.Question question) {
        table.moved(new Lsn(host.dispatchedUntil().bits() + 1));
        List<Subscription> meant = new ArrayList<>();
        for (Subscription subscription : table.index().all()) {
            Origin origin = subscription.rule().origin();
            if (origin != null && origin.question().sql().equals(question.sql())) {
                meant.add(subscription);
            }
        }
        unsettle(meant, table.rightsMovedUntil());
        meant.forEach(subscription -> compose(subscription, table));
    }

    private void gone(TableState table, CatalogImage answer) {
        Relation before = table.relation();
        Relation namesake = answer.relation(before.schema(), before.name());
        for (Subscription subscription : table.index().all()) {
            if (namesake != null) {
                endChanged(subscription, before);
            } else {
                host.endSubscription(
                        subscription,
                        ErrorCode.RELATION_UNPUBLISHED,
                        "table \"" + before.qualifiedName() + "\" is no longer published");
            }
        }
        tables.remove(table);
        inDoubt.remove(table);
    }

    private void endChanged(Subscription subscription, Relation relation) {
        host.endSubscription(
                subscription,
                ErrorCode.SCHEMA_CHANGED,
                "the definition of table \"" + relation.qualifiedName() + "\" changed under the shape");
    }

    /// Whether every column the shape uses is still the same column.
    private static boolean sameColumns(Subscription subscription, Relation before, Relation now) {
        List<Integer> used = new ArrayList<>(before.keyColumns());
        for (Column column : subscription.filter().columns()) {
            used.add(column.attnum());
        }
        for (int attnum : used) {
            if (!ShownColumns.isSame(before.column(attnum), now.column(attnum))) {
                return false;
            }
        }
        return before.keyColumns().equals(now.keyColumns());
    }

    /// The stream of these subscriptions goes on under another token. What waits was judged for the token
    /// before: it needs the yes of both.
    void callerChanged(List<Subscription> subscriptions) {
        for (Subscription subscription : subscriptions) {
            TableState table = tables.table(subscription.relationOid());
            if (table != null) {
                unsettle(List.of(subscription), table.rightsMovedUntil().max(host.dispatchedUntil()));
            }
        }
        for (Subscription subscription : subscriptions) {
            TableState table = tables.table(subscription.relationOid());
            if (table != null) {
                compose(subscription, table);
            }
        }
    }

    /// The rules of these subscriptions are about to be composed again. Said of all of them before anything is
    /// composed: the first that has its rule lets its stream's next commits go, which the others take part in.
    ///
    /// @param until rows of commits before this need the yes of the present rule too
    private void unsettle(Iterable<Subscription> subscriptions, Lsn until) {
        for (Subscription subscription : subscriptions) {
            if (subscription.state() != Subscription.State.ENDED) {
                subscription.needsAlso(subscription.rule(), until, host.dispatchedUntil());
                subscription.resolving();
            }
        }
    }

    /// Composes the rule of an open subscription again, after {@link #unsettle}.
    private void compose(Subscription subscription, TableState table) {
        if (subscription.state() == Subscription.State.ENDED) {
            return;
        }
        String roleName = subscription.stream().identity().role();
        Role role = catalog.role(roleName);
        if (role == null) {
            host.endSubscription(
                    subscription, ErrorCode.SHAPE_NOT_AUTHORIZED, "role \"" + roleName + "\" no longer exists");
            return;
        }
        ShapeReader.Visible visible;
        Filter filter;
        try {
            visible = ShapeReader.visible(catalog, table.relation(), role, subscription.request());
            mayFilter(subscription, table.relation(), role);
            filter = subscription.filter().under(catalog);
        } catch (RequestException refused) {
            // a column the client named may have been dropped since, or a value: the shape it asked for is gone
            boolean gone = refused.code() == ErrorCode.INVALID_COLUMNS || refused.code() == ErrorCode.INVALID_FILTER;
            host.endSubscription(subscription, gone ? ErrorCode.SCHEMA_CHANGED : refused.code(), refused.getMessage());
            return;
        }
        RulePlan plan = host.planner().plan(catalog, table.relation(), role, filter.conjuncts());
        Asking asking = new Asking(plan, filter, visible, subscription.generation(), host.now());
        host.questions()
                .ask(
                        subscription.stream().identity(),
                        plan.folds(),
                        Questions.Memory.KEPT,
                        host.now(),
                        answers -> composed(subscription, asking, answers));
    }

    private static void mayFilter(Subscription subscription, Relation relation, Role role) {
        for (Column column : subscription.filter().columns()) {
            if (!relation.grants(role.name()).covers(column.attnum())) {
                throw new RequestException(
                        ErrorCode.COLUMN_NOT_GRANTED,
                        "role \"" + role.name() + "\" may no longer read column \"" + column.name()
                                + "\" that the filter names");
            }
        }
    }

    /// A rule being composed.
    ///
    /// @param generation of the subscription: another one since makes the answer worthless
    private record Asking(RulePlan plan, Filter filter, ShapeReader.Visible visible, int generation, Instant since) {}

    private void composed(Subscription subscription, Asking asking, @Nullable List<FoldAnswer> answers) {
        if (subscription.generation() != asking.generation() || subscription.state() != Subscription.State.RESOLVING) {
            return;
        }
        if (answers == null) {
            host.endSubscription(
                    subscription, ErrorCode.CATALOG_UNAVAILABLE, "PostgreSQL did not answer about the caller in time");
            return;
        }
        switch (asking.plan().complete(answers)) {
            case RulePlan.Verdict.Granted(var rule)
            when !subscription.keepsMeaning(rule) ->
                host.endSubscription(
                        subscription,
                        ErrorCode.RIGHTS_CHANGED,
                        "the rules that decide what the shape shows changed; subscribe again and read the rows again");
            case RulePlan.Verdict.Granted(var rule) -> {
                TableState table = tables.table(subscription.relationOid());
                if (table != null && rule.tier() != subscription.rule().tier()) {
                    Indexing indexing = subscription.routingKey() == null ? Indexing.UNINDEXED : Indexing.INDEXED;
                    host.metrics()
                            .subscriptions(table.relation(), subscription.rule().tier(), indexing, -1);
                    host.metrics().subscriptions(table.relation(), rule.tier(), indexing, 1);
                }
                Projection projection =
                        subscription.ofOldColumns(asking.visible().projection());
                if (ShownColumns.printOtherwise(subscription.projection(), projection)) {
                    subscription.columnsMoved();
                }
                subscription.resolved(rule, asking.filter(), table == null ? projection : table.shared(projection));
                host.metrics()
                        .resolved(
                                rule.tier(),
                                EngineMetrics.Resolution.GRANTED,
                                Duration.between(asking.since(), host.now()));
                host.settled(subscription);
            }
            case RulePlan.Verdict.Refused(var code, var message) -> host.endSubscription(subscription, code, message);
        }
    }

    /// The catalog of these tables could not be read in time: no one may be served from an old one.
    ///
    /// @param waiting the commit that had to wait for it
    void unavailable(List<Integer> oids, Xid waiting) {
        for (int oid : oids) {
            TableState table = tables.table(oid);
            if (table != null) {
                for (Subscription subscription : table.index().all()) {
                    host.endSubscription(
                            subscription,
                            ErrorCode.CATALOG_UNAVAILABLE,
                            "the rights of table \"" + table.relation().qualifiedName()
                                    + "\" could not be read in time");
                }
                table.markStale(waiting, host.order().unseen().count());
            }
        }
    }

    /// Ends the subscriptions that need a column which the stream now defines otherwise than the catalog.
    ///
    /// The definition in the stream wins; a second reload would not bring the two together when the catalog is
    /// ahead.
    ///
    /// @param commitLsn of the commit that announces them
    void reconcile(List<RelationDefinition> announced, Lsn commitLsn) {
        for (RelationDefinition definition : announced) {
            TableState table = tables.table(definition.oid());
            if (table == null || table.index().size() == 0) {
                continue;
            }
            ColumnMapping mapping = table.mapping(definition, commitLsn);
            for (Subscription subscription : table.index().all()) {
                if (lacksColumn(subscription, table.relation(), mapping)) {
                    endChanged(subscription, table.relation());
                } else if (ShownColumns.lack(subscription, table.relation(), mapping)) {
                    subscription.columnsMoved();
                    host.columnsMoved(subscription);
                }
            }
        }
    }

    private static boolean lacksColumn(Subscription subscription, Relation relation, ColumnMapping mapping) {
        List<Integer> needed = new ArrayList<>(relation.keyColumns());
        for (Column column : subscription.filter().columns()) {
            needed.add(column.attnum());
        }
        needed.addAll(subscription.rule().readsColumns());
        for (int attnum : needed) {
            Column column = relation.column(attnum);
            boolean expected = column != null && ShownColumns.isExpected(relation, column);
            if (expected && mapping.position(attnum) == ColumnMapping.ABSENT) {
                return true;
            }
        }
        return false;
    }
}
