package sluice.core.dispatch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;
import sluice.core.diagnostics.Diagnosis;
import sluice.core.diagnostics.Finding;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.routing.RoutingIndex;
import sluice.core.shape.Projection;
import sluice.core.stream.Subscription;
import sluice.core.stream.SubscriptionTag;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// What the engine keeps of one published table. Owned by the engine's thread.
final class TableState {
    /// Keys remembered while probes of the table are unanswered.
    private static final int TOUCHED_KEYS_MAX = 100_000;

    private static final int PROJECTIONS_MAX = 1_000;
    private static final int LABELS_MAX = 1_000;

    private final RoutingIndex<Subscription> index = new RoutingIndex<>();
    private Relation relation;
    private Stamp stamp;
    private Lsn rightsMovedUntil = Lsn.ZERO;
    private Lsn movedUntil = Lsn.ZERO;
    private final RightsInDoubt doubts = new RightsInDoubt();
    private final RenewedColumns renewed = new RenewedColumns();
    private @Nullable Xid staleSince;
    private long staleAfter;
    private Lsn lastCommit = Lsn.ZERO;

    private final Map<Projection, Projection> projections = new HashMap<>();
    private final Map<String, SubscriptionTag> tagsByLabel = new HashMap<>();

    private @Nullable List<Finding> identityFindings;

    private @Nullable RelationDefinition mappedDefinition;
    private @Nullable ColumnMapping mapping;

    private int probesOutstanding;
    private final Map<String, Lsn> lastTouchByKey = new HashMap<>();
    private Lsn touchesForgotten = Lsn.ZERO;

    TableState(Relation relation, Stamp stamp) {
        this.relation = relation;
        this.stamp = stamp;
    }

    RoutingIndex<Subscription> index() {
        return index;
    }

    Relation relation() {
        return relation;
    }

    /// When the relation was read.
    Stamp stamp() {
        return stamp;
    }

    void reloaded(Relation newRelation, Stamp newStamp, UnseenCommits unseen) {
        relation = newRelation;
        stamp = newStamp;
        Xid announced = staleSince;
        if (announced != null
                && newStamp.snapshot().sees(announced)
                && unseen.showsFirst(newStamp.snapshot(), staleAfter)) {
            staleSince = null;
        }
        mappedDefinition = null;
        mapping = null;
        identityFindings = null;
    }

    /// What is to be said of the table's replica identity; found once.
    List<Finding> identityFindings(CatalogImage catalog) {
        List<Finding> known = identityFindings;
        if (known == null) {
            known = List.copyOf(Diagnosis.ofIdentity(catalog, relation));
            identityFindings = known;
        }
        return known;
    }

    /// The table was announced while nobody subscribed to it: read it again before anybody does.
    ///
    /// @param announcing the commit that announced it: only a catalog that sees it will do
    /// @param dispatched how many commits were dispatched before it: the catalog has to see these too
    void markStale(Xid announcing, long dispatched) {
        staleSince = announcing;
        staleAfter = dispatched;
    }

    boolean isStale() {
        return staleSince != null;
    }

    /// Commits before this position were made while rights may have been other than the catalog now says.
    Lsn rightsMovedUntil() {
        return rightsMovedUntil;
    }

    void rightsMoved(Lsn until) {
        rightsMovedUntil = rightsMovedUntil.max(until);
        moved(until);
    }

    /// Up to where commits were made under rights that nobody knows.
    RightsInDoubt doubts() {
        return doubts;
    }

    /// Before this position the table's rights, its definition or what feeds it may have been other than now.
    Lsn movedUntil() {
        return movedUntil;
    }

    void moved(Lsn until) {
        movedUntil = movedUntil.max(until);
    }

    /// The one object that stands for all equal projections of the table: an event is encoded once for all of them.
    ///
    /// Full: forgotten, and new ones are shared from there on; equal projections still compare equal.
    Projection shared(Projection projection) {
        if (projections.size() >= PROJECTIONS_MAX) {
            projections.clear();
        }
        Projection known = projections.putIfAbsent(projection, projection);
        return known == null ? projection : known;
    }

    /// The one object that stands for a label that many streams give their subscription to the table.
    ///
    /// Full: forgotten, and new ones are shared from there on.
    SubscriptionTag tag(String label) {
        if (tagsByLabel.size() >= LABELS_MAX) {
            tagsByLabel.clear();
        }
        return tagsByLabel.computeIfAbsent(label, SubscriptionTag::of);
    }

    /// Which columns are not known of rows of earlier commits.
    RenewedColumns renewed() {
        return renewed;
    }

    /// Where a row has the table's columns, as far as that is known.
    ///
    /// @param definition it came under
    /// @param commitLsn of its commit
    ColumnMapping mapping(RelationDefinition definition, Lsn commitLsn) {
        return renewed.known(mapping(definition), commitLsn);
    }

    @SuppressWarnings("ReferenceEquality") // another object is only mapped again, and most are the same one
    private ColumnMapping mapping(RelationDefinition definition) {
        ColumnMapping known = mapping;
        if (known != null && definition == mappedDefinition) {
            return known;
        }
        ColumnMapping made = ColumnMapping.of(definition, relation);
        mappedDefinition = definition;
        mapping = made;
        return made;
    }

    /// Which rows were changed before is not known: a probe about an older commit than the last
    /// counts as superseded.
    void probeStarted() {
        if (probesOutstanding == 0) {
            touchesForgotten = lastCommit;
        }
        probesOutstanding++;
    }

    /// A commit that changes the table is being dispatched.
    void committed(Lsn commitLsn) {
        lastCommit = commitLsn;
    }

    void probeEnded() {
        probesOutstanding--;
        if (probesOutstanding == 0) {
            lastTouchByKey.clear();
            touchesForgotten = Lsn.ZERO;
        }
    }

    boolean hasProbesOutstanding() {
        return probesOutstanding > 0;
    }

    /// A commit changed the row with this key. Past the bound keys are forgotten, and every probe then outstanding
    /// counts as superseded.
    ///
    /// @param key empty when the image does not say which row: then it may be any
    void touched(String key, Lsn commitLsn) {
        if (key.isEmpty()) {
            touchesForgotten = commitLsn;
            return;
        }
        if (lastTouchByKey.size() >= TOUCHED_KEYS_MAX && !lastTouchByKey.containsKey(key)) {
            lastTouchByKey.clear();
            touchesForgotten = commitLsn;
        }
        lastTouchByKey.put(key, commitLsn);
    }

    /// A commit emptied the table.
    void touchedAll(Lsn commitLsn) {
        if (probesOutstanding > 0) {
            touchesForgotten = commitLsn;
        }
    }

    /// Whether a commit after this one changed the row: the answer may be about another image.
    boolean touchedAfter(String key, Lsn commitLsn) {
        Lsn last = lastTouchByKey.get(key);
        return touchesForgotten.isAfter(commitLsn) || (last != null && last.isAfter(commitLsn));
    }
}
