package sluice.core.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RateBucketTest {
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    private RateBucket bucket(int count) {
        return new RateBucket(new RateBucket.Limit(count, Duration.ofSeconds(1)), now);
    }

    private void pass(long millis) {
        now = now.plusMillis(millis);
    }

    @Test
    void a_full_bucket_gives_its_limit_at_once_and_then_nothing() {
        var bucket = bucket(20);
        for (int i = 0; i < 20; i++) {
            assertThat(bucket.take(1, now)).isZero();
        }
        assertThat(bucket.take(1, now)).isEqualTo(50);
    }

    @Test
    void what_was_refused_is_granted_after_the_time_that_was_named_and_not_before() {
        var bucket = bucket(20);
        assertThat(bucket.take(20, now)).isZero();
        long wait = bucket.take(3, now);
        assertThat(wait).isEqualTo(150);
        pass(wait - 1);
        assertThat(bucket.take(3, now)).isEqualTo(1);
        pass(1);
        assertThat(bucket.take(3, now)).isZero();
    }

    @Test
    void a_hundred_in_one_go_cost_a_hundred() {
        var bucket = bucket(20);
        assertThat(bucket.take(100, now)).isZero();
        assertThat(bucket.take(1, now)).isEqualTo(4050);
        pass(4049);
        assertThat(bucket.take(1, now)).isEqualTo(1);
    }

    @Test
    void a_bucket_never_holds_more_than_its_limit() {
        var bucket = bucket(20);
        pass(3_600_000);
        assertThat(bucket.take(20, now)).isZero();
        assertThat(bucket.take(1, now)).isPositive();
    }

    @Test
    void a_clock_set_back_gives_nothing_away() {
        var bucket = bucket(20);
        assertThat(bucket.take(20, now)).isZero();
        pass(-10_000);
        assertThat(bucket.take(1, now)).isPositive();
        pass(10_000);
        assertThat(bucket.take(1, now)).isPositive();
    }

    @Test
    void zero_is_no_limit() {
        var bucket = bucket(0);
        assertThat(bucket.take(1_000_000, now)).isZero();
        assertThat(bucket.take(1_000_000, now)).isZero();
    }

    @Test
    void over_time_nobody_takes_more_than_the_limit_however_requests_are_cut() {
        var random = new Random(7);
        for (int round = 0; round < 200; round++) {
            int limit = 1 + random.nextInt(50);
            var bucket = bucket(limit);
            Instant start = now;
            long taken = 0;
            int largest = 0;
            for (int i = 0; i < 200; i++) {
                int wanted = 1 + random.nextInt(random.nextBoolean() ? 3 : 100);
                if (bucket.take(wanted, now) == 0) {
                    taken += wanted;
                    largest = Math.max(largest, wanted);
                }
                pass(random.nextInt(100));
            }
            double seconds = Duration.between(start, now).toMillis() / 1000.0;
            assertThat((double) taken).isLessThanOrEqualTo(limit * seconds + Math.max(limit, largest) + 1);
        }
    }
}
