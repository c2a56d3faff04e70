package sluice.server.function;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.DatumFormatException;
import sluice.core.datum.Datums;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.JsonTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.CollationRule;
import sluice.core.function.FunctionTable;
import sluice.testkit.PostgresDatabase;

/// Generated JSON, well formed and nearly so: read, printed, decoded from storage and looked into, here and by
/// PostgreSQL.
class JsonDifferentialPgTest {
    private static final int DOCUMENTS = Integer.getInteger("sluice.calls", 60) * 5;

    private static final List<String> SCALARS = List.of(
            "null",
            "true",
            "false",
            "0",
            "1",
            "1.0",
            "-1",
            "2",
            "1e2",
            "1.5E-3",
            "-0",
            "100000000000000000000.0001",
            "0.00001",
            "\"a\"",
            "\"b\"",
            "\"\"",
            "\"1\"",
            "\"é\"",
            "\"\\u00e9\"",
            "\"\\n\"",
            "\"\\u0000\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\/\\\"\"",
            "\"日本\"",
            "12345",
            "99999",
            "10000",
            "1e-20",
            "123456789.987654321");

    private static final List<String> KEYS = List.of("a", "b", "aa", "é", "", "1", "B", "\\u0061", "日");

    private static final List<String> BLANKS = List.of("", "", "", " ", "\n", "\t ");

    /// What a document is damaged with.
    private static final List<String> DAMAGE = List.of(
            ",", "}", "]", "{", "[", "\"", ":", "x", "01", ".5", "1.", "+1", "1e", "-", "\\", "\u00a0", "'", "tru",
            "\u0001");

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_document_is_read_printed_and_decoded_as_postgresql_does(int major) throws DatumFormatException {
        Random random = new Random(Long.getLong("sluice.seed", 20_261_129L));
        List<String> differences = new ArrayList<>();
        int decoded = 0;
        int raised = 0;
        try (PostgresDatabase database = BuiltInDifferentialPgTest.database(major, "json")) {
            database.execute("CREATE TABLE stored (c jsonb)", """
                CREATE FUNCTION datum(document text) RETURNS text LANGUAGE plpgsql AS $$
                BEGIN
                  EXECUTE format('ALTER TABLE stored ALTER c SET DEFAULT %L::jsonb', document);
                  RETURN (SELECT adbin::text FROM pg_attrdef WHERE adrelid = 'stored'::regclass);
                END $$
                """);
            for (int i = 0; i < DOCUMENTS; i++) {
                String document = random.nextInt(4) == 0 ? damaged(random) : document(random, 3);
                for (ValueType<?> type : List.of(JsonTypes.JSON, JsonTypes.JSONB)) {
                    String query = "SELECT 'v' || " + quoted(document) + "::text::" + type.sqlName() + "::text";
                    String theirs = String.valueOf(database.value("SELECT attempt(?)", query));
                    String ours = read(type, document);
                    raised += ours.equals("raises") ? 1 : 0;
                    if (!ours.equals(theirs)) {
                        differences.add(query + ": PostgreSQL " + theirs + ", here " + ours);
                    }
                    if (type.equals(JsonTypes.JSONB) && ours.startsWith("v") && decoded < 150) {
                        String tree = String.valueOf(database.value("SELECT datum(?)", document));
                        decoded++;
                        assertThat("v" + JsonTypes.JSONB.print(Datums.decode(JsonTypes.JSONB, constant(tree))))
                                .isEqualTo(ours);
                    }
                }
            }
        }
        assertThat(differences).as("%s differences", differences.size()).isEmpty();
        assertThat(raised).isPositive();
        assertThat(decoded).isGreaterThan(50);
    }

    private record Question(String symbol, String name, ValueType<?> first, ValueType<?> second) {}

    private static final ValueType<?> PATH = Objects.requireNonNull(ValueTypes.arrayOf(ValueTypes.TEXT));

    private static final List<Question> QUESTIONS = List.of(
            new Question("jsonb_contains", "jsonb_contains", JsonTypes.JSONB, JsonTypes.JSONB),
            new Question("jsonb_eq", "jsonb_eq", JsonTypes.JSONB, JsonTypes.JSONB),
            new Question("jsonb_lt", "jsonb_lt", JsonTypes.JSONB, JsonTypes.JSONB),
            new Question("jsonb_ge", "jsonb_ge", JsonTypes.JSONB, JsonTypes.JSONB),
            new Question("jsonb_concat", "jsonb_concat", JsonTypes.JSONB, JsonTypes.JSONB),
            new Question("jsonb_extract_path", "jsonb_extract_path", JsonTypes.JSONB, PATH),
            new Question("jsonb_extract_path_text", "jsonb_extract_path_text", JsonTypes.JSONB, PATH),
            new Question("jsonb_delete_path", "jsonb_delete_path", JsonTypes.JSONB, PATH),
            new Question("jsonb_delete_array", "jsonb_delete", JsonTypes.JSONB, PATH),
            new Question("jsonb_exists_any", "jsonb_exists_any", JsonTypes.JSONB, PATH),
            new Question("jsonb_exists_all", "jsonb_exists_all", JsonTypes.JSONB, PATH),
            new Question("json_extract_path", "json_extract_path", JsonTypes.JSON, PATH),
            new Question("json_extract_path_text", "json_extract_path_text", JsonTypes.JSON, PATH));

    private static final List<String> PATHS = List.of(
            "{}",
            "{a}",
            "{a,b}",
            "{b,1}",
            "{0}",
            "{-1}",
            "{1,a}",
            "{a,0,b}",
            "{NULL}",
            "{a,NULL}",
            "{aa}",
            "{\"\"}",
            "{é}",
            "{ 1}",
            "{+0}",
            "{99999999999}");

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_document_answers_as_it_does_in_postgresql(int major) {
        Random random = new Random(Long.getLong("sluice.seed", 20_261_129L));
        List<String> queries = new ArrayList<>();
        List<String> ours = new ArrayList<>();
        for (int i = 0; i < DOCUMENTS * 5; i++) {
            Question question = QUESTIONS.get(random.nextInt(QUESTIONS.size()));
            String first = document(random, 3);
            String second = question.second().equals(PATH)
                    ? PATHS.get(random.nextInt(PATHS.size()))
                    : random.nextInt(3) == 0 ? first : document(random, 1);
            String array = question.second().equals(PATH)
                            && question.name().matches(".*(path|path_text|delete)")
                            && !question.name().equals("jsonb_delete_path")
                    ? "VARIADIC "
                    : "";
            queries.add("SELECT coalesce('v' || format('%s', NULLIF(" + question.name() + "(" + quoted(first) + "::"
                    + question.first() + ", " + array + quoted(second) + "::" + question.second()
                    + ")::text, NULL)), 'null')");
            ours.add(answer(question, first, second));
        }
        List<String> differences = new ArrayList<>();
        int compared = 0;
        try (PostgresDatabase database = BuiltInDifferentialPgTest.database(major, "json")) {
            List<List<@Nullable String>> theirs = database.rows(
                    "SELECT attempt(query) FROM unnest(?::text[]) WITH ORDINALITY AS asked(query, n) ORDER BY n",
                    (Object) queries.toArray(String[]::new));
            for (int i = 0; i < queries.size(); i++) {
                if (!ours.get(i).equals("undecided")) {
                    compared++;
                    String their = String.valueOf(theirs.get(i).getFirst());
                    if (!ours.get(i).equals(their.equals("v") ? "null" : their)) {
                        differences.add(queries.get(i) + ": PostgreSQL " + their + ", here " + ours.get(i));
                    }
                }
            }
        }
        assertThat(differences).as("%s differences", differences.size()).isEmpty();
        assertThat(compared).isGreaterThan(queries.size() * 9 / 10);
    }

    private static String answer(Question question, String first, String second) {
        try {
            BuiltIn function = Objects.requireNonNull(FunctionTable.find(
                    question.symbol(),
                    List.of(question.first().oid(), question.second().oid())));
            ValueType<?> result = Objects.requireNonNull(ValueTypes.ofOid(function.resultType()));
            BuiltIn.CallSite site =
                    new BuiltIn.CallSite(List.of(question.first(), question.second()), result, CollationRule.UNKNOWN);
            Object a = question.first().input(first);
            Object b = question.second().equals(PATH)
                    ? PATH.parse(second.replace("{ 1}", "{1}"))
                    : question.second().input(second);
            Object value = function.body().apply(site, new @Nullable Object[] {a, b});
            String text = value == null ? null : result.text(value);
            return text == null || text.isEmpty()
                    ? "null"
                    : "v" + (result.equals(ValueTypes.BOOL) ? text.equals("t") : text);
        } catch (UndecidableException unknown) {
            return "undecided";
        } catch (EvaluationException raised) {
            return "raises";
        }
    }

    private static String read(ValueType<?> type, String document) {
        try {
            return "v" + printed(type, document);
        } catch (UndecidableException unknown) {
            return "undecided";
        } catch (EvaluationException raised) {
            return "raises";
        }
    }

    private static <T> String printed(ValueType<T> type, String document) {
        return type.print(type.input(document));
    }

    private static byte[] constant(String tree) {
        Matcher bytes = Pattern.compile(":constvalue \\d+ \\[ ([^]]*) ]").matcher(tree);
        assertThat(bytes.find()).isTrue();
        List<String> numbers = List.of(bytes.group(1).trim().split(" "));
        byte[] constant = new byte[numbers.size()];
        for (int i = 0; i < constant.length; i++) {
            constant[i] = Byte.parseByte(numbers.get(i));
        }
        return constant;
    }

    private static String document(Random random, int depth) {
        String before = BLANKS.get(random.nextInt(BLANKS.size()));
        String after = BLANKS.get(random.nextInt(BLANKS.size()));
        int kind = depth == 0 ? 0 : random.nextInt(5);
        if (kind == 0) {
            return before
                    + SCALARS.get(random.nextInt(20) == 0 ? random.nextInt(SCALARS.size()) : random.nextInt(17))
                    + after;
        }
        List<String> members = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            String key = "\"" + KEYS.get(random.nextInt(KEYS.size())) + "\"" + before + ":";
            members.add((kind < 3 ? key : "") + document(random, depth - 1));
        }
        String inside = String.join(",", members);
        return before + (kind < 3 ? "{" + inside + "}" : "[" + inside + "]") + after;
    }

    private static String damaged(Random random) {
        String document = document(random, 2);
        int at = random.nextInt(document.length() + 1);
        String rest = document.substring(at + (at < document.length() ? random.nextInt(2) : 0));
        return document.substring(0, at) + DAMAGE.get(random.nextInt(DAMAGE.size())) + rest;
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
