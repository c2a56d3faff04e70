package sluice.server.postgres.wal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sluice.core.wal.Lsn;
import sluice.server.postgres.wal.ReplicationConnection.SystemIdentity;

class HistoryTest {
    private final History history = new History();

    private void meet(int timeline) throws Exception {
        history.meet((_, _) -> new Lsn(7), new SystemIdentity("one", timeline, "app"));
    }

    /// Between the two the engine may have been told already, and nobody knows.
    @Test
    void no_timeline_is_followed_from_when_another_one_answers_until_the_engine_has_been_told() throws Exception {
        assertThat(history.timeline()).isZero();
        meet(1);
        assertThat(history.timeline()).isEqualTo(1);

        meet(2);
        assertThat(history.leftAt()).isEqualTo(new Lsn(7));
        assertThat(history.timeline()).isEqualTo(History.NONE);
        meet(2);
        assertThat(history.timeline()).isEqualTo(History.NONE);

        history.adopt();
        assertThat(history.timeline()).isEqualTo(2);
    }

    @Test
    void a_timeline_that_answers_again_before_it_was_left_is_followed_on() throws Exception {
        meet(1);
        meet(2);
        meet(1);
        assertThat(history.leftAt()).isNull();
        assertThat(history.timeline()).isEqualTo(1);
    }
}
