package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import sluice.core.catalog.Stamp;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.transaction.Change;
import sluice.core.transaction.Transaction;
import sluice.core.transaction.WalEvent;

/// Which tables have to be read again before a commit may be dispatched.
final class CatalogDemand {
    private CatalogDemand() {}

    /// A table nobody subscribes to is only marked: it is read again before anybody does.
    static List<Integer> outdated(WalEvent event, RightsKeeper rights, UnseenCommits unseen) {
        Set<Integer> outdated = new LinkedHashSet<>();
        for (RelationDefinition definition : CommitStart.announced(event)) {
            TableState table = rights.table(definition.oid());
            TableState namesake = rights.subscribedNamesake(definition);
            if (namesake != null) {
                outdated.add(definition.oid());
                outdated.add(namesake.relation().oid());
            } else if (table != null && table.index().size() == 0) {
                table.markStale(CommitStart.xid(event), unseen.count());
            } else if (table != null && !seesCommit(table.stamp(), event, unseen)) {
                outdated.add(definition.oid());
            }
        }
        // a partition root's rights can move without a Relation message of its own
        for (TableState root : touchedRoots(event, rights)) {
            if (root.index().size() > 0 && !seesCommit(root.stamp(), event, unseen)) {
                outdated.add(root.relation().oid());
            }
        }
        return new ArrayList<>(outdated);
    }

    /// Whether the catalog is as new as the commit and as every commit before it.
    private static boolean seesCommit(Stamp stamp, WalEvent event, UnseenCommits unseen) {
        return stamp.snapshot().sees(CommitStart.xid(event)) && unseen.showsFirst(stamp.snapshot(), unseen.count());
    }

    /// What a spilled commit touches is not known at its begin: it may be any table.
    private static Iterable<TableState> touchedRoots(WalEvent event, RightsKeeper rights) {
        if (!rights.tables().hasRoots()) {
            return List.of();
        }
        if (!(event instanceof WalEvent.Committed(Transaction transaction))) {
            return rights.tables().roots();
        }
        Set<TableState> touched = new LinkedHashSet<>();
        for (Change change : transaction.changes()) {
            TableState root = rights.tables().root(change.relation().oid());
            if (root != null) {
                touched.add(root);
            }
        }
        return touched;
    }
}
