package sluice.server.metrics;

import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import sluice.core.shape.Operation;
import sluice.core.stream.CloseReason;
import sluice.core.wal.Lsn;

/// The figures of one server. Thread-safe; every method is cheap enough for the thread it belongs to. The figures
/// about rights are in {@link AuthorizationMetrics}. Listed in docs/metrics.md.
public final class Metrics {
    private static final double[] SECONDS = {
        0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5
    };

    /// Columns with a label of their own; past it the rest of each table share one.
    static final int COLUMNS_MAX = 10_000;

    private record ColumnName(String schema, String table, String column) {}

    private final Figures figures = new Figures();
    private final TableNames tables = new TableNames();
    private final LabelWords<ColumnName> columns = new LabelWords<>(COLUMNS_MAX);
    private final AuthorizationMetrics authorization = new AuthorizationMetrics(figures, tables);
    private final ChannelMetrics channels = new ChannelMetrics(figures);

    private final Gauge walLsn = figures.gauge("sluice_wal_lsn", "Positions in the log, as a number of bytes.", "kind");
    private final Gauge walLagBytes = figures.gauge("sluice_wal_lag_bytes", "Log received but not yet confirmed.");
    private final Gauge readerLagSeconds = figures.gauge(
            "sluice_reader_lag_seconds",
            "How long ago the commit being dispatched was made, or PostgreSQL was heard; 0 when caught up.");
    private final Gauge slotRetainedBytes =
            figures.gauge("sluice_slot_retained_bytes", "Log the slot keeps from removal.");
    /// Below zero while `max_slot_wal_keep_size` is unlimited: then the figure is absent.
    private final AtomicLong slotSafeWalBytes = new AtomicLong(-1);

    private final Counter walMessages =
            figures.counter("sluice_wal_messages_total", "Messages decoded from the log.", "type");
    private final Counter readerReconnects =
            figures.counter("sluice_reader_reconnects_total", "Times the replication connection was made again.");
    private final Gauge readerIsLeader =
            figures.gauge("sluice_reader_is_leader", "1 while this process reads the slot.");
    private final Counter slotRecreated =
            figures.counter("sluice_slot_recreated_total", "Times a lost slot was replaced.");
    private final Counter transactionsDiscarded = figures.counter(
            "sluice_transactions_discarded_total", "Commits sent again after a reconnect and dropped unread.");
    private final Gauge resumeBufferBytes =
            figures.gauge("sluice_resume_buffer_bytes", "Memory the buffer of recent commits holds.");
    private final Gauge resumeBufferSeconds = figures.gauge(
            "sluice_resume_buffer_seconds", "How far back the buffer of recent commits covers every table.");
    private final Counter resumes =
            figures.counter("sluice_resumes_total", "Subscriptions that asked to resume.", "result");
    private final Counter spilledTransactions = figures.counter(
            "sluice_spilled_transactions_total", "Commits too large for memory, kept on disk meanwhile.");

    private final Gauge keptCommitBytes = figures.gauge(
            "sluice_kept_commit_bytes",
            "Disk that commits too large for memory hold, kept for streams that are behind.");

    private final Counter changes =
            figures.counter("sluice_changes_total", "Row changes dispatched.", "schema", "table", "op");
    private final Histogram dispatchSeconds = figures.histogram(
            "sluice_change_dispatch_seconds",
            "Time to route, decide and encode one change.",
            SECONDS,
            "schema",
            "table");
    private final Histogram routingCandidates = figures.histogram(
            "sluice_routing_candidates",
            "Subscriptions one change was decided for.",
            new double[] {0, 1, 2, 5, 10, 50, 100, 500, 1_000, 10_000, 100_000},
            "schema",
            "table");
    private final Counter toastUnchanged = figures.counter(
            "sluice_toast_unchanged_total", "Values the log left out as unchanged.", "schema", "table", "column");
    private final Counter changesTruncated = figures.counter(
            "sluice_changes_truncated_total", "Changes cut to their key for their size.", "schema", "table");
    private final Counter evaluationErrors = figures.counter(
            "sluice_evaluation_errors_total",
            "Rules or filters that raised an error on a row, which was withheld.",
            "schema",
            "table");

    private final Gauge subscriptions =
            figures.gauge("sluice_subscriptions", "Subscriptions installed.", "schema", "table", "tier", "indexed");

    /// As many as there are combinations of labels, which the tables' bound bounds.
    private final ConcurrentMap<SubscriptionKind, GaugeDataPoint> subscriptionGauges = new ConcurrentHashMap<>();
    private final Gauge streams = figures.gauge("sluice_streams", "Streams open.");
    private final Gauge memoryProjected = figures.gauge(
            "sluice_memory_projected_ratio",
            "Share of memory in use after a collection, with what streams opened since are expected to hold.");
    private final Counter streamsRefused =
            figures.counter("sluice_streams_refused_total", "Streams refused.", "reason");
    private final Counter streamsClosed = figures.counter("sluice_stream_closed_total", "Streams ended.", "reason");

    private final Counter revocations =
            figures.counter("sluice_revocations_total", "Sessions that ended and users that were banned.", "source");

    private final Gauge configWarnings =
            figures.gauge("sluice_config_warnings", "1 for each warning that is true of the database now.", "code");
    private final Histogram rightsPollSeconds =
            figures.histogram("sluice_rights_poll_seconds", "Time one poll of the rights took.", SECONDS);
    /// When the last answered poll was asked, by {@link System#nanoTime}; null before the first.
    private final AtomicReference<@Nullable Long> rightsPolledAt = new AtomicReference<>();

    private final Histogram snapshotSeconds = figures.histogram(
            "sluice_snapshot_seconds",
            "Time one initial snapshot took, read or failed.",
            new double[] {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60},
            "schema",
            "table");
    private final Counter snapshotRows =
            figures.counter("sluice_snapshot_rows_total", "Rows read by initial snapshots.", "schema", "table");

    private final Histogram reloadSeconds =
            figures.histogram("sluice_reload_seconds", "Time one reload of the catalog took.", SECONDS);

    public Metrics() {
        figures.gaugeWhenKnown(
                "sluice_slot_safe_wal_bytes",
                "Log that may be written before the slot is lost.",
                () -> slotSafeWalBytes.get());
        figures.gaugeWhenKnown(
                "sluice_rights_poll_age_seconds",
                "How old the last answered poll of the rights is.",
                this::rightsAgeSeconds);
    }

    /// What a figure of the log is about.
    public enum Position {
        RECEIVED("received"),
        CONFIRMED("confirmed");

        private final String label;

        Position(String label) {
            this.label = label;
        }
    }

    /// Why a stream was refused for the whole server's sake.
    public enum StreamRefusal {
        MAX_STREAMS("max_streams"),
        MEMORY("memory"),
        NOT_REPLICATING("not_replicating");

        private final String label;

        StreamRefusal(String label) {
            this.label = label;
        }
    }

    /// Also registers the JVM's own figures.
    public static Metrics withJvm() {
        Metrics metrics = new Metrics();
        JvmMetrics.builder().register(metrics.figures.registry());
        return metrics;
    }

    /// What there is, for comparison with the documentation.
    List<Figures.Figure> figures() {
        return figures.made();
    }

    /// The figures about broadcasts, presence and hooks.
    public ChannelMetrics channels() {
        return channels;
    }

    public AuthorizationMetrics authorization() {
        return authorization;
    }

    public void position(Position kind, Lsn lsn) {
        walLsn.labelValues(kind.label).set((double) lsn.bits());
    }

    public void walLagBytes(long bytes) {
        walLagBytes.set((double) bytes);
    }

    public void readerLagSeconds(double seconds) {
        readerLagSeconds.set(seconds);
    }

    public void slotRetainedBytes(long bytes) {
        slotRetainedBytes.set((double) bytes);
    }

    public void slotSafeWalBytes(long bytes) {
        slotSafeWalBytes.set(bytes);
    }

    /// While `max_slot_wal_keep_size` is unlimited there is no such figure.
    public void slotSafeWalUnlimited() {
        slotSafeWalBytes.set(-1);
    }

    /// @param type the message's kind as this server names it, one of a fixed few
    public void walMessages(String type, long count) {
        walMessages.labelValues(type).inc(count);
    }

    public void readerReconnected() {
        readerReconnects.inc();
    }

    public void readerLeads() {
        readerIsLeader.set(1);
    }

    public void readerStandsBy() {
        readerIsLeader.set(0);
    }

    public void slotRecreated() {
        slotRecreated.inc();
    }

    public void transactionsDiscarded(long count) {
        transactionsDiscarded.inc(count);
    }

    public void resumeBuffer(long bytes, Duration age) {
        resumeBufferBytes.set((double) bytes);
        resumeBufferSeconds.set(age.toMillis() / 1000.0);
    }

    /// @param bytes of commits kept in the spill folder
    public void keptCommits(long bytes) {
        keptCommitBytes.set((double) bytes);
    }

    /// @param result `resumed` or `not_resumed`
    public void resumed(String result) {
        resumes.labelValues(result).inc();
    }

    public void transactionSpilled() {
        spilledTransactions.inc();
    }

    public void changeDispatched(String schema, String table, Operation operation) {
        if (tables.admits(schema, table)) {
            changes.labelValues(schema, table, operation.name()).inc();
        } else {
            changes.labelValues(TableNames.OTHER, TableNames.OTHER, operation.name())
                    .inc();
        }
    }

    public void dispatchTook(String schema, String table, double seconds) {
        byTable(dispatchSeconds, schema, table).observe(seconds);
    }

    public void routingCandidates(String schema, String table, int count) {
        byTable(routingCandidates, schema, table).observe(count);
    }

    private DistributionDataPoint byTable(Histogram histogram, String schema, String table) {
        return tables.admits(schema, table)
                ? histogram.labelValues(schema, table)
                : histogram.labelValues(TableNames.OTHER, TableNames.OTHER);
    }

    public void toastUnchanged(String schema, String table, String column) {
        if (!tables.admits(schema, table)) {
            toastUnchanged
                    .labelValues(TableNames.OTHER, TableNames.OTHER, TableNames.OTHER)
                    .inc();
        } else if (columns.admits(new ColumnName(schema, table, column))) {
            toastUnchanged.labelValues(schema, table, column).inc();
        } else {
            toastUnchanged.labelValues(schema, table, TableNames.OTHER).inc();
        }
    }

    public void changeTruncated(String schema, String table) {
        AuthorizationMetrics.byTable(changesTruncated, tables, schema, table).inc();
    }

    public void evaluationFailed(String schema, String table) {
        AuthorizationMetrics.byTable(evaluationErrors, tables, schema, table).inc();
    }

    /// One combination of labels of `sluice_subscriptions`.
    ///
    /// @param indexed `true` or `false`
    public record SubscriptionKind(String schema, String table, String tier, String indexed) {}

    public void subscriptionAdded(SubscriptionKind kind) {
        subscriptionGauge(kind).inc();
    }

    public void subscriptionRemoved(SubscriptionKind kind) {
        subscriptionGauge(kind).dec();
    }

    /// Looked up once for each combination: asking by the labels makes an array each time.
    private GaugeDataPoint subscriptionGauge(SubscriptionKind kind) {
        GaugeDataPoint known = subscriptionGauges.get(kind);
        if (known != null) {
            return known;
        }
        SubscriptionKind admitted = tables.admits(kind.schema(), kind.table())
                ? kind
                : new SubscriptionKind(TableNames.OTHER, TableNames.OTHER, kind.tier(), kind.indexed());
        return subscriptionGauges.computeIfAbsent(
                admitted, one -> subscriptions.labelValues(one.schema(), one.table(), one.tier(), one.indexed()));
    }

    public void streams(int open) {
        streams.set(open);
    }

    /// @param share of the limit, 1 when it is reached
    public void memoryProjected(double share) {
        memoryProjected.set(share);
    }

    public void streamRefused(StreamRefusal reason) {
        streamsRefused.labelValues(reason.label).inc();
    }

    public void streamClosed(CloseReason reason) {
        streamsClosed.labelValues(reason.wireName()).inc();
    }

    /// @param source `session` or `ban`
    public void revoked(String source) {
        revocations.labelValues(source).inc();
    }

    /// Replaces the set of warnings that are true now.
    public void configWarnings(List<String> codes) {
        configWarnings.clear();
        for (String code : codes) {
            configWarnings.labelValues(code).set(1);
        }
    }

    /// A poll was answered: its answer is as old as the question.
    public void rightsPollTook(double seconds) {
        rightsPollSeconds.observe(seconds);
        rightsPolledAt.set(System.nanoTime() - (long) (seconds * 1e9));
    }

    private double rightsAgeSeconds() {
        Long polledAt = rightsPolledAt.get();
        return polledAt == null ? -1 : (System.nanoTime() - polledAt) / 1e9;
    }

    /// @param seconds from the permission to read until every row was in its spool, or the failure
    public void snapshotTook(String schema, String table, double seconds) {
        byTable(snapshotSeconds, schema, table).observe(seconds);
    }

    public void snapshotRows(String schema, String table, long count) {
        AuthorizationMetrics.byTable(snapshotRows, tables, schema, table).inc(count);
    }

    public void reloadTook(double seconds) {
        reloadSeconds.observe(seconds);
    }

    /// Every figure in Prometheus' text format. Takes milliseconds, so not on an event loop.
    public byte[] scrape() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(16 * 1024);
        try {
            PrometheusTextFormatWriter.create().write(out, figures.registry().scrape());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /// The `Content-Type` of {@link #scrape}.
    public String contentType() {
        return PrometheusTextFormatWriter.CONTENT_TYPE;
    }
}
