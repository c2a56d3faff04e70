package sluice.core.diagnostics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.Function;
import sluice.core.value.Oid;

class WrappedCallsTest {
    private static Function function(String schema, String name) {
        return new Function(
                20_000,
                schema,
                name,
                "sql",
                Function.Volatility.STABLE,
                Function.Strictness.CALLED_ON_NULL,
                Function.Security.INVOKER,
                Oid.TEXT,
                List.of(),
                "",
                null,
                null,
                new LinkedHashMap<>(),
                "1");
    }

    private static @Nullable String wrap(String text) {
        return WrappedCalls.in(
                text,
                List.of(
                        function("auth", "uid"),
                        function("pg_catalog", "current_setting"),
                        function("My.Schema", "who\"am(i")));
    }

    @Test
    void each_call_is_put_into_a_sub_select_with_its_arguments() {
        assertThat(wrap("((owner = auth.uid()) AND (k = current_setting('a)b'::text, true)))"))
                .isEqualTo("((owner = (SELECT auth.uid())) AND (k = (SELECT current_setting('a)b'::text, true))))");
        assertThat(wrap("(\"My.Schema\".\"who\"\"am(i\"() = 'x')"))
                .isEqualTo("((SELECT \"My.Schema\".\"who\"\"am(i\"()) = 'x')");
    }

    @Test
    void a_call_within_a_sub_select_stays_and_one_after_it_does_not() {
        assertThat(wrap("((a = ( SELECT auth.uid() AS uid)) OR (b = auth.uid()))"))
                .isEqualTo("((a = ( SELECT auth.uid() AS uid)) OR (b = (SELECT auth.uid())))");
        assertThat(wrap("(a IN ( SELECT m.id FROM m WHERE ((m.u = auth.uid()))))"))
                .isNull();
    }

    @Test
    void names_and_texts_that_only_look_like_a_call_stay() {
        for (String text : List.of(
                "(note <> 'auth.uid()'::text)",
                "(note <> E'\\\\'' auth.uid() \\''::text)",
                "(\"auth.uid()\" = 1)",
                "(other.uid() = 1)",
                "(uid() = 1)",
                "(auth.uid = 1)",
                "(x.auth.uid() = 1)",
                "(app.current_setting('x') = 'y')")) {
            assertThat(wrap(text)).as(text).isNull();
        }
    }

    @Test
    void a_text_that_is_cut_is_not_rewritten() {
        assertThat(wrap("((a = auth.uid())")).isNull();
        assertThat(wrap("(a = auth.uid(")).isNull();
        assertThat(wrap("(a = auth.uid('")).isNull();
        assertThat(wrap("")).isNull();
    }
}
