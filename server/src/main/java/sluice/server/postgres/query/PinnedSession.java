package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import sluice.server.postgres.query.Rows.Row;

/// The settings every pool connection has, whatever the database, the role and the driver say.
///
/// They are set after connecting, since the driver sends the JVM's time zone and drops `options`, and read back,
/// since a proxy between may not have passed them on.
final class PinnedSession {
    /// Callers' functions run under the path the database configured; everything of our own names its schemas.
    static final String SEARCH_PATH = "pg_catalog, pg_temp";

    private static final SequencedMap<String, String> SETTINGS = settings();

    private PinnedSession() {}

    private static SequencedMap<String, String> settings() {
        SequencedMap<String, String> settings = new LinkedHashMap<>();
        settings.put("DateStyle", "ISO, MDY");
        settings.put("IntervalStyle", "postgres");
        settings.put("TimeZone", "UTC");
        settings.put("extra_float_digits", "1");
        settings.put("bytea_output", "hex");
        settings.put("client_encoding", "UTF8");
        settings.put("search_path", SEARCH_PATH);
        settings.put("row_security", "on");
        settings.put("default_transaction_read_only", "on");
        settings.put("standard_conforming_strings", "on");
        // how expressions are printed and read
        settings.put("quote_all_identifiers", "off");
        settings.put("transform_null_equals", "off");
        settings.put("array_nulls", "on");
        // compiling a catalog query takes longer than running it
        settings.put("jit", "off");
        return settings;
    }

    /// Sets and reads back all of them, in one round trip.
    ///
    /// @throws SQLException also when a setting did not stay
    static void pin(Connection connection) throws SQLException {
        StringBuilder set = new StringBuilder("SELECT ");
        StringBuilder read = new StringBuilder("; SELECT ");
        String separator = "";
        for (Map.Entry<String, String> setting : SETTINGS.entrySet()) {
            String name = SqlText.literal(setting.getKey());
            set.append(separator)
                    .append("pg_catalog.set_config(")
                    .append(name)
                    .append(", ")
                    .append(SqlText.literal(setting.getValue()))
                    .append(", false)");
            read.append(separator)
                    .append("pg_catalog.current_setting(")
                    .append(name)
                    .append(")");
            separator = ", ";
        }
        List<List<Row>> answers = Rows.run(connection, set.append(read).toString());
        Row found = answers.getLast().getFirst();
        int column = 0;
        for (Map.Entry<String, String> setting : SETTINGS.entrySet()) {
            if (!setting.getValue().equals(found.text(column))) {
                throw new SQLException(
                        "the session setting \"" + setting.getKey() + "\" did not stay as it was set", "08P01");
            }
            column++;
        }
    }
}
