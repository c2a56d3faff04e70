package sluice.core.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.JsonTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;

/// What a text could make expensive, and what is not known of letters beyond ASCII.
class TextBoundsTest {
    private static final CollationRule C = new CollationRule(true, true, CollationRule.LetterCase.ASCII_ONLY);
    private static final CollationRule ENGLISH = new CollationRule(true, false, CollationRule.LetterCase.ASCII_KNOWN);

    @ParameterizedTest
    @ValueSource(strings = {"(a*)*b", "(a|a)*b", "(a|aa)+$b", "(((a*)*)*)*b", "a*a*a*a*a*a*b", "(?:a?){50}a{50}b"})
    void no_pattern_makes_a_search_explode(String pattern) {
        assertThat(call("textregexeq", C, "a".repeat(20_000), pattern)).isEqualTo(false);
    }

    @Test
    void no_like_pattern_makes_a_search_explode() {
        assertThat(call("textlike", C, "a".repeat(20_000), "%a".repeat(300) + "%b"))
                .isEqualTo(false);
    }

    @Test
    void a_pattern_or_a_text_beyond_the_bounds_is_undecidable() {
        undecidable("textregexeq", C, "a", "a".repeat(1001));
        undecidable("textregexeq", C, "a", "((((a{99}){99}){99}){99})");
        undecidable("textregexeq", C, "a", "(".repeat(60) + "a" + ")".repeat(60));
        undecidable("textregexeq", C, "a".repeat(200_000), "b{200}c{200}");
        undecidable("textlike", C, "a".repeat(600), "%a".repeat(600));
    }

    @Test
    void a_result_that_grows_beyond_the_bound_is_undecidable() {
        undecidable("repeat", C, "ab", 2_000_000_000L);
        undecidable("lpad", C, "ab", 2_000_000_000L, "x");
        undecidable("rpad", C, "ab", 2_000_000_000L, "x");
        undecidable("replace_text", C, "a".repeat(100_000), "a", "b".repeat(1000));
        undecidable("textcat", C, "a".repeat(800_000), "b".repeat(800_000));
        undecidable("translate", C, "a".repeat(100_000), "b".repeat(1000), "");
    }

    @Test
    void a_long_text_that_does_not_grow_stays_decided() {
        String text = "a".repeat(3_000_000);
        assertThat(call("replace_text", C, text, "b", "c")).isEqualTo(text);
        assertThat(call("textcat", C, text, "")).isEqualTo(text);
    }

    @Test
    void letters_beyond_ascii_have_a_case_only_a_locale_knows() {
        undecidable("lower", ENGLISH, "É");
        undecidable("upper", ENGLISH, "ß");
        undecidable("texticlike", ENGLISH, "\u212a", "k");
        undecidable("texticregexeq", ENGLISH, "é", "É");
        undecidable("initcap", ENGLISH, "o'neil");
        assertThat(call("lower", C, "ÉA")).isEqualTo("Éa");
        assertThat(call("lower", ENGLISH, "日本 – A")).isEqualTo("日本 – a");
        assertThat(call("texticregexeq", ENGLISH, "\u212a", "k")).isEqualTo(false);
    }

    @Test
    void classes_of_characters_are_known_for_ascii_only() {
        undecidable("textregexeq", C, "é", "\\w");
        undecidable("textregexeq", C, "\u001c", "\\s");
        undecidable("textregexeq", C, "é", "[[:alpha:]]");
        assertThat(call("textregexeq", C, "é", "[^a]")).isEqualTo(true);
    }

    @Test
    void under_a_collation_that_calls_different_texts_equal_no_pattern_is_decided() {
        CollationRule loose = new CollationRule(false, false, CollationRule.LetterCase.ASCII_KNOWN);
        undecidable("texticlike", loose, "a", "A");
        undecidable("texticregexeq", loose, "a", "A");
    }

    @Test
    void json_nested_deeper_than_the_bound_is_undecidable() {
        assertThat(JsonTypes.JSONB.print(JsonTypes.JSONB.input("[".repeat(1000) + "]".repeat(1000))))
                .hasSize(2000);
        assertThatThrownBy(() -> JsonTypes.JSONB.input("[".repeat(100_000) + "]".repeat(100_000)))
                .isInstanceOf(UndecidableException.class);
        assertThatThrownBy(() -> JsonTypes.JSONB.input("1e1000000000")).isInstanceOf(UndecidableException.class);
        assertThatThrownBy(() -> JsonTypes.JSONB.input("1e-1000000000")).isInstanceOf(UndecidableException.class);
    }

    private static void undecidable(String symbol, CollationRule collation, Object... arguments) {
        assertThatThrownBy(() -> call(symbol, collation, arguments)).isInstanceOf(UndecidableException.class);
    }

    private static Object call(String symbol, CollationRule collation, Object... arguments) {
        List<ValueType<?>> types = new ArrayList<>();
        List<Integer> oids = new ArrayList<>();
        for (Object argument : arguments) {
            types.add(argument instanceof Long ? ValueTypes.INT4 : ValueTypes.TEXT);
            oids.add(types.getLast().oid());
        }
        BuiltIn function = Objects.requireNonNull(FunctionTable.find(symbol, oids));
        ValueType<?> result = Objects.requireNonNull(ValueTypes.ofOid(function.resultType()));
        return Objects.requireNonNull(function.body().apply(new BuiltIn.CallSite(types, result, collation), arguments));
    }
}
