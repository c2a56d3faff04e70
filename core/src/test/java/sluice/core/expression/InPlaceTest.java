package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.JsonTypes;
import sluice.core.datum.MomentText;
import sluice.core.datum.NumberTypes;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.CollationRule;
import sluice.core.function.ComparisonKind;
import sluice.core.function.FunctionTable;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;

/// What is decided on a column's bytes is what is decided on its value.
class InPlaceTest {
    private static final List<String> NUMBERS = List.of(
            "0",
            "0.00",
            "1",
            "1.0",
            "1.00",
            "-1",
            "-1.5",
            "100.00",
            "99.99",
            "100.01",
            "0.001",
            "-0.001",
            "NaN",
            "Infinity",
            "-Infinity",
            "999999999999999999",
            "-999999999999999999",
            "1000000000000000000",
            "9223372036854775807",
            "99999999999999999.9",
            "0.000000000000000001",
            "123456789012345678901234567890",
            "1234567890.12345678901234567890");

    private static final List<String> TEXTS =
            List.of("", "a", "ab", "abc", "cab", "abab", "é", "aé", "éa", "%", "a%", "😀", "a😀b", "ba", "a b");

    private static final List<String> PATTERNS = List.of(
            "", "%", "%%", "a", "a%", "%a", "%a%", "ab%", "%ab", "%ab%", "é%", "%é", "%é%", "a_", "_", "a%b", "\\%",
            "a\\%", "%😀%", "😀");

    private static final List<String> OBJECTS = List.of(
            "{}",
            "{\"a\": \"x\"}",
            "{\"a\": 1}",
            "{\"a\": 1.50}",
            "{\"a\": true}",
            "{\"a\": false}",
            "{\"a\": null}",
            "{\"a\": {\"b\": 1}}",
            "{\"a\": [1, \"x\"]}",
            "{\"a\": \"\"}",
            "{\"a\": \"q\\\"q\"}",
            "{\"a\": \"b\\\\\"}",
            "{\"b\": \"x\", \"a\": \"y\"}",
            "{\"b\": {\"a\": \"x\"}, \"é\": \"x\"}",
            "{\"\": \"x\", \"aa\": \"x\"}",
            "{\"b\": [\"}\", \"]\", {\"a\": \"x\"}], \"c\": \"x\"}",
            "{\"b\": \"\\\"\", \"c\": \"x\"}",
            "[]",
            "[\"a\"]",
            "\"a\"",
            "1",
            "null",
            "{\"b\": \", \", \"a\": \"1\"}",
            "{\"a\":\"x\"}",
            "{\"a\": 1e3}",
            "{\"b\": \"é😀\", \"a\": \"é😀\"}");

    @ParameterizedTest
    @EnumSource
    void compares_numbers_as_their_values_compare(ComparisonKind kind) {
        int inPlace = 0;
        for (String left : NUMBERS) {
            for (String right : NUMBERS) {
                Expression.Comparison comparison = new Expression.Comparison(
                        kind,
                        new Expression.ColumnValue(1, NumberTypes.NUMERIC),
                        new Expression.Constant(NumberTypes.NUMERIC, right));
                Truth value = Truth.of(kind.holds(NumberTypes.NUMERIC.compare(
                        NumberTypes.NUMERIC.parse(left), NumberTypes.NUMERIC.parse(right))));
                inPlace += agrees(InPlace.comparison(comparison, _ -> Truth.UNDECIDABLE), left, value);
            }
        }
        assertThat(inPlace).isGreaterThan(150);
    }

    @ParameterizedTest
    @ValueSource(strings = {"textlike", "textnlike"})
    void matches_patterns_as_the_function_does(String symbol) {
        int text = ValueTypes.TEXT.oid();
        BuiltIn like = Objects.requireNonNull(FunctionTable.find(symbol, List.of(text, text)));
        BuiltIn.CallSite site =
                new BuiltIn.CallSite(List.of(ValueTypes.TEXT, ValueTypes.TEXT), ValueTypes.BOOL, CollationRule.UNKNOWN);
        int inPlace = 0;
        for (String matched : TEXTS) {
            for (String pattern : PATTERNS) {
                Expression.Call call = new Expression.Call(
                        like,
                        site,
                        List.of(
                                new Expression.ColumnValue(1, ValueTypes.TEXT),
                                new Expression.Constant(ValueTypes.TEXT, pattern)));
                Truth value = Compiler.truth(like.body().apply(site, new Object[] {matched, pattern}));
                inPlace += agrees(InPlace.call(call, _ -> Truth.UNDECIDABLE), matched, value);
            }
        }
        assertThat(inPlace).isGreaterThan(150);
    }

    @ParameterizedTest
    @EnumSource(names = {"EQUAL", "NOT_EQUAL"})
    void finds_members_as_the_function_does(ComparisonKind kind) {
        BuiltIn field = memberFunction();
        int inPlace = 0;
        for (String object : OBJECTS) {
            for (String key : List.of("a", "b", "c", "", "é", "aa", "\"", "\\")) {
                for (String text : List.of("x", "y", "", "1", "1.50", "true", "null", "q\"q", "é😀", "1000", "{}")) {
                    Object found = field.body().apply(memberSite(), new Object[] {JsonTypes.JSONB.parse(object), key});
                    Truth value = found == null ? Truth.NULL : Truth.of(kind.holds(found.equals(text) ? 0 : 1));
                    Predicate predicate = InPlace.comparison(member(kind, key, text), _ -> Truth.UNDECIDABLE);
                    inPlace += agrees(predicate, object, value);
                }
            }
        }
        assertThat(inPlace).isGreaterThan(500);
    }

    private static Expression.Comparison member(ComparisonKind kind, String key, String text) {
        Expression.Call call = new Expression.Call(
                memberFunction(),
                memberSite(),
                List.of(new Expression.ColumnValue(1, JsonTypes.JSONB), new Expression.Constant(ValueTypes.TEXT, key)));
        return new Expression.Comparison(kind, call, new Expression.Constant(ValueTypes.TEXT, text));
    }

    private static BuiltIn memberFunction() {
        return Objects.requireNonNull(
                FunctionTable.find("jsonb_object_field_text", List.of(JsonTypes.JSONB.oid(), ValueTypes.TEXT.oid())));
    }

    private static BuiltIn.CallSite memberSite() {
        return new BuiltIn.CallSite(List.of(JsonTypes.JSONB, ValueTypes.TEXT), ValueTypes.TEXT, CollationRule.UNKNOWN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"arraycontains", "arrayoverlap", "any"})
    void finds_elements_as_the_function_does(String symbol) {
        ArrayType type = new ArrayType(1009, ValueTypes.TEXT);
        List<String> arrays = List.of(
                "{}",
                "{a}",
                "{b}",
                "{a,b}",
                "{NULL}",
                "{a,NULL}",
                "{\"NULL\"}",
                "{\"a b\",c}",
                "{\"a,b\"}",
                "{\"\"}",
                "{\"q\\\"q\",\"b\\\\\"}",
                "{ab}",
                "{é,😀}",
                "{{a},{b}}",
                "[0:1]={a,b}",
                "{\"{a}\"}",
                "{\"a\\\",b\"}");
        int inPlace = 0;
        for (String array : arrays) {
            for (String wanted : arrays) {
                inPlace += symbol.equals("any")
                        ? foundInAny(type, array, type.parse(wanted))
                        : foundByFunction(symbol, type, array, wanted);
            }
        }
        assertThat(inPlace).isGreaterThan(100);
    }

    private static int foundByFunction(String symbol, ArrayType type, String array, String wanted) {
        BuiltIn function = Objects.requireNonNull(FunctionTable.find(symbol, List.of(2277, 2277)));
        BuiltIn.CallSite site = new BuiltIn.CallSite(List.of(type, type), ValueTypes.BOOL, CollationRule.UNKNOWN);
        Expression.Call call = new Expression.Call(
                function, site, List.of(new Expression.ColumnValue(1, type), new Expression.Constant(type, wanted)));
        Object[] values = {type.parse(array), type.parse(wanted)};
        Truth value = Compiler.truth(function.body().apply(site, values));
        return agrees(InPlace.call(call, _ -> Truth.UNDECIDABLE), array, value);
    }

    private static int foundInAny(ArrayType type, String array, ArrayValue wanted) {
        int inPlace = 0;
        for (Object element : wanted.elements()) {
            if (element == null) {
                continue;
            }
            Expression.Quantified any = new Expression.Quantified(
                    new Expression.Operation.Compares(ComparisonKind.EQUAL),
                    Expression.Quantifier.ANY,
                    new Expression.Constant(ValueTypes.TEXT, (String) element),
                    new Expression.Elements.Computed(new Expression.ColumnValue(1, type)));
            ArrayValue all = type.parse(array);
            Truth value = all.elements().contains(element) ? Truth.TRUE : all.hasNull() ? Truth.NULL : Truth.FALSE;
            inPlace += agrees(InPlace.quantified(any, _ -> Truth.UNDECIDABLE), array, value);
        }
        return inPlace;
    }

    /// @return 1 where it was decided on the bytes, 0 where that was left to the general way
    private static int agrees(Predicate predicate, String text, Truth value) {
        Truth inPlace = predicate.test(TestRows.of(text));
        if (inPlace != Truth.UNDECIDABLE) {
            assertThat(inPlace).as(text).isEqualTo(value);
        }
        return inPlace == Truth.UNDECIDABLE ? 0 : 1;
    }

    @Test
    void leaves_absent_values_to_the_general_way() {
        Predicate predicate = InPlace.comparison(member(ComparisonKind.EQUAL, "a", "x"), _ -> Truth.UNDECIDABLE);
        assertThat(predicate.test(TestRows.of((Object) null))).isEqualTo(Truth.UNDECIDABLE);
        assertThat(predicate.test(TestRows.of(Tuple.Kind.UNCHANGED))).isEqualTo(Truth.UNDECIDABLE);
        assertThat(predicate.test(TestRows.of(Tuple.Kind.NOT_SENT))).isEqualTo(Truth.UNDECIDABLE);
    }

    @Test
    void reads_dates_and_timestamps_as_their_types_do() {
        Random random = new Random(20_261_130);
        List<String> texts = new ArrayList<>(List.of(
                "infinity",
                "-infinity",
                "0044-03-15 BC",
                "0044-03-15 00:00:00 BC",
                "0044-03-15 00:00:00+00 BC",
                "10000-01-01",
                "10000-01-01 00:00:00",
                "2026-02-29",
                "2024-02-29",
                "1900-02-29",
                "2000-02-29",
                "2026-13-01",
                "2026-00-10",
                "2026-04-31",
                "0000-01-01",
                "0001-01-01",
                "2026-1-1",
                "2026-01-01 24:00:00",
                "2026-01-01 23:60:00",
                "2026-01-01 23:59:60",
                "2026-01-01 00:00:00.",
                "2026-01-01 00:00:00.1234567",
                "2026-01-01 00:00:00+01",
                "2026-01-01T00:00:00",
                "2026-01-01 00:00:00+00",
                "",
                "2026-01-01 00:00:0a"));
        for (int i = 0; i < 20_000; i++) {
            LocalDate date = LocalDate.ofEpochDay(random.nextInt(-719_162, 2_932_897));
            StringBuilder text = new StringBuilder(date.toString());
            if (random.nextInt(3) > 0) {
                text.append(" %02d:%02d:%02d".formatted(random.nextInt(24), random.nextInt(60), random.nextInt(60)));
                text.append(random.nextBoolean() ? "" : "." + random.nextInt(1_000_000));
                text.append(random.nextBoolean() ? "" : "+00");
            }
            texts.add(text.toString());
        }
        for (ValueType<?> type : List.of(TimeTypes.DATE, TimeTypes.TIMESTAMP, TimeTypes.TIMESTAMPTZ)) {
            for (String text : texts) {
                assertThat(moment(type, text)).as(text).isEqualTo(parsed(type, text));
            }
        }
    }

    private static @Nullable Object moment(ValueType<?> type, String text) {
        byte[] bytes = ("xx" + text + "yy").getBytes(StandardCharsets.UTF_8);
        try {
            return MomentText.read(type, bytes, 2, bytes.length - 4);
        } catch (UndecidableException unread) {
            return null;
        }
    }

    private static @Nullable Object parsed(ValueType<?> type, String text) {
        try {
            return type.parse(text);
        } catch (UndecidableException unread) {
            return null;
        }
    }

    @Test
    void the_clock_is_what_the_server_would_print_of_the_commits_time() {
        for (ValueType<?> type : List.of(TimeTypes.DATE, TimeTypes.TIMESTAMP, TimeTypes.TIMESTAMPTZ)) {
            for (String at : List.of(
                    "1969-12-31T23:59:59.999999Z",
                    "1999-12-31T23:59:59.999999999Z",
                    "2026-11-30T12:34:56.789012345Z")) {
                RowImage now = TestRows.of("a");
                RowImage row = new RowImage(now.tuple(), now.mapping(), java.time.Instant.parse(at));
                Operand.OfInteger clock =
                        (Operand.OfInteger) Objects.requireNonNull(Operands.of(new Expression.Clock(type)));
                assertThat(clock.value(row)).isEqualTo(type.parse(ClockText.of(type, row.at())));
            }
        }
    }

    @Test
    void a_row_that_is_hidden_leaves_no_garbage_behind() {
        int text = ValueTypes.TEXT.oid();
        Expression.Call like = new Expression.Call(
                Objects.requireNonNull(FunctionTable.find("textlike", List.of(text, text))),
                new BuiltIn.CallSite(List.of(ValueTypes.TEXT, ValueTypes.TEXT), ValueTypes.BOOL, CollationRule.UNKNOWN),
                List.of(
                        new Expression.ColumnValue(1, ValueTypes.TEXT),
                        new Expression.Constant(ValueTypes.TEXT, "b%")));
        Expression past = new Expression.Comparison(
                ComparisonKind.GREATER,
                new Expression.ColumnValue(1, TimeTypes.TIMESTAMPTZ),
                new Expression.Clock(TimeTypes.TIMESTAMPTZ));
        withoutGarbage(like, "abc");
        withoutGarbage(past, "1950-01-01 00:00:00.25+00");
        withoutGarbage(member(ComparisonKind.EQUAL, "a", "x"), "{\"b\": [1, 2], \"a\": \"y\"}");
        ArrayType texts = new ArrayType(1009, ValueTypes.TEXT);
        Expression.Call contains = new Expression.Call(
                Objects.requireNonNull(FunctionTable.find("arraycontains", List.of(2277, 2277))),
                new BuiltIn.CallSite(List.of(texts, texts), ValueTypes.BOOL, CollationRule.UNKNOWN),
                List.of(new Expression.ColumnValue(1, texts), new Expression.Constant(texts, "{a,\"b c\"}")));
        withoutGarbage(contains, "{a,b,c,\"b  c\"}");
        for (ValueType<?> type : List.of(NumberTypes.NUMERIC, ValueTypes.INT4)) {
            withoutGarbage(compared(type, "7"), "8");
        }
        for (ValueType<?> type : List.of(ValueTypes.TEXT, ValueTypes.VARCHAR, ValueTypes.UUID)) {
            withoutGarbage(compared(type, "5eed0000-0000-4000-8000-00000000a11c"), "other");
        }
    }

    private static Expression compared(ValueType<?> type, String constant) {
        return new Expression.Comparison(
                ComparisonKind.EQUAL, new Expression.ColumnValue(1, type), new Expression.Constant(type, constant));
    }

    private static void withoutGarbage(Expression expression, String text) {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Predicate predicate = Compiler.compile(expression);
        RowImage row = TestRows.of(text);
        assertThat(predicate.test(row)).isEqualTo(Truth.FALSE);
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 10_000; i++) {
            predicate.test(row);
        }
        // Asking is not free of garbage itself.
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).as(text).isLessThan(10_000);
    }
}
