package sluice.core.error;

import org.jspecify.annotations.Nullable;

/// The caller's mistake, or a refusal the caller is told about.
///
/// The message is one short fact: lower case, identifiers quoted, no full stop. It never holds a token, a claim or a
/// row value.
public final class RequestException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;
    private final @Nullable Long retryAfterMillis;

    public RequestException(ErrorCode code, String message) {
        this(code, message, null);
    }

    /// @param retryAfterMillis when the same request may be made again, null when it makes no difference
    public RequestException(ErrorCode code, String message, @Nullable Long retryAfterMillis) {
        super(message, null, false, false);
        this.code = code;
        this.retryAfterMillis = retryAfterMillis;
    }

    public @Nullable Long retryAfterMillis() {
        return retryAfterMillis;
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
