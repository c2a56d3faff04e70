package sluice.core.session;

/// Why a caller whose token is good may not come in.
public enum Refusal {
    SESSION_REVOKED("the token's session has ended"),
    USER_BANNED("the user is banned"),
    /// The session's id cannot be an id of the sessions table, or is not known to be one.
    SESSION_UNREADABLE("the token's session cannot be one of this server's"),
    /// It is not known which user the token's subject is.
    USER_UNREADABLE("the token's subject is not written as an id of this server's users"),
    /// So many sessions have ended since the token was issued that not every one is remembered.
    ISSUED_TOO_EARLY("the token was issued too long ago; ask for a new one"),
    /// The log does not bring what ends sessions, so whether this one did cannot be told.
    UNSEEN("this server does not learn which sessions end; try again later");

    private final String message;

    Refusal(String message) {
        this.message = message;
    }

    /// One short fact for the client.
    public String message() {
        return message;
    }
}
