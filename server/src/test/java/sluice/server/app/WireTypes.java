package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseEvent;

/// The table `wire_types`, with a column of every kind, that everybody may read.
final class WireTypes {
    /// A column of every kind, and a value of it.
    private static final String[][] KINDS = {
        {"boolean", "true"},
        {"smallint", "-32768"},
        {"bigint", "9007199254740993"},
        {"oid", "42"},
        {"real", "0.1"},
        {"double precision", "0.1::float8 + 0.2"},
        {"numeric", "12345678901234567890.1200"},
        {"numeric", "'NaN'"},
        {"money", "1234.5"},
        {"text", "E'a\"b\\\\c\\n\\u2028 \\U0001F600'"},
        {"varchar(10)", "'a,b'"},
        {"char(5)", "'ab'"},
        {"bytea", "'\\x00ff5c22'"},
        {"uuid", "'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'"},
        {"date", "'0044-03-15 BC'"},
        {"time", "'01:02:03.4'"},
        {"timetz", "'01:02:03.4+05:30'"},
        {"timestamp", "'2024-02-29 01:02:03.04'"},
        {"timestamptz", "'2024-02-29 01:02:03.04+05:30'"},
        {"timestamptz", "'infinity'"},
        {"interval", "'1 year -2 days 03:04:05.6'"},
        {"json", "'{\"b\":1.5,\"a\":[null,\"x\"]}'"},
        {"jsonb", "'{\"b\": 1.50, \"a\": [null, \"x\"]}'"},
        {"inet", "'10.0.0.1/8'"},
        {"macaddr", "'08:00:2b:01:02:03'"},
        {"bit(3)", "B'101'"},
        {"point", "'(1.5,-2)'"},
        {"tsvector", "'a:1 b:2'"},
        {"tstzrange", "'[2024-01-01 00:00+05,)'"},
        {"int4multirange", "'{[1,3),[5,9)}'"},
        {"integer[]", "'[2:3]={4,NULL}'"},
        {"text[]", "ARRAY['a,b', 'NULL', NULL, '']"},
        {"box[]", "ARRAY['(1,2),(3,4)'::box]"},
        {"wire_mood[]", "'{sad,NULL}'"},
        {"wire_small", "7"},
        {"wire_pair", "ROW(1, 'x\"y')"},
        {"xml", "'<a b=\"c\">d</a>'"},
        {"pg_lsn", "'16/B374D848'"}
    };

    private static final ObjectMapper JSON =
            new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private WireTypes() {}

    /// Makes and publishes the table: row 1 with every value, row 2 with none.
    static void createIn(PostgresDatabase database) {
        StringBuilder columns = new StringBuilder();
        for (int i = 0; i < KINDS.length; i++) {
            columns.append(", c").append(i).append(' ').append(KINDS[i][0]);
        }
        database.execute(
                "CREATE TYPE wire_mood AS ENUM ('sad', 'glad')",
                "CREATE DOMAIN wire_small AS int",
                "CREATE TYPE wire_pair AS (a int, \"B c\" text)",
                "CREATE TABLE wire_types (id int PRIMARY KEY" + columns + ")",
                "CREATE FUNCTION judged(w wire_types) RETURNS jsonb LANGUAGE sql SET TimeZone = 'UTC'"
                        + " AS 'SELECT to_jsonb(w)'",
                "ALTER PUBLICATION sluice ADD TABLE wire_types",
                insert(1),
                "INSERT INTO wire_types (id) VALUES (2)");
    }

    /// A row with every value.
    static String insert(int id) {
        StringBuilder values = new StringBuilder("INSERT INTO wire_types VALUES (" + id);
        for (String[] kind : KINDS) {
            values.append(", CAST(")
                    .append(kind[1])
                    .append(" AS ")
                    .append(kind[0])
                    .append(')');
        }
        return values.append(')').toString();
    }

    /// That the row of a change is what `to_jsonb` says of it now: numbers by value, everything else exactly.
    static void assertAsToJsonb(PostgresDatabase database, SseEvent change) {
        JsonNode row = tree(change.data()).get("record");
        JsonNode judged = tree(String.valueOf(database.value(
                "SELECT judged(w)::text FROM wire_types w WHERE id = ?",
                row.get("id").asInt())));
        assertThat(row.size()).isEqualTo(judged.size());
        for (var column : judged.properties()) {
            JsonNode sent = row.path(column.getKey());
            assertThat(sent.equals(WireTypes::compare, column.getValue()))
                    .as("%s: %s was sent, and PostgreSQL says %s", column.getKey(), sent, column.getValue())
                    .isTrue();
        }
    }

    private static int compare(JsonNode one, JsonNode other) {
        if (one.isNumber() && other.isNumber()) {
            return one.decimalValue().compareTo(other.decimalValue());
        }
        return one.equals(other) ? 0 : 1;
    }

    private static JsonNode tree(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new AssertionError(json, e);
        }
    }
}
