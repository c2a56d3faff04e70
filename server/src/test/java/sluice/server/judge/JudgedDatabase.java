package sluice.server.judge;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.Identity;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.CallerQueries;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Pool;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.seed.SeededRandom;

/// A database with one table `public.t` of every judged type, the product's own catalog reader and fold query on it,
/// and PostgreSQL's answers.
///
/// Row security stays off on the table: its policies are there to be read, and a policy of a table with row security
/// would be analysed again whenever the next one is made.
final class JudgedDatabase implements AutoCloseable {
    static final String ROLE = "authenticated";
    private static final String PUBLICATION = "judged";
    private static final int ARGUMENTS_MAX = 50;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /// One letter for each row: `t`, `f`, `n` for NULL, `e` where PostgreSQL raises. All rows at once, and each by
    /// itself where that raises. Where no query with that condition can even be planned it raises for every row.
    private static final String ASK = """
        CREATE FUNCTION public.judge_ask(judge_e text) RETURNS text LANGUAGE plpgsql AS $f$
        DECLARE judge_answers text;
        BEGIN
          BEGIN
            EXECUTE 'EXPLAIN SELECT FROM public.t WHERE ' || judge_e;
          EXCEPTION WHEN OTHERS THEN
            RETURN (SELECT string_agg('e', '') FROM public.t);
          END;
          BEGIN
            EXECUTE 'SELECT string_agg(coalesce(left((' || judge_e || ')::text, 1), ''n''), '''' ORDER BY t.id)'
              || ' FROM public.t' INTO judge_answers;
            RETURN judge_answers;
          EXCEPTION WHEN OTHERS THEN NULL;
          END;
          EXECUTE 'DO $do$ DECLARE judge_k int; judge_answer text; judge_answers text := ''''; BEGIN'
            || ' FOR judge_k IN SELECT t.id FROM public.t ORDER BY t.id LOOP BEGIN'
            || ' SELECT coalesce(left((' || judge_e || ')::text, 1), ''n'') INTO judge_answer FROM public.t'
            || ' WHERE t.id = judge_k; EXCEPTION WHEN OTHERS THEN judge_answer := ''e''; END;'
            || ' judge_answers := judge_answers || judge_answer; END LOOP;'
            || ' PERFORM set_config(''judge.answers'', judge_answers, true); END $do$';
          RETURN current_setting('judge.answers');
        END $f$\
        """;

    /// The text of a value in the first of ten rows that has one and does not raise, else NULL.
    private static final String VALUE = """
        CREATE FUNCTION public.judge_value(judge_e text, judge_id int) RETURNS text LANGUAGE plpgsql AS $f$
        DECLARE judge_value text;
        BEGIN
          FOR judge_k IN judge_id .. judge_id + 9 LOOP
            BEGIN
              EXECUTE 'SELECT (' || judge_e || ')::text FROM public.t WHERE t.id = ' || judge_k INTO judge_value;
              EXIT WHEN judge_value IS NOT NULL;
            EXCEPTION WHEN OTHERS THEN NULL;
            END;
          END LOOP;
          RETURN judge_value;
        END $f$\
        """;

    private final PostgresDatabase database;
    private final List<JudgedColumn> columns;
    private final Pool pool;
    private final CallerQueries callers;
    private final CatalogImage catalog;
    private final Relation relation;
    private List<Tuple> tuples = List.of();
    private int policies;

    private JudgedDatabase(PostgresDatabase database, List<JudgedColumn> columns) {
        this.database = database;
        this.columns = columns;
        this.pool = Pool.open(
                PostgresUrl.parse(database.url("sluice_authz")), new Pool.Sizing(2, 1, TIMEOUT), Pool.Reset.ROLLBACK);
        this.callers = new CallerQueries(pool, TIMEOUT);
        this.catalog = CatalogLoader.start(pool, PUBLICATION, List.of(ROLE), TIMEOUT)
                .load(new CatalogScope.Everything(), TIMEOUT);
        this.relation = Objects.requireNonNull(catalog.relation("public", "t"));
    }

    /// @param database empty; closed with this
    static JudgedDatabase create(PostgresDatabase database, List<JudgedColumn> columns) {
        database.withStandardRoles();
        StringBuilder table = new StringBuilder("CREATE TABLE t (id int PRIMARY KEY");
        for (JudgedColumn column : columns) {
            table.append(", ").append(column.sql()).append(" ").append(column.declared());
        }
        database.execute(
                "CREATE EXTENSION citext",
                "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'a', 'Z')",
                "ALTER TYPE mood ADD VALUE 'first' BEFORE 'sad'",
                "CREATE DOMAIN small AS int CHECK (VALUE < 1000000)",
                "CREATE DOMAIN word AS text",
                "CREATE DOMAIN flag AS bool",
                "CREATE DOMAIN score AS numeric(6,2)",
                "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                "CREATE COLLATION austrian (provider = icu, locale = 'de-AT')",
                table.append(")").toString(),
                ASK,
                VALUE,
                "GRANT SELECT ON t TO PUBLIC",
                "CREATE PUBLICATION " + PUBLICATION + " FOR TABLE t");
        return new JudgedDatabase(database, columns);
    }

    CatalogImage catalog() {
        return catalog;
    }

    Relation relation() {
        return relation;
    }

    List<Callable> callables(JudgedTypes types) {
        return Callables.of(database, types);
    }

    /// Other rows in the place of those there are. A sixth of the values are NULL; a quarter of the second columns
    /// repeat the first.
    void fill(SeededRandom random, int rows) {
        StringBuilder insert = new StringBuilder();
        for (int id = 1; id <= rows; id++) {
            insert.append(id == 1 ? "TRUNCATE t; INSERT INTO t VALUES (" : "), (")
                    .append(id);
            String previous = "NULL";
            for (JudgedColumn column : columns) {
                boolean repeated = column.name().endsWith("_2") && random.chance(0.25);
                String value = random.chance(0.15)
                        ? "NULL"
                        : "'" + random.pick(column.values()).replace("'", "''") + "'::" + column.declared();
                previous = repeated ? previous : value;
                insert.append(", ").append(previous);
            }
        }
        database.execute(insert.append(")").toString());
        tuples = readTuples();
    }

    private List<Tuple> readTuples() {
        StringBuilder select = new StringBuilder();
        for (Column column : relation.columns()) {
            select.append(select.isEmpty() ? "SELECT \"" : "\", \"").append(column.name());
        }
        List<Tuple> read = new ArrayList<>();
        for (List<@Nullable String> row : database.rows(select + "\" FROM t ORDER BY id")) {
            read.add(tuple(row));
        }
        return List.copyOf(read);
    }

    List<Tuple> tuples() {
        return tuples;
    }

    /// The columns in the order of the tuples.
    ColumnMapping mapping() {
        List<RelationDefinition.Column> sent = new ArrayList<>();
        for (Column column : relation.columns()) {
            sent.add(new RelationDefinition.Column(column.name(), column.typeOid(), column.typmod(), false));
        }
        return ColumnMapping.of(new RelationDefinition(relation.oid(), "public", "t", 'd', sent), relation);
    }

    /// Stores all in policies and reads the trees PostgreSQL made of them; null for one that it
    /// takes for no policy.
    ///
    /// Each is one argument of a call that takes anything, so it is analysed as it would be by itself; a policy for
    /// each would cost a rebuild of the table's description every time.
    List<@Nullable String> trees(List<String> expressions) {
        Map<String, List<Integer>> places = new LinkedHashMap<>();
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < expressions.size(); i++) {
            all.add(i);
        }
        for (int i = 0; i < all.size(); i += ARGUMENTS_MAX) {
            create(expressions, all.subList(i, Math.min(all.size(), i + ARGUMENTS_MAX)), places);
        }
        List<@Nullable String> trees = new ArrayList<>();
        expressions.forEach(_ -> trees.add(null));
        for (List<@Nullable String> row :
                database.rows("SELECT polname, polqual::text FROM pg_policy WHERE polrelid = 't'::regclass")) {
            List<Integer> of = Objects.requireNonNull(places.get(String.valueOf(row.getFirst())));
            List<String> parts = TreeText.firstArguments(String.valueOf(row.getLast()));
            for (int i = 0; i < parts.size(); i++) {
                trees.set(of.get(i), parts.get(i));
            }
        }
        database.execute("DELETE FROM pg_policy WHERE polrelid = 't'::regclass");
        return Collections.unmodifiableList(trees);
    }

    /// In one policy; in two, of half as many, where that is refused.
    private void create(List<String> expressions, List<Integer> which, Map<String, List<Integer>> places) {
        StringBuilder policy = new StringBuilder("CREATE POLICY p" + policies + " ON t USING (num_nulls(");
        for (int i = 0; i < which.size(); i++) {
            policy.append(i == 0 ? "" : ",\n").append(expressions.get(which.get(i)));
        }
        try {
            database.execute(policy.append(") = 0)").toString());
            places.put("p" + policies, which);
            policies++;
        } catch (IllegalStateException refused) {
            if (which.size() > 1) {
                int half = which.size() / 2;
                create(expressions, which.subList(0, half), places);
                create(expressions, which.subList(half, which.size()), places);
            }
        }
    }

    List<FoldAnswer> fold(String claims, List<Fold> folds) {
        return callers.fold(new Identity(null, ROLE, claims, Instant.MAX), folds)
                .value();
    }

    /// PostgreSQL's answers.
    ///
    /// @param letters one for each expression, each a letter for each row; null where PostgreSQL gave up
    /// @param at what `now()` was
    record Answers(List<@Nullable String> letters, Instant at) {}

    Answers ask(String claims, List<String> expressions) {
        if (expressions.isEmpty()) {
            return new Answers(List.of(), Instant.EPOCH);
        }
        StringBuilder query = new StringBuilder("SELECT to_char(now(), 'YYYY-MM-DD\"T\"HH24:MI:SS.USZ')");
        for (String expression : expressions) {
            query.append(", public.judge_ask($judge$").append(expression).append("$judge$)");
        }
        try {
            List<@Nullable String> row =
                    database.asRole(ROLE, claims).rows(query.toString()).getFirst();
            return new Answers(row.subList(1, row.size()), Instant.parse(String.valueOf(row.getFirst())));
        } catch (IllegalStateException gaveUp) {
            List<@Nullable String> none = new ArrayList<>();
            expressions.forEach(_ -> none.add(null));
            return new Answers(none, Instant.EPOCH);
        }
    }

    /// Texts of values in a row each.
    List<@Nullable String> values(String claims, List<String> expressions, List<Integer> ids) {
        StringBuilder query = new StringBuilder("SELECT NULL");
        for (int i = 0; i < expressions.size(); i++) {
            query.append(", public.judge_value($judge$").append(expressions.get(i));
            query.append("$judge$, ").append(ids.get(i)).append(")");
        }
        List<@Nullable String> row =
                database.asRole(ROLE, claims).rows(query.toString()).getFirst();
        return row.subList(1, row.size());
    }

    PostgresDatabase database() {
        return database;
    }

    /// As pgoutput would send it.
    static Tuple tuple(List<@Nullable String> texts) {
        Tuple.Kind[] kinds = new Tuple.Kind[texts.size()];
        int[] offsets = new int[texts.size()];
        int[] lengths = new int[texts.size()];
        java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
        for (int i = 0; i < kinds.length; i++) {
            String text = texts.get(i);
            kinds[i] = text == null ? Tuple.Kind.NULL : Tuple.Kind.TEXT;
            if (text != null) {
                byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
                offsets[i] = bytes.size();
                lengths[i] = utf8.length;
                bytes.writeBytes(utf8);
            }
        }
        return new Tuple(bytes.toByteArray(), kinds, offsets, lengths);
    }

    @Override
    public void close() {
        pool.close();
        database.close();
    }
}
