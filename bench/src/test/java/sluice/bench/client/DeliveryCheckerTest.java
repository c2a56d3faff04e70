package sluice.bench.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DeliveryCheckerTest {
    private final Faults faults = new Faults();
    private final DeliveryChecker checker = new DeliveryChecker(faults);

    @Test
    void all_rows_in_order_are_no_fault() {
        for (int row = 1; row <= 200; row++) {
            checker.received(row, row);
        }
        assertThat(checker.missing(200)).isZero();
        assertThat(all()).isZero();
    }

    @Test
    void a_row_that_never_came_is_missing_wherever_it_was() {
        for (int row = 1; row <= 129; row++) {
            if (row != 1 && row != 64 && row != 129) {
                checker.received(row, row);
            }
        }
        assertThat(checker.missing(129)).isEqualTo(3);
        assertThat(checker.missing(128)).isEqualTo(2);
        assertThat(checker.missing(63)).isEqualTo(1);
        assertThat(checker.missing(1)).isEqualTo(1);
    }

    @Test
    void nothing_received_is_everything_missing() {
        assertThat(checker.missing(1_000)).isEqualTo(1_000);
        assertThat(checker.missing(0)).isZero();
    }

    @Test
    void a_row_that_came_later_than_asked_about_does_not_stand_in_for_another() {
        checker.received(3, 1);
        assertThat(checker.missing(2)).isEqualTo(2);
    }

    @Test
    void a_row_that_came_twice_is_a_duplicate_even_with_a_seq_of_its_own() {
        checker.received(1, 1);
        checker.received(1, 2);
        assertThat(faults.duplicated()).isEqualTo(1);
        assertThat(checker.rows()).isEqualTo(1);
    }

    @Test
    void two_rows_that_changed_places_are_out_of_order_even_when_seq_is_not() {
        checker.received(2, 1);
        checker.received(1, 2);
        assertThat(faults.outOfOrder()).isEqualTo(1);
        assertThat(faults.seqBroken()).isZero();
        assertThat(checker.missing(2)).isZero();
    }

    @Test
    void a_step_in_seq_is_a_fault_even_when_no_row_is_missing() {
        checker.received(1, 1);
        checker.received(2, 3);
        assertThat(faults.seqBroken()).isEqualTo(1);
        assertThat(checker.missing(2)).isZero();
    }

    @Test
    void a_row_that_nobody_wrote_is_unexpected() {
        checker.received(0, 1);
        checker.received(DeliveryChecker.ROWS_MAX + 1L, 2);
        assertThat(faults.unexpectedEvents()).isEqualTo(2);
        checker.received(DeliveryChecker.ROWS_MAX, 3);
        assertThat(checker.rows()).isEqualTo(1);
    }

    private long all() {
        return faults.duplicated() + faults.outOfOrder() + faults.seqBroken() + faults.unexpectedEvents();
    }
}
