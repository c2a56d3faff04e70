package sluice.core.dispatch;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import sluice.core.authorization.Tier;
import sluice.core.catalog.Relation;
import sluice.core.event.PassingEvent;
import sluice.core.event.SubscriptionResult;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.shape.Operation;

/// Counts as a map from a short name.
final class Counts implements EngineMetrics {
    final Map<String, Integer> byName = new LinkedHashMap<>();

    int of(String name) {
        return byName.getOrDefault(name, 0);
    }

    /// What the resume buffer holds.
    long bufferedBytes;

    private void add(String name, int delta) {
        byName.merge(name, delta, Integer::sum);
    }

    @Override
    public void broadcast(String namespace, BroadcastOrigin origin) {
        add("broadcast " + namespace + " " + origin, 1);
    }

    @Override
    public void presenceUpdated(String namespace, ControlRequest.Presence.Action action) {
        add("presence " + namespace + " " + action, 1);
    }

    @Override
    public void dropped(PassingEvent.Kind kind) {
        add("dropped " + kind, 1);
    }

    @Override
    public void hookRechecked(HookRecheck result, int joins) {
        add("hook " + result, joins);
    }

    @Override
    public void change(Relation relation, Operation operation) {
        add("change " + operation, 1);
    }

    @Override
    public void candidates(Relation relation, int named) {
        add("candidates", named);
    }

    @Override
    public void withheld(Relation relation, Operation operation) {
        add("withheld " + operation, 1);
    }

    @Override
    public void degradedDelete(Relation relation) {
        add("degraded delete", 1);
    }

    @Override
    public void cut(RelationDefinition table) {
        add("cut " + table.name(), 1);
    }

    @Override
    public void unchangedToast(Relation relation, String column) {
        add("unchanged " + column, 1);
    }

    @Override
    public void evaluationFailed(Relation relation) {
        add("evaluation failed", 1);
    }

    @Override
    public void probed(Relation relation) {
        add("probed", 1);
    }

    @Override
    public void probeWithheld(Relation relation) {
        add("probe withheld", 1);
    }

    @Override
    public void resolved(Tier tier, Resolution resolution, Duration took) {
        add("resolved " + resolution, 1);
    }

    @Override
    public void notCompiled(Relation relation, String reason) {
        add("not compiled", 1);
    }

    @Override
    public void subscriptions(Relation relation, Tier tier, SubscriptionResult.Indexing indexing, int delta) {
        add("subscriptions " + tier, delta);
    }

    @Override
    public void crossChecked(Relation relation, CheckResult result) {
        add("checked " + result, 1);
    }

    @Override
    public void diverged(Relation relation, Divergence kind) {
        add("diverged " + kind, 1);
    }

    @Override
    public void resumed(Resumed outcome) {
        add("resumed " + outcome, 1);
    }

    @Override
    public void buffered(long bytes, Duration age) {
        bufferedBytes = bytes;
    }

    @Override
    public void downgraded(Relation relation) {
        add("downgraded", 1);
    }

    @Override
    public void revoked(RevocationSource source) {
        add("revoked " + source.wireName(), 1);
    }

    @Override
    public void leaseChecked(LeaseResult result) {
        add("lease " + result, 1);
    }

    @Override
    public void duplicateDiscarded() {
        add("discarded", 1);
    }
}
