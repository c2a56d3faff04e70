package sluice.server.config;

import org.jspecify.annotations.Nullable;

/// Every variable the server knows, in the order the reference lists them. The documentation, the environment
/// template and the reader are all made from this list.
public enum Setting {
    LISTEN_ADDR(Topic.HTTP, Kind.ADDRESS, "0.0.0.0:4000", "where the HTTP listener binds; port 0 takes any free port"),
    PATH_PREFIX(Topic.HTTP, Kind.TEXT, "/sluice/v1", "path in front of every endpoint; `/` for none"),
    REQUEST_ID_HEADER(
            Topic.HTTP,
            Kind.TEXT,
            "X-Request-ID",
            "header a request's id is read from, logged as `request_id`; not `Authorization`, `Proxy-Authorization` or"
                    + " `Cookie`"),
    SHUTDOWN_GRACE(Topic.HTTP, Kind.DURATION, "15s", "how long requests in flight may take when the process stops"),
    RECONNECT_SPREAD(
            Topic.HTTP,
            Kind.DURATION,
            "10s",
            "window the `retry_after_ms` of `server_shutdown` is drawn from; `0` sends none"),
    LOG_LEVEL(Topic.LOG, Kind.of("debug", "info", "warn", "error"), "info", "least level that is logged"),
    LOG_FORMAT(Topic.LOG, Kind.of("json", "text"), "json", "form of a log line"),
    NODE_ID(Topic.LOG, Kind.TEXT, null, "prefix of stream ids; the host's name when unset"),

    DB_REPL_URL(
            Topic.DATABASE,
            Kind.SECRET,
            null,
            Availability.REQUIRED,
            "URL of the replication connection; must say `replication=database`"),
    DB_AUTHZ_URL(
            Topic.DATABASE,
            Kind.SECRET,
            null,
            Availability.REQUIRED,
            "URL of the pool, which asks the catalog and probes policies; must not say `replication`"),
    DB_POOL_MAX_CONNS(
            Topic.DATABASE,
            Kind.COUNT,
            "8",
            "most connections besides the replication connection and those of snapshots, at least 5: one each is"
                    + " reserved for the reader lock, catalog reloads (two) and the rights poll"),
    DB_POOL_MIN_CONNS(Topic.DATABASE, Kind.COUNT, "2", "connections kept open when idle"),
    PARANOID_POOL_RESET(
            Topic.DATABASE,
            Kind.FLAG,
            "false",
            "`DISCARD ALL` on every returned connection, besides the rollback it always gets"),

    SLOT_NAME(Topic.REPLICATION, Kind.TEXT, "sluice", "the replication slot, created when it is missing"),
    PUBLICATION(Topic.REPLICATION, Kind.TEXT, "sluice", "the publication, which must exist"),
    SLOT_RECREATE(Topic.REPLICATION, Kind.FLAG, "false", "replace an invalidated slot at start instead of stopping"),
    PROTO_VERSION(
            Topic.REPLICATION, Kind.COUNT, null, "protocol version, 1 to 4; the highest the database has when unset"),
    MESSAGES(Topic.REPLICATION, Kind.FLAG, "true", "receive `pg_logical_emit_message`"),
    MESSAGE_PREFIX(
            Topic.REPLICATION,
            Kind.TEXT,
            "sluice:",
            "prefix of the messages meant for clients, what follows it is the channel; not empty"),
    STATUS_INTERVAL(Topic.REPLICATION, Kind.DURATION, "10s", "how often the slot is acknowledged at least"),
    TRANSACTION_IMAGES(
            Topic.REPLICATION,
            Kind.of("net", "all"),
            "net",
            "`all` gives roles that bypass row-level security every image of a row changed several times in one"
                    + " transaction"),
    TRANSACTION_MEMORY(
            Topic.REPLICATION, Kind.SIZE, "64MiB", "bytes of one transaction kept in memory before it goes to a file"),
    SPILL_DIR(
            Topic.REPLICATION,
            Kind.TEXT,
            null,
            "folder for transactions too large for memory, emptied at start; a folder named after the slot under the"
                    + " system's temporary folder when unset"),
    SPILL_MAX_BYTES(
            Topic.REPLICATION,
            Kind.SIZE,
            "8GiB",
            "most bytes the spill folder may hold; a quarter of it for commits kept for"
                    + " streams that are behind, an eighth for snapshots that wait for their clients"),

    JWKS_URL(Topic.TOKENS, Kind.TEXT, null, Availability.REQUIRED, "where the keys that sign tokens are published"),
    JWKS_REFRESH(Topic.TOKENS, Kind.DURATION, "5m", "how often the keys are fetched again"),
    JWT_ALG(Topic.TOKENS, Kind.of("ES256", "RS256"), "ES256", "the one algorithm accepted"),
    JWT_ISSUER(Topic.TOKENS, Kind.TEXT, "", "required `iss`; not checked when empty"),
    JWT_AUDIENCE(Topic.TOKENS, Kind.TEXT, "authenticated", "required `aud` of a token that has a `sub`"),
    JWT_LEEWAY(Topic.TOKENS, Kind.DURATION, "10s", "clock difference allowed for `exp` and `nbf`"),
    ALLOWED_ROLES(
            Topic.TOKENS,
            Kind.TEXT,
            "anon,authenticated,service_role",
            "database roles a token may name, comma-separated"),
    JWT_REQUIRE_ROLE(
            Topic.TOKENS, Kind.FLAG, "true", "`false` needs an issuer to decide about shapes, so it is refused"),
    JWT_SESSION_CLAIM(Topic.TOKENS, Kind.TEXT, "session_id", "claim that holds the session row's `id`"),

    SHAPE_ORACLE(Topic.RIGHTS, Kind.of("rls", "issuer"), "rls", Availability.LATER, "who decides about shapes"),
    ISSUER_URL(Topic.RIGHTS, Kind.TEXT, "", Availability.LATER, "the issuer that decides about shapes"),
    ISSUER_BEARER(Topic.RIGHTS, Kind.SECRET, "", Availability.LATER, "credential the issuer expects"),
    ISSUER_TIMEOUT(Topic.RIGHTS, Kind.DURATION, "2s", Availability.LATER, "how long one call to the issuer may take"),
    ISSUER_IDLE_TIMEOUT(
            Topic.RIGHTS, Kind.DURATION, "4s", Availability.LATER, "how long an idle connection to it stays open"),
    AUTHZ_LEASE(
            Topic.RIGHTS,
            Kind.DURATION,
            "60s",
            "how long it is believed that the time alone has taken no shape's rows away"),
    CATALOG_REFRESH(Topic.RIGHTS, Kind.DURATION, "30s", "how often the whole catalog is read again"),
    RELOAD_TIMEOUT(Topic.RIGHTS, Kind.DURATION, "2s", "how long a changed table may hold the line for its catalog"),
    RIGHTS_POLL(Topic.RIGHTS, Kind.DURATION, "1s", "how often rights that bring no log message are compared"),
    STAMP_WAIT(Topic.RIGHTS, Kind.DURATION, "10s", "how long to ask again for an answer that already sees the commit"),
    TIER_C(Topic.RIGHTS, Kind.of("allow", "deny"), "allow", "`deny` refuses rules that need one query per change"),
    TIER_C_MAX_PROBES_PER_SECOND(Topic.RIGHTS, Kind.COUNT, "2000", "most such queries per second of this process"),
    TIER_C_TIMEOUT(Topic.RIGHTS, Kind.DURATION, "1s", "how long one such query may take"),
    TIER_B_VERIFY(
            Topic.RIGHTS,
            Kind.COUNT,
            "5",
            "first in-process decisions per rule that PostgreSQL is asked to confirm; 0 asks for none at all"),
    TIER_B_SAMPLE(Topic.RIGHTS, Kind.COUNT, "1000", "after these it confirms one in so many; 0 asks for none"),
    UNINDEXED_SHAPES_MAX(Topic.RIGHTS, Kind.COUNT, "200", "most shapes of this process that no `eq` term can route"),
    REPLICA_IDENTITY(
            Topic.RIGHTS,
            Kind.of("warn", "strict"),
            "warn",
            "`strict` refuses shapes whose filter needs old columns the identity does not carry"),
    DEGRADED_DELETES(
            Topic.RIGHTS,
            Kind.of("withhold", "deliver"),
            "withhold",
            "`deliver` sends a delete that cannot be decided to everybody whom it may concern, with its key only: also"
                    + " to those who never saw the row"),

    HEARTBEAT(Topic.STREAMS, Kind.DURATION, "20s", "how often a comment is written to a quiet stream; at least 5s"),
    STREAM_QUEUE(Topic.STREAMS, Kind.COUNT, "256", "most events queued per stream"),
    STREAM_QUEUE_BYTES(
            Topic.STREAMS, Kind.SIZE, "4MiB", "most bytes queued per stream; more than SLUICE_MAX_CHANGE_BYTES"),
    WRITE_TIMEOUT(Topic.STREAMS, Kind.DURATION, "10s", "how long one write to a client may take"),
    MAX_STREAMS(Topic.STREAMS, Kind.COUNT, "0", "most streams of this process; `0` sets no limit"),
    MAX_SUBS_PER_STREAM(Topic.STREAMS, Kind.COUNT, "100", "most subscriptions of one stream"),
    MAX_SHAPES_PER_STREAM(Topic.STREAMS, Kind.COUNT, "20", "most shapes of one stream"),
    MAX_CHANGE_BYTES(Topic.STREAMS, Kind.SIZE, "1048576", "larger changes are trimmed to their key columns and say so"),
    ADMIT_MEMORY(
            Topic.STREAMS,
            Kind.SHARE,
            "0.5",
            "share of the heap, and of heap and direct memory together, that may be in use after a collection before"
                    + " new streams are refused; `0` never refuses"),
    SUBSCRIBE_RATE(
            Topic.STREAMS,
            Kind.COUNT,
            "20",
            "most subscriptions a stream may ask for per second once it is open, however many a request has; `0` sets"
                    + " no limit"),
    RING_MAX_AGE(
            Topic.STREAMS,
            Kind.DURATION,
            "30s",
            "how long the resume buffer keeps changes; `0` keeps them until its memory is full"),
    RING_MEMORY(
            Topic.STREAMS, Kind.SHARE, "0.1", "share of the JVM's heap the resume buffer may take; `0` turns it off"),
    SNAPSHOT_ENABLED(
            Topic.STREAMS,
            Kind.FLAG,
            "true",
            "serve initial snapshots; without them a subscription that asks for one is warned (`snapshot_disabled`)"),
    SNAPSHOT_MAX_CONCURRENT(
            Topic.STREAMS,
            Kind.COUNT,
            "4",
            "most snapshots read at once, each on a connection of its own besides SLUICE_DB_POOL_MAX_CONNS"),
    SNAPSHOT_MAX_ROWS(Topic.STREAMS, Kind.COUNT, "50000", "most rows of one snapshot; one with more is `truncated`"),
    SNAPSHOT_TIMEOUT(
            Topic.STREAMS,
            Kind.DURATION,
            "30s",
            "how long reading one snapshot may take; a lock on the table is waited for 2s of it at most"),

    MAX_PAYLOAD_BYTES(
            Topic.CHANNELS,
            Kind.SIZE,
            "262144",
            "largest published payload; at most 1044480, and less than SLUICE_STREAM_QUEUE_BYTES"),
    PUBLISH_RATE(Topic.CHANNELS, Kind.COUNT, "100", "broadcasts per second per stream; `0` sets no limit"),
    PRESENCE_RATE(Topic.CHANNELS, Kind.COUNT, "5", "presence requests per window per stream; `0` sets no limit"),
    PRESENCE_WINDOW(Topic.CHANNELS, Kind.DURATION, "30s", "the window of that rate"),
    PRESENCE_BROADCAST(
            Topic.CHANNELS, Kind.DURATION, "1500ms", "how long changes of presence are collected before they are sent"),
    PRESENCE_MAX_KEYS(
            Topic.CHANNELS,
            Kind.COUNT,
            "10",
            "most keys present in one channel; SLUICE_STREAM_QUEUE_BYTES must hold 4608 bytes for each"),
    CHANNELS(
            Topic.CHANNELS,
            Kind.TEXT,
            "room:public",
            "namespaces, comma-separated, each `name:public`, `name:owner` or `name:hook:https://...`; a channel of any"
                    + " other namespace is refused"),
    CHANNEL_HOOK_TTL(
            Topic.CHANNELS,
            Kind.DURATION,
            "60s",
            "how long a hook's verdict holds that does not say so itself; `0` asks again at every refresh of the"
                    + " catalog"),
    CHANNEL_HOOK_TIMEOUT(Topic.CHANNELS, Kind.DURATION, "2s", "how long one call to a hook may take"),
    CHANNEL_HOOK_BEARER(Topic.CHANNELS, Kind.SECRET, "", "credential the hooks expect; sent only when set"),

    REVOCATION_ENABLED(
            Topic.REVOCATION,
            Kind.FLAG,
            "false",
            "close the streams of sessions that are deleted and users that are banned"),
    REVOCATION_SESSIONS_TABLE(
            Topic.REVOCATION,
            Kind.TEXT,
            "auth.sessions",
            "`schema.table` whose row with the `id` of the token's session is deleted when the session ends"),
    REVOCATION_USERS_TABLE(
            Topic.REVOCATION,
            Kind.TEXT,
            "",
            "`schema.table` that says, in the row with the `id` of the token's `sub`, until when a user is banned;"
                    + " nobody is banned when empty"),
    REVOCATION_USERS_BAN_COLUMN(
            Topic.REVOCATION, Kind.TEXT, "banned_until", "its column with the end of the ban, a `timestamptz`"),
    REVOCATION_SESSION_LOOKUP(
            Topic.REVOCATION,
            Kind.FLAG,
            "false",
            "also look the session's row up on `/stream` and `/token`, and its user's ban where the pool role may read"
                    + " it; needs SLUICE_REVOCATION_ENABLED"),

    METRICS_ENABLED(Topic.OPERATION, Kind.FLAG, "true", "serve `/metrics`"),
    DIAGNOSTICS_ENABLED(Topic.OPERATION, Kind.FLAG, "true", "serve `/diagnostics`"),
    LAG_DEGRADED(
            Topic.OPERATION,
            Kind.DURATION,
            "5s",
            "reader lag at which `/readyz` says `reader_lag` and streams get a `delay` event, until it falls below half"
                    + " of it; `0` never does"),
    READY_MAX_LAG(
            Topic.OPERATION,
            Kind.DURATION,
            null,
            "reader lag at which `/readyz` turns 503; for more than one server behind a balancer"),
    JAVA_OPTIONS(Topic.OPERATION, Kind.TEXT, "", "options for the Java process, read by the launcher only");

    /// What every variable begins with.
    public static final String PREFIX = "SLUICE_";

    private final Topic topic;

    @SuppressWarnings("ImmutableEnumChecker") // a record over an unmodifiable list of words
    private final Kind kind;

    private final @Nullable String standard;
    private final Availability availability;
    private final String meaning;

    Setting(Topic topic, Kind kind, @Nullable String standard, String meaning) {
        this(topic, kind, standard, Availability.NOW, meaning);
    }

    Setting(Topic topic, Kind kind, @Nullable String standard, Availability availability, String meaning) {
        this.topic = topic;
        this.kind = kind;
        this.standard = standard;
        this.availability = availability;
        this.meaning = meaning;
    }

    /// Whether the server does something with the value.
    public enum Availability {
        REQUIRED,
        NOW,
        /// Accepted only where it says what the server does anyway.
        LATER
    }

    /// The chapter of the reference.
    public enum Topic {
        HTTP("HTTP"),
        LOG("Logs and names"),
        DATABASE("Database connections"),
        REPLICATION("Replication"),
        TOKENS("Tokens"),
        RIGHTS("Authorization and catalog"),
        STREAMS("Streams"),
        CHANNELS("Channels and presence"),
        REVOCATION("Session revocation"),
        OPERATION("Operating");

        private final String title;

        Topic(String title) {
            this.title = title;
        }

        public String title() {
            return title;
        }
    }

    /// The variable's name in the environment.
    public String variable() {
        return PREFIX + name();
    }

    public Topic topic() {
        return topic;
    }

    public Kind kind() {
        return kind;
    }

    /// The value when unset; null when it is worked out or must be given.
    public @Nullable String standard() {
        return standard;
    }

    public Availability availability() {
        return availability;
    }

    public String meaning() {
        return meaning;
    }
}
