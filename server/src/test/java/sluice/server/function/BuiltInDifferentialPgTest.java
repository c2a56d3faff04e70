package sluice.server.function;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.datum.EnumType;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.NumberTypes;
import sluice.core.datum.RangeType;
import sluice.core.datum.RangeTypes;
import sluice.core.datum.TextTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.CollationRule;
import sluice.core.function.FunctionTable;
import sluice.core.function.Pseudo;
import sluice.core.value.PgType;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// Every registered function, called here and by PostgreSQL with the same arguments: same value, NULL where NULL,
/// an error where an error.
///
/// `-Dsluice.functions=REGEX` looks at some symbols only, `-Dsluice.calls=N` makes more calls of each.
class BuiltInDifferentialPgTest {
    private static final int CALLS = Integer.getInteger("sluice.calls", 60);
    private static final Pattern SYMBOLS = Pattern.compile(System.getProperty("sluice.functions", ".*"));

    /// Bytes in order, ASCII letters: the collation under which most is decided.
    private static final CollationRule BYTES = new CollationRule(true, true, CollationRule.LetterCase.ASCII_ONLY);

    /// What polymorphic types stand for in turn.
    private static final List<ValueType<?>> ELEMENTS = List.of(
            ValueTypes.INT4,
            ValueTypes.TEXT,
            ValueTypes.UUID,
            ValueTypes.BOOL,
            TextTypes.BPCHAR,
            NumberTypes.NUMERIC,
            NumberTypes.FLOAT8);

    @Test
    void every_function_answers_as_postgresql_18_does() {
        compare(18, CALLS);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void every_function_answers_as_older_majors_do(int major) {
        compare(major, Boolean.getBoolean("sluice.long") ? CALLS : 6);
    }

    @Test
    void every_function_is_one_of_the_server() {
        Set<String> known = new LinkedHashSet<>();
        for (int major : PostgresCluster.MAJORS) {
            try (PostgresDatabase database = database(major, "function_list")) {
                known.addAll(functions(database).keySet());
            }
        }
        for (BuiltIn function : FunctionTable.all()) {
            assertThat(known).contains(key(function.symbol(), function.argumentTypes()));
        }
    }

    /// A row of `pg_proc`.
    ///
    /// @param lastVariadic what is written in front of an array that stands for any number of arguments
    private record Known(String name, int resultType, boolean strict, String lastVariadic) {}

    /// One call, in SQL and as values.
    private record Call(
            BuiltIn function,
            BuiltIn.CallSite site,
            String sql,
            @Nullable Object[] arguments) {}

    private static void compare(int major, int callsEach) {
        long seed = Long.getLong("sluice.seed", 20_261_129L);
        List<String> differences = new ArrayList<>();
        Map<String, Integer> undecided = new TreeMap<>();
        List<String> vacuous = new ArrayList<>();
        int compared = 0;
        try (PostgresDatabase database = database(major, "functions")) {
            Map<String, Known> known = functions(database);
            EnumType mood = mood(database);
            CanonicalValues values = new CanonicalValues(database);
            for (BuiltIn function : FunctionTable.all()) {
                Known row = known.get(key(function.symbol(), function.argumentTypes()));
                if (row == null || !SYMBOLS.matcher(function.symbol()).matches()) {
                    continue;
                }
                assertThat(row.resultType())
                        .as("result of %s", function.symbol())
                        .isEqualTo(function.resultType());
                assertThat(row.strict())
                        .as("%s is strict", function.symbol())
                        .isEqualTo(function.nulls() != BuiltIn.Nulls.CALLED);
                // Of its own, so that a function more does not change what the others are called with.
                Random random = new Random(
                        seed ^ key(function.symbol(), function.argumentTypes()).hashCode());
                Surroundings surroundings = new Surroundings(mood, values, random);
                List<Call> calls = calls(function, row, surroundings, callsEach);
                List<@Nullable String> theirs = ask(database, calls);
                if (callsEach >= CALLS && Set.copyOf(theirs).size() < 2) {
                    calls = calls(function, row, surroundings, 10 * callsEach);
                    theirs = ask(database, calls);
                }
                Set<String> answers = new LinkedHashSet<>();
                for (int i = 0; i < calls.size(); i++) {
                    String ours = evaluate(calls.get(i));
                    String their = theirs.get(i);
                    if (function.errors() == BuiltIn.Errors.NEVER && "raises".equals(their)) {
                        differences.add(calls.get(i).sql() + " raises, though it never should");
                    }
                    if (ours.equals("undecided")) {
                        undecided.merge(function.symbol(), 1, Integer::sum);
                        continue;
                    }
                    compared++;
                    answers.add(ours);
                    if (!ours.equals(their)) {
                        differences.add(calls.get(i).sql() + " [" + function.symbol() + "]: PostgreSQL " + their
                                + ", here " + ours);
                    }
                }
                if (answers.size() < 2 && callsEach >= CALLS) {
                    vacuous.add(function.symbol());
                }
            }
        }
        System.out.printf(
                "PostgreSQL %d: %,d calls of %d functions compared, %d differences; undecided here: %s%n",
                major, compared, FunctionTable.all().size(), differences.size(), undecided);
        assertThat(differences).as("%s differences", differences.size()).isEmpty();
        assertThat(vacuous).as("functions that always gave the same answer").isEmpty();
    }

    static PostgresDatabase database(int major, String name) {
        PostgresDatabase database = PostgresCluster.of(major).createDatabase(name);
        database.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'Happy')", """
            CREATE FUNCTION attempt(query text) RETURNS text LANGUAGE plpgsql AS $$
            DECLARE answer text;
            BEGIN
              EXECUTE query INTO answer;
              RETURN answer;
            EXCEPTION WHEN OTHERS THEN
              RETURN 'raises';
            END $$
            """);
        return database;
    }

    private static EnumType mood(PostgresDatabase database) {
        int oid = Integer.parseInt(String.valueOf(database.value("SELECT 'mood'::regtype::oid")));
        return new EnumType(
                new PgType.Enumeration(
                        oid,
                        "public.mood",
                        List.of(new PgType.Label(1, "sad"), new PgType.Label(2, "ok"), new PgType.Label(3, "Happy"))),
                0,
                "public.mood");
    }

    private static Map<String, Known> functions(PostgresDatabase database) {
        Map<String, Known> functions = new HashMap<>();
        for (List<@Nullable String> row : database.rows("""
            SELECT p.prosrc, p.proargtypes::text, p.proname, p.prorettype::int8, p.proisstrict,
                   CASE WHEN p.provariadic NOT IN (0, 2276) THEN 'VARIADIC ' ELSE '' END
              FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
             WHERE l.lanname IN ('internal', 'sql') AND p.prosrc <> '' AND p.oid < 16384
               AND p.provolatile <> 'v' AND NOT p.proretset
             ORDER BY p.oid DESC
            """)) {
            List<Integer> arguments = new ArrayList<>();
            for (String oid : String.valueOf(row.get(1)).split(" ")) {
                if (!oid.isEmpty()) {
                    arguments.add(Integer.parseUnsignedInt(oid));
                }
            }
            functions.put(
                    key(String.valueOf(row.get(0)), arguments),
                    new Known(
                            String.valueOf(row.get(2)),
                            Integer.parseUnsignedInt(String.valueOf(row.get(3))),
                            "t".equals(row.get(4)),
                            String.valueOf(row.get(5))));
        }
        return functions;
    }

    private static String key(String symbol, List<Integer> arguments) {
        return symbol + arguments;
    }

    /// What calls are made from.
    private record Surroundings(EnumType mood, CanonicalValues values, Random random) {}

    private static List<Call> calls(BuiltIn function, Known row, Surroundings from, int count) {
        Random random = from.random();
        List<Call> calls = new ArrayList<>();
        Set<String> seen = new LinkedHashSet<>();
        for (int attempt = 0; attempt < count * 3 && calls.size() < count; attempt++) {
            ValueType<?> element = function.argumentTypes().contains(Pseudo.ANYRANGE)
                    ? RangeTypes.RANGES
                            .get(random.nextInt(RangeTypes.RANGES.size()))
                            .subtype()
                    : ELEMENTS.get(random.nextInt(ELEMENTS.size()));
            Call call = call(function, row, new Binding(element, from.mood()), from);
            if (seen.add(call.sql())) {
                calls.add(call);
            }
        }
        return calls;
    }

    /// What the polymorphic types of one call stand for.
    private record Binding(ValueType<?> element, EnumType mood) {
        private @Nullable ValueType<?> range() {
            for (RangeType range : RangeTypes.RANGES) {
                if (range.subtype().equals(element)) {
                    return range;
                }
            }
            return null;
        }

        @Nullable
        ValueType<?> real(int declared) {
            return switch (declared) {
                case Pseudo.ANY,
                        Pseudo.ANYELEMENT,
                        Pseudo.ANYCOMPATIBLE,
                        Pseudo.ANYNONARRAY,
                        Pseudo.ANYCOMPATIBLENONARRAY -> element;
                case Pseudo.ANYARRAY, Pseudo.ANYCOMPATIBLEARRAY -> ValueTypes.arrayOf(element);
                case Pseudo.ANYENUM -> mood;
                case Pseudo.ANYRANGE -> range();
                default -> ValueTypes.ofOid(declared);
            };
        }
    }

    private static Call call(BuiltIn function, Known row, Binding binding, Surroundings from) {
        Random random = from.random();
        List<ValueType<?>> types = new ArrayList<>();
        List<String> written = new ArrayList<>();
        List<Integer> declared = new ArrayList<>(function.argumentTypes());
        // VARIADIC "any" stands for as many arguments as there are.
        while (!declared.isEmpty() && declared.getLast() == Pseudo.ANY && random.nextInt(3) > 0) {
            declared.add(Pseudo.ANY);
        }
        @Nullable Object[] values = new Object[declared.size()];
        for (int i = 0; i < values.length; i++) {
            ValueType<?> type = Objects.requireNonNull(
                    binding.real(declared.get(i)), () -> "an argument type of " + function.symbol());
            types.add(type);
            List<String> samples = type instanceof EnumType
                    ? List.of("sad", "ok", "Happy")
                    : TypeSamples.of(function.symbol(), i, type, from.values().major());
            boolean isNull = random.nextInt(function.nulls() == BuiltIn.Nulls.CALLED ? 6 : 40) == 0;
            String sample = samples.get(random.nextInt(samples.size()));
            String collate = type.collatable() ? " COLLATE \"C\"" : "";
            String variadic = i == values.length - 1 ? row.lastVariadic() : "";
            written.add(variadic + (isNull ? "NULL::" : "'" + sample + "'::") + type.sqlName() + collate);
            values[i] = isNull ? null : from.values().value(type, sample);
        }
        ValueType<?> result = binding.real(function.resultType());
        if (result == null) {
            throw new IllegalStateException("the result type of " + function.symbol() + " is not known");
        }
        String sql = "pg_catalog.\"" + row.name() + "\"(" + String.join(", ", written) + ")";
        return new Call(function, new BuiltIn.CallSite(types, result, BYTES), sql, values);
    }

    /// `v` and the value's text, `null` or `raises`.
    private static List<@Nullable String> ask(PostgresDatabase database, List<Call> calls) {
        List<String> queries = new ArrayList<>();
        for (Call call : calls) {
            queries.add("SELECT CASE WHEN r IS NOT DISTINCT FROM NULL THEN 'null' ELSE 'v' || format('%s', r) END"
                    + " FROM (SELECT " + call.sql() + " AS r OFFSET 0) AS called");
        }
        List<@Nullable String> answers = new ArrayList<>();
        for (List<@Nullable String> row : database.rows(
                "SELECT attempt(query) FROM unnest(?::text[]) WITH ORDINALITY AS asked(query, n) ORDER BY n",
                (Object) queries.toArray(String[]::new))) {
            answers.add(row.getFirst());
        }
        return answers;
    }

    private static String evaluate(Call call) {
        try {
            if (call.function().nulls() == BuiltIn.Nulls.STRICT
                    && Arrays.asList(call.arguments()).contains(null)) {
                return "null";
            }
            Object result = call.function().body().apply(call.site(), call.arguments());
            return result == null ? "null" : "v" + call.site().resultType().text(result);
        } catch (UndecidableException unknown) {
            return "undecided";
        } catch (EvaluationException raised) {
            return "raises";
        }
    }
}
