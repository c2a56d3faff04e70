package sluice.core.datum;

/// Nothing can be said here about what PostgreSQL would have answered, not even that it would have answered: a value
/// that may make it raise is not known, or is one this server does not compute exactly.
///
/// Unlike UNDECIDABLE as an answer it stops the evaluation, because PostgreSQL's error would have.
public final class UndecidableException extends EvaluationException {
    private static final long serialVersionUID = 1L;

    /// SQLSTATE of "feature not supported"; PostgreSQL did not raise it.
    private static final String NOT_SUPPORTED = "0A000";

    public UndecidableException() {
        super(NOT_SUPPORTED);
    }
}
