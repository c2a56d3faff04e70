package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.Operator;
import sluice.core.catalog.ServerOperators;
import sluice.core.catalog.Stamp;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.expression.FilterTerm.Negation;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.PgType;
import sluice.core.value.Truth;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

class FilterCompilerTest {
    private static final int LOOSE = 16400;
    private static final int PAIR = 16501;
    private static final int POINTER = 27;
    private static final CatalogImage CATALOG = catalog(ServerOperators.operators());

    private static CatalogImage catalog(Map<Integer, Operator> operators) {
        Map<Integer, PgType> types = new HashMap<>();
        types.put(23, new PgType.Base(23, "integer"));
        types.put(25, new PgType.Base(25, "text"));
        types.put(1043, new PgType.Base(1043, "character varying"));
        types.put(16, new PgType.Base(16, "boolean"));
        types.put(POINTER, new PgType.Base(POINTER, "tid"));
        types.put(16500, new PgType.Domain(16500, "public.small", new PgType.Base(23, "integer")));
        types.put(PAIR, new PgType.Composite(PAIR, "public.pair", List.of()));
        Map<Integer, Collation> collations = new HashMap<>();
        collations.put(100, new Collation(100, "default", "libc", "C.UTF-8", Collation.Determinism.DETERMINISTIC));
        collations.put(LOOSE, new Collation(LOOSE, "loose", "icu", "und", Collation.Determinism.NONDETERMINISTIC));
        return new CatalogImage(
                new Stamp(new TransactionSnapshot(3, 3, List.of()), Lsn.ZERO),
                List.of(),
                new CatalogImage.Dictionary(
                        18, types, new HashMap<>(), ServerOperators.functions(), operators, collations));
    }

    private static Column column(int attnum, int type, int collation) {
        return new Column(
                attnum, "c" + attnum, type, -1, Column.Nullability.NULLABLE, Column.Generation.NONE, collation);
    }

    private static Truth decide(RowImage row, FilterTerm... terms) {
        List<FilterTree<FilterTerm>> all = new ArrayList<>();
        for (FilterTerm term : terms) {
            all.add(new FilterTree.Leaf<>(term));
        }
        return FilterCompiler.compile(CATALOG, FilterTree.every(all)).test(row);
    }

    private static FilterTerm term(
            Column column, FilterTerm.Operator operator, Negation negation, String... constants) {
        return new FilterTerm(
                column, operator, List.of(constants), negation, EqualTexts.of(CATALOG.type(column.typeOid())));
    }

    private static FilterTerm equal(Column column, String constant) {
        return term(column, FilterTerm.Operator.EQUAL, Negation.PLAIN, constant);
    }

    private static FilterTerm test(Column column, FilterTerm.Operator operator, Negation negation) {
        return term(column, operator, negation);
    }

    @Test
    void no_terms_admit_every_row() {
        assertThat(decide(TestRows.of("1"))).isEqualTo(Truth.TRUE);
    }

    @Test
    void eq_compares_the_value_of_the_type() {
        assertThat(decide(TestRows.of("5"), equal(column(1, 23, 0), "5"))).isEqualTo(Truth.TRUE);
        assertThat(decide(TestRows.of("6"), equal(column(1, 16500, 0), "5"))).isEqualTo(Truth.FALSE);
        assertThat(decide(TestRows.of("t"), equal(column(1, 16, 0), "t"))).isEqualTo(Truth.TRUE);
        assertThat(decide(TestRows.of(""), equal(column(1, 25, 100), ""))).isEqualTo(Truth.TRUE);
        assertThat(decide(TestRows.of("a"), equal(column(1, 1043, 100), "a"))).isEqualTo(Truth.TRUE);
    }

    @Test
    void each_comparison_is_the_operator_of_its_name() {
        Column number = column(1, 23, 0);
        record Sample(FilterTerm.Operator operator, String below, String same, String above) {}
        for (Sample sample : List.of(
                new Sample(FilterTerm.Operator.EQUAL, "FALSE", "TRUE", "FALSE"),
                new Sample(FilterTerm.Operator.NOT_EQUAL, "TRUE", "FALSE", "TRUE"),
                new Sample(FilterTerm.Operator.LESS, "TRUE", "FALSE", "FALSE"),
                new Sample(FilterTerm.Operator.LESS_OR_EQUAL, "TRUE", "TRUE", "FALSE"),
                new Sample(FilterTerm.Operator.GREATER, "FALSE", "FALSE", "TRUE"),
                new Sample(FilterTerm.Operator.GREATER_OR_EQUAL, "FALSE", "TRUE", "TRUE"))) {
            FilterTerm ten = term(number, sample.operator, Negation.PLAIN, "10");
            assertThat(List.of(
                            decide(TestRows.of("9"), ten).name(),
                            decide(TestRows.of("10"), ten).name(),
                            decide(TestRows.of("11"), ten).name()))
                    .as(sample.operator.spelling())
                    .containsExactly(sample.below, sample.same, sample.above);
        }
    }

    @Test
    void negation_does_not_admit_null() {
        FilterTerm notIn = term(column(1, 25, 100), FilterTerm.Operator.IN, Negation.NEGATED, "a", "b");

        assertThat(decide(TestRows.of("c"), notIn)).isEqualTo(Truth.TRUE);
        assertThat(decide(TestRows.of("a"), notIn)).isEqualTo(Truth.FALSE);
        assertThat(decide(TestRows.of((Object) null), notIn)).isEqualTo(Truth.NULL);
        assertThat(decide(TestRows.of(Tuple.Kind.UNCHANGED), notIn)).isEqualTo(Truth.UNDECIDABLE);
    }

    @Test
    void a_test_of_truth_tells_null_from_false() {
        Column flag = column(1, 16, 0);
        FilterTerm notTrue = test(flag, FilterTerm.Operator.IS_TRUE, Negation.NEGATED);

        assertThat(answers(notTrue, "t", "f", null)).containsExactly(Truth.FALSE, Truth.TRUE, Truth.TRUE);
        assertThat(answers(test(flag, FilterTerm.Operator.IS_FALSE, Negation.PLAIN), "t", "f", null))
                .containsExactly(Truth.FALSE, Truth.TRUE, Truth.FALSE);
        assertThat(answers(test(flag, FilterTerm.Operator.IS_UNKNOWN, Negation.PLAIN), "t", "f", null))
                .containsExactly(Truth.FALSE, Truth.FALSE, Truth.TRUE);
        assertThat(decide(TestRows.of(Tuple.Kind.UNCHANGED), notTrue)).isEqualTo(Truth.UNDECIDABLE);
    }

    private static List<Truth> answers(FilterTerm term, @Nullable String... values) {
        List<Truth> answers = new ArrayList<>();
        for (@Nullable String value : values) {
            answers.add(decide(TestRows.of((Object) value), term));
        }
        return answers;
    }

    @Test
    void whether_a_value_is_null_shows_for_every_type_but_a_row() {
        FilterTerm isNull = test(column(1, POINTER, 0), FilterTerm.Operator.IS_NULL, Negation.PLAIN);

        assertThat(answers(isNull, "(0,1)", null)).containsExactly(Truth.FALSE, Truth.TRUE);
        assertRefused(test(column(1, PAIR, 0), FilterTerm.Operator.IS_NULL, Negation.PLAIN), "public.pair");
    }

    @Test
    void a_test_of_truth_takes_only_booleans() {
        assertRefused(test(column(1, 23, 0), FilterTerm.Operator.IS_TRUE, Negation.PLAIN), "boolean");
    }

    @Test
    void all_terms_must_hold() {
        FilterTerm five = equal(column(1, 23, 0), "5");

        assertThat(decide(TestRows.of("5", "a"), five, equal(column(2, 25, 100), "a")))
                .isEqualTo(Truth.TRUE);
        assertThat(decide(TestRows.of("5", "a"), five, equal(column(2, 25, 100), "b")))
                .isEqualTo(Truth.FALSE);
    }

    @Test
    void groups_are_decided_as_sql_decides_them() {
        FilterTree<FilterTerm> one = new FilterTree.Leaf<>(equal(column(1, 23, 0), "1"));
        FilterTree<FilterTerm> other = new FilterTree.Leaf<>(equal(column(2, 23, 0), "1"));
        FilterTree<FilterTerm> neither =
                new FilterTree.Group<>(FilterTree.Connective.OR, Negation.NEGATED, List.of(one, other));
        Predicate predicate = FilterCompiler.compile(CATALOG, neither);

        assertThat(predicate.test(TestRows.of("2", "2"))).isEqualTo(Truth.TRUE);
        assertThat(predicate.test(TestRows.of("2", "1"))).isEqualTo(Truth.FALSE);
        assertThat(predicate.test(TestRows.of(null, "2"))).isEqualTo(Truth.NULL);
        assertThat(predicate.test(TestRows.of(Tuple.Kind.NOT_SENT, "1"))).isEqualTo(Truth.FALSE);
        assertThat(predicate.test(TestRows.of(Tuple.Kind.NOT_SENT, "2"))).isEqualTo(Truth.UNDECIDABLE);
        assertThat(neither.conjuncts()).isEmpty();
    }

    @Test
    void an_operator_that_is_not_decided_in_process_is_refused_by_name_and_type() {
        assertRefused(equal(column(1, POINTER, 0), "(0,1)"), "\"eq\"", "\"tid\"", "not supported yet");
    }

    @Test
    void an_operator_the_type_does_not_have_is_refused_by_name_and_type() {
        assertRefused(
                term(column(1, 23, 0), FilterTerm.Operator.LIKE, Negation.PLAIN, "1%"), "\"like\"", "\"integer\"");
    }

    @Test
    void an_operator_of_a_user_is_never_meant() {
        Map<Integer, Operator> operators = new HashMap<>();
        operators.put(96, new Operator(96, "public", "=", 23, 23, 16, 65));
        CatalogImage catalog = catalog(operators);

        assertThatThrownBy(() -> FilterCompiler.check(catalog, column(1, 23, 0), FilterTerm.Operator.EQUAL))
                .isInstanceOf(RequestException.class)
                .hasMessageContaining("PostgreSQL has no");
    }

    @Test
    void what_the_clock_or_the_catalog_has_a_say_in_is_not_read_alike_for_ever() {
        for (int type : new int[] {16, 23, 25, 1043, 16500}) {
            assertThat(FilterCompiler.readsAlike(CATALOG, column(1, type, 0))).isTrue();
        }
        for (int type : new int[] {1082, 1083, 1114, 1184, 1266, 3910, POINTER, PAIR}) {
            assertThat(FilterCompiler.readsAlike(CATALOG, column(1, type, 0))).isFalse();
        }
    }

    @Test
    void a_nondeterministic_or_unknown_collation_is_refused() {
        for (int collation : new int[] {LOOSE, 0, 99999}) {
            assertRefused(equal(column(1, 25, collation), "a"), "collation");
        }
    }

    /// Before anybody is asked about literals, and when it is compiled all the same.
    private static void assertRefused(FilterTerm term, String... parts) {
        assertThatThrownBy(() -> FilterCompiler.check(CATALOG, term.column(), term.operator()))
                .isInstanceOfSatisfying(RequestException.class, refused -> {
                    assertThat(refused.code()).isEqualTo(ErrorCode.INVALID_FILTER);
                    assertThat(refused.getMessage()).contains(parts);
                });
        assertThatThrownBy(() -> decide(TestRows.of("1"), term)).isInstanceOf(RequestException.class);
    }

    @Test
    void the_sql_names_everything_and_holds_no_value() {
        Column odd = new Column(
                1, "a\"b?", 25, -1, Column.Nullability.NULLABLE, Column.Generation.NONE, Collation.DEFAULT_OID);
        FilterTree<FilterTerm> filter = FilterTree.every(List.of(
                new FilterTree.Leaf<>(term(odd, FilterTerm.Operator.EQUAL, Negation.NEGATED, "x' OR true --")),
                new FilterTree.Leaf<>(term(column(2, 23, 0), FilterTerm.Operator.IN, Negation.PLAIN, "1", "2")),
                new FilterTree.Leaf<>(test(column(3, 16, 0), FilterTerm.Operator.IS_NULL, Negation.PLAIN))));

        FilterSql sql = FilterSql.of(CATALOG, filter);

        assertThat(sql.condition())
                .isEqualTo("((NOT (\"a\"\"b?\" OPERATOR(\"pg_catalog\".=) ?::pg_catalog.text))"
                        + " AND (\"c2\" OPERATOR(\"pg_catalog\".=) ANY (ARRAY[?::pg_catalog.int4, ?::pg_catalog.int4]))"
                        + " AND (\"c3\" IS NULL))");
        assertThat(sql.parameters()).containsExactly("x' OR true --", "1", "2");
        assertThat(sql.toString()).doesNotContain("OR true");
    }
}
