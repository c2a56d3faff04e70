package sluice.testkit;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import sluice.testkit.postgres.PostgresServer;

/// One database of a [PostgresCluster], usually one per test class. Closing it drops its slots and the database.
///
/// [#execute], [#rows] and [#asRole] share one session of the superuser, in which time zone, date style and number
/// format are pinned to UTC, ISO and PostgreSQL's defaults, whatever the database says; several threads may use
/// them in turn. [#connect] gives sessions of one's own, with the settings that the driver leaves.
public final class PostgresDatabase implements AutoCloseable {
    static final String MAINTENANCE = "postgres";

    private final PostgresCluster cluster;
    private final String name;
    private final ReentrantLock turn = new ReentrantLock();
    private @Nullable Connection session;

    private PostgresDatabase(PostgresCluster cluster, String name) {
        this.cluster = cluster;
        this.name = name;
    }

    static PostgresDatabase existing(PostgresCluster cluster, String name) {
        return new PostgresDatabase(cluster, name);
    }

    public PostgresCluster cluster() {
        return cluster;
    }

    public String name() {
        return name;
    }

    /// A new session of the superuser. The caller closes it.
    public Connection connect() {
        return connect(PostgresServer.SUPERUSER, new Properties());
    }

    /// A new session of any role that may log in.
    ///
    /// @param properties of the driver, such as `replication`
    public Connection connect(String user, Properties properties) {
        Properties all = new Properties();
        all.putAll(properties);
        all.setProperty("user", user);
        all.setProperty("password", StandardRoles.PASSWORD);
        try {
            return DriverManager.getConnection(jdbcUrl(), all);
        } catch (SQLException e) {
            throw failed("connect as " + user, e);
        }
    }

    public String jdbcUrl() {
        return "jdbc:postgresql://127.0.0.1:" + cluster.port() + "/" + encoded(name);
    }

    /// `postgres://user:password@host:port/database`, each part escaped.
    public String url(String user) {
        return "postgres://" + encoded(user) + ":" + encoded(StandardRoles.PASSWORD) + "@127.0.0.1:" + cluster.port()
                + "/" + encoded(name);
    }

    /// Makes the roles `anon`, `authenticated`, `service_role` (sees past policies), `sluice_repl` (replicates) and
    /// `sluice_authz` (may become the first two), and schema `auth` with `uid()`, `role()` and `jwt()`. Tables made
    /// afterwards in schema `public` may be used by the first three, within the policies.
    public PostgresDatabase withStandardRoles() {
        StandardRoles.roles().forEach(this::execute);
        StandardRoles.auth().forEach(this::execute);
        return this;
    }

    /// Runs statements as the superuser, each in a transaction of its own.
    public void execute(String... statements) {
        inSession(connection -> {
            try (Statement statement = connection.createStatement()) {
                for (String sql : statements) {
                    try {
                        statement.execute(sql);
                    } catch (SQLException e) {
                        throw failed(sql, e);
                    }
                }
            }
            return null;
        });
    }

    /// Rows as text, in PostgreSQL's own output format; SQL NULL is null.
    ///
    /// @param parameters one for each `?`
    public List<List<@Nullable String>> rows(String sql, @Nullable Object... parameters) {
        return inSession(connection -> query(connection, sql, parameters));
    }

    /// The only value of the only row.
    public @Nullable String value(String sql, @Nullable Object... parameters) {
        List<List<@Nullable String>> rows = rows(sql, parameters);
        if (rows.size() != 1 || rows.getFirst().size() != 1) {
            throw new AssertionError("not one value but " + rows + ": " + sql);
        }
        return rows.getFirst().getFirst();
    }

    /// What a role with such claims may do: the judge in every question of visibility.
    ///
    /// @param claimsJson the token's payload, or null for none
    public RoleView asRole(String role, @Nullable String claimsJson) {
        return new RoleView(this, role, claimsJson);
    }

    /// Forgets the shared session, which a restart of the server has broken.
    public PostgresDatabase reconnect() {
        turn.lock();
        try {
            closeSession();
            return this;
        } finally {
            turn.unlock();
        }
    }

    /// Where the log stands now; all that is committed lies before.
    public String currentLsn() {
        String lsn = value("SELECT pg_current_wal_lsn()");
        return lsn == null ? "" : lsn;
    }

    /// Ends the sessions that use slots of this database, drops the slots, then the database.
    @Override
    public void close() {
        if (!name.equals(MAINTENANCE)) {
            dropSlots();
        }
        turn.lock();
        try {
            closeSession();
        } finally {
            turn.unlock();
        }
        if (!name.equals(MAINTENANCE)) {
            try (PostgresDatabase maintenance = existing(cluster, MAINTENANCE)) {
                maintenance.execute("DROP DATABASE IF EXISTS " + quoted(name) + " WITH (FORCE)");
            }
        }
    }

    /// A slot stays active for a moment after its walsender was told to end, hence again until none is left.
    public void dropSlots() {
        Await.until("the slots of " + name + " are gone", () -> {
            rows("""
                    SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
                    WHERE database = current_database() AND active""");
            for (List<@Nullable String> row : rows("""
                    SELECT slot_name FROM pg_replication_slots
                    WHERE database = current_database() AND NOT active""")) {
                try {
                    rows("SELECT pg_drop_replication_slot(?)", row.getFirst());
                } catch (IllegalStateException e) {
                    return false; // somebody has taken it again, or dropped it
                }
            }
            return "0".equals(value("""
                    SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"""));
        });
    }

    static String quoted(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }

    static String literal(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    static IllegalStateException failed(String what, SQLException cause) {
        return new IllegalStateException(cause.getSQLState() + " " + cause.getMessage() + "\nin: " + what, cause);
    }

    static List<List<@Nullable String>> query(Connection connection, String sql, @Nullable Object... parameters)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            if (!statement.execute()) {
                return List.of();
            }
            List<List<@Nullable String>> rows = new ArrayList<>();
            try (ResultSet result = statement.getResultSet()) {
                int columns = result.getMetaData().getColumnCount();
                while (result.next()) {
                    List<@Nullable String> row = new ArrayList<>(columns);
                    for (int column = 1; column <= columns; column++) {
                        row.add(result.getString(column));
                    }
                    rows.add(Collections.unmodifiableList(row));
                }
            }
            return Collections.unmodifiableList(rows);
        } catch (SQLException e) {
            throw failed(sql, e);
        }
    }

    @FunctionalInterface
    interface Work<T extends @Nullable Object> {
        T in(Connection connection) throws SQLException;
    }

    <T extends @Nullable Object> T inSession(Work<T> work) {
        turn.lock();
        try {
            Connection open = session;
            if (open == null || open.isClosed()) {
                open = pinned();
                session = open;
            }
            return work.in(open);
        } catch (SQLException e) {
            throw failed("a session of " + name, e);
        } finally {
            turn.unlock();
        }
    }

    private void closeSession() {
        try {
            if (session != null) {
                session.close();
                session = null;
            }
        } catch (SQLException e) {
            throw failed("close", e);
        }
    }

    private Connection pinned() throws SQLException {
        Properties properties = new Properties();
        // Values in binary would be printed by the driver, in its own way.
        properties.setProperty("binaryTransfer", "false");
        Connection connection = connect(PostgresServer.SUPERUSER, properties);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET TimeZone = 'UTC'; SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres';"
                    + " SET extra_float_digits = 1; SET bytea_output = 'hex'; SET xmlbinary = 'base64'");
        }
        return connection;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
