package sluice.core.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.RangeTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueTypes;

/// A NULL compared with a range: the planner of some majors answers for constant ranges what the function would not.
class RangePlanTest {
    @ParameterizedTest
    @ValueSource(strings = {"empty", "(,)"})
    void a_null_in_a_range_that_the_planner_may_have_dissolved_is_undecidable(String range) {
        assertThatThrownBy(() -> contains(range, null)).isInstanceOf(UndecidableException.class);
        assertThat(contains(range, 1L)).isEqualTo(range.equals("(,)"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"[1,3)", "[1,)", "(,3)"})
    void a_null_in_a_range_with_an_end_is_null(String range) {
        assertThat(contains(range, null)).isNull();
        assertThat(contains(range, 1L)).isEqualTo(true);
    }

    @Test
    void a_range_that_is_null_is_null() {
        assertThat(call(null, 1L)).isNull();
        assertThat(call(null, null)).isNull();
    }

    private static @Nullable Object contains(String range, @Nullable Long value) {
        return call(RangeTypes.INT4RANGE.parse(range), value);
    }

    private static @Nullable Object call(@Nullable Object range, @Nullable Object value) {
        BuiltIn function = Objects.requireNonNull(
                FunctionTable.find("range_contains_elem", List.of(Pseudo.ANYRANGE, Pseudo.ANYELEMENT)));
        assertThat(function.nulls()).isEqualTo(BuiltIn.Nulls.PLANNED);
        BuiltIn.CallSite site = new BuiltIn.CallSite(
                List.of(RangeTypes.INT4RANGE, ValueTypes.INT4), ValueTypes.BOOL, CollationRule.UNKNOWN);
        return function.body().apply(site, new Object[] {range, value});
    }
}
