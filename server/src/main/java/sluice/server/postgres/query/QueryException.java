package sluice.server.postgres.query;

import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// PostgreSQL did not answer. The message holds a phrase and the SQLSTATE, never what the server said about values.
public final class QueryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Kind kind;
    private final String sqlState;

    /// Whether asking again may help.
    public enum Kind {
        /// Network, resources, shutdown, timeouts, and whatever is not known.
        TRANSIENT,
        /// The question or the rights are wrong: the same answer would come again.
        DEFINITE
    }

    private QueryException(Kind kind, String sqlState, String message) {
        super(message);
        this.kind = kind;
        this.sqlState = sqlState;
    }

    /// What an exception of the driver means. Its own text is dropped, since it may quote values.
    static QueryException of(String question, SQLException failure) {
        String state = stateOf(failure);
        return new QueryException(kindOf(state), state, question + " failed with SQLSTATE " + state);
    }

    /// The same for questions about names only, where the server's own text helps and quotes no value.
    static QueryException ofCatalog(String question, SQLException failure) {
        String state = stateOf(failure);
        String detail = rootOf(failure).getMessage();
        return new QueryException(kindOf(state), state, question + " failed with SQLSTATE " + state + ": " + detail);
    }

    /// The connection could not be made. The server's reason names users and databases, never a password.
    static QueryException connecting(SQLException failure) {
        String state = stateOf(failure);
        Throwable reason = rootOf(failure);
        boolean plain = state.startsWith("28") || state.startsWith("3D") || state.startsWith("08");
        String detail = plain && reason.getMessage() != null ? ": " + reason.getMessage() : "";
        return new QueryException(
                kindOf(state), state, "connecting to the database failed with SQLSTATE " + state + detail);
    }

    static QueryException definite(String message) {
        return new QueryException(Kind.DEFINITE, "", message);
    }

    static QueryException transientFailure(String message) {
        return new QueryException(Kind.TRANSIENT, "", message);
    }

    static QueryException outOfTime(String question, Duration timeout) {
        return new QueryException(
                Kind.TRANSIENT, "57014", question + " took longer than " + timeout.toMillis() + " ms");
    }

    /// Classes 22 (data), 23, 28 (login), 2F, 38, 39, 3D, 3F, 42 (syntax and rights) and 0A are
    /// definite; unknown means
    /// transient.
    static Kind kindOf(String sqlState) {
        if (sqlState.length() != 5) {
            return Kind.TRANSIENT;
        }
        return switch (sqlState.substring(0, 2)) {
            case "0A", "22", "23", "28", "2F", "38", "39", "3D", "3F", "42" -> Kind.DEFINITE;
            default -> Kind.TRANSIENT;
        };
    }

    /// The innermost SQLSTATE, `XX000` when there is none.
    static String stateOf(SQLException failure) {
        String state = "XX000";
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                state = sql.getSQLState();
            }
        }
        return state;
    }

    private static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        for (Throwable cause = failure.getCause(); cause instanceof SQLException; cause = cause.getCause()) {
            root = cause;
        }
        return root;
    }

    public Kind kind() {
        return kind;
    }

    /// Five characters, or empty where no server was involved.
    public String sqlState() {
        return sqlState;
    }

    static boolean isTimeout(@Nullable String sqlState) {
        return "57014".equals(sqlState) || "55P03".equals(sqlState);
    }
}
