package sluice.server.postgres.wal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private static final long FIRST = 1_000_000_000L;
    private static final long LONGEST = 30_000_000_000L;

    @Test
    void pauses_double_to_the_longest_and_are_shortened_by_no_more_than_a_quarter() {
        for (int failures = 0; failures < 100; failures++) {
            long full = failures < 5 ? FIRST << failures : LONGEST;
            for (long spread = 0; spread < 1_000; spread++) {
                assertThat(Backoff.nanos(failures, FIRST, LONGEST, spread * 1_000_003))
                        .as("after %d failures", failures)
                        .isBetween(full - full / 4, full);
            }
        }
    }

    @Test
    void processes_that_lost_the_same_server_do_not_come_back_together() {
        Set<Long> pauses = new HashSet<>();
        for (long spread = 0; spread < 100; spread++) {
            pauses.add(Backoff.nanos(3, FIRST, LONGEST, 77_000_000_000L + spread));
        }
        assertThat(pauses).hasSizeGreaterThan(60);
    }
}
