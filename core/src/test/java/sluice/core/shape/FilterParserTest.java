package sluice.core.shape;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.expression.FilterTerm.Negation;
import sluice.core.expression.FilterTerm.Operator;
import sluice.core.expression.FilterTree;

class FilterParserTest {
    private static ParsedTerm only(String text) {
        List<ParsedTerm> terms = FilterParser.parse(text).terms();
        assertThat(terms).hasSize(1);
        return terms.getFirst();
    }

    private static String value(String text) {
        return only(text).values().getFirst();
    }

    @Test
    void nothing_means_every_row() {
        assertThat(FilterParser.parse("").terms()).isEmpty();
        assertThat(FilterParser.parse(" \n ").terms()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "eq.1,EQUAL",
        "neq.1,NOT_EQUAL",
        "lt.1,LESS",
        "lte.1,LESS_OR_EQUAL",
        "gt.1,GREATER",
        "gte.1,GREATER_OR_EQUAL",
        "like.1,LIKE",
        "ilike.1,ILIKE",
        "in.(1),IN",
        "EQ.1,EQUAL",
        "iLike.1,ILIKE",
        "is.null,IS_NULL",
        "IS.Null,IS_NULL",
        "is.true,IS_TRUE",
        "is.FALSE,IS_FALSE",
        "is.unknown,IS_UNKNOWN"
    })
    void every_operator_is_read_in_any_case_and_negated(String condition, Operator operator) {
        ParsedTerm plain = only("a=" + condition);
        ParsedTerm negated = only("a=not." + condition);

        assertThat(plain.operator()).isEqualTo(operator);
        assertThat(plain.negation()).isEqualTo(Negation.PLAIN);
        assertThat(negated).isEqualTo(new ParsedTerm("a", operator, plain.values(), Negation.NEGATED));
    }

    @Test
    void not_null_is_null_negated() {
        assertThat(only("a=is.not_null")).isEqualTo(only("a=not.is.null"));
        assertThat(only("a=not.is.not_null")).isEqualTo(only("a=is.null"));
    }

    @Test
    void terms_keep_their_order_and_blanks_around_them_do_not_count() {
        assertThat(FilterParser.parse(" b = eq.1 ,\ta=in.( x , y ) ").terms())
                .containsExactly(
                        new ParsedTerm("b", Operator.EQUAL, List.of("1"), Negation.PLAIN),
                        new ParsedTerm("a", Operator.IN, List.of("x", "y"), Negation.PLAIN));
    }

    @Test
    void quotes_keep_what_would_end_a_value() {
        assertThat(value("t=eq.\"a,b\"")).isEqualTo("a,b");
        assertThat(value("t=eq.\"say \\\"hi\\\"\"")).isEqualTo("say \"hi\"");
        assertThat(value("t=eq.\"back\\\\slash\"")).isEqualTo("back\\slash");
        assertThat(value("t=eq.\"\"")).isEmpty();
        assertThat(value("t=eq.\" lead\"")).isEqualTo(" lead");
        assertThat(value("t=eq.\"a.b:c*d\"")).isEqualTo("a.b:c*d");
        assertThat(value("t=eq.\"x,id=eq.1\"")).isEqualTo("x,id=eq.1");
        assertThat(value("t=eq.\"\\\"\"")).isEqualTo("\"");
        assertThat(only("t=in.(\"f(1).jpg\",\"a,b\")").values()).containsExactlyInAnyOrder("f(1).jpg", "a,b");
    }

    @Test
    void without_quotes_a_value_is_taken_as_it_stands() {
        assertThat(value("t=eq.f(1).jpg")).isEqualTo("f(1).jpg");
        assertThat(value("t=eq.f(a,b)")).isEqualTo("f(a,b)");
        assertThat(value("t=eq.it's")).isEqualTo("it's");
        assertThat(value("t=eq.NULL")).isEqualTo("NULL");
        assertThat(value("t=eq.a=b.c")).isEqualTo("a=b.c");
        assertThat(value("t=eq.back\\slash")).isEqualTo("back\\slash");
        assertThat(value("t=eq.")).isEmpty();
    }

    @Test
    void a_column_with_an_unusual_name_is_quoted() {
        assertThat(only("\"Full.Name\"=eq.n").column()).isEqualTo("Full.Name");
        assertThat(only("Full.Name=eq.n").column()).isEqualTo("Full.Name");
        assertThat(only("\"a\\\"b,(=)\"=eq.n").column()).isEqualTo("a\"b,(=)");
        assertThat(only("\"or(\"=eq.n").column()).isEqualTo("or(");
        assertThat(only("or=eq.n").column()).isEqualTo("or");
        assertThat(only("not.and=eq.n").column()).isEqualTo("not.and");
        assertThat(only("\"a->>b\"=eq.n").column()).isEqualTo("a->>b");
    }

    @Test
    void groups_nest() {
        FilterTree<ParsedTerm> filter =
                FilterParser.parse("o=eq.1,not.or(s=in.(a,b), and(n=gt.2,t=eq.f(1).jpg ),x=is.null)");

        assertThat(filter.terms()).extracting(ParsedTerm::column).containsExactly("o", "s", "n", "t", "x");
        assertThat(filter.conjuncts()).extracting(ParsedTerm::column).containsExactly("o");
        assertThat(FilterParser.print(filter))
                .isEqualTo("o=eq.1,not.or(s=in.(a,b),and(n=gt.2,t=eq.\"f(1).jpg\"),x=is.null)");
    }

    @Test
    void what_an_and_group_asks_must_hold_for_the_whole() {
        FilterTree<ParsedTerm> filter = FilterParser.parse("and(a=eq.1,and(b=eq.2,or(c=eq.3)),not.and(d=eq.4))");

        assertThat(filter.conjuncts()).extracting(ParsedTerm::column).containsExactly("a", "b");
    }

    @Test
    void an_asterisk_is_any_text_and_a_backslash_keeps_it() {
        assertThat(only("t=like.a*b").literals()).containsExactly("a%b");
        assertThat(only("t=ilike.a\\*b").literals()).containsExactly("a\\*b");
        assertThat(only("t=like.hell\\%").literals()).containsExactly("hell\\%");
        assertThat(only("t=like.x\\\\*").literals()).containsExactly("x\\\\%");
        assertThat(only("t=like.\"a\\\\*b\"").literals()).containsExactly("a\\*b");
        assertThat(only("t=like.").literals()).containsExactly("");
        assertThat(only("t=eq.a*b").literals()).containsExactly("a*b");
    }

    @Test
    void the_values_of_a_list_are_sorted_and_stand_once() {
        assertThat(FilterParser.parse("a=in.(c,b,c,\"b\")")).isEqualTo(FilterParser.parse("a=in.(b,c)"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "t=eq.\"a",
                "t=in.(a",
                "t=in.a)",
                "t=eq.\"a\"b",
                "t==a",
                "=eq.1",
                "t=",
                "t=eq.a,",
                ",t=eq.a",
                "t=foo.a",
                "t=not.not.eq.a",
                "t",
                "t=eq",
                "\"t\"",
                "\"\"=eq.1",
                "t=in.()",
                "t=in.(a,,b)",
                "t=in.(a,)",
                "t=in.(a)b",
                "t=eq.a)",
                "t=eq.(a",
                "or()",
                "or(a=eq.1",
                "or(a=eq.1))",
                "or(a=eq.1)b",
                "not.a=eq.1,or",
                "or=(a.eq.1)",
                "not.not.or(a=eq.1)",
                "or (a=eq.1)",
                "t=is.nil",
                "t=is.",
                "t=eq.say \"hi\"",
                "t=like.a\\",
                "t=like.\"a\\\\\"",
                "t=eq.\"a\\n\"",
                "t=eq.\"a\\",
                "a->>b=eq.1",
                "t=eq(any).{a}",
                "t=match.^a",
                "t=isdistinct.a",
                "t=fts.a",
                "t=NOT.eq.a",
                "owner_id=eq.7,or,true",
                "owner_id=eq.x') OR 1=1--",
                "1=1;DROP TABLE documents--=eq.x",
                "owner_id);DELETE FROM documents;--=eq.1",
                "t=eq.\u0000",
                "t=eq.\ud800",
                "t=eq.\udc00\ud800",
                "\ud83d=eq.a"
            })
    void what_is_malformed_is_refused_with_its_place(String text) {
        assertThatThrownBy(() -> FilterParser.parse(text)).isInstanceOfSatisfying(RequestException.class, refused -> {
            assertThat(refused.code()).isEqualTo(ErrorCode.INVALID_FILTER);
            assertThat(refused.getMessage()).matches("the filter cannot be read at character \\d+: .*");
        });
    }

    @Test
    void a_refusal_says_where_and_what_to_write_and_repeats_no_value() {
        assertThatThrownBy(() -> FilterParser.parse("id=eq.1,t=eq.secret \"x\""))
                .hasMessageContaining("character 21", "double quotes")
                .hasMessageNotContaining("secret");
        assertThatThrownBy(() -> FilterParser.parse("t=secret.1"))
                .hasMessageContaining("character 3")
                .hasMessageContaining("operators are eq")
                .hasMessageNotContaining("secret");
        assertThatThrownBy(() -> FilterParser.parse("t=fts.a")).hasMessageContaining("\"fts\" is not supported");
    }

    @Test
    void sizes_are_bounded() {
        String condition = ",a=eq.1";
        assertThat(FilterParser.parse(condition.repeat(FilterParser.TERMS_MAX).substring(1))
                        .terms())
                .hasSize(FilterParser.TERMS_MAX);
        assertRefused(condition.repeat(FilterParser.TERMS_MAX + 1).substring(1));
        assertRefused("a=in.(" + "1,".repeat(FilterParser.VALUES_MAX) + "1)");
        assertRefused((",a=in.(" + "1,".repeat(99) + "1)").repeat(11).substring(1));
        assertThat(FilterParser.parse(nested(FilterParser.DEPTH_MAX)).terms()).hasSize(1);
        assertRefused(nested(FilterParser.DEPTH_MAX + 1));
        assertRefused("or(".repeat(20_000));
        assertRefused("a=eq." + "x".repeat(FilterParser.LENGTH_MAX));
    }

    private static String nested(int depth) {
        return "or(".repeat(depth) + "a=eq.1" + ")".repeat(depth);
    }

    private static void assertRefused(String text) {
        assertThatThrownBy(() -> FilterParser.parse(text)).isInstanceOf(RequestException.class);
    }
}
