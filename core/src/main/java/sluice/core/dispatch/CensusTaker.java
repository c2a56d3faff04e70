package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Tier;
import sluice.core.diagnostics.Census;
import sluice.core.event.SubscriptionResult.Indexing;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;

/// Counts what is open.
final class CensusTaker {
    private record Kind(int relationOid, Tier tier, Indexing indexing) {}

    private CensusTaker() {}

    static Census count(RightsKeeper rights, Iterable<StreamState> streams, Census.@Nullable Blindness blindness) {
        Map<Kind, Integer> counts = new LinkedHashMap<>();
        int open = 0;
        for (StreamState stream : streams) {
            if (!stream.isOpen()) {
                continue;
            }
            open++;
            for (Subscription subscription : stream.subscriptions()) {
                Indexing indexing = InstalledShapes.indexing(subscription.routingKey());
                Kind kind =
                        new Kind(subscription.relationOid(), subscription.rule().tier(), indexing);
                counts.merge(kind, 1, Integer::sum);
            }
        }
        List<Census.Group> groups = new ArrayList<>();
        counts.forEach((kind, count) -> {
            @Nullable TableState table = rights.table(kind.relationOid());
            if (table != null) {
                groups.add(new Census.Group(table.relation().qualifiedName(), kind.tier(), kind.indexing(), count));
            }
        });
        return new Census(rights.catalog(), open, groups, blindness);
    }
}
