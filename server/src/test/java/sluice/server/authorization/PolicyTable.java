package sluice.server.authorization;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.Identity;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.CallerQueries;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Pool;
import sluice.testkit.PostgresDatabase;

/// A database with one published table of every type the evaluator compares, and the product's own catalog reader and
/// fold query on it.
final class PolicyTable implements AutoCloseable {
    static final String PUBLICATION = "differential";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private static final List<String> TEXTS =
            List.of("a", "b", "b c", "", " a", "é", "\\", "it's", "NULL", "A", "\u007f");
    private static final List<String> UUIDS = List.of(
            "00000000-0000-0000-0000-00000000000a",
            "00000000-0000-0000-0000-00000000000b",
            "11111111-1111-1111-1111-111111111111",
            "ffffffff-ffff-ffff-ffff-ffffffffffff");

    private final PostgresDatabase database;
    private final Pool pool;
    private final CallerQueries callers;

    PolicyTable(PostgresDatabase database) {
        this.database = database;
        this.pool = Pool.open(
                PostgresUrl.parse(database.url("sluice_authz")), new Pool.Sizing(2, 1, TIMEOUT), Pool.Reset.ROLLBACK);
        this.callers = new CallerQueries(pool, TIMEOUT);
    }

    /// Makes the table `public.t`, functions that policies call, and the publication.
    static PolicyTable create(PostgresDatabase database) {
        database.withStandardRoles();
        database.execute(
                "CREATE DOMAIN small AS int CHECK (VALUE < 1000000)",
                "CREATE DOMAIN word AS text",
                "CREATE DOMAIN flag AS bool",
                "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                """
                CREATE TABLE t (id int PRIMARY KEY, i2 int2, i4 int4, i8 int8, di small, tx text, vc varchar(20),
                  dt word, cs text COLLATE "C", nd text COLLATE loose, u1 uuid, u2 uuid, us uuid[], fl bool, fm bool,
                  db flag)\
                """,
                "CREATE TABLE members (id int PRIMARY KEY)",
                "INSERT INTO members VALUES (1), (2)",
                "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                "CREATE FUNCTION is_admin() RETURNS bool LANGUAGE sql STABLE AS 'SELECT EXISTS (SELECT 1 FROM"
                        + " public.members)'",
                """
                CREATE FUNCTION tenant() RETURNS text LANGUAGE sql VOLATILE AS $$
                  -- the caller's team
                  SELECT auth.jwt() ->> 'team' $$\
                """,
                """
                CREATE FUNCTION atomic_tenant() RETURNS text LANGUAGE sql STABLE
                  BEGIN ATOMIC SELECT CASE WHEN auth.uid() IS NULL THEN 'a' ELSE auth.jwt() ->> 'team' END; END\
                """,
                "CREATE PUBLICATION " + PUBLICATION + " FOR TABLE t");
        return new PolicyTable(database);
    }

    void fill(Random random, int rows) {
        for (int id = 1; id <= rows; id++) {
            database.rows(
                    "INSERT INTO t VALUES (?, ?::int2, ?::int4, ?::int8, ?::int, ?, ?, ?, ?, ?, ?::uuid, ?::uuid,"
                            + " NULL, ?::bool, ?::bool, ?::bool)",
                    id,
                    pick(random, List.of("0", "1", "2", "-1", "32767", "-32768")),
                    pick(random, List.of("0", "1", "2", "-1", "2147483647", "-2147483648")),
                    pick(random, List.of("0", "1", "2", "-1", "9223372036854775807", "-9223372036854775808")),
                    pick(random, List.of("0", "1", "2")),
                    pick(random, TEXTS),
                    pick(random, TEXTS),
                    pick(random, TEXTS),
                    pick(random, TEXTS),
                    pick(random, TEXTS),
                    pick(random, UUIDS),
                    pick(random, UUIDS),
                    pick(random, List.of("t", "f")),
                    pick(random, List.of("t", "f")),
                    pick(random, List.of("t", "f")));
        }
    }

    private static @Nullable String pick(Random random, List<String> values) {
        int index = random.nextInt(values.size() + 1);
        return index == values.size() ? null : values.get(index);
    }

    PostgresDatabase database() {
        return database;
    }

    /// Read by the product's loader; throws when `roles` cannot be read.
    CatalogImage catalog(List<String> roles) {
        return CatalogLoader.start(pool, PUBLICATION, roles, TIMEOUT).load(new CatalogScope.Everything(), TIMEOUT);
    }

    List<FoldAnswer> fold(String role, String claims, List<Fold> folds) {
        return callers.fold(new Identity(null, role, claims, Instant.MAX), folds)
                .value();
    }

    List<RowImage> rows(Relation relation) {
        return rows(relation, NOW);
    }

    /// The rows by id, as pgoutput would send them: without what is generated.
    ///
    /// @param at when they are said to have been committed
    List<RowImage> rows(Relation relation, Instant at) {
        List<RelationDefinition.Column> columns = new ArrayList<>();
        StringBuilder select = new StringBuilder();
        for (Column column : relation.columns()) {
            if (column.generation() == Column.Generation.NONE) {
                columns.add(new RelationDefinition.Column(column.name(), column.typeOid(), column.typmod(), false));
                select.append(select.isEmpty() ? "\"" : ", \"")
                        .append(column.name())
                        .append('"');
            }
        }
        RelationDefinition definition =
                new RelationDefinition(relation.oid(), relation.schema(), relation.name(), 'd', columns);
        ColumnMapping mapping = ColumnMapping.of(definition, relation);
        List<RowImage> rows = new ArrayList<>();
        for (List<@Nullable String> row : database.rows(
                "SELECT " + select + " FROM public.\"" + relation.name().replace("\"", "\"\"") + "\" ORDER BY id")) {
            rows.add(new RowImage(tuple(row), mapping, at));
        }
        return rows;
    }

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

    /// The tuple with one column not sent.
    static Tuple hiding(Tuple tuple, int position) {
        int count = tuple.columnCount();
        Tuple.Kind[] kinds = new Tuple.Kind[count];
        int[] offsets = new int[count];
        int[] lengths = new int[count];
        for (int i = 0; i < count; i++) {
            kinds[i] = i == position ? Tuple.Kind.NOT_SENT : tuple.kind(i);
            offsets[i] = tuple.offset(i);
            lengths[i] = tuple.length(i);
        }
        return new Tuple(tuple.bytes(), kinds, offsets, lengths);
    }

    @Override
    public void close() {
        pool.close();
        database.close();
    }
}
