package sluice.server.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class SteadyClockTest {
    private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

    private Instant system = NOON;
    private long nanos;
    private final SteadyClock clock = new SteadyClock(() -> system, () -> nanos);

    private void pass(Duration time) {
        system = system.plus(time);
        nanos += time.toNanos();
    }

    @Test
    void it_is_the_systems_time_forwards_by_any_step() {
        assertThat(clock.instant()).isEqualTo(NOON);
        pass(Duration.ofSeconds(5));
        assertThat(clock.instant()).isEqualTo(NOON.plusSeconds(5));
        system = NOON.plusSeconds(86_400);
        assertThat(clock.instant()).isEqualTo(NOON.plusSeconds(86_400));
    }

    @Test
    void what_is_due_in_a_second_is_due_in_a_second_though_the_clock_is_set_back() {
        assertThat(clock.instant()).isEqualTo(NOON);
        system = NOON.minusSeconds(30);
        pass(Duration.ofMillis(400));
        assertThat(clock.instant()).isEqualTo(NOON.plusMillis(400));
        pass(Duration.ofMillis(600));
        assertThat(clock.instant()).isEqualTo(NOON.plusMillis(1000));

        system = NOON.plusSeconds(2);
        assertThat(clock.instant()).isEqualTo(NOON.plusSeconds(2));
    }

    @Test
    void a_clock_that_is_a_little_behind_is_waited_for() {
        assertThat(clock.instant()).isEqualTo(NOON);
        system = NOON.minusMillis(20);
        pass(Duration.ofMillis(15));
        assertThat(clock.instant()).isEqualTo(NOON);
        pass(Duration.ofMillis(15));
        assertThat(clock.instant()).isEqualTo(NOON.plusMillis(10));
    }

    @Test
    void a_clock_that_is_set_back_far_is_not_gone_by() {
        assertThat(clock.instant()).isEqualTo(NOON);
        system = NOON.minus(SteadyClock.BACK_MAX).minusMillis(1);
        assertThatThrownBy(clock::instant).hasMessage("the system's clock was set back by 60 s");
    }
}
