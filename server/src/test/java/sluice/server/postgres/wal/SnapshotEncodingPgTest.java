package sluice.server.postgres.wal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.event.EventBody;
import sluice.core.event.EventEncoder;
import sluice.core.event.Images;
import sluice.core.event.Transition;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.shape.Operation;
import sluice.core.shape.Projection;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.transaction.Change;
import sluice.core.transaction.Transaction;
import sluice.core.wal.Lsn;
import sluice.server.snapshot.SnapshotTable;
import sluice.testkit.Await;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// Rows of a snapshot beside the same rows in the log.
class SnapshotEncodingPgTest {
    /// A type and values of it as SQL; each row takes the next one of every column.
    private static final String[][] KINDS = {
        {"bool", "true", "false"},
        {"int2", "-32768", "7"},
        {"int4", "-2147483648", "0"},
        {"int8", "9223372036854775807", "9007199254740993"},
        {"oid", "'4294967295'"},
        {"float4", "'-0'", "'NaN'", "'Infinity'", "0.1", "'1e-45'"},
        {"float8", "'-0'", "'-Infinity'", "0.1::float8 + 0.2", "1e15", "5e-324"},
        {"numeric", "'NaN'", "0.000000100", "12345678901234567890.12345678901234567890", "repeat('9', 300)"},
        {"numeric(12,4)", "1.5", "-99999999.9999"},
        {"money", "1234.5"},
        {"text", "E'a\"b\\\\c\\n\\r\\t\\u0001\\u2028\\U0001F600,;(){}[] NULL '", "''", "'null'", "repeat('x', 3000)"},
        {"varchar(10)", "'a,b'"},
        {"bpchar(5)", "'ab'"},
        {"\"char\"", "'a'", "''"},
        {"name", "'a b'"},
        {"bytea", "'\\x00ff5c22'", "''"},
        {"blob", "'\\x00ff5c22'"},
        {"uuid", "'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'"},
        {"date", "'2024-02-29'", "'infinity'", "'0044-03-15 BC'"},
        {"time", "'24:00:00'", "'01:02:03.4'"},
        {"timetz", "'01:02:03.4+05:30'"},
        {"timestamp", "'2024-02-29 01:02:03.04'", "'-infinity'", "'0044-03-15 01:02:03 BC'"},
        {"timestamptz", "'2024-02-29 01:02:03.04+05:30'", "'infinity'", "'0044-03-15 01:02:03 BC'"},
        {"interval", "'1 year -2 days 03:04:05.6'", "'-1 mon'"},
        {"json", "'{\"b\" : 1.50, \"a\":[null, \"x\\u00e9\"]}'", "'null'"},
        {"jsonb", "'{\"b\" : 1.50, \"a\":[null, \"x\"]}'", "'\"text\"'"},
        {"jsonpath", "'$.a[*]'"},
        {"xml", "'<a b=\"c\">d</a>'"},
        {"inet", "'10.0.0.1/8'", "'::1'"},
        {"cidr", "'10.0.0.0/8'"},
        {"macaddr", "'08:00:2b:01:02:03'"},
        {"bit(3)", "B'101'"},
        {"varbit", "B''"},
        {"point", "'(1.5,-2)'"},
        {"box", "'(1,2),(3,4)'"},
        {"tsvector", "'a:1 b:2'"},
        {"int4range", "'[1,5)'", "'empty'"},
        {"tstzrange", "'[2024-01-01 00:00+05,)'"},
        {"int4multirange", "'{[1,3),[5,9)}'"},
        {"int4[]", "'{1,NULL,3}'", "'[2:3]={4,5}'", "'{}'"},
        {"text[]", "ARRAY['a,b', 'NULL', NULL, '', '\"\\']", "'{{a,b},{c,d}}'"},
        {"jsonb[]", "ARRAY['{\"a\": 1}'::jsonb, NULL]"},
        {"timestamptz[]", "ARRAY['2024-02-29 01:02:03+05'::timestamptz]"},
        {"bytea[]", "ARRAY['\\x00ff'::bytea]"},
        {"box[]", "ARRAY['(1,2),(3,4)'::box, '(0,0),(1,1)']"},
        {"mood", "'o\"k'", "''"},
        {"mood[]", "'{sad,NULL}'"},
        {"small", "7"},
        {"pair", "ROW(1, 'x\"y')", "ROW(NULL, NULL)"},
        {"pair[]", "ARRAY[ROW(1, 'a,b')::pair, NULL]"},
        {"int2vector", "'1 2 3'"},
        {"regclass", "'pg_catalog.pg_class'"},
        {"pg_lsn", "'16/B374D848'"}
    };

    private static final int ROWS = 5;

    private static PostgresDatabase prepared(int major) {
        PostgresDatabase database = PostgresCluster.of(major)
                .createDatabase("snapshot_values", DatabaseOptions.unusual())
                .withStandardRoles();
        StringBuilder columns = new StringBuilder();
        for (int i = 0; i < KINDS.length; i++) {
            columns.append(", c").append(i).append(' ').append(KINDS[i][0]);
        }
        database.execute(
                "CREATE TYPE mood AS ENUM ('sad', 'o\"k', '')",
                "CREATE DOMAIN small AS int CHECK (value < 100)",
                "CREATE DOMAIN blob AS bytea",
                "CREATE TYPE pair AS (a int, \"B c\" text)",
                "CREATE TABLE kinds (id int PRIMARY KEY" + columns + ")",
                "CREATE TABLE quiet (id int PRIMARY KEY)",
                "CREATE PUBLICATION sluice FOR TABLE kinds, quiet");
        return database;
    }

    private static void insert(PostgresDatabase database) {
        for (int row = 0; row < ROWS; row++) {
            StringBuilder insert = new StringBuilder("INSERT INTO kinds VALUES (").append(row);
            for (String[] kind : KINDS) {
                int values = kind.length - 1;
                String value = row < values ? kind[row + 1] : row == values ? "NULL" : kind[1 + row % values];
                insert.append(", CAST(")
                        .append(value)
                        .append(" AS ")
                        .append(kind[0])
                        .append(')');
            }
            database.execute(insert.append(')').toString());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_row_is_written_alike_from_a_snapshot_and_from_the_log_and_by_the_database(int major) {
        PostgresDatabase database = prepared(major);
        try (SnapshotTable table = new SnapshotTable(database, SnapshotTable.folder());
                ReaderHarness harness = new ReaderHarness(
                                database, ReaderHarness.Options.slot("snapshot_values_" + major))
                        .streaming()) {
            insert(database);
            Await.until("the rows came", () -> harness.rows().size() == ROWS);
            List<String> read = SnapshotTable.records(table.readAll("kinds"));
            assertThat(read).isEqualTo(live(harness, table.catalog()));
            for (int row = 0; row < ROWS; row++) {
                assertThat(database.value(
                                "SELECT string_agg(k.key || ': ' || k.value || ' is not ' || (?::jsonb -> k.key), ', ')"
                                        + " FROM kinds, jsonb_each(to_jsonb(kinds)) k WHERE id = ? AND k.value"
                                        + " IS DISTINCT FROM ?::jsonb -> k.key",
                                read.get(row),
                                row,
                                read.get(row)))
                        .isNull();
            }
        }
    }

    private static List<String> live(ReaderHarness harness, CatalogImage catalog) {
        Relation relation = Objects.requireNonNull(catalog.relation("public", "kinds"));
        List<Integer> all = relation.columns().stream().map(Column::attnum).toList();
        Projection projection = Projection.of(relation, all, catalog);
        EventEncoder encoder = new EventEncoder(1 << 20);
        List<String> records = new ArrayList<>();
        for (Transaction commit : harness.commits) {
            encoder.beginCommit(commit.commitLsn(), Instant.EPOCH);
            for (Change change : commit.changes()) {
                encoder.beginChange(change, ColumnMapping.of(change.relation(), relation));
                EventBody body = encoder.body(Operation.INSERT, Transition.NONE, projection, Images.RECORD);
                String tail = new String(body.tail(), StandardCharsets.UTF_8);
                records.add(tail.substring(tail.indexOf(",\"record\":") + 10, tail.length() - 3));
            }
        }
        return records;
    }

    /// An idle transaction that has written holds the walsender back, as long as nothing else is written.
    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void the_log_passes_a_snapshot_at_once_while_the_database_is_quiet(int major) throws SQLException {
        PostgresDatabase database = prepared(major);
        try (SnapshotTable table = new SnapshotTable(database, SnapshotTable.folder());
                ReaderHarness harness = new ReaderHarness(
                                database, ReaderHarness.Options.slot("snapshot_position_" + major))
                        .streaming();
                Connection open = database.connect();
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("INSERT INTO quiet VALUES (1)");
            for (int i = 0; i < 3; i++) {
                SnapshotOutcome.Read read = table.readAll("kinds");
                Lsn at = read.stamp().insertLsn();
                Await.until(
                        "the log is past the snapshot",
                        Duration.ofSeconds(20),
                        () -> harness.seen().isAfter(at));
                SnapshotTable.records(read);
            }
            open.rollback();
        }
    }
}
