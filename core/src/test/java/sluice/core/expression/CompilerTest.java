package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.ValueTypes;
import sluice.core.function.ComparisonKind;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;

/// The four answers, where PostgreSQL cannot be asked: values the log did not carry.
class CompilerTest {
    private static final Expression.Operation EQUALITY = new Expression.Operation.Compares(ComparisonKind.EQUAL);
    private static final Expression NUMBER = new Expression.ColumnValue(1, ValueTypes.INT4);
    private static final Expression TEXT = new Expression.ColumnValue(2, ValueTypes.TEXT);
    private static final Expression FLAG = new Expression.ColumnValue(3, ValueTypes.BOOL);
    private static final Expression RAISING = new Expression.Raised(ValueTypes.BOOL, "22P02");
    private static final Expression TRUE = Expression.Constant.TRUE;
    private static final Expression FALSE = Expression.Constant.FALSE;
    private static final Expression NULL = new Expression.Constant(ValueTypes.BOOL, null);

    private static Expression number(@Nullable String text) {
        return new Expression.Constant(ValueTypes.INT4, text);
    }

    private static Expression equal(Expression left, Expression right) {
        return new Expression.Comparison(ComparisonKind.EQUAL, left, right);
    }

    private static Truth decide(Expression expression, RowImage row) {
        return Compiler.compile(expression).test(row);
    }

    @Test
    void a_column_that_was_not_sent_is_not_null() {
        for (Tuple.Kind kind : List.of(Tuple.Kind.NOT_SENT, Tuple.Kind.UNCHANGED)) {
            RowImage row = TestRows.of(kind, kind, kind);
            assertThat(decide(new Expression.NullTest(NUMBER, Expression.NullSense.IS_NULL), row))
                    .isEqualTo(Truth.UNDECIDABLE);
            assertThat(decide(new Expression.NullTest(FLAG, Expression.NullSense.IS_NOT_NULL), row))
                    .isEqualTo(Truth.UNDECIDABLE);
            assertThat(decide(equal(NUMBER, number("1")), row)).isEqualTo(Truth.UNDECIDABLE);
            assertThat(decide(new Expression.Not(FLAG), row)).isEqualTo(Truth.UNDECIDABLE);
            assertThat(decide(new Expression.TruthTest(FLAG, Expression.TruthSense.IS_NOT_TRUE), row))
                    .isEqualTo(Truth.UNDECIDABLE);
            assertThat(decide(new Expression.TruthTest(FLAG, Expression.TruthSense.IS_UNKNOWN), row))
                    .isEqualTo(Truth.UNDECIDABLE);
            assertThat(decide(
                            new Expression.Distinct(EQUALITY, TEXT, new Expression.Constant(ValueTypes.TEXT, null)),
                            row))
                    .isEqualTo(Truth.UNDECIDABLE);
        }
    }

    @Test
    void null_is_null_and_not_false() {
        RowImage row = TestRows.of(null, null, null);

        assertThat(decide(equal(NUMBER, number("1")), row)).isEqualTo(Truth.NULL);
        assertThat(decide(new Expression.Not(equal(NUMBER, number("1"))), row)).isEqualTo(Truth.NULL);
        assertThat(decide(FLAG, row)).isEqualTo(Truth.NULL);
        assertThat(decide(new Expression.TruthTest(FLAG, Expression.TruthSense.IS_NOT_TRUE), row))
                .isEqualTo(Truth.TRUE);
    }

    @Test
    void comparing_with_null_is_null_even_when_the_other_side_is_unknown() {
        assertThat(decide(equal(NUMBER, number(null)), TestRows.of(Tuple.Kind.NOT_SENT)))
                .isEqualTo(Truth.NULL);
    }

    @Test
    void what_is_true_anyway_is_true_without_the_missing_value() {
        RowImage row = TestRows.of("1", Tuple.Kind.UNCHANGED, Tuple.Kind.NOT_SENT);
        Expression unknown = equal(TEXT, new Expression.Constant(ValueTypes.TEXT, "a"));

        assertThat(decide(new Expression.Or(List.of(unknown, TRUE)), row)).isEqualTo(Truth.TRUE);
        assertThat(decide(new Expression.Or(List.of(unknown, NULL)), row)).isEqualTo(Truth.UNDECIDABLE);
        assertThat(decide(new Expression.And(List.of(unknown, FALSE)), row)).isEqualTo(Truth.FALSE);
        assertThat(decide(new Expression.And(List.of(unknown, NULL)), row)).isEqualTo(Truth.UNDECIDABLE);
        assertThat(decide(new Expression.Or(List.of(FLAG, equal(NUMBER, number("1")))), row))
                .isEqualTo(Truth.TRUE);
    }

    @Test
    void an_error_is_raised_unless_an_earlier_argument_decides() {
        RowImage row = TestRows.of("1", "a", "t");

        assertThat(decide(new Expression.Or(List.of(FLAG, RAISING)), row)).isEqualTo(Truth.TRUE);
        assertThat(decide(new Expression.And(List.of(new Expression.Not(FLAG), RAISING)), row))
                .isEqualTo(Truth.FALSE);
        for (Expression reached : List.of(
                new Expression.Or(List.of(RAISING, TRUE)),
                new Expression.And(List.of(RAISING, FALSE)),
                new Expression.Not(RAISING),
                new Expression.Or(List.of(NULL, RAISING)),
                equal(NULL, RAISING),
                new Expression.NullTest(RAISING, Expression.NullSense.IS_NULL),
                equal(number(null), new Expression.Raised(ValueTypes.INT4, "22P02")))) {
            assertThatThrownBy(() -> decide(reached, row)).isInstanceOf(EvaluationException.class);
        }
    }

    @Test
    void an_unknown_value_left_of_an_error_does_not_hide_it() {
        RowImage row = TestRows.of(Tuple.Kind.NOT_SENT, "a", Tuple.Kind.NOT_SENT);

        assertThatThrownBy(() -> decide(new Expression.Or(List.of(FLAG, RAISING, TRUE)), row))
                .isInstanceOf(EvaluationException.class);
    }

    @Test
    void integers_are_compared_as_numbers_at_both_ends_of_their_range() {
        Expression least = new Expression.Constant(ValueTypes.INT8, "-9223372036854775808");
        Expression greatest = new Expression.Constant(ValueTypes.INT8, "9223372036854775807");
        Expression column = new Expression.ColumnValue(1, ValueTypes.INT8);

        assertThat(decide(equal(column, least), TestRows.of("-9223372036854775808")))
                .isEqualTo(Truth.TRUE);
        assertThat(decide(equal(column, greatest), TestRows.of("9223372036854775807")))
                .isEqualTo(Truth.TRUE);
        assertThat(decide(new Expression.Comparison(ComparisonKind.LESS, column, greatest), TestRows.of("10")))
                .isEqualTo(Truth.TRUE);
        assertThat(decide(new Expression.Comparison(ComparisonKind.LESS, column, number("9")), TestRows.of("10")))
                .isEqualTo(Truth.FALSE);
    }

    @Test
    void a_text_that_is_no_number_is_an_error_and_not_a_number() {
        for (String text : List.of("", "-", "1a", " 1", "9223372036854775808", "-9223372036854775809", "1.0")) {
            assertThatThrownBy(() -> decide(equal(NUMBER, number("1")), TestRows.of(text)))
                    .isInstanceOf(EvaluationException.class);
        }
    }

    @Test
    void texts_are_equal_when_their_bytes_are() {
        Expression composed = new Expression.Constant(ValueTypes.TEXT, "\u00e9");

        assertThat(decide(equal(TEXT, composed), TestRows.of("1", "\u00e9"))).isEqualTo(Truth.TRUE);
        assertThat(decide(equal(TEXT, composed), TestRows.of("1", "e\u0301"))).isEqualTo(Truth.FALSE);
        assertThat(decide(equal(TEXT, composed), TestRows.of("1", "\u00e9 "))).isEqualTo(Truth.FALSE);
    }

    @Test
    void a_column_the_stream_does_not_have_is_undecidable() {
        assertThat(decide(equal(new Expression.ColumnValue(9, ValueTypes.INT4), number("1")), TestRows.of("1")))
                .isEqualTo(Truth.UNDECIDABLE);
    }

    @Test
    void an_open_part_does_not_compile() {
        assertThatThrownBy(() -> Compiler.compile(new Expression.Unsupported("x")))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> Compiler.compile(new Expression.Or(
                        List.of(TRUE, new Expression.Folded(0, ValueTypes.BOOL, FoldTiming.WHEN_REACHED)))))
                .isInstanceOf(IllegalStateException.class);
    }
}
