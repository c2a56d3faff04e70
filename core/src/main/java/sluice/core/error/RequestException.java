package sluice.core.error;

/// The caller's mistake, or a refusal the caller is told about.
///
/// The message is one short fact: lower case, identifiers quoted, no full stop. It never holds a token, a claim or a
/// row value.
public final class RequestException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    public RequestException(ErrorCode code, String message) {
        super(message, null, false, false);
        this.code = code;
    }

    public ErrorCode code() {
        return code;
    }

    /// @return the message, never null
    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
