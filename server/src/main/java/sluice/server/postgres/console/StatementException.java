package sluice.server.postgres.console;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/// PostgreSQL refused a statement, or could not be reached. The message is its own and may name values.
public final class StatementException extends Exception {
    private final String state;
    private final String detail;
    private final String hint;

    StatementException(SQLException cause) {
        super(message(cause), cause);
        ServerErrorMessage server = server(cause);
        this.state = cause.getSQLState() == null ? "" : cause.getSQLState();
        this.detail = server == null || server.getDetail() == null ? "" : server.getDetail();
        this.hint = server == null || server.getHint() == null ? "" : server.getHint();
    }

    private static @Nullable ServerErrorMessage server(SQLException cause) {
        return cause instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
    }

    private static String message(SQLException cause) {
        ServerErrorMessage server = server(cause);
        String message = server == null ? cause.getMessage() : server.getMessage();
        return message == null ? "unknown failure" : message;
    }

    /// The SQLSTATE, empty when there is none.
    public String state() {
        return state;
    }

    /// Empty when PostgreSQL gave none.
    public String detail() {
        return detail;
    }

    /// Empty when PostgreSQL gave none.
    public String hint() {
        return hint;
    }
}
