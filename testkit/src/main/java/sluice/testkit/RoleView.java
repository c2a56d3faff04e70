package sluice.testkit;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A database as one role with one set of claims sees it. Each query runs in a transaction with `SET LOCAL ROLE` and
/// `request.jwt.claims`; nothing of it stays.
public final class RoleView {
    private final PostgresDatabase database;
    private final String role;
    private final @Nullable String claimsJson;

    RoleView(PostgresDatabase database, String role, @Nullable String claimsJson) {
        this.database = database;
        this.role = role;
        this.claimsJson = claimsJson;
    }

    /// @throws IllegalStateException when PostgreSQL refuses; its message starts with the SQLSTATE
    public List<List<@Nullable String>> rows(String sql, @Nullable Object... parameters) {
        return run(sql, parameters, "ROLLBACK");
    }

    /// Runs one statement and keeps what it did.
    public void execute(String sql, @Nullable Object... parameters) {
        run(sql, parameters, "COMMIT");
    }

    private List<List<@Nullable String>> run(String sql, @Nullable Object[] parameters, String end) {
        return database.inSession(connection -> {
            command(connection, "BEGIN");
            try {
                command(connection, "SET LOCAL ROLE " + PostgresDatabase.quoted(role));
                PostgresDatabase.query(
                        connection,
                        "SELECT set_config('request.jwt.claims', ?, true)",
                        claimsJson == null ? "" : claimsJson);
                List<List<@Nullable String>> rows = PostgresDatabase.query(connection, sql, parameters);
                command(connection, end);
                return rows;
            } catch (IllegalStateException e) {
                command(connection, "ROLLBACK");
                throw e;
            }
        });
    }

    private static void command(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw PostgresDatabase.failed(sql, e);
        }
    }
}
