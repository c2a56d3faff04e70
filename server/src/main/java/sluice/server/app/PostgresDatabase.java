package sluice.server.app;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.dispatch.Effect;
import sluice.core.dispatch.Input;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.value.Truth;
import sluice.server.metrics.Metrics;
import sluice.server.postgres.query.CallerQueries;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.LogPush;
import sluice.server.postgres.query.ProbeAnswer;
import sluice.server.postgres.query.ProbeQueries;
import sluice.server.postgres.query.RightsPoll;
import sluice.server.postgres.query.Stamped;
import sluice.server.runtime.Database;

/// The engine's questions, put to PostgreSQL.
final class PostgresDatabase implements Database {
    /// No commit waits for the whole catalog.
    private static final Duration EVERYTHING_TIMEOUT = Duration.ofSeconds(20);

    private final CatalogLoader catalog;
    private final Duration catalogTimeout;
    private final RightsPoll rights;
    private final CallerQueries callers;
    private final ProbeQueries probes;
    private final LogPush push;
    private final Metrics metrics;
    private final AtomicLong rightsPolls = new AtomicLong();

    PostgresDatabase(
            CatalogLoader catalog,
            Duration catalogTimeout,
            RightsPoll rights,
            CallerQueries callers,
            ProbeQueries probes,
            LogPush push,
            Metrics metrics) {
        this.catalog = catalog;
        this.catalogTimeout = catalogTimeout;
        this.rights = rights;
        this.callers = callers;
        this.probes = probes;
        this.push = push;
        this.metrics = metrics;
    }

    @Override
    public CatalogImage load(CatalogScope scope) {
        long start = System.nanoTime();
        Duration timeout = scope instanceof CatalogScope.Everything ? EVERYTHING_TIMEOUT : catalogTimeout;
        CatalogImage image = catalog.load(scope, timeout);
        metrics.reloadTook((System.nanoTime() - start) / 1e9);
        return image;
    }

    @Override
    public Input.RightsAnswer pollRights() {
        long start = System.nanoTime();
        Stamped<String> fingerprint = rights.fingerprint();
        metrics.rightsPollTook((System.nanoTime() - start) / 1e9);
        rightsPolls.incrementAndGet();
        return new Input.RightsAnswer(fingerprint.value(), fingerprint.stamp());
    }

    /// How many polls were answered.
    long rightsPolls() {
        return rightsPolls.get();
    }

    @Override
    public List<FoldAnswer> fold(Identity caller, List<Fold> folds) {
        return callers.fold(caller, folds).value();
    }

    @Override
    public ProbeOutcome probe(Effect.Probe probe) {
        Stamped<ProbeAnswer> answer = probes.probe(
                ProbeQueries.of(probe.caller(), probe.catalog(), probe.relation(), probe.image(), probe.sql()));
        return switch (answer.value()) {
            case ProbeAnswer.Decided(var truth) ->
                truth == Truth.TRUE
                        ? new ProbeOutcome.Visible(answer.stamp())
                        : new ProbeOutcome.Hidden(answer.stamp());
            case ProbeAnswer.Raised(var sqlState) -> new ProbeOutcome.Raised(answer.stamp(), sqlState);
        };
    }

    @Override
    public void moveLog() {
        push.push();
    }
}
