package sluice.server.function;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.CollationRule;
import sluice.core.function.FunctionTable;
import sluice.core.value.Oid;
import sluice.testkit.PostgresDatabase;

/// Patterns of every kind against texts that nearly match, here and by PostgreSQL.
class PatternDifferentialPgTest {
    private static final int CALLS = Integer.getInteger("sluice.calls", 60) * 25;

    private static final List<String> SYMBOLS = List.of(
            "textlike",
            "textnlike",
            "texticlike",
            "texticnlike",
            "textregexeq",
            "textregexne",
            "texticregexeq",
            "texticregexne",
            "like_escape",
            "similar_to_escape_2",
            "regexp_like_no_flags");

    private static final List<String> TEXTS = List.of(
            "",
            "a",
            "A",
            "b",
            "ab",
            "aB",
            "AB",
            "abc",
            "abcabc",
            "aab",
            "a\nb",
            "\n",
            "a\n",
            "é",
            "É",
            "aé",
            "日本",
            "😀",
            "a😀b",
            "%",
            "_",
            "\\",
            "a%",
            "a\\b",
            "1",
            "12",
            "a1",
            "a 1",
            "_a",
            ".",
            "a.b",
            "a-b",
            "]",
            "^",
            "$",
            "a$",
            "k",
            "\u212a",
            "ſ",
            "i",
            "I",
            "ı",
            "İ",
            "a@b.com",
            "2024-01-02",
            "\t",
            "\u001c",
            "\u00a0",
            "aaaaaaaaaaaaaaaa");

    /// Pieces that patterns are strung together from.
    private static final List<String> PIECES = List.of(
            "a",
            "b",
            "A",
            "B",
            "c",
            "k",
            "i",
            "1",
            "%",
            "_",
            "\\",
            "\\\\",
            "%%",
            "\\%",
            "\\_",
            "é",
            "É",
            "😀",
            "日",
            ".",
            ".*",
            "a*",
            "b+",
            "a?",
            "^",
            "$",
            "|",
            "(",
            ")",
            "(a|b)",
            "(?:ab)*",
            "(ab)+",
            "[ab]",
            "[^a]",
            "[a-c]",
            "[A-Z]",
            "[a-z]+",
            "[0-9]{1,2}",
            "[]a]",
            "[a-]",
            "[-a]",
            "[^]]",
            "[a\\-]",
            "[\\d-]",
            "[é]",
            "[[:alpha:]]",
            "[[:upper:]]",
            "[[:space:]]",
            "[^[:digit:]]",
            "\\d",
            "\\D",
            "\\w",
            "\\W+",
            "\\s",
            "\\S",
            "\\.",
            "\\n",
            "\n",
            "a{2}",
            "a{0}",
            "a{0,1}",
            "a{2,}",
            "(a|)",
            "()",
            "*",
            "{",
            "}",
            "]",
            "[",
            "a**",
            "a+?",
            "^*",
            "(^a)",
            "(a$)",
            "-",
            "@",
            "\\y",
            "\\1",
            "(a)\\1",
            "(?i)a",
            "(?=a)",
            "***=a",
            "+",
            "?",
            "#",
            " ",
            "\\m",
            "\\A",
            "\\Z",
            "[Z-a]",
            "\\(",
            "[.]",
            "[$]",
            "[\\]]");

    private static final List<String> COLLATIONS = List.of("C", "en-x-icu");

    private record Call(BuiltIn function, String collation, String text, String pattern) {
        String sql() {
            String name = switch (function.symbol()) {
                case "similar_to_escape_2" -> "similar_to_escape";
                case "regexp_like_no_flags" -> "regexp_like";
                default -> function.symbol();
            };
            return "pg_catalog." + name + "(" + quoted(text) + "::text COLLATE \"" + collation + "\", "
                    + quoted(pattern) + ")";
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_pattern_matches_what_it_matches_for_postgresql(int major) {
        Random random = new Random(Long.getLong("sluice.seed", 20_261_129L));
        List<Call> calls = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            calls.add(call(random));
        }
        List<String> differences = new ArrayList<>();
        Set<String> answers = new TreeSet<>();
        int compared = 0;
        try (PostgresDatabase database = BuiltInDifferentialPgTest.database(major, "patterns")) {
            List<@Nullable String> theirs = ask(database, calls);
            for (int i = 0; i < calls.size(); i++) {
                String ours = evaluate(calls.get(i));
                if (!ours.equals("undecided")) {
                    compared++;
                    answers.add(calls.get(i).function().symbol() + " " + ours.charAt(0));
                    if (!ours.equals(theirs.get(i))) {
                        differences.add(calls.get(i).sql() + ": PostgreSQL " + theirs.get(i) + ", here " + ours);
                    }
                }
            }
        }
        System.out.printf("PostgreSQL %d: %d of %d patterns compared%n", major, compared, calls.size());
        assertThat(differences).as("%s differences", differences.size()).isEmpty();
        assertThat(compared).isGreaterThan(calls.size() / 3);
        assertThat(answers).contains("textlike r", "like_escape r", "textregexeq v", "similar_to_escape_2 r");
    }

    private static Call call(Random random) {
        BuiltIn function = Objects.requireNonNull(
                FunctionTable.find(SYMBOLS.get(random.nextInt(SYMBOLS.size())), List.of(Oid.TEXT, Oid.TEXT)));
        String text = TEXTS.get(random.nextInt(TEXTS.size()));
        String pattern = pieces(random);
        if (function.symbol().contains("escape")) {
            // The second argument is the escape character.
            return new Call(
                    function,
                    "C",
                    pattern,
                    List.of("", "\\", "a", "%", "é", "ab").get(random.nextInt(6)));
        }
        return new Call(function, COLLATIONS.get(random.nextInt(COLLATIONS.size())), text, pattern);
    }

    private static String pieces(Random random) {
        StringBuilder pattern = new StringBuilder();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            pattern.append(PIECES.get(random.nextInt(PIECES.size())));
        }
        return pattern.toString();
    }

    private static List<@Nullable String> ask(PostgresDatabase database, List<Call> calls) {
        List<String> queries = new ArrayList<>();
        for (Call call : calls) {
            queries.add("SELECT 'v' || format('%s', " + call.sql() + ")");
        }
        List<@Nullable String> answers = new ArrayList<>();
        for (List<@Nullable String> row : database.rows(
                "SELECT attempt(query) FROM unnest(?::text[]) WITH ORDINALITY AS asked(query, n) ORDER BY n",
                (Object) queries.toArray(String[]::new))) {
            answers.add(row.getFirst());
        }
        return answers;
    }

    /// Once as any call, once as one with a constant pattern: the same.
    private static String evaluate(Call call) {
        CollationRule rule = new CollationRule(
                true,
                call.collation().equals("C"),
                call.collation().equals("C")
                        ? CollationRule.LetterCase.ASCII_ONLY
                        : CollationRule.LetterCase.ASCII_KNOWN);
        BuiltIn.CallSite site = new BuiltIn.CallSite(
                List.of(ValueTypes.TEXT, ValueTypes.TEXT),
                Objects.requireNonNull(ValueTypes.ofOid(call.function().resultType())),
                rule);
        String answer = evaluate(call.function().body(), site, call);
        BuiltIn.Body prepared = call.function().body().prepared(site, new @Nullable Object[] {null, call.pattern()});
        assertThat(evaluate(prepared, site, call)).isEqualTo(answer);
        return answer;
    }

    private static String evaluate(BuiltIn.Body body, BuiltIn.CallSite site, Call call) {
        try {
            Object result = body.apply(site, new @Nullable Object[] {call.text(), call.pattern()});
            return "v" + site.resultType().text(Objects.requireNonNull(result));
        } catch (UndecidableException unknown) {
            return "undecided";
        } catch (EvaluationException raised) {
            return "raises";
        }
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
