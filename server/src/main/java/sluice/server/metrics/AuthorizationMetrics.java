package sluice.server.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import sluice.core.authorization.Tier;
import sluice.core.shape.Operation;

/// Figures about what was granted, refused and withheld. Thread-safe.
public final class AuthorizationMetrics {
    /// Reasons with a label of their own: they name functions, which come and go.
    static final int REASONS_MAX = 200;

    private final TableNames tables;
    private final LabelWords<String> reasons = new LabelWords<>(REASONS_MAX);
    private final Counter resolutions;
    private final Histogram resolveSeconds;
    private final Counter probes;
    private final Counter probesWithheld;
    private final Counter checks;
    private final Counter leases;
    private final Counter divergences;
    private final Counter downgrades;
    private final Counter compileFailures;
    private final Counter unknown;
    private final Counter degradedDeletes;

    AuthorizationMetrics(Figures figures, TableNames tables) {
        this.tables = tables;
        resolutions = figures.counter(
                "sluice_authz_resolutions_total", "Rules resolved for a subscription.", "tier", "result");
        resolveSeconds = figures.histogram(
                "sluice_authz_resolve_seconds",
                "Time to resolve a subscription's rule, folds included.",
                new double[] {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5},
                "tier");
        probes = figures.counter(
                "sluice_authz_tier_c_probes_total", "Queries that decided one change.", "schema", "table");
        probesWithheld = figures.counter(
                "sluice_authz_tier_c_withheld_total", "Changes withheld for want of an answer.", "schema", "table");
        checks = figures.counter(
                "sluice_authz_checks_total",
                "Decisions in process that PostgreSQL was asked to confirm.",
                "schema",
                "table",
                "result");
        leases = figures.counter(
                "sluice_authz_lease_refreshes_total",
                "Rules looked at again because the time may have taken them away.",
                "result");
        divergences = figures.counter(
                "sluice_authz_divergences_total",
                "Rows decided differently here than by PostgreSQL; should stay 0.",
                "schema",
                "table",
                "kind");
        downgrades = figures.counter(
                "sluice_authz_downgrades_total",
                "Rules left to PostgreSQL because a row was decided differently; should stay 0.",
                "schema",
                "table");
        compileFailures = figures.counter(
                "sluice_authz_compile_failures_total",
                "Rules that cannot be decided in process.",
                "schema",
                "table",
                "reason");
        unknown = figures.counter(
                "sluice_authz_unknown_total",
                "Changes withheld because the log lacked a value they need.",
                "schema",
                "table",
                "op");
        degradedDeletes = figures.counter(
                "sluice_degraded_deletes_total",
                "Deletes that could not be decided and were sent with their key only.",
                "schema",
                "table");
    }

    /// How a resolution ended.
    public enum Result {
        GRANTED("granted"),
        DENIED("denied"),
        REFUSED("refused"),
        UNAVAILABLE("unavailable");

        private final String label;

        Result(String label) {
            this.label = label;
        }
    }

    /// What came of asking PostgreSQL to confirm a decision.
    public enum CheckResult {
        AGREED("agreed"),
        DIVERGED("diverged"),
        INCOMPARABLE("incomparable"),
        FAILED("failed"),
        DROPPED("dropped");

        private final String label;

        CheckResult(String label) {
            this.label = label;
        }
    }

    /// What came of looking again at what the time may have taken away.
    public enum LeaseResult {
        HELD("held"),
        REVOKED("revoked"),
        UNAVAILABLE("unavailable");

        private final String label;

        LeaseResult(String label) {
            this.label = label;
        }
    }

    public void leaseChecked(LeaseResult result) {
        leases.labelValues(result.label).inc();
    }

    public void crossChecked(String schema, String table, CheckResult result) {
        byTable(checks, schema, table, result.label).inc();
    }

    /// @param kind which way, one of two
    public void diverged(String schema, String table, String kind) {
        byTable(divergences, schema, table, kind).inc();
    }

    public void downgraded(String schema, String table) {
        byTable(downgrades, tables, schema, table).inc();
    }

    public void resolved(Tier tier, Result result, double seconds) {
        resolutions.labelValues(tier.name(), result.label).inc();
        resolveSeconds.labelValues(tier.name()).observe(seconds);
    }

    /// A resolution that ended before it had a tier.
    public void unresolved(Result result) {
        resolutions.labelValues("none", result.label).inc();
    }

    public void probed(String schema, String table) {
        byTable(probes, tables, schema, table).inc();
    }

    public void probeWithheld(String schema, String table) {
        byTable(probesWithheld, tables, schema, table).inc();
    }

    /// @param reason what has no compiled form; past a bound new ones share a label
    public void compileFailed(String schema, String table, String reason) {
        byTable(compileFailures, schema, table, reasons.admits(reason) ? reason : TableNames.OTHER)
                .inc();
    }

    public void unknown(String schema, String table, Operation operation) {
        byTable(unknown, schema, table, operation.name()).inc();
    }

    /// A delete that could not be decided was sent with its key only.
    public void degradedDelete(String schema, String table) {
        byTable(degradedDeletes, tables, schema, table).inc();
    }

    private CounterDataPoint byTable(Counter counter, String schema, String table, String third) {
        return tables.admits(schema, table)
                ? counter.labelValues(schema, table, third)
                : counter.labelValues(TableNames.OTHER, TableNames.OTHER, third);
    }

    static CounterDataPoint byTable(Counter counter, TableNames tables, String schema, String table) {
        return tables.admits(schema, table)
                ? counter.labelValues(schema, table)
                : counter.labelValues(TableNames.OTHER, TableNames.OTHER);
    }
}
