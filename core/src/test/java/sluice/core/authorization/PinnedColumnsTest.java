package sluice.core.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.Column;
import sluice.core.expression.EqualTexts;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.FilterTerm.Negation;
import sluice.core.expression.FilterTerm.Operator;
import sluice.core.expression.FilterTree;

class PinnedColumnsTest {
    private static FilterTree<FilterTerm> leaf(int attnum, Operator operator, Negation negation, EqualTexts equality) {
        Column column =
                new Column(attnum, "c" + attnum, 25, -1, Column.Nullability.NULLABLE, Column.Generation.NONE, 100);
        return new FilterTree.Leaf<>(new FilterTerm(column, operator, List.of("x"), negation, equality));
    }

    private static FilterTree<FilterTerm> equal(int attnum) {
        return leaf(attnum, Operator.EQUAL, Negation.PLAIN, EqualTexts.IDENTICAL);
    }

    @Test
    void only_what_every_row_equals_is_pinned() {
        FilterTree<FilterTerm> filter = FilterTree.every(List.of(
                equal(1),
                new FilterTree.Group<>(FilterTree.Connective.AND, Negation.PLAIN, List.of(equal(2))),
                new FilterTree.Group<>(FilterTree.Connective.OR, Negation.PLAIN, List.of(equal(3), equal(4))),
                new FilterTree.Group<>(FilterTree.Connective.OR, Negation.PLAIN, List.of(equal(5))),
                new FilterTree.Group<>(FilterTree.Connective.AND, Negation.NEGATED, List.of(equal(6))),
                leaf(7, Operator.EQUAL, Negation.NEGATED, EqualTexts.IDENTICAL),
                leaf(8, Operator.IN, Negation.PLAIN, EqualTexts.IDENTICAL),
                leaf(9, Operator.GREATER_OR_EQUAL, Negation.PLAIN, EqualTexts.IDENTICAL)));

        assertThat(PinnedColumns.of(filter.conjuncts()).textByAttnum().keySet()).containsExactly(1, 2);
    }

    @Test
    void a_value_with_more_than_one_spelling_is_not_pinned() {
        // 1.0 = 1.00, and a policy may ask for the text
        for (EqualTexts equality : EqualTexts.values()) {
            FilterTree<FilterTerm> term = leaf(1, Operator.EQUAL, Negation.PLAIN, equality);
            assertThat(PinnedColumns.of(term.conjuncts()).textByAttnum())
                    .as(equality.name())
                    .hasSize(equality == EqualTexts.IDENTICAL ? 1 : 0);
        }
    }
}
