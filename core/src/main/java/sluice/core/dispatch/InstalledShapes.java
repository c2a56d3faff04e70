package sluice.core.dispatch;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.error.WarningCode;
import sluice.core.event.StreamEvent;
import sluice.core.event.SubscriptionResult.Indexing;
import sluice.core.routing.RoutingKey;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;

/// The shapes being served: put into their tables' indexes, and taken out of them for good. Owned by the engine's
/// thread.
final class InstalledShapes {
    /// What it needs of the engine.
    interface Host {
        @Nullable
        TableState table(int relationOid);

        Instant now();

        ControlDesk desk();

        Feeds feeds();

        EngineSettings settings();
    }

    private final Host host;
    private final CommitDispatch dispatch;
    private final FrameSink sink;
    private final EngineMetrics metrics;
    private final int unindexedMax;
    private int unindexed;

    InstalledShapes(Host host, CommitDispatch dispatch, FrameSink sink, EngineMetrics metrics, int unindexedMax) {
        this.host = host;
        this.dispatch = dispatch;
        this.sink = sink;
        this.metrics = metrics;
        this.unindexedMax = unindexedMax;
    }

    static Indexing indexing(@Nullable RoutingKey key) {
        return key == null ? Indexing.UNINDEXED : Indexing.INDEXED;
    }

    /// Whether one more shape without an equality may be installed.
    boolean admitsUnindexed() {
        return unindexed < unindexedMax;
    }

    /// What is to be said of the old rows that the table's replica identity writes.
    static Subscription.Announced announced(Subscription subscription, Relation relation) {
        if (!ShapeReader.outsideIdentity(subscription, relation).isEmpty()) {
            return Subscription.Announced.WITHHELD;
        }
        return ShapeReader.keyOutsideIdentity(subscription, relation).isEmpty()
                ? Subscription.Announced.NOTHING
                : Subscription.Announced.UNNAMED;
    }

    void add(Subscription subscription, TableState table) {
        RoutingKey key = subscription.routingKey();
        table.index().add(subscription, key);
        unindexed += key == null ? 1 : 0;
        subscription.stream().add(subscription);
        metrics.subscriptions(table.relation(), subscription.rule().tier(), indexing(key), 1);
        dispatch.watch(subscription);
    }

    /// The subscription's rule was composed again. Its table's replica identity may have become too narrow for what
    /// it reads, or wide enough: a row that leaves without an old row in the log is not told from here on.
    void identityMoved(Subscription subscription) {
        TableState table = host.table(subscription.relationOid());
        if (table == null || subscription.state() == Subscription.State.ENDED) {
            return;
        }
        Subscription.Announced told = subscription.announced();
        Subscription.Announced now = announced(subscription, table.relation());
        subscription.announceDeletes(now);
        if (now == told || now == Subscription.Announced.NOTHING) {
            return;
        }
        List<String> missing = ShapeReader.outsideIdentity(subscription, table.relation());
        if (now == Subscription.Announced.UNNAMED) {
            Frames.give(
                    sink,
                    subscription.stream(),
                    IdentityWarnings.unnamed(
                            subscription.label(),
                            table.relation(),
                            ShapeReader.keyOutsideIdentity(subscription, table.relation())));
            return;
        }
        StreamEvent.Warning warning = IdentityWarnings.insufficient(subscription.label(), table.relation(), missing);
        if (host.settings().replicaIdentity() == EngineSettings.IdentityPolicy.STRICT) {
            end(subscription, ErrorCode.REPLICA_IDENTITY_INSUFFICIENT, warning.message() + "; run " + warning.remedy());
            return;
        }
        boolean delivered = host.settings().degradedDeletes() == EngineSettings.DegradedDeletes.DELIVER;
        Frames.give(sink, subscription.stream(), delivered ? IdentityWarnings.ofDegradedDeletes(warning) : warning);
    }

    /// The columns the subscription shows may be other ones now: tells its client, if so, once it is settled
    /// that it goes on.
    void tellColumns(Subscription subscription) {
        if (subscription.state() != Subscription.State.ACTIVE || !subscription.takeColumnsMoved()) {
            return;
        }
        String table =
                subscription.request().schema() + "." + subscription.request().table();
        Frames.give(
                sink,
                subscription.stream(),
                new StreamEvent.Warning(
                        subscription.label(),
                        WarningCode.SCHEMA_CHANGED,
                        "the columns of table \"" + table + "\" changed",
                        "a dropped column is in no further event, a renamed one has its new name, an added one is not"
                                + " there yet; events of meanwhile may lack one",
                        "read the rows again, and subscribe again for added columns"));
    }

    /// Ends a subscription without a word, as its client asked.
    void unsubscribe(Subscription subscription) {
        remove(subscription);
        subscription.stream().remove(subscription);
        dispatch.settled(subscription, host.now());
    }

    /// Ends a subscription with an error event.
    void end(Subscription subscription, ErrorCode code, String message) {
        StreamState stream = subscription.stream();
        if (subscription.state() == Subscription.State.ENDED) {
            return;
        }
        remove(subscription);
        stream.remove(subscription);
        if (stream.isOpen()) {
            StreamEvent.Action action = code.retryable() ? StreamEvent.Action.RESNAPSHOT : null;
            Frames.give(sink, stream, new StreamEvent.Failure(subscription.label(), code, message, action, null));
            host.desk()
                    .log(
                            subscription,
                            Installation.notice(
                                            "subscription revoked",
                                            stream,
                                            subscription.label(),
                                            new RequestException(code, message))
                                    .with(
                                            "table",
                                            subscription.request().schema() + "."
                                                    + subscription.request().table()));
            dispatch.settled(subscription, host.now());
        }
        host.desk().ended(subscription);
    }

    /// The stream is gone, and everything in it.
    void forget(StreamState stream) {
        List.copyOf(stream.subscriptions()).forEach(this::remove);
    }

    private void remove(Subscription subscription) {
        if (subscription.state() == Subscription.State.ENDED) {
            return;
        }
        RoutingKey key = subscription.routingKey();
        TableState table = host.table(subscription.relationOid());
        if (table != null) {
            table.index().remove(subscription, key);
            metrics.subscriptions(table.relation(), subscription.rule().tier(), indexing(key), -1);
        }
        unindexed -= key == null ? 1 : 0;
        host.feeds().forget(subscription);
        subscription.end();
    }
}
