package sluice.core.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import sluice.core.stream.Admission.Limits;
import sluice.core.stream.Admission.Reading;
import sluice.core.stream.Admission.Verdict;

/// A model node: streams that hold memory, collections that find what they hold, clients that all come back at once.
class AdmissionTest {
    private static final long MIB = 1L << 20;
    private static final long LIMIT = 100 * MIB;

    private final Admission admission = new Admission(new Limits(LIMIT, LIMIT, 0.5));
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private int streams;
    private long direct;
    private long collected;
    private long collections;

    private void pass(Duration time) {
        now = now.plus(time);
    }

    private Reading reading() {
        return new Reading(collected, direct, collections);
    }

    /// A collection finds so much in use.
    private void collect(long bytes) {
        collections++;
        collected = bytes;
        admission.look(reading(), streams, now);
    }

    private boolean open() {
        if (admission.admit(reading(), streams, now) == Verdict.REFUSED) {
            return false;
        }
        streams++;
        return true;
    }

    /// Opens until one is refused.
    private int fill(int most) {
        int opened = 0;
        while (opened < most && open()) {
            opened++;
        }
        return opened;
    }

    @Test
    void streams_are_admitted_below_the_share_of_the_heap_and_refused_from_it_on() {
        collect(50 * MIB - Admission.EXPECTED_BYTES - 1);
        assertThat(open()).isTrue();
        assertThat(open()).isFalse();

        collect(50 * MIB);
        assertThat(open()).isFalse();
        collect(49 * MIB);
        assertThat(open()).isTrue();
    }

    @Test
    void direct_memory_counts_together_with_the_heap_and_at_once() {
        collect(30 * MIB);
        assertThat(open()).isTrue();

        direct = 70 * MIB;
        assertThat(open()).isFalse();
        direct = 69 * MIB;
        assertThat(open()).isTrue();
    }

    @Test
    void a_heap_that_is_half_full_refuses_however_much_direct_memory_is_free() {
        Admission wide = new Admission(new Limits(LIMIT, 10 * LIMIT, 0.5));
        assertThat(wide.admit(new Reading(50 * MIB, 0, 1), 0, now)).isEqualTo(Verdict.REFUSED);
    }

    @Test
    void streams_opened_since_the_last_collection_count_with_what_a_stream_is_expected_to_hold() {
        collect(0);
        int fits = (int) (50 * MIB / Admission.EXPECTED_BYTES) - 1;
        assertThat(fill(Integer.MAX_VALUE)).isEqualTo(fits);

        collect(40 * MIB);
        assertThat(admission.projected(reading())).isEqualTo(0.4);
        assertThat(open()).isTrue();
    }

    @Test
    void what_a_stream_holds_is_learnt_from_collections_and_bounded() {
        collect(10 * MIB);
        fill(100);
        collect(10 * MIB + 100 * (50 << 10));
        assertThat(admission.expectedBytes()).isEqualTo(50 << 10);

        collect(10 * MIB + 1);
        assertThat(admission.expectedBytes()).isEqualTo(Admission.EXPECTED_BYTES_MIN);
        collect(45 * MIB);
        assertThat(admission.expectedBytes()).isEqualTo(Admission.EXPECTED_BYTES_MAX);
    }

    @Test
    void a_heap_that_never_was_without_streams_teaches_nothing() {
        streams = 100;
        collect(40 * MIB);
        assertThat(admission.expectedBytes()).isEqualTo(Admission.EXPECTED_BYTES);
    }

    /// The node is full at 300 streams; all of them are cut, and their memory is still counted when they come back.
    private void fillAndCut() {
        collect(20 * MIB);
        assertThat(fill(300)).isEqualTo(300);
        collect(50 * MIB);
        assertThat(open()).isFalse();
        streams = 0;
    }

    @Test
    void a_reconnect_of_all_streams_may_go_a_fifth_of_the_way_to_the_limit_and_no_further() {
        fillAndCut();
        collect(60 * MIB - Admission.EXPECTED_BYTES_MAX);
        assertThat(open()).isTrue();
        collect(60 * MIB);
        assertThat(open()).isFalse();
    }

    @Test
    void a_reconnect_brings_no_more_streams_back_than_there_were() {
        fillAndCut();
        collect(52 * MIB);
        int back = 0;
        while (open()) {
            back++;
            collect(52 * MIB);
        }
        assertThat(back).isEqualTo(300);
    }

    @Test
    void streams_that_were_admitted_by_the_allowance_do_not_raise_it() {
        fillAndCut();
        streams = 299;
        collect(52 * MIB);
        assertThat(open()).isTrue();
        assertThat(streams).isEqualTo(300);
        assertThat(open()).isFalse();
    }

    @Test
    void five_minutes_after_the_node_held_them_last_the_allowance_is_gone() {
        fillAndCut();
        collect(52 * MIB);
        pass(Admission.REMEMBERED);
        assertThat(open()).isTrue();
        pass(Duration.ofSeconds(1));
        assertThat(open()).isFalse();
    }

    @Test
    void a_node_that_holds_its_streams_for_hours_without_a_new_one_is_still_allowed_their_reconnect() {
        fillAndCut();
        streams = 300;
        pass(Duration.ofHours(5));
        admission.look(reading(), streams, now);
        streams = 0;
        pass(Duration.ofMinutes(4));
        collect(52 * MIB);
        assertThat(open()).isTrue();
    }

    @Test
    void a_node_that_never_filled_is_allowed_no_more_than_the_share() {
        collect(52 * MIB);
        assertThat(open()).isFalse();
    }

    /// However much streams hold and whenever they come and go. Each leaves as much garbage as it holds, and a heap
    /// is collected at the latest when three quarters of it were used.
    @Test
    void no_node_ever_fills() {
        for (int seed = 0; seed < 500; seed++) {
            new Node(new SplittableRandom(seed)).live("seed " + seed);
        }
    }

    private static final class Node {
        private final SplittableRandom random;
        private final Admission admission = new Admission(new Limits(LIMIT, LIMIT, 0.5));
        private final long each;
        private final long idle;
        private Instant now = Instant.EPOCH;
        private int held;
        private int dead;
        private long found;
        private long used;
        private long count;

        Node(SplittableRandom random) {
            this.random = random;
            this.each = random.nextLong(1 << 10, 1 << 20);
            this.idle = random.nextLong(40) * MIB;
            collect();
        }

        /// Streams that ended since the last collection were in use when it began.
        private void collect() {
            found = idle + (held + dead) * each;
            used = found;
            dead = 0;
            count++;
            admission.look(new Reading(found, 0, count), held, now);
        }

        private void open() {
            if (admission.admit(new Reading(found, 0, count), held, now) == Verdict.ADMITTED) {
                held++;
                used += 2 * each;
                if (used > LIMIT / 4 * 3) {
                    collect();
                }
            }
        }

        void live(String name) {
            for (int step = 0; step < 400; step++) {
                now = now.plusSeconds(random.nextInt(20));
                switch (random.nextInt(10)) {
                    case 0 -> collect();
                    case 1 -> {
                        int gone = random.nextInt(held + 1);
                        held -= gone;
                        dead += gone;
                    }
                    default -> {
                        for (int i = 0; i < 20; i++) {
                            open();
                        }
                    }
                }
                assertThat(idle + held * each).as(name).isLessThan(LIMIT);
            }
        }
    }
}
