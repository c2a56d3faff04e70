package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.Stamp;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.PgType;
import sluice.core.value.Truth;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

class FilterCompilerTest {
    private static final int LOOSE = 16400;
    private static final CatalogImage CATALOG = catalog();

    private static CatalogImage catalog() {
        Map<Integer, PgType> types = new HashMap<>();
        types.put(23, new PgType.Base(23, "integer"));
        types.put(25, new PgType.Base(25, "text"));
        types.put(16, new PgType.Base(16, "boolean"));
        types.put(700, new PgType.Base(700, "real"));
        types.put(16500, new PgType.Domain(16500, "public.small", new PgType.Base(23, "integer")));
        Map<Integer, Collation> collations = new HashMap<>();
        collations.put(100, new Collation(100, "default", "libc", "C.UTF-8", Collation.Determinism.DETERMINISTIC));
        collations.put(LOOSE, new Collation(LOOSE, "loose", "icu", "und", Collation.Determinism.NONDETERMINISTIC));
        return new CatalogImage(
                new Stamp(new TransactionSnapshot(3, 3, List.of()), Lsn.ZERO),
                List.of(),
                new CatalogImage.Dictionary(18, types, new HashMap<>(), new HashMap<>(), new HashMap<>(), collations));
    }

    private static Column column(int attnum, int type, int collation) {
        return new Column(attnum, "c", type, -1, Column.Nullability.NULLABLE, Column.Generation.NONE, collation);
    }

    private static Truth decide(RowImage row, FilterTerm... terms) {
        return FilterCompiler.compile(CATALOG, List.of(terms)).test(row);
    }

    private static FilterTerm in(Column column, FilterTerm.Negation negation, String... constants) {
        return new FilterTerm(column, FilterTerm.Operator.IN, List.of(constants), negation);
    }

    private static FilterTerm equal(Column column, String constant) {
        return new FilterTerm(column, FilterTerm.Operator.EQUAL, List.of(constant), FilterTerm.Negation.PLAIN);
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
    }

    @Test
    void negation_does_not_admit_null() {
        FilterTerm notIn = in(column(1, 25, 100), FilterTerm.Negation.NEGATED, "a", "b");

        assertThat(decide(TestRows.of("c"), notIn)).isEqualTo(Truth.TRUE);
        assertThat(decide(TestRows.of("a"), notIn)).isEqualTo(Truth.FALSE);
        assertThat(decide(TestRows.of((Object) null), notIn)).isEqualTo(Truth.NULL);
        assertThat(decide(TestRows.of(Tuple.Kind.UNCHANGED), notIn)).isEqualTo(Truth.UNDECIDABLE);
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
    void a_type_that_is_not_compared_is_refused_by_name() {
        assertThatThrownBy(() -> decide(TestRows.of("1"), equal(column(1, 700, 0), "1")))
                .isInstanceOfSatisfying(RequestException.class, refused -> {
                    assertThat(refused.code()).isEqualTo(ErrorCode.INVALID_FILTER);
                    assertThat(refused.getMessage()).contains("real");
                });
    }

    @Test
    void a_nondeterministic_or_unknown_collation_is_refused() {
        for (int collation : new int[] {LOOSE, 0, 99999}) {
            assertThatThrownBy(() -> decide(TestRows.of("a"), equal(column(1, 25, collation), "a")))
                    .isInstanceOf(RequestException.class);
        }
    }
}
