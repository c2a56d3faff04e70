package sluice.core.value;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ToJsonbPgTest {
    private static final List<String> PINNED = List.of(
            "DateStyle = 'ISO'",
            "IntervalStyle = 'postgres'",
            "TimeZone = 'UTC'",
            "extra_float_digits = 1",
            "bytea_output = 'hex'",
            "client_encoding = 'UTF8'");

    @Test
    void every_type_is_written_as_to_jsonb_writes_it() throws SQLException {
        try (Connection connection = DriverManager.getConnection(System.getProperty("pgurl"))) {
            assertThat(differences(connection)).isEmpty();
        }
    }

    static List<String> differences(Connection connection) throws SQLException {
        List<TypeMatrix.Kind> kinds = TypeMatrix.kinds();
        prepare(connection, kinds);
        LoggedRows logged = LoggedRows.peek(connection, "wire_types", "wire_types", "wire_types");
        List<PgType> types = new ArrayList<>();
        for (int oid : logged.typeOids()) {
            types.add(CatalogTypes.load(connection, oid));
        }
        List<String> differences = new ArrayList<>();
        try (Statement statement = connection.createStatement();
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
            for (String setting : PINNED) {
                statement.execute("SET " + setting);
            }
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
