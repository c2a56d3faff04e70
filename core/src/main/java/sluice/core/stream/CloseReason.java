package sluice.core.stream;

/// Why the server ended a stream, or noticed its end.
public enum CloseReason {
    /// The client hung up.
    CLIENT_CLOSED("client_closed"),
    /// A commit did not fit in the stream's queue.
    STREAM_LAGGING("stream_lagging"),
    /// A write did not finish within `SLUICE_WRITE_TIMEOUT`, or failed.
    WRITE_FAILED("write_failed"),
    TOKEN_EXPIRED("token_expired"),
    /// The session the token names has ended.
    SESSION_REVOKED("session_revoked"),
    USER_BANNED("user_banned"),
    /// The log no longer brings what ends sessions.
    SESSION_CHECK_UNAVAILABLE("session_check_unavailable"),
    /// PostgreSQL was failed over to a server that lacks commits which had been delivered.
    HISTORY_LOST("history_lost"),
    SERVER_SHUTDOWN("server_shutdown");

    private final String wireName;

    CloseReason(String wireName) {
        this.wireName = wireName;
    }

    /// As in logs, metrics and, where the client is told, its `error` event.
    public String wireName() {
        return wireName;
    }
}
