package sluice.server.postgres.console;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.NativeQuery;
import org.postgresql.core.Parser;

/// One connection on which statements run one after the other. One thread at a time.
public final class Console implements AutoCloseable {
    /// Enough for a person to read; a larger result is cut by the caller's LIMIT or refused here.
    private static final int ROWS_MAX = 10_000;

    private static final int TIMEOUT_SECONDS = 30;

    private final Connection connection;

    private Console(Connection connection) {
        this.connection = connection;
    }

    /// Where to connect, and as whom.
    public record Target(String host, int port, String database, String user, String password) {
        /// The password is never printed.
        @Override
        public String toString() {
            return "Target[" + host + ":" + port + "/" + database + " as " + user + "]";
        }
    }

    public static Console connect(Target target) throws StatementException {
        Properties properties = new Properties();
        properties.setProperty("user", target.user());
        properties.setProperty("password", target.password());
        properties.setProperty("connectTimeout", "5");
        properties.setProperty("ApplicationName", "sluice demo");
        String url = "jdbc:postgresql://" + target.host() + ":" + target.port() + "/" + target.database();
        try {
            return new Console(DriverManager.getConnection(url, properties));
        } catch (SQLException e) {
            throw new StatementException(e);
        }
    }

    /// Runs each statement of the text.
    ///
    /// As a caller all of them are one transaction under `SET LOCAL ROLE`; as the owner each is its own.
    ///
    /// @throws StatementException at the first refusal; a caller's earlier statements are then undone
    public List<StatementResult> run(Actor actor, String sql) throws StatementException {
        try {
            List<NativeQuery> queries = Parser.parseJdbcSql(sql, true, false, true, false, false);
            return switch (actor) {
                case Actor.Owner() -> {
                    connection.setAutoCommit(true);
                    yield execute(queries);
                }
                case Actor.Caller caller -> asCaller(caller, () -> execute(queries));
            };
        } catch (SQLException e) {
            throw new StatementException(e);
        }
    }

    /// Runs one statement with `?` parameters, all given as text and cast in the statement.
    public StatementResult run(Actor actor, String sql, List<String> parameters) throws StatementException {
        try {
            return switch (actor) {
                case Actor.Owner() -> {
                    connection.setAutoCommit(true);
                    yield prepared(sql, parameters);
                }
                case Actor.Caller caller -> asCaller(caller, () -> prepared(sql, parameters));
            };
        } catch (SQLException e) {
            throw new StatementException(e);
        }
    }

    /// Runs a script in one transaction as the owner: all of it or nothing.
    public void script(String sql) throws StatementException {
        try {
            inTransaction(() -> {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(sql);
                }
                return List.of();
            });
        } catch (SQLException e) {
            throw new StatementException(e);
        }
    }

    private interface Work<T> {
        T run() throws SQLException;
    }

    private <T> T asCaller(Actor.Caller caller, Work<T> work) throws SQLException {
        return inTransaction(() -> {
            try (PreparedStatement claims = connection.prepareStatement(
                    "SELECT set_config('request.jwt.claims', ?, true), set_config('role', ?, true)")) {
                claims.setString(1, caller.claims());
                claims.setString(2, caller.role());
                claims.execute();
            }
            return work.run();
        });
    }

    private <T> T inTransaction(Work<T> work) throws SQLException {
        connection.setAutoCommit(false);
        try {
            T result = work.run();
            connection.commit();
            return result;
        } catch (SQLException e) {
            connection.rollback();
            throw e;
        }
    }

    private List<StatementResult> execute(List<NativeQuery> queries) throws SQLException {
        List<StatementResult> results = new ArrayList<>();
        for (NativeQuery query : queries) {
            if (query.nativeSql.isBlank()) {
                continue;
            }
            try (Statement statement = connection.createStatement()) {
                // What it was given is not the caller's JDBC escapes but SQL.
                statement.setEscapeProcessing(false);
                statement.setQueryTimeout(TIMEOUT_SECONDS);
                statement.setMaxRows(ROWS_MAX);
                results.add(result(query.nativeSql, statement, statement.execute(query.nativeSql)));
            }
        }
        return results;
    }

    private StatementResult prepared(String sql, List<String> parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(TIMEOUT_SECONDS);
            statement.setMaxRows(ROWS_MAX);
            for (int i = 0; i < parameters.size(); i++) {
                statement.setString(i + 1, parameters.get(i));
            }
            return result(sql, statement, statement.execute());
        }
    }

    private static StatementResult result(String sql, Statement statement, boolean hasRows) throws SQLException {
        if (!hasRows) {
            return new StatementResult(tag(sql, statement.getUpdateCount()), List.of(), List.of());
        }
        List<String> columns = new ArrayList<>();
        List<List<@Nullable String>> rows = new ArrayList<>();
        try (ResultSet result = statement.getResultSet()) {
            ResultSetMetaData description = result.getMetaData();
            for (int i = 1; i <= description.getColumnCount(); i++) {
                columns.add(description.getColumnLabel(i));
            }
            while (result.next()) {
                List<@Nullable String> row = new ArrayList<>();
                for (int i = 1; i <= columns.size(); i++) {
                    row.add(result.getString(i));
                }
                rows.add(row);
            }
        }
        return new StatementResult(tag(sql, rows.size()), columns, rows);
    }

    /// The driver keeps PostgreSQL's own tag to itself.
    private static String tag(String sql, long rows) {
        String[] words = sql.strip().toUpperCase(Locale.ROOT).split("[\\s(;]+", 3);
        String verb = words[0];
        return switch (verb) {
            case "INSERT" -> "INSERT 0 " + rows;
            case "SELECT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE" -> verb + " " + rows;
            case "CREATE", "ALTER", "DROP" -> words.length > 1 ? verb + " " + words[1] : verb;
            default -> verb;
        };
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            // Nothing is lost: every statement was committed or undone before.
        }
    }
}
