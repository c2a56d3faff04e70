package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.transaction.Transaction;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;
import sluice.server.metrics.Metrics;

class ReplicationTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private Instant system = NOON;
    private final Replication replication = new Replication(() -> system, Metrics.withJvm(), Lsn.ZERO, "slot-1");

    private void dispatch() {
        replication.begins(new WalEvent.Committed(new Transaction(
                new Xid(1), new Lsn(1), new Lsn(2), system, List.of(), List.of(), List.of(), List.of(), 0)));
        replication.drained();
    }

    /// The engine's own time does not go back with it.
    @Test
    void a_commit_that_is_dispatched_at_once_is_not_late_after_the_clock_was_set_back() {
        dispatch();
        assertThat(replication.lag(Duration.ZERO)).isZero();
        system = NOON.minusSeconds(30);
        dispatch();
        assertThat(replication.lag(Duration.ZERO)).isZero();
    }
}
