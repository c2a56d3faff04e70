package sluice.core.error;

/// Every error a client can meet, with its wire name, the HTTP status it has where it answers a request, and whether
/// the same request may succeed later. Documented one by one in docs/errors.md.
public enum ErrorCode {
    UNAUTHORIZED("unauthorized", 401, Retry.NEVER),
    BAD_REQUEST("bad_request", 400, Retry.NEVER),
    FORBIDDEN("forbidden", 403, Retry.NEVER),
    NOT_FOUND("not_found", 404, Retry.NEVER),
    UNKNOWN_STREAM("unknown_stream", 404, Retry.NEVER),
    STREAM_CLOSED("stream_closed", 404, Retry.NEVER),
    STREAM_ID_MISMATCH("stream_id_mismatch", 400, Retry.NEVER),
    SUBJECT_MISMATCH("subject_mismatch", 403, Retry.NEVER),
    RATE_LIMITED("rate_limited", 429, Retry.LATER),
    JWKS_REFRESH_FAILED("jwks_refresh_failed", 502, Retry.LATER),
    NOT_REPLICATING("not_replicating", 503, Retry.LATER),
    SERVER_SHUTDOWN("server_shutdown", 503, Retry.LATER),
    TOO_MANY_STREAMS("too_many_streams", 503, Retry.LATER),
    SHAPE_NOT_AUTHORIZED("shape_not_authorized", 403, Retry.NEVER),
    COLUMN_NOT_GRANTED("column_not_granted", 403, Retry.NEVER),
    POLICY_REQUIRES_IMPERSONATION("policy_requires_impersonation", 403, Retry.NEVER),
    RELATION_NOT_PUBLISHED("relation_not_published", 400, Retry.NEVER),
    RELATION_UNPUBLISHED("relation_unpublished", 400, Retry.NEVER),
    INVALID_FILTER("invalid_filter", 400, Retry.NEVER),
    INVALID_COLUMNS("invalid_columns", 400, Retry.NEVER),
    INVALID_OPS("invalid_ops", 400, Retry.NEVER),
    INVALID_SUBSCRIPTION("invalid_subscription", 400, Retry.NEVER),
    DUPLICATE_SUB("duplicate_sub", 400, Retry.NEVER),
    TOO_MANY_SUBSCRIPTIONS("too_many_subscriptions", 400, Retry.NEVER),
    TOO_MANY_SHAPES("too_many_shapes", 400, Retry.NEVER),
    TOO_MANY_UNINDEXED_SHAPES("too_many_unindexed_shapes", 503, Retry.LATER),
    UNKNOWN_NAMESPACE("unknown_namespace", 400, Retry.NEVER),
    CHANNEL_NOT_AUTHORIZED("channel_not_authorized", 403, Retry.NEVER),
    CHANNEL_HOOK_UNAVAILABLE("channel_hook_unavailable", 503, Retry.LATER),
    CHANNEL_NOT_SUBSCRIBED("channel_not_subscribed", 403, Retry.NEVER),
    PAYLOAD_TOO_LARGE("payload_too_large", 413, Retry.NEVER),
    PRESENCE_KEY_NOT_ALLOWED("presence_key_not_allowed", 403, Retry.NEVER),
    PRESENCE_TOO_MANY_KEYS("presence_too_many_keys", 429, Retry.LATER),
    REPLICA_IDENTITY_INSUFFICIENT("replica_identity_insufficient", 400, Retry.NEVER),
    CATALOG_UNAVAILABLE("catalog_unavailable", 503, Retry.LATER),
    SCHEMA_CHANGED("schema_changed", 409, Retry.LATER),
    RIGHTS_CHANGED("rights_changed", 409, Retry.LATER),
    SNAPSHOT_FAILED("snapshot_failed", 503, Retry.LATER),
    STREAM_LAGGING("stream_lagging", 503, Retry.LATER),
    TOKEN_EXPIRED("token_expired", 401, Retry.NEVER),
    SESSION_REVOKED("session_revoked", 401, Retry.NEVER),
    USER_BANNED("user_banned", 401, Retry.NEVER),
    SESSION_CHECK_UNAVAILABLE("session_check_unavailable", 503, Retry.LATER),
    HISTORY_LOST("history_lost", 503, Retry.LATER),
    INVALID_RESUME("invalid_resume", 400, Retry.NEVER),
    RESUME_TOO_OLD("resume_too_old", 409, Retry.LATER),
    INTERNAL("internal", 500, Retry.LATER);

    /// Whether the same request may succeed later without a change on the client's side.
    public enum Retry {
        NEVER,
        LATER
    }

    private final String wireName;
    private final int httpStatus;
    private final Retry retry;

    ErrorCode(String wireName, int httpStatus, Retry retry) {
        this.wireName = wireName;
        this.httpStatus = httpStatus;
        this.retry = retry;
    }

    public String wireName() {
        return wireName;
    }

    public int httpStatus() {
        return httpStatus;
    }

    public boolean retryable() {
        return retry == Retry.LATER;
    }
}
