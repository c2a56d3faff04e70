package sluice.core.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

class ToJsonbPgTest {
    private static final List<String> PINNED = List.of(
            "DateStyle = 'ISO'",
            "IntervalStyle = 'postgres'",
            "TimeZone = 'UTC'",
            "extra_float_digits = 1",
            "bytea_output = 'hex'",
            "client_encoding = 'UTF8'");

    /// The other majors are in {@link #older_servers_print_nothing_else}, one cluster each.
    @Test
    void every_type_is_written_as_to_jsonb_writes_it() throws SQLException {
        try (PostgresDatabase database =
                        PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("values");
                Connection connection = pinned(database)) {
            prepare(connection, TypeMatrix.KINDS);
            assertThat(differences(connection, connection)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void older_servers_print_nothing_else(int major) throws SQLException {
        try (PostgresDatabase database = PostgresCluster.of(major).createDatabase("values");
                Connection connection = pinned(database)) {
            prepare(connection, TypeMatrix.KINDS);
            assertThat(differences(connection, connection)).isEmpty();
        }
    }

    @Test
    void unusual_defaults_of_a_database_show_only_where_the_session_is_not_pinned() throws SQLException {
        try (PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST)
                        .createDatabase("unusual_values", DatabaseOptions.unusual());
                Connection connection = pinned(database);
                Connection unpinned = database.connect()) {
            prepare(connection, TypeMatrix.KINDS);
            assertThat(differences(connection, connection)).isEmpty();
            assertThat(String.join("\n", differences(unpinned, connection)))
                    .contains("timestamptz value", "tstzrange value", "bytea value", "interval value");
        }
    }

    @Test
    void json_that_jsonb_refuses_is_written_as_stored() throws SQLException {
        List<String> stored = List.of("{\"a\":\"\\u0000\"}", "\"\\ud83d\"", "{\"n\":1e200000}", "[\"\\ude00\\ud83d\"]");
        try (PostgresDatabase database =
                        PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("hostile");
                Connection connection = pinned(database)) {
            database.execute(
                    "CREATE TABLE wire_types (id int PRIMARY KEY, j json, js json[])",
                    "CREATE PUBLICATION wire_types FOR TABLE wire_types",
                    "SELECT pg_create_logical_replication_slot('wire_types', 'pgoutput')");
            for (int i = 0; i < stored.size(); i++) {
                database.rows(
                        "INSERT INTO wire_types VALUES (?, ?::json, ARRAY[?::json, NULL]) RETURNING id",
                        i,
                        stored.get(i),
                        stored.get(i));
                int id = i;
                assertThatThrownBy(() -> database.rows("SELECT to_jsonb(j) FROM wire_types WHERE id = ?", id))
                        .as(stored.get(i))
                        .isInstanceOf(Exception.class);
            }
            LoggedRows logged = LoggedRows.peek(connection, "wire_types", "wire_types", "wire_types");
            PgType array = CatalogTypes.load(connection, logged.typeOids().get(2));
            assertThat(logged.rows()).hasSize(stored.size());
            for (int i = 0; i < stored.size(); i++) {
                byte[] json = logged.rows().get(i)[1];
                byte[] jsons = logged.rows().get(i)[2];
                assertThat(text(write(new PgType.Base(Oid.JSON, "json"), Objects.requireNonNull(json))))
                        .isEqualTo(stored.get(i));
                assertThat(text(write(array, Objects.requireNonNull(jsons)))).isEqualTo("[" + stored.get(i) + ",null]");
            }
        }
    }

    private static String text(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }

    private static Connection pinned(PostgresDatabase database) throws SQLException {
        Connection connection = database.connect();
        try (Statement statement = connection.createStatement()) {
            for (String setting : PINNED) {
                statement.execute("SET " + setting);
            }
        }
        return connection;
    }

    /// @param reading the session whose settings the slot's texts are printed with
    /// @param judging the session that `to_jsonb` runs in
    private static List<String> differences(Connection reading, Connection judging) throws SQLException {
        List<TypeMatrix.Kind> kinds = TypeMatrix.KINDS;
        LoggedRows logged = LoggedRows.peek(reading, "wire_types", "wire_types", "wire_types");
        List<PgType> types = new ArrayList<>();
        for (int oid : logged.typeOids()) {
            types.add(CatalogTypes.load(judging, oid));
        }
        List<String> differences = new ArrayList<>();
        try (Statement statement = judging.createStatement();
                ResultSet row = statement.executeQuery("SELECT to_jsonb(w)::text FROM wire_types w ORDER BY id")) {
            for (int i = 0; row.next(); i++) {
                JsonNode expected = Json.parse(row.getString(1));
                for (int column = 1; column < types.size(); column++) {
                    byte[] text = logged.rows().get(i)[column];
                    JsonNode written = Json.line(
                            text == null ? "null".getBytes(StandardCharsets.UTF_8) : write(types.get(column), text));
                    JsonNode wanted = expected.get("c" + column);
                    if (!wanted.equals(ToJsonbPgTest::compare, written)) {
                        differences.add(kinds.get(column - 1).type() + " value " + i + ": " + wanted + " was written "
                                + written);
                    }
                }
            }
            assertThat(logged.rows()).hasSizeGreaterThan(8);
        }
        return differences;
    }

    private static void prepare(Connection connection, List<TypeMatrix.Kind> kinds) throws SQLException {
        var columns = new StringBuilder("id int PRIMARY KEY");
        int rows = 1;
        for (int i = 0; i < kinds.size(); i++) {
            columns.append(", c").append(i + 1).append(' ').append(kinds.get(i).type());
            rows = Math.max(rows, kinds.get(i).values().size() + 1);
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(TypeMatrix.SETUP);
            statement.execute("CREATE TABLE wire_types (" + columns + ")");
            statement.execute("CREATE PUBLICATION wire_types FOR TABLE wire_types");
            statement.execute("SELECT pg_create_logical_replication_slot('wire_types', 'pgoutput')");
            // the last row is all NULL
            for (int row = 0; row < rows; row++) {
                var values = new StringBuilder("INSERT INTO wire_types VALUES (" + row);
                for (TypeMatrix.Kind kind : kinds) {
                    List<String> of = kind.values();
                    values.append(", ").append(row < of.size() ? "(" + of.get(row) + ")::" + kind.type() : "NULL");
                }
                statement.execute(values.append(')').toString());
            }
        }
    }

    /// Numbers by value, everything else exactly.
    private static int compare(JsonNode left, JsonNode right) {
        if (left.isNumber() && right.isNumber()) {
            return left.decimalValue().compareTo(right.decimalValue());
        }
        return left.equals(right) ? 0 : 1;
    }

    private static byte[] write(PgType type, byte[] text) {
        var sink = new ByteSink(64);
        new JsonWriter(sink).write(type, text, 0, text.length);
        return sink.toBytes();
    }
}
