package sluice.server.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

class WalInboxTest {
    private final WalInbox inbox = new WalInbox(1024, () -> {});

    @Test
    void two_timelines_are_held_from_the_offer_of_the_next_until_the_engine_goes_on_with_it() {
        inbox.offer(new WalEvent.Idle(new Lsn(1)));
        assertThat(inbox.holdsTwoTimelines()).isFalse();

        inbox.offer(new WalEvent.TimelineLeft(new Lsn(2)));
        assertThat(inbox.holdsTwoTimelines()).isTrue();

        inbox.poll();
        inbox.confirm(new Lsn(1));
        assertThat(inbox.holdsTwoTimelines()).isTrue();

        inbox.poll();
        assertThat(inbox.holdsTwoTimelines()).isTrue();
        inbox.confirm(new Lsn(2));
        assertThat(inbox.holdsTwoTimelines()).isFalse();
    }
}
