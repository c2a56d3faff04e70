package sluice.core.expression;

/// PostgreSQL would raise an error here: a bad cast, a division by zero. Carries the SQLSTATE, never a value.
public final class EvaluationException extends RuntimeException {
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
