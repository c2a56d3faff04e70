package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.datum.ValueTypes;
import sluice.core.function.ComparisonKind;

/// Which expressions say the same of every row.
class LikenessTest {
    private static final Expression A = equal(1, "a");
    private static final Expression B = equal(2, "b");
    private static final Expression C = equal(3, "c");

    @Test
    void the_order_of_alternatives_and_of_conditions_makes_no_difference() {
        assertThat(Likeness.same(or(A, B, C), or(C, A, B))).isTrue();
        assertThat(Likeness.same(and(A, B, C), and(B, C, A))).isTrue();
        assertThat(Likeness.same(not(or(A, B)), not(or(B, A)))).isTrue();
        assertThat(Likeness.same(and(or(A, B), C), and(C, or(B, A)))).isTrue();
    }

    @Test
    void one_that_stands_there_twice_or_in_a_group_of_its_own_makes_no_difference() {
        assertThat(Likeness.same(or(A, B, A), or(A, B))).isTrue();
        assertThat(Likeness.same(or(A, or(B, C)), or(A, B, C))).isTrue();
        assertThat(Likeness.same(and(and(A, B), C), and(A, B, C))).isTrue();
    }

    @Test
    void an_alternative_is_no_condition() {
        assertThat(Likeness.same(or(A, B), and(A, B))).isFalse();
        assertThat(Likeness.same(and(or(A, B), C), or(and(A, B), C))).isFalse();
    }

    @Test
    void one_more_or_one_less_is_another_rule() {
        assertThat(Likeness.same(or(A, B), or(A, B, C))).isFalse();
        assertThat(Likeness.same(or(A, B, C), or(A, B))).isFalse();
        assertThat(Likeness.same(and(), and(A))).isFalse();
        assertThat(Likeness.same(and(A), and())).isFalse();
    }

    @Test
    void another_value_column_comparison_or_sign_is_another_rule() {
        assertThat(Likeness.same(A, equal(1, "b"))).isFalse();
        assertThat(Likeness.same(A, equal(2, "a"))).isFalse();
        assertThat(Likeness.same(or(A, B), or(A, compared(ComparisonKind.LESS, 2, "b"))))
                .isFalse();
        assertThat(Likeness.same(not(or(A, B)), or(B, A))).isFalse();
        assertThat(Likeness.same(
                        new Expression.TruthTest(or(A, B), Expression.TruthSense.IS_TRUE),
                        new Expression.TruthTest(or(B, A), Expression.TruthSense.IS_NOT_TRUE)))
                .isFalse();
    }

    private static Expression equal(int attnum, String text) {
        return compared(ComparisonKind.EQUAL, attnum, text);
    }

    private static Expression compared(ComparisonKind kind, int attnum, String text) {
        return new Expression.Comparison(
                kind,
                new Expression.ColumnValue(attnum, ValueTypes.TEXT),
                new Expression.Constant(ValueTypes.TEXT, text));
    }

    private static Expression and(Expression... arguments) {
        return new Expression.And(List.of(arguments));
    }

    private static Expression or(Expression... arguments) {
        return new Expression.Or(List.of(arguments));
    }

    private static Expression not(Expression argument) {
        return new Expression.Not(argument);
    }
}
