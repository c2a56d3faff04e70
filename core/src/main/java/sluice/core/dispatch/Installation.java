package sluice.core.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Rule;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.dispatch.EngineMetrics.Resolution;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.error.WarningCode;
import sluice.core.event.StreamEvent;
import sluice.core.event.SubscriptionResult;
import sluice.core.routing.RoutingKey;
import sluice.core.shape.ChannelRequest;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.ChannelSubscription;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;

/// Installs the granted entries of one request, in its order, and says how each fared. Made once for each request.
final class Installation {
    private static final int REFUSALS_LOGGED_MAX = 20;

    /// What an installation needs of the engine.
    interface Host {
        @Nullable
        TableState table(int relationOid);

        EngineMetrics metrics();

        EngineSettings settings();

        /// Every commit before this position has been dispatched.
        Lsn dispatchedUntil();

        Instant now();

        ChannelDesk channels();

        /// Whether one more shape without an equality may be installed.
        boolean admitsUnindexed();

        void add(Subscription subscription, TableState table);

        Feeds feeds();

        CatalogImage catalog();
    }

    private final Host host;
    private final EffectSink effects;
    private final StreamState stream;
    private final @Nullable Long requestId;
    private final List<StreamEvent.Warning> warnings = new ArrayList<>();
    private final List<Subscription> installed = new ArrayList<>();
    private final List<ChannelSubscription> joined = new ArrayList<>(0);
    private int refusals;

    /// @param requestId of the control request it is for, null when the stream is being opened
    Installation(Host host, EffectSink effects, StreamState stream, @Nullable Long requestId) {
        this.host = host;
        this.effects = effects;
        this.stream = stream;
        this.requestId = requestId;
    }

    /// The position the stream is complete from, once {@link #install} has run: where those that resume were.
    Lsn completeFrom(Lsn position) {
        Lsn complete = position;
        for (Subscription subscription : installed) {
            ResumePosition resume = subscription.request().resume();
            Lsn asked = resume == null || !subscription.isApart() ? null : resume.lsn();
            complete = asked == null ? complete : complete.min(asked);
        }
        return complete;
    }

    /// Tells the client, after its result, what {@link #install} found worth telling.
    void warn(FrameSink sink) {
        for (StreamEvent.Warning warning : warnings) {
            Frames.give(sink, stream, warning);
        }
        installed.forEach(host.feeds()::tellUnreadable);
        joined.forEach(host.channels()::welcome);
        sink.endCommit();
    }

    List<SubscriptionResult> install(SubscribeFlow flow) {
        List<SubscriptionResult> results = new ArrayList<>();
        for (SubscribeFlow.Entry entry : flow.entries()) {
            results.add(result(entry, Duration.between(flow.startedAt(), host.now())));
        }
        if (refusals > REFUSALS_LOGGED_MAX) {
            log(new Notice(
                    Notice.Level.INFO,
                    "more subscriptions refused",
                    List.of(
                            "stream_id",
                            stream.handle().streamId(),
                            "count",
                            Integer.toString(refusals - REFUSALS_LOGGED_MAX))));
        }
        return results;
    }

    private SubscriptionResult result(SubscribeFlow.Entry entry, Duration took) {
        ChannelRequest channel = entry.request().channel();
        if (channel != null) {
            return result(entry, channel);
        }
        RequestException refusal = entry.refusal() != null ? entry.refusal() : overLimit(entry.request());
        TableState table = refusal == null ? host.table(entry.draft().relation().oid()) : null;
        RoutingKey key = table == null ? null : RoutingKey.of(entry.filter(), table.relation());
        if (refusal == null && table != null && key == null && !host.admitsUnindexed()) {
            refusal = new RequestException(
                    ErrorCode.TOO_MANY_UNINDEXED_SHAPES,
                    "this server admits " + host.settings().unindexedShapesMax()
                            + " shapes without an equality (SLUICE_UNINDEXED_SHAPES_MAX); add eq or in outside"
                            + " or(...)");
        }
        if (refusal != null || table == null) {
            RequestException shown =
                    refusal != null ? refusal : new RequestException(ErrorCode.INTERNAL, "the table is gone");
            host.metrics().resolved(Tier.C, resolution(shown.code()), took);
            return refused(entry.request(), shown);
        }
        return granted(entry, table, key, took);
    }

    private SubscriptionResult granted(
            SubscribeFlow.Entry entry, TableState table, @Nullable RoutingKey key, Duration took) {
        String label = entry.request().label();
        Rule rule = entry.rule();
        Subscription subscription = new Subscription(
                stream,
                table.tag(label),
                new Subscription.Grant(
                        entry.draft().request().of(table.relation()),
                        entry.draft().operations(),
                        entry.filter(),
                        table.relation().oid(),
                        key,
                        table.shared(entry.draft().visible().projection()),
                        highestAttnum(table.relation()),
                        rule));
        if (host.dispatchedUntil().isBefore(table.rightsMovedUntil())) {
            subscription.needsAlso(Rule.undecidable(), table.rightsMovedUntil(), host.dispatchedUntil());
        }
        host.add(subscription, table);
        EngineMetrics.Resumed resumed = host.feeds().install(subscription, table, entry.rightsDigest());
        installed.add(subscription);
        host.metrics().resolved(rule.tier(), Resolution.GRANTED, took);
        if (rule.tier() == Tier.C) {
            host.metrics().notCompiled(table.relation(), rule.reason());
        }
        List<StreamEvent.Warning> own = ownWarnings(entry, subscription, table);
        warnings.addAll(own);
        subscription.announceDeletes(InstalledShapes.announced(subscription, table.relation()));
        return new SubscriptionResult(
                label,
                new SubscriptionResult.Granted(
                        rule.tier().name(),
                        InstalledShapes.indexing(key),
                        key == null ? null : key.column(),
                        rule.reason(),
                        host.feeds().history(entry.rightsDigest()),
                        resumed == null ? null : resumed == EngineMetrics.Resumed.YES,
                        own));
    }

    private List<StreamEvent.Warning> ownWarnings(
            SubscribeFlow.Entry entry, Subscription subscription, TableState table) {
        String label = subscription.label();
        boolean routed = subscription.routingKey() != null;
        List<StreamEvent.Warning> own = new ArrayList<>(ShapeReader.warnings(
                label,
                entry.draft(),
                routed,
                subscription.rule(),
                IdentityWarnings.of(label, table.relation(), table.identityFindings(host.catalog()))));
        if (host.settings().degradedDeletes() == EngineSettings.DegradedDeletes.DELIVER) {
            own.replaceAll(IdentityWarnings::ofDegradedDeletes);
        }
        if (host.feeds().lacksSnapshot(subscription)) {
            own.add(new StreamEvent.Warning(
                    label,
                    WarningCode.SNAPSHOT_DISABLED,
                    "this server sends no snapshots",
                    "the subscription begins with the next commit",
                    "read the rows another way, once the subscription is live"));
        }
        return own;
    }

    private SubscriptionResult result(SubscribeFlow.Entry entry, ChannelRequest channel) {
        String label = entry.request().label();
        RequestException refusal = entry.refusal() != null ? entry.refusal() : overLimit(entry.request());
        if (refusal != null) {
            return refused(entry.request(), refusal);
        }
        joined.add(host.channels().join(stream, label, channel, entry.hook(), entry.joinedUntil()));
        return new SubscriptionResult(label, new SubscriptionResult.Joined());
    }

    /// Another request of the stream may have been installed since this one began.
    private @Nullable RequestException overLimit(SubscriptionRequest request) {
        if (stream.isTaken(request.label())) {
            return StreamLimits.duplicate(request.label());
        }
        ChannelRequest channel = request.channel();
        ChannelSubscription twice = channel == null ? null : stream.channel(channel.channel());
        if (channel != null && twice != null) {
            return StreamLimits.duplicateChannel(channel.channel(), twice.label());
        }
        try {
            if (channel == null) {
                StreamLimits.admitShape(host.settings(), stream, 0, 0);
            } else {
                StreamLimits.admit(host.settings(), stream, 0);
            }
            return null;
        } catch (RequestException full) {
            return full;
        }
    }

    private static Resolution resolution(ErrorCode code) {
        if (code == ErrorCode.SHAPE_NOT_AUTHORIZED || code == ErrorCode.COLUMN_NOT_GRANTED) {
            return Resolution.DENIED;
        }
        return code == ErrorCode.CATALOG_UNAVAILABLE ? Resolution.UNAVAILABLE : Resolution.REFUSED;
    }

    private static int highestAttnum(Relation relation) {
        int highest = 0;
        for (Column column : relation.columns()) {
            highest = Math.max(highest, column.attnum());
        }
        return highest;
    }

    /// One line for each of the first refusals of a request.
    private SubscriptionResult refused(SubscriptionRequest request, RequestException refusal) {
        refusals++;
        if (refusals <= REFUSALS_LOGGED_MAX) {
            log(asked(notice("subscription refused", stream, request.label(), refusal), request));
        }
        return new SubscriptionResult(
                request.label(),
                new SubscriptionResult.Refused(refusal.code(), refusal.getMessage(), refusal.retryAfterMillis()));
    }

    private static Notice asked(Notice notice, SubscriptionRequest request) {
        return switch (request.target()) {
            case null -> notice;
            case ShapeRequest shape -> notice.with("table", shape.schema() + "." + shape.table());
            case ChannelRequest channel -> notice.with("channel", channel.channel());
        };
    }

    private void log(Notice notice) {
        effects.emit(new Effect.Log(requestId == null ? notice : notice.with(Notice.REQUEST, requestId.toString())));
    }

    /// Whether somebody who runs the server should look: nothing the client asked for was wrong.
    private static boolean isTheServersOwn(ErrorCode code) {
        return code == ErrorCode.CHANNEL_HOOK_UNAVAILABLE
                || code == ErrorCode.TOO_MANY_UNINDEXED_SHAPES
                || code == ErrorCode.CATALOG_UNAVAILABLE;
    }

    static Notice notice(String message, StreamState stream, String label, RequestException refusal) {
        return new Notice(
                isTheServersOwn(refusal.code()) ? Notice.Level.WARN : Notice.Level.INFO,
                message,
                List.of(
                        "stream_id",
                        stream.handle().streamId(),
                        "sub",
                        label,
                        "code",
                        refusal.code().wireName(),
                        "reason",
                        refusal.getMessage()));
    }
}
