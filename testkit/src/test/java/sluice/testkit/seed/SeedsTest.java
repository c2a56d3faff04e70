package sluice.testkit.seed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SeedsTest {
    @Test
    void the_same_seed_draws_the_same() {
        assertThat(draws(new SeededRandom(7))).isEqualTo(draws(new SeededRandom(7)));
        assertThat(draws(new SeededRandom(7))).isNotEqualTo(draws(new SeededRandom(8)));
    }

    @Test
    void draws_do_not_change_with_the_jdk() {
        SeededRandom random = new SeededRandom(1);
        assertThat(List.of(random.below(1000), random.below(1000), random.below(1000)))
                .containsExactly(368, 943, 45);
    }

    @Test
    void a_fork_depends_on_the_seed_and_its_name_only() {
        SeededRandom parent = new SeededRandom(7);
        List<Long> before = draws(parent.fork("writer"));
        parent.nextLong();
        assertThat(draws(parent.fork("writer"))).isEqualTo(before);
        assertThat(draws(parent.fork("reader"))).isNotEqualTo(before);
    }

    @Test
    void ranges_include_their_ends_and_nothing_beyond() {
        SeededRandom random = new SeededRandom(1);
        Set<Integer> below = new HashSet<>();
        Set<Long> between = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            below.add(random.below(3));
            between.add(random.between(-1L, 1L));
            random.between(Long.MIN_VALUE, Long.MAX_VALUE);
        }
        assertThat(below).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(between).containsExactlyInAnyOrder(-1L, 0L, 1L);
        assertThatThrownBy(() -> random.below(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void weights_are_kept_roughly() {
        SeededRandom random = new SeededRandom(1);
        int[] count = new int[3];
        for (int i = 0; i < 10_000; i++) {
            count[random.weighted(8, 0, 2)]++;
        }
        assertThat(count[0]).isBetween(7_700, 8_300);
        assertThat(count[1]).isZero();
    }

    @Test
    void a_failing_seed_is_named_with_the_way_to_run_it_alone() {
        assertThatThrownBy(
                        () -> Seeds.each(5, random -> assertThat(random.seed()).isNotEqualTo(3)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("seed 3 failed")
                .hasMessageContaining("-Dsluice.seed=3");
    }

    @Test
    void shuffling_keeps_every_item() {
        List<Integer> items = List.of(1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(new SeededRandom(1).shuffled(items))
                .containsExactlyInAnyOrderElementsOf(items)
                .isNotEqualTo(items);
    }

    private static List<Long> draws(SeededRandom random) {
        List<Long> draws = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            draws.add(random.nextLong());
        }
        return draws;
    }
}
