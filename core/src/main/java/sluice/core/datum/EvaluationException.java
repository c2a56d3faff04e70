package sluice.core.datum;

/// PostgreSQL would have raised an error here, with this SQLSTATE.
///
/// Without a message: what is wrong is a value, and values are never printed.
public sealed class EvaluationException extends RuntimeException permits UndecidableException {
    private static final long serialVersionUID = 1L;

    private final String sqlState;

    public EvaluationException(String sqlState) {
        super(sqlState, null, false, false);
        this.sqlState = sqlState;
    }

    public String sqlState() {
        return sqlState;
    }
}
