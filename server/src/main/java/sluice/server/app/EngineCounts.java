package sluice.server.app;

import java.time.Duration;
import sluice.core.authorization.Tier;
import sluice.core.catalog.Relation;
import sluice.core.dispatch.ControlRequest;
import sluice.core.dispatch.EngineMetrics;
import sluice.core.event.PassingEvent;
import sluice.core.event.SubscriptionResult.Indexing;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.shape.Operation;
import sluice.server.metrics.AuthorizationMetrics;
import sluice.server.metrics.Metrics;

/// The engine's counts as this server's figures.
final class EngineCounts implements EngineMetrics {
    private final Metrics metrics;
    private final AuthorizationMetrics rights;

    EngineCounts(Metrics metrics) {
        this.metrics = metrics;
        this.rights = metrics.authorization();
    }

    @Override
    public void change(Relation relation, Operation operation) {
        metrics.changeDispatched(relation.schema(), relation.name(), operation);
    }

    @Override
    public void candidates(Relation relation, int named) {
        metrics.routingCandidates(relation.schema(), relation.name(), named);
    }

    @Override
    public void withheld(Relation relation, Operation operation) {
        rights.unknown(relation.schema(), relation.name(), operation);
    }

    @Override
    public void degradedDelete(Relation relation) {
        rights.degradedDelete(relation.schema(), relation.name());
    }

    @Override
    public void cut(RelationDefinition table) {
        metrics.changeTruncated(table.schema(), table.name());
    }

    @Override
    public void unchangedToast(Relation relation, String column) {
        metrics.toastUnchanged(relation.schema(), relation.name(), column);
    }

    @Override
    public void evaluationFailed(Relation relation) {
        metrics.evaluationFailed(relation.schema(), relation.name());
    }

    @Override
    public void probed(Relation relation) {
        rights.probed(relation.schema(), relation.name());
    }

    @Override
    public void probeWithheld(Relation relation) {
        rights.probeWithheld(relation.schema(), relation.name());
    }

    @Override
    public void resolved(Tier tier, Resolution resolution, Duration took) {
        switch (resolution) {
            case GRANTED -> rights.resolved(tier, AuthorizationMetrics.Result.GRANTED, took.toNanos() / 1e9);
            case DENIED -> rights.unresolved(AuthorizationMetrics.Result.DENIED);
            case REFUSED -> rights.unresolved(AuthorizationMetrics.Result.REFUSED);
            case UNAVAILABLE -> rights.unresolved(AuthorizationMetrics.Result.UNAVAILABLE);
        }
    }

    @Override
    public void notCompiled(Relation relation, String reason) {
        rights.compileFailed(relation.schema(), relation.name(), reason);
    }

    @Override
    public void subscriptions(Relation relation, Tier tier, Indexing indexing, int delta) {
        Metrics.SubscriptionKind kind = new Metrics.SubscriptionKind(
                relation.schema(), relation.name(), tier.name(), indexing == Indexing.INDEXED ? "true" : "false");
        if (delta > 0) {
            metrics.subscriptionAdded(kind);
        } else {
            metrics.subscriptionRemoved(kind);
        }
    }

    @Override
    public void crossChecked(Relation relation, CheckResult result) {
        rights.crossChecked(
                relation.schema(),
                relation.name(),
                switch (result) {
                    case AGREED -> AuthorizationMetrics.CheckResult.AGREED;
                    case DIVERGED -> AuthorizationMetrics.CheckResult.DIVERGED;
                    case INCOMPARABLE -> AuthorizationMetrics.CheckResult.INCOMPARABLE;
                    case FAILED -> AuthorizationMetrics.CheckResult.FAILED;
                    case DROPPED -> AuthorizationMetrics.CheckResult.DROPPED;
                });
    }

    @Override
    public void diverged(Relation relation, Divergence kind) {
        rights.diverged(relation.schema(), relation.name(), kind.wireName());
    }

    @Override
    public void downgraded(Relation relation) {
        rights.downgraded(relation.schema(), relation.name());
    }

    @Override
    public void revoked(RevocationSource source) {
        metrics.revoked(source.wireName());
    }

    @Override
    public void resumed(Resumed outcome) {
        metrics.resumed(
                switch (outcome) {
                    case YES -> "resumed";
                    case NO -> "not_resumed";
                });
    }

    @Override
    public void leaseChecked(LeaseResult result) {
        rights.leaseChecked(
                switch (result) {
                    case HELD -> AuthorizationMetrics.LeaseResult.HELD;
                    case REVOKED -> AuthorizationMetrics.LeaseResult.REVOKED;
                    case UNAVAILABLE -> AuthorizationMetrics.LeaseResult.UNAVAILABLE;
                });
    }

    @Override
    public void buffered(long bytes, Duration age) {
        metrics.resumeBuffer(bytes, age);
    }

    @Override
    public void broadcast(String namespace, BroadcastOrigin origin) {
        metrics.channels().broadcast(namespace, origin);
    }

    @Override
    public void presenceUpdated(String namespace, ControlRequest.Presence.Action action) {
        metrics.channels().presenceUpdated(namespace, action);
    }

    @Override
    public void dropped(PassingEvent.Kind kind) {
        metrics.channels().dropped(kind);
    }

    @Override
    public void hookRechecked(HookRecheck result, int joins) {
        metrics.channels().hookRechecked(result, joins);
    }

    @Override
    public void duplicateDiscarded() {
        metrics.transactionsDiscarded(1);
    }
}
