package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.ComparisonKind;
import sluice.core.value.Truth;

class AnswersTest {
    private static final Expression TRUE = Expression.Constant.TRUE;
    private static final Expression COLUMN = new Expression.ColumnValue(1, ValueTypes.BOOL);
    private static final Expression UNSUPPORTED = new Expression.Unsupported("x");
    private static final Expression FOLD = new Expression.Folded(0, ValueTypes.BOOL, FoldTiming.WHEN_REACHED);

    private static Expression answered(Expression expression, FoldAnswer... answers) {
        return new Answers(List.of(answers), new HashMap<>()).substitute(expression);
    }

    private static FoldAnswer value(@Nullable String text) {
        return new FoldAnswer.Value(text);
    }

    @Test
    void an_argument_right_of_a_deciding_answer_is_not_reached() {
        assertThat(answered(new Expression.Or(List.of(FOLD, UNSUPPORTED)), value("true")))
                .isEqualTo(TRUE);
        assertThat(answered(new Expression.And(List.of(FOLD, UNSUPPORTED)), value("false")))
                .isEqualTo(Expression.Constant.FALSE);
    }

    @Test
    void an_argument_left_of_a_deciding_answer_is_kept_where_it_may_raise() {
        Expression kept = answered(new Expression.Or(List.of(UNSUPPORTED, FOLD)), value("true"));

        assertThat(Parts.unsupported(kept)).isEqualTo("x");
        assertThat(answered(new Expression.Or(List.of(COLUMN, FOLD)), value("true")))
                .isEqualTo(TRUE);
    }

    @Test
    void null_decides_nothing() {
        Expression or = answered(new Expression.Or(List.of(FOLD, COLUMN)), value(null));

        assertThat(Compiler.compile(or).test(TestRows.of("f"))).isEqualTo(Truth.NULL);
        assertThat(Compiler.compile(or).test(TestRows.of("t"))).isEqualTo(Truth.TRUE);
    }

    @Test
    void an_answer_of_another_type_is_an_error_and_not_a_value() {
        assertThat(answered(FOLD, value("yes"))).isInstanceOf(Expression.Raised.class);
        Expression number = new Expression.Folded(0, ValueTypes.INT4, FoldTiming.WHEN_REACHED);
        assertThat(answered(number, value("1.5"))).isInstanceOf(Expression.Raised.class);
        Expression any = new Expression.Quantified(
                new Expression.Operation.Compares(ComparisonKind.EQUAL),
                Expression.Quantifier.ANY,
                new Expression.ColumnValue(1, ValueTypes.INT4),
                new Expression.Elements.Computed(
                        new Expression.Folded(0, array(ValueTypes.INT4), FoldTiming.WHEN_REACHED)));
        for (String text : List.of("{1,x}", "{1", "1}", "{1}}", "", "{\"1}")) {
            assertThat(answered(any, value(text))).as(text).isInstanceOf(Expression.Raised.class);
        }
    }

    @Test
    void an_error_in_an_array_is_not_passed_over_by_an_earlier_match() {
        Expression any = new Expression.Quantified(
                new Expression.Operation.Compares(ComparisonKind.EQUAL),
                Expression.Quantifier.ANY,
                new Expression.ColumnValue(1, ValueTypes.BOOL),
                new Expression.Elements.Listed(List.of(TRUE, FOLD)));

        assertThat(answered(any, new FoldAnswer.Raised("22P02"))).isInstanceOf(Expression.Raised.class);
    }

    @Test
    void an_error_outside_a_sub_select_fails_every_row() {
        for (FoldTiming timing : List.of(FoldTiming.WHILE_PLANNING, FoldTiming.WHILE_ESTIMATING)) {
            Expression or = new Expression.Or(List.of(COLUMN, new Expression.Folded(0, ValueTypes.BOOL, timing)));
            assertThat(new Answers(List.of(new FoldAnswer.Raised("22P02")), new HashMap<>()).raisedForEveryRow(or))
                    .isEqualTo("22P02");
        }
        assertThat(new Answers(List.of(new FoldAnswer.Raised("22P02")), new HashMap<>())
                        .raisedForEveryRow(new Expression.Or(List.of(COLUMN, FOLD))))
                .isNull();
    }

    @Test
    void a_pinned_column_is_its_value() {
        Map<Integer, String> pinned = new HashMap<>();
        pinned.put(1, "t");

        assertThat(new Answers(List.of(), pinned).substitute(new Expression.Not(COLUMN)))
                .isEqualTo(Expression.Constant.FALSE);
    }

    @Test
    void arrays_are_read_as_postgresql_prints_them() {
        Expression.Elements elements =
                elements(ValueTypes.TEXT, "[0:1][2:4]={{a,\"b c\",NULL},{\"NULL\",\"\",\"q\\\"\\\\\"}}");

        assertThat(elements)
                .isEqualTo(new Expression.Elements.Listed(List.of(
                        new Expression.Constant(ValueTypes.TEXT, "a"),
                        new Expression.Constant(ValueTypes.TEXT, "b c"),
                        new Expression.Constant(ValueTypes.TEXT, null),
                        new Expression.Constant(ValueTypes.TEXT, "NULL"),
                        new Expression.Constant(ValueTypes.TEXT, ""),
                        new Expression.Constant(ValueTypes.TEXT, "q\"\\"))));
        assertThat(elements(ValueTypes.INT4, null)).isEqualTo(new Expression.Elements.NullArray());
        assertThat(elements(ValueTypes.INT4, "{}")).isEqualTo(new Expression.Elements.Listed(List.of()));
    }

    private static ValueType<?> array(ValueType<?> element) {
        return Objects.requireNonNull(ValueTypes.arrayOf(element));
    }

    private static Expression.Elements elements(ValueType<?> element, @Nullable String text) {
        return Answers.elements(new Expression.Constant(array(element), text));
    }

    @Test
    void answers_and_constants_are_never_printed() {
        assertThat(List.of(value("secret"), new Expression.Constant(ValueTypes.TEXT, "secret"))
                        .toString())
                .doesNotContain("secret");
    }

    @Test
    void deciding_a_row_allocates_nothing() {
        Expression rule = new Expression.Or(List.of(
                new Expression.Comparison(
                        ComparisonKind.EQUAL,
                        new Expression.ColumnValue(2, ValueTypes.UUID),
                        new Expression.Constant(ValueTypes.UUID, "00000000-0000-0000-0000-00000000000a")),
                new Expression.Comparison(
                        ComparisonKind.LESS,
                        new Expression.ColumnValue(3, ValueTypes.INT8),
                        new Expression.Constant(ValueTypes.INT4, "-7")),
                COLUMN));
        Predicate predicate = Compiler.compile(rule);
        RowImage row = TestRows.of("f", "00000000-0000-0000-0000-00000000000b", "123456789012");
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        int visible = decide(predicate, row, 20_000);
        long before = threads.getCurrentThreadAllocatedBytes();
        long start = threads.getCurrentThreadCpuTime();
        visible += decide(predicate, row, 1_000_000);
        long nanos = threads.getCurrentThreadCpuTime() - start;
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        System.out.println("three comparisons: " + nanos / 1_000_000 + " ns of processor time a row, " + allocated
                + " bytes in all");
        assertThat(visible).isZero();
        assertThat(allocated).isLessThan(100_000);
    }

    private static int decide(Predicate predicate, RowImage row, int times) {
        int visible = 0;
        for (int i = 0; i < times; i++) {
            visible += predicate.test(row) == Truth.TRUE ? 1 : 0;
        }
        return visible;
    }
}
