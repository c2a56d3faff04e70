package sluice.core.value;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JsonWriterTest {
    private static final PgType TEXT = base(Oid.TEXT);
    private static final PgType INT4 = base(Oid.INT4);
    private static final PgType FLOAT8 = base(Oid.FLOAT8);
    private static final PgType NUMERIC = base(Oid.NUMERIC);
    private static final PgType JSON = base(Oid.JSON);
    private static final PgType JSONB = base(Oid.JSONB);
    private static final PgType TIMESTAMPTZ = base(Oid.TIMESTAMPTZ);
    private static final PgType PAIR = new PgType.Composite(
            20_000, "public.pair", List.of(new PgType.Attribute("a", INT4), new PgType.Attribute("B \"c", TEXT)));

    private final ByteSink sink = new ByteSink(16);
    private final JsonWriter writer = new JsonWriter(sink);

    @Test
    void a_text_of_a_users_type_is_a_string_whatever_it_looks_like() {
        PgType citext = new PgType.TextLike(16_400, "public.citext");

        assertThat(json(citext, "a\"B")).isEqualTo("\"a\\\"B\"");
        assertThat(json(citext, "1")).isEqualTo("\"1\"");
        assertThat(json(new PgType.Array(16_405, "public.citext[]", citext, ','), "{A,NULL}"))
                .isEqualTo("[\"A\",null]");
    }

    @Test
    void booleans_are_booleans() {
        assertThat(json(base(Oid.BOOL), "t")).isEqualTo("true");
        assertThat(json(base(Oid.BOOL), "f")).isEqualTo("false");
        assertThat(json(base(Oid.BOOL), "yes")).isEqualTo("\"yes\"");
    }

    @Test
    void numbers_keep_every_digit() {
        assertThat(json(NUMERIC, "12345678901234567890.1234567890")).isEqualTo("12345678901234567890.1234567890");
        assertThat(json(NUMERIC, "1.50")).isEqualTo("1.50");
        assertThat(json(base(Oid.INT8), "-9223372036854775808")).isEqualTo("-9223372036854775808");
        assertThat(json(FLOAT8, "1e-07")).isEqualTo("1e-07");
    }

    @Test
    void what_is_no_json_number_is_a_string() {
        assertThat(json(NUMERIC, "NaN")).isEqualTo("\"NaN\"");
        assertThat(json(FLOAT8, "-Infinity")).isEqualTo("\"-Infinity\"");
        for (String text : List.of("", "-", "01", "1.", ".5", "+1", "1e", "1e+", "0x10", "1 ", "--1", "1,2")) {
            assertThat(json(NUMERIC, text)).isEqualTo("\"" + text + "\"");
        }
    }

    @Test
    void negative_zero_is_zero() {
        assertThat(json(FLOAT8, "-0")).isEqualTo("0");
        assertThat(json(FLOAT8, "-0.5")).isEqualTo("-0.5");
    }

    @Test
    void oid_is_a_string() {
        assertThat(json(base(Oid.OID), "42")).isEqualTo("\"42\"");
    }

    @Test
    void text_is_escaped_and_stays_on_one_line() {
        assertThat(json(TEXT, "a\"b\\c\nd\re\tf\u0001g/\u007f"))
                .isEqualTo("\"a\\\"b\\\\c\\nd\\re\\tf\\u0001g/\u007f\"");
        assertThat(json(TEXT, "x\u2028y\u2029z\u0085é\u2027\u202A😀"))
                .isEqualTo("\"x\\u2028y\\u2029z\\u0085é\u2027\u202A😀\"");
    }

    @Test
    void bytes_that_are_no_utf8_are_replaced_one_by_one() {
        byte[][] broken = {
            {(byte) 0xC0, (byte) 0x80},
            {(byte) 0xED, (byte) 0xA0, (byte) 0x80},
            {(byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80},
            {(byte) 0xE2, (byte) 0x80},
            {(byte) 0xFF}
        };
        for (byte[] bytes : broken) {
            sink.truncate(0);
            writer.write(TEXT, bytes, 0, bytes.length);
            assertThat(new String(sink.toBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("\"" + "\uFFFD".repeat(bytes.length) + "\"");
        }
    }

    @Test
    void timestamps_get_their_t_and_zones_their_minutes() {
        PgType timestamp = base(Oid.TIMESTAMP);
        assertThat(json(timestamp, "2024-03-04 05:06:07.5")).isEqualTo("\"2024-03-04T05:06:07.5\"");
        assertThat(json(timestamp, "0044-03-15 00:00:00 BC")).isEqualTo("\"0044-03-15T00:00:00 BC\"");
        assertThat(json(timestamp, "infinity")).isEqualTo("\"infinity\"");
        assertThat(json(timestamp, "-infinity")).isEqualTo("\"-infinity\"");
        assertThat(json(TIMESTAMPTZ, "2024-03-04 05:06:07.5+00")).isEqualTo("\"2024-03-04T05:06:07.5+00:00\"");
        assertThat(json(TIMESTAMPTZ, "0044-03-15 00:00:00+00 BC")).isEqualTo("\"0044-03-15T00:00:00+00:00 BC\"");
        assertThat(json(TIMESTAMPTZ, "294276-12-31 23:59:59.999999+00"))
                .isEqualTo("\"294276-12-31T23:59:59.999999+00:00\"");
        assertThat(json(TIMESTAMPTZ, "1900-01-01 05:30:00+05:53:28")).isEqualTo("\"1900-01-01T05:30:00+05:53:28\"");
    }

    @Test
    void json_is_embedded_as_stored_on_one_line() {
        assertThat(json(JSON, "{\n  \"b\" : 1,\r\n\t\"a\": [ 1.00 , {} , [] ],\"b\":2 }\n"))
                .isEqualTo("{\"b\":1,\"a\":[1.00,{},[]],\"b\":2}");
        assertThat(json(JSONB, "null")).isEqualTo("null");
        assertThat(json(JSON, " \"a b\\n\" ")).isEqualTo("\"a b\\n\"");
    }

    @Test
    void json_that_jsonb_would_refuse_is_embedded_as_stored() {
        for (String text : List.of("{\"a\":\"\\u0000\"}", "\"\\ud83d\"", "{\"n\":1e200000}", "-0", "1E+2", "\"\\/\"")) {
            assertThat(json(JSON, text)).isEqualTo(text);
        }
    }

    @Test
    void json_strings_are_made_safe_for_line_readers() {
        assertThat(json(JSON, "{\"x\u2028\":\"y\u0085\"}")).isEqualTo("{\"x\\u2028\":\"y\\u0085\"}");
    }

    @Test
    void what_is_not_json_is_sent_as_a_string() {
        List<String> malformed = List.of(
                "",
                " ",
                "{",
                "}",
                "[",
                "]",
                "[1,]",
                "[,1]",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "{a:1}",
                "1 2",
                "tru",
                "truex",
                "nul",
                "\"a",
                "\"\\x\"",
                "\"\\u12\"",
                "\"\\u12g4\"",
                "01",
                "[1}",
                "{\"a\":1]",
                "\"\t\"",
                "'a'",
                "NaN",
                "[1 2]",
                "{\"a\" 1}",
                "{1:2}",
                "[]]",
                "\"a\"\"b\"");
        for (String text : malformed) {
            JsonNode node = node(JSON, text);
            assertThat(node.isTextual()).as(text).isTrue();
            assertThat(node.textValue()).isEqualTo(text);
        }
    }

    @Test
    void json_nested_to_the_limit_is_embedded_and_beyond_it_is_a_string() {
        String deepest = "[{\"a\":".repeat(256) + "1" + "}]".repeat(256);
        assertThat(json(JSON, deepest)).isEqualTo(deepest);
        String beyond = "[".repeat(513) + "]".repeat(513);
        assertThat(json(JSON, beyond)).isEqualTo("\"" + beyond + "\"");
    }

    @Test
    void array_elements_follow_the_array_grammar() {
        PgType texts = array(TEXT);
        assertThat(json(texts, "{}")).isEqualTo("[]");
        assertThat(json(texts, "{\"a,b\",\"\",\"NULL\",NULL,\"x\\\"y\",\"back\\\\slash\",\"{br}\",\" sp \",null}"))
                .isEqualTo("[\"a,b\",\"\",\"NULL\",null,\"x\\\"y\",\"back\\\\slash\",\"{br}\",\" sp \",\"null\"]");
        assertThat(json(array(INT4), "[3:5]={1,NULL,3}")).isEqualTo("[1,null,3]");
        assertThat(json(array(INT4), "[-1:0][5:6]={{1,2},{3,4}}")).isEqualTo("[[1,2],[3,4]]");
        assertThat(json(array(TIMESTAMPTZ), "{\"2024-01-01 00:00:00+00\",infinity}"))
                .isEqualTo("[\"2024-01-01T00:00:00+00:00\",\"infinity\"]");
    }

    @Test
    void json_inside_an_array_is_unquoted_once() {
        assertThat(json(array(JSONB), "{\"{\\\"k\\\": \\\"a,\\\\\\\"b\\\\\\\"\\\"}\",NULL,null,1}"))
                .isEqualTo("[{\"k\":\"a,\\\"b\\\"\"},null,null,1]");
    }

    @Test
    void boxes_are_separated_by_semicolons() {
        var boxes = new PgType.Array(1020, "box[]", base(Oid.BOX), ';');
        assertThat(json(boxes, "{(1,1),(0,0);(3,3),(2,2)}")).isEqualTo("[\"(1,1),(0,0)\",\"(3,3),(2,2)\"]");
    }

    @Test
    void vectors_are_arrays() {
        assertThat(json(base(Oid.INT2VECTOR), "1 2 3")).isEqualTo("[1,2,3]");
        assertThat(json(base(Oid.OIDVECTOR), "1 2")).isEqualTo("[\"1\",\"2\"]");
        assertThat(json(base(Oid.OIDVECTOR), "")).isEqualTo("[]");
        assertThat(json(array(base(Oid.INT2VECTOR)), "{\"1 2\",3}")).isEqualTo("[[1,2],[3]]");
        assertThat(json(new PgType.Array(Oid.INT2VECTOR, "int2vector", base(Oid.INT2), ','), "1 2"))
                .isEqualTo("[1,2]");
    }

    @Test
    void a_line_in_braces_is_not_an_array() {
        assertThat(json(new PgType.Array(Oid.LINE, "line", FLOAT8, ','), "{1,-1,0}"))
                .isEqualTo("\"{1,-1,0}\"");
    }

    @Test
    void composites_are_objects() {
        assertThat(json(PAIR, "(1,\"x,(y) \"\"z\"\" \\\\\")"))
                .isEqualTo("{\"a\":1,\"B \\\"c\":\"x,(y) \\\"z\\\" \\\\\"}");
        assertThat(json(PAIR, "(,)")).isEqualTo("{\"a\":null,\"B \\\"c\":null}");
        assertThat(json(PAIR, "(,\"\")")).isEqualTo("{\"a\":null,\"B \\\"c\":\"\"}");
        assertThat(json(PAIR, "(,\"\"\"\")")).isEqualTo("{\"a\":null,\"B \\\"c\":\"\\\"\"}");
        assertThat(json(new PgType.Composite(20_001, "public.none", List.of()), "()"))
                .isEqualTo("{}");
    }

    @Test
    void nesting_is_undone_level_by_level() {
        var outer = new PgType.Composite(
                20_002,
                "public.outer",
                List.of(new PgType.Attribute("p", array(PAIR)), new PgType.Attribute("j", JSON)));
        assertThat(json(outer, "(\"{\"\"(1,\\\\\"\"\\\\\\\\\\\\\"\"\\\\\"\")\"\",NULL}\",\"{\"\"k\"\":[1]}\")"))
                .isEqualTo("{\"p\":[{\"a\":1,\"B \\\"c\":\"\\\"\"},null],\"j\":{\"k\":[1]}}");
    }

    @Test
    void domains_are_their_base_type() {
        var positive = new PgType.Domain(20_003, "public.posint", INT4);
        var narrower = new PgType.Domain(20_004, "public.small", positive);
        var tags = new PgType.Domain(20_005, "public.tags", array(narrower));
        assertThat(json(narrower, "7")).isEqualTo("7");
        assertThat(json(tags, "{1,2}")).isEqualTo("[1,2]");
        assertThat(json(array(tags), "{\"{1,2}\",\"{3}\"}")).isEqualTo("[[1,2],[3]]");
    }

    @Test
    void malformed_arrays_and_composites_are_text_and_only_the_innermost_part() {
        for (String text : List.of(
                "",
                "{",
                "{1",
                "{1,",
                "{1,}",
                "{,}",
                "1",
                "{1}x",
                "[1:2]",
                "[1:2]=",
                "{\"1}",
                "{\"1\\",
                "{a\"b\"}",
                "{1;2}")) {
            assertThat(node(array(TEXT), text).toString())
                    .as(text)
                    .isEqualTo(
                            text.equals("{1;2}")
                                    ? "[\"1;2\"]"
                                    : node(TEXT, text).toString());
        }
        for (String text :
                List.of("", "(", ")", "()", "(1)", "(1,2,3)", "(1,\"2)", "(1,2", "1,2)", "(1,a\"b\")", "((,)")) {
            assertThat(node(PAIR, text)).as(text).isEqualTo(node(TEXT, text));
        }
        assertThat(json(array(PAIR), "{\"(1,2)\",\"(oops\",NULL}"))
                .isEqualTo("[{\"a\":1,\"B \\\"c\":\"2\"},\"(oops\",null]");
    }

    @Test
    void nesting_beyond_the_bound_is_text() {
        String deep = "{".repeat(40) + "1" + "}".repeat(40);
        assertThat(json(array(INT4), deep)).isEqualTo("\"" + deep + "\"");
        PgType type = INT4;
        for (int i = 0; i < 40; i++) {
            type = new PgType.Composite(30_000 + i, "t" + i, List.of(new PgType.Attribute("a", type)));
        }
        assertThat(node(type, "(1)").toString()).isEqualTo(expectedNest("{\"a\":", "\"1\""));
    }

    private static String expectedNest(String open, String leaf) {
        // each level but the first finds a bare 1 instead of a composite
        return open + leaf + "}";
    }

    @Test
    void whatever_the_bytes_the_result_is_json_on_one_line() {
        long seed = 20_260_929L;
        var random = new Random(seed);
        var composite = new PgType.Composite(
                20_006,
                "public.mix",
                List.of(
                        new PgType.Attribute("j", JSON),
                        new PgType.Attribute("p", array(PAIR)),
                        new PgType.Attribute("t", TIMESTAMPTZ)));
        List<PgType> types = List.of(
                TEXT,
                INT4,
                NUMERIC,
                JSON,
                TIMESTAMPTZ,
                base(Oid.BOOL),
                base(Oid.INT2VECTOR),
                array(TEXT),
                array(JSON),
                array(array(INT4)),
                PAIR,
                composite,
                array(composite));
        byte[] alphabet = "{}[](),;:\"\\\\nu0001e+-. NULLtrue\n\r\t\u2028é".getBytes(StandardCharsets.UTF_8);
        int rounds = Boolean.getBoolean("sluice.long") ? 5_000_000 : 10_000;
        for (int round = 0; round < rounds; round++) {
            byte[] text = new byte[random.nextInt(24)];
            for (int i = 0; i < text.length; i++) {
                text[i] = random.nextInt(20) == 0 ? (byte) random.nextInt() : alphabet[random.nextInt(alphabet.length)];
            }
            for (PgType type : types) {
                sink.truncate(0);
                writer.write(type, text, 0, text.length);
                Json.line(sink.toBytes());
            }
        }
    }

    private static PgType base(int oid) {
        return new PgType.Base(oid, "type" + oid);
    }

    private static PgType array(PgType element) {
        return new PgType.Array(10_000 + element.oid(), element.name() + "[]", element, ',');
    }

    private String json(PgType type, String text) {
        // the value lies in the middle of a larger array, as in a frame
        byte[] bytes = ("<<" + text + ">>").getBytes(StandardCharsets.UTF_8);
        sink.truncate(0);
        writer.write(type, bytes, 2, bytes.length - 4);
        Json.line(sink.toBytes());
        return new String(sink.toBytes(), StandardCharsets.UTF_8);
    }

    private JsonNode node(PgType type, String text) {
        return Json.parse(json(type, text));
    }
}
