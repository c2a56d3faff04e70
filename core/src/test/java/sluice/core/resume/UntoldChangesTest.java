package sluice.core.resume;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sluice.core.wal.Lsn;

class UntoldChangesTest {
    private static final int NOTES = 1;

    private final UntoldChanges untold = new UntoldChanges();

    private static Lsn at(long bits) {
        return new Lsn(bits);
    }

    @Test
    void while_something_is_untold_every_later_position_may_lack_it_and_no_earlier_one() {
        untold.began(NOTES, "a", at(10));
        assertThat(untold.mayBeBefore(NOTES, "a", at(10))).isFalse();
        assertThat(untold.mayBeBefore(NOTES, "a", at(11))).isTrue();
        assertThat(untold.mayBeBefore(NOTES, null, at(1_000))).isTrue();
        assertThat(untold.mayBeBefore(NOTES, "b", at(11))).isFalse();
        assertThat(untold.mayBeBefore(2, null, at(11))).isFalse();

        untold.extend(NOTES, "a", at(5));
        assertThat(untold.mayBeBefore(NOTES, "a", at(6))).isTrue();
    }

    @Test
    void once_told_positions_given_meanwhile_may_lack_it_for_good_and_later_ones_do_not() {
        untold.began(NOTES, "a", at(10));
        untold.told(NOTES, "a", at(10), at(20));
        assertThat(untold.mayBeBefore(NOTES, "a", at(10))).isFalse();
        assertThat(untold.mayBeBefore(NOTES, "a", at(20))).isTrue();
        assertThat(untold.mayBeBefore(NOTES, "a", at(21))).isFalse();
    }

    @Test
    void what_was_told_with_its_own_commit_leaves_nothing_behind() {
        untold.began(NOTES, "a", at(10));
        untold.told(NOTES, "a", at(10), at(10));
        untold.tick((oid, position) -> true);
        assertThat(untold.mayBeBefore(NOTES, null, at(11))).isFalse();
        assertThat(untold.shapes()).isZero();
    }

    @Test
    void one_subscription_that_is_told_does_not_answer_for_another_of_the_same_shape() {
        untold.began(NOTES, "a", at(10));
        untold.began(NOTES, "a", at(12));
        untold.told(NOTES, "a", at(12), at(12));
        assertThat(untold.mayBeBefore(NOTES, "a", at(30))).isTrue();
        untold.told(NOTES, "a", at(10), at(14));
        assertThat(untold.mayBeBefore(NOTES, "a", at(14))).isTrue();
        assertThat(untold.mayBeBefore(NOTES, "a", at(30))).isFalse();
    }

    @Test
    void what_nobody_can_resume_from_any_more_is_forgotten_and_what_is_untold_never() {
        untold.began(NOTES, "a", at(10));
        untold.told(NOTES, "a", at(10), at(20));
        untold.began(NOTES, "b", at(15));
        untold.tick((oid, position) -> position.isAfter(at(20)));
        assertThat(untold.mayBeBefore(NOTES, "a", at(20))).isFalse();
        assertThat(untold.mayBeBefore(NOTES, "b", at(20))).isTrue();
        assertThat(untold.shapes()).isEqualTo(1);
    }

    @Test
    void past_the_bound_the_shapes_of_a_table_count_as_one_until_nothing_is_left() {
        for (int i = 0; i < UntoldChanges.SHAPES_MAX; i++) {
            untold.began(NOTES, "s" + i, at(10));
        }
        assertThat(untold.mayBeBefore(NOTES, "other", at(11))).isFalse();
        untold.began(NOTES, "one more", at(10));
        assertThat(untold.shapes()).isZero();
        assertThat(untold.mayBeBefore(NOTES, "other", at(11))).isTrue();

        for (int i = 0; i < UntoldChanges.SHAPES_MAX; i++) {
            untold.told(NOTES, "s" + i, at(10), at(10));
        }
        untold.tick((oid, position) -> false);
        assertThat(untold.mayBeBefore(NOTES, "s1", at(11))).isTrue();
        untold.told(NOTES, "one more", at(10), at(12));
        untold.tick((oid, position) -> false);
        assertThat(untold.mayBeBefore(NOTES, "s1", at(11))).isFalse();
    }
}
