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

class LatenessTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final Lateness lateness = new Lateness();

    private static WalEvent commit(Instant at) {
        return new WalEvent.Committed(
                new Transaction(new Xid(1), new Lsn(1), new Lsn(2), at, List.of(), List.of(), List.of(), List.of(), 0));
    }

    @Test
    void a_commit_is_as_late_as_it_is_old_while_it_is_dispatched() {
        lateness.begins(commit(NOON));
        assertThat(lateness.at(NOON.plusSeconds(7))).isEqualTo(Duration.ofSeconds(7));
        assertThat(lateness.at(NOON.minusSeconds(7))).isZero();
    }

    @Test
    void a_database_that_was_quiet_for_an_hour_makes_nothing_late() {
        lateness.begins(commit(NOON));
        lateness.drained(NOON.plusMillis(3));
        assertThat(lateness.at(NOON.plusMillis(500))).isEqualTo(Duration.ofMillis(3));
        lateness.drained(NOON.plusSeconds(3600));
        assertThat(lateness.at(NOON.plusSeconds(3600))).isZero();
    }

    @Test
    void old_commits_that_trickle_in_are_late_between_two_of_them_too() {
        Instant now = NOON.plusSeconds(60);
        for (int i = 0; i < 10; i++) {
            lateness.begins(commit(NOON.plusSeconds(i)));
            lateness.drained(now);
            now = now.plusSeconds(1);
            assertThat(lateness.at(now)).isGreaterThan(Duration.ofSeconds(50));
        }
        assertThat(lateness.at(now.plus(Lateness.SHOWN))).isZero();
    }

    @Test
    void a_commit_that_comes_out_of_a_file_is_late_until_its_end() {
        lateness.begins(new WalEvent.SpilledBegin(new Xid(1), new Lsn(1), new Lsn(2), NOON, List.of()));
        lateness.drained(NOON.plusSeconds(1));
        lateness.begins(new WalEvent.SpilledChunk(List.of(), 0));
        lateness.drained(NOON.plusSeconds(9));
        assertThat(lateness.at(NOON.plusSeconds(20))).isEqualTo(Duration.ofSeconds(20));
        lateness.begins(new WalEvent.SpilledEnd(List.of()));
        lateness.drained(NOON.plusSeconds(21));
        assertThat(lateness.at(NOON.plusSeconds(30))).isZero();
    }
}
