package sluice.server.app;

import java.util.function.Consumer;
import sluice.core.dispatch.Notice;
import sluice.server.metrics.Metrics;
import sluice.server.postgres.query.Pool;
import sluice.server.postgres.wal.ReaderObserver;

/// What the reader meets, as this server's figures and log lines.
final class ReaderReports implements ReaderObserver {
    private final Metrics metrics;
    private final Pool pool;
    private final Consumer<Notice> log;

    ReaderReports(Metrics metrics, Pool pool, Consumer<Notice> log) {
        this.metrics = metrics;
        this.pool = pool;
        this.log = log;
    }

    @Override
    public void notice(Notice notice) {
        log.accept(notice);
    }

    @Override
    public void decoded(String type, long count) {
        metrics.walMessages(type, count);
    }

    @Override
    public void discarded(long count) {
        metrics.transactionsDiscarded(count);
    }

    @Override
    public void slotRecreated() {
        metrics.slotRecreated();
    }

    @Override
    public void timelineMoved() {
        pool.renew();
    }
}
