package sluice.server.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.postgresql.Driver;

/// The session settings that decide how PostgreSQL prints a value, set to one form on every connection.
///
/// The driver sends the JVM's time zone, which wins over `options`, and a database or role may have any default; so
/// they are set after connecting, and read back: a session that prints otherwise is not used.
public final class PinnedSettings {
    private record Pin(String name, String value, String shown) {}

    private static final List<Pin> PINS = List.of(
            new Pin("DateStyle", "ISO", "ISO, "),
            new Pin("IntervalStyle", "postgres", "postgres"),
            new Pin("TimeZone", "UTC", "UTC"),
            new Pin("extra_float_digits", "1", "1"),
            new Pin("bytea_output", "hex", "hex"),
            new Pin("client_encoding", "UTF8", "UTF8"));

    private PinnedSettings() {}

    /// A new ordinary session, pinned. The caller closes it.
    ///
    /// @throws IllegalStateException when a setting reads back otherwise
    public static Connection connect(PostgresUrl url) throws SQLException {
        Connection connection = new Driver().connect(url.jdbcUrl(), url.driverProperties());
        if (connection == null) {
            throw new SQLException("the driver does not take the connection URL", "08001");
        }
        boolean pinned = false;
        try {
            pin(connection);
            pinned = true;
        } finally {
            if (!pinned) {
                connection.close();
            }
        }
        return connection;
    }

    /// @throws IllegalStateException when a setting reads back otherwise
    public static void pin(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (Pin pin : PINS) {
                statement.execute("SET " + pin.name() + " = '" + pin.value() + "'");
            }
            for (Pin pin : PINS) {
                try (ResultSet shown = statement.executeQuery("SHOW " + pin.name())) {
                    String value = shown.next() ? shown.getString(1) : "";
                    // the order of day and month stands behind the style, and ISO does not use it
                    boolean same =
                            pin.shown().endsWith(" ") ? value.startsWith(pin.shown()) : value.equals(pin.shown());
                    if (!same) {
                        throw new IllegalStateException(
                                "setting " + pin.name() + " of the session is " + value + " instead of " + pin.value());
                    }
                }
            }
        }
    }
}
