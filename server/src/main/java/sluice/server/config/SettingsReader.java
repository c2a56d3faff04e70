package sluice.server.config;

import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.SlotName;
import sluice.server.postgres.PostgresUrl;

/// Turns an environment into {@link Settings}, or into the list of everything wrong with it.
///
/// A variable that is empty counts as unset, so that a template with empty lines works; only `SLUICE_MESSAGE_PREFIX`
/// refuses to be empty. Used once, on the starting thread.
public final class SettingsReader {
    private static final int NAME_BYTES_MAX = 63;
    /// Of a mebibyte, what the payload's envelope leaves.
    private static final int BODY_BYTES_MAX = (1 << 20) - 4096;

    private static final Duration HEARTBEAT_MIN = Duration.ofSeconds(5);

    private final Map<String, String> environment;
    private final Place place;
    private final Problems problems = new Problems();

    /// What the defaults of some settings are worked out from.
    ///
    /// @param hostName this machine
    /// @param temporaryDirectory where the system keeps temporary files
    public record Place(String hostName, Path temporaryDirectory) {
        /// This machine's own.
        public static Place here() {
            String name;
            try {
                name = InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException e) {
                name = "sluice";
            }
            return new Place(name, Path.of(System.getProperty("java.io.tmpdir", "/tmp")));
        }
    }

    public SettingsReader(Map<String, String> environment, Place place) {
        this.environment = environment;
        this.place = place;
    }

    /// The settings of this process.
    ///
    /// @throws SettingsException when any variable cannot be used
    public static Settings ofProcess() {
        return new SettingsReader(System.getenv(), Place.here()).read();
    }

    /// @throws SettingsException when any variable cannot be used
    public Settings read() {
        unknownVariables();
        laterSettings();
        tokensWithoutRole();
        Settings settings = new Settings(
                http(),
                log(),
                database(),
                replication(),
                tokens(),
                rights(),
                streams(),
                snapshots(),
                channels(),
                new RevocationReader(environment, problems).read(),
                operation());
        problems.throwIfAny();
        return settings;
    }

    private void unknownVariables() {
        for (String variable : environment.keySet().stream().sorted().toList()) {
            if (variable.startsWith(Setting.PREFIX) && Spelling.known(variable) == null) {
                String near = Spelling.nearest(variable);
                problems.add(
                        variable,
                        "is not a setting",
                        near == null ? "remove it" : "did you mean " + near + "? remove or rename it");
            }
        }
    }

    private void laterSettings() {
        for (Setting setting : Setting.values()) {
            String text = given(setting);
            if (setting.availability() != Setting.Availability.LATER || text == null) {
                continue;
            }
            Object value = parse(setting, text);
            String standard = setting.standard();
            boolean asDefault = standard != null
                    && !standard.isEmpty()
                    && setting.kind().parse(standard).equals(value);
            if (value != null && !asDefault) {
                problems.add(setting.variable(), "not supported yet", "remove it");
            }
        }
    }

    private void tokensWithoutRole() {
        if (!toggle(Setting.JWT_REQUIRE_ROLE).isOn()) {
            problems.add(
                    Setting.JWT_REQUIRE_ROLE.variable(),
                    "row-level security needs a role in every token",
                    "remove it, or set it to true");
        }
    }

    private Settings.Http http() {
        String prefix = text(Setting.PATH_PREFIX);
        if (!prefix.equals("/") && !prefix.matches("(/[A-Za-z0-9._~-]+)+")) {
            problems.add(Setting.PATH_PREFIX, "not a path", "write it like /sluice/v1, without a slash at the end");
        }
        String header = text(Setting.REQUEST_ID_HEADER);
        Set<String> secret = Set.of("authorization", "proxy-authorization", "cookie");
        if (!header.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}") || secret.contains(header.toLowerCase(Locale.ROOT))) {
            problems.add(
                    Setting.REQUEST_ID_HEADER,
                    "not a header that may hold an id",
                    "name another one; Authorization, Proxy-Authorization and Cookie hold secrets");
        }
        return new Settings.Http(
                (ListenAddress) required(Setting.LISTEN_ADDR),
                prefix.equals("/") ? "" : prefix,
                header,
                duration(Setting.SHUTDOWN_GRACE, Duration.ZERO),
                duration(Setting.RECONNECT_SPREAD, Duration.ZERO));
    }

    private Settings.Log log() {
        String node = given(Setting.NODE_ID);
        if (node != null && !node.matches("[A-Za-z0-9._-]{1,128}")) {
            problems.add(Setting.NODE_ID, "not a node id", "use letters, digits, dots, underscores and dashes");
        }
        String fallback = place.hostName().replaceAll("[^A-Za-z0-9._-]", "-");
        return new Settings.Log(
                choice(Setting.LOG_LEVEL, Settings.Log.Level.class),
                choice(Setting.LOG_FORMAT, Settings.Log.Format.class),
                node != null ? node : fallback.isEmpty() ? "sluice" : fallback);
    }

    private Settings.Database database() {
        PostgresUrl replication = url(Setting.DB_REPL_URL);
        PostgresUrl pool = url(Setting.DB_AUTHZ_URL);
        if (given(Setting.DB_REPL_URL) != null && !replication.isReplication() && replication != NOWHERE) {
            problems.add(Setting.DB_REPL_URL, "is not a replication connection", "add replication=database to the URL");
        }
        if (pool.isReplication()) {
            problems.add(
                    Setting.DB_AUTHZ_URL, "is a replication connection", "remove replication=database from the URL");
        }
        int max = count(Setting.DB_POOL_MAX_CONNS, Settings.Database.RESERVED + 1, 1000);
        int min = count(Setting.DB_POOL_MIN_CONNS, 0, 1000);
        if (min > max) {
            problems.add(
                    Setting.DB_POOL_MIN_CONNS,
                    "is more than SLUICE_DB_POOL_MAX_CONNS",
                    "lower it, or raise SLUICE_DB_POOL_MAX_CONNS");
        }
        return new Settings.Database(replication, pool, max, min, toggle(Setting.PARANOID_POOL_RESET));
    }

    private Settings.Replication replication() {
        SlotName slot = new SlotName("sluice");
        try {
            slot = new SlotName(text(Setting.SLOT_NAME));
        } catch (IllegalArgumentException e) {
            problems.add(
                    Setting.SLOT_NAME,
                    "not a slot name",
                    "use lower-case letters, digits and underscores, at most " + NAME_BYTES_MAX);
        }
        String prefix = environment.get(Setting.MESSAGE_PREFIX.variable());
        if (prefix != null && prefix.isEmpty()) {
            problems.add(Setting.MESSAGE_PREFIX, "is empty", "give a prefix, or remove it");
        }
        ByteSize memory = size(Setting.TRANSACTION_MEMORY, 64 << 10);
        ByteSize spillMax = size(Setting.SPILL_MAX_BYTES, 0);
        if (spillMax.bytes() < memory.bytes()) {
            problems.add(
                    Setting.SPILL_MAX_BYTES,
                    "is less than SLUICE_TRANSACTION_MEMORY",
                    "raise it, or lower SLUICE_TRANSACTION_MEMORY");
        }
        return new Settings.Replication(
                slot,
                databaseName(Setting.PUBLICATION, text(Setting.PUBLICATION)),
                toggle(Setting.SLOT_RECREATE),
                given(Setting.PROTO_VERSION) == null ? null : count(Setting.PROTO_VERSION, 1, 4),
                toggle(Setting.MESSAGES),
                text(Setting.MESSAGE_PREFIX),
                duration(Setting.STATUS_INTERVAL, Duration.ofMillis(100)),
                choice(Setting.TRANSACTION_IMAGES, Settings.Replication.Images.class),
                memory,
                spillDirectory(slot),
                spillMax);
    }

    private Path spillDirectory(SlotName slot) {
        String text = given(Setting.SPILL_DIR);
        try {
            if (text != null && Path.of(text).isAbsolute()) {
                return Path.of(text);
            }
        } catch (InvalidPathException e) {
            // told below
        }
        if (text != null) {
            problems.add(Setting.SPILL_DIR, "not an absolute path", "name a folder of its own, from the root");
        }
        return place.temporaryDirectory().resolve("sluice-spill-" + slot);
    }

    private Settings.Tokens tokens() {
        String issuer = text(Setting.JWT_ISSUER);
        return new Settings.Tokens(
                jwks(),
                duration(Setting.JWKS_REFRESH, Duration.ofSeconds(1)),
                choice(Setting.JWT_ALG, Settings.Tokens.Algorithm.class),
                issuer.isEmpty() ? null : issuer,
                text(Setting.JWT_AUDIENCE),
                duration(Setting.JWT_LEEWAY, Duration.ZERO),
                roles(),
                text(Setting.JWT_SESSION_CLAIM));
    }

    private URI jwks() {
        String text = given(Setting.JWKS_URL);
        if (text == null) {
            problems.add(Setting.JWKS_URL, "is not set", "give the URL of the JSON Web Key Set");
            return URI.create("http://localhost");
        }
        try {
            URI uri = new URI(text);
            boolean web = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
            if (web && uri.getHost() != null && uri.getUserInfo() == null && uri.getFragment() == null) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // told below
        }
        problems.add(
                Setting.JWKS_URL,
                "not a web address",
                "write it like https://host/.well-known/jwks.json, without a user");
        return URI.create("http://localhost");
    }

    private List<String> roles() {
        Set<String> roles = new LinkedHashSet<>();
        for (String part : text(Setting.ALLOWED_ROLES).split(",", -1)) {
            String role = part.strip();
            if (role.equals("none") || role.equals("public") || !roles.add(role)) {
                problems.add(Setting.ALLOWED_ROLES, "names a role twice, or none or public", "name each role once");
            }
            databaseName(Setting.ALLOWED_ROLES, role);
        }
        return List.copyOf(roles);
    }

    private String databaseName(Setting setting, String name) {
        if (name.isEmpty()
                || name.indexOf('\0') >= 0
                || name.getBytes(StandardCharsets.UTF_8).length > NAME_BYTES_MAX) {
            problems.add(setting, "holds a name of 0 or of more than 63 bytes", "shorten it");
        }
        return name;
    }

    private Settings.Rights rights() {
        Duration shortest = Duration.ofMillis(50);
        return new Settings.Rights(
                duration(Setting.AUTHZ_LEASE, Duration.ofSeconds(1)),
                duration(Setting.CATALOG_REFRESH, Duration.ofSeconds(1)),
                duration(Setting.RELOAD_TIMEOUT, shortest),
                duration(Setting.RIGHTS_POLL, shortest),
                duration(Setting.STAMP_WAIT, shortest),
                choice(Setting.TIER_C, Settings.Rights.TierC.class),
                count(Setting.TIER_C_MAX_PROBES_PER_SECOND, 0, 1_000_000),
                duration(Setting.TIER_C_TIMEOUT, Duration.ofMillis(10)),
                new Settings.Rights.CrossChecking(
                        count(Setting.TIER_B_VERIFY, 0, 1_000_000), count(Setting.TIER_B_SAMPLE, 0, 1_000_000_000)),
                count(Setting.UNINDEXED_SHAPES_MAX, 0, 1_000_000),
                choice(Setting.REPLICA_IDENTITY, Settings.Rights.IdentityCheck.class),
                choice(Setting.DEGRADED_DELETES, Settings.Rights.DegradedDeletes.class));
    }

    private Settings.Streams streams() {
        ByteSize queue = size(Setting.STREAM_QUEUE_BYTES, 64 << 10);
        ByteSize change = size(Setting.MAX_CHANGE_BYTES, 1024);
        if (queue.bytes() <= change.bytes()) {
            problems.add(
                    Setting.STREAM_QUEUE_BYTES,
                    "is not more than SLUICE_MAX_CHANGE_BYTES, so one change could never be queued",
                    "raise it, or lower SLUICE_MAX_CHANGE_BYTES");
        }
        Settings.Ring ring =
                new Settings.Ring(duration(Setting.RING_MAX_AGE, Duration.ZERO), share(Setting.RING_MEMORY));
        if (ring.memoryShare() == 0 && toggle(Setting.SNAPSHOT_ENABLED).isOn()) {
            problems.add(
                    Setting.RING_MEMORY,
                    "is 0, and what is committed while a snapshot is read would be kept nowhere",
                    "give the buffer memory, or set SLUICE_SNAPSHOT_ENABLED=false");
        }
        return new Settings.Streams(
                duration(Setting.HEARTBEAT, HEARTBEAT_MIN),
                count(Setting.STREAM_QUEUE, 1, 1_000_000),
                queue,
                duration(Setting.WRITE_TIMEOUT, Duration.ofMillis(100)),
                count(Setting.MAX_STREAMS, 0, 10_000_000),
                count(Setting.MAX_SUBS_PER_STREAM, 1, 10_000),
                count(Setting.MAX_SHAPES_PER_STREAM, 1, 10_000),
                change,
                count(Setting.SUBSCRIBE_RATE, 0, 1_000_000),
                share(Setting.ADMIT_MEMORY),
                ring);
    }

    private Settings.Snapshots snapshots() {
        return new Settings.Snapshots(
                toggle(Setting.SNAPSHOT_ENABLED),
                count(Setting.SNAPSHOT_MAX_CONCURRENT, 1, 1000),
                count(Setting.SNAPSHOT_MAX_ROWS, 1, 100_000_000),
                duration(Setting.SNAPSHOT_TIMEOUT, Duration.ofMillis(100)));
    }

    private Settings.Channels channels() {
        long queue = size(Setting.STREAM_QUEUE_BYTES, 0).bytes();
        ByteSize payload = size(Setting.MAX_PAYLOAD_BYTES, 1);
        if (payload.bytes() >= queue) {
            problems.add(
                    Setting.MAX_PAYLOAD_BYTES,
                    "is not less than SLUICE_STREAM_QUEUE_BYTES, so such a payload could never be queued",
                    "lower it, or raise SLUICE_STREAM_QUEUE_BYTES");
        } else if (payload.bytes() > BODY_BYTES_MAX) {
            problems.add(
                    Setting.MAX_PAYLOAD_BYTES,
                    "is more than the body of a request may hold",
                    "at most " + BODY_BYTES_MAX + " bytes");
        }
        int keys = count(Setting.PRESENCE_MAX_KEYS, 1, 1_000_000);
        if ((long) keys * Settings.Channels.MEMBER_BYTES_MAX > queue) {
            problems.add(
                    Setting.PRESENCE_MAX_KEYS,
                    "is so much that a list of the members may be too large for SLUICE_STREAM_QUEUE_BYTES",
                    "lower it, or raise SLUICE_STREAM_QUEUE_BYTES to " + Settings.Channels.MEMBER_BYTES_MAX
                            + " bytes for each");
        }
        Secret bearer = (Secret) required(Setting.CHANNEL_HOOK_BEARER);
        return new Settings.Channels(
                NamespaceList.read(text(Setting.CHANNELS), problems),
                payload,
                count(Setting.PUBLISH_RATE, 0, 1_000_000),
                count(Setting.PRESENCE_RATE, 0, 1_000_000),
                duration(Setting.PRESENCE_WINDOW, Duration.ofMillis(100)),
                duration(Setting.PRESENCE_BROADCAST, Duration.ofMillis(50)),
                keys,
                duration(Setting.CHANNEL_HOOK_TTL, Duration.ZERO),
                duration(Setting.CHANNEL_HOOK_TIMEOUT, Duration.ofMillis(10)),
                bearer.reveal().isEmpty() ? null : bearer);
    }

    private Settings.Operation operation() {
        return new Settings.Operation(
                toggle(Setting.METRICS_ENABLED),
                toggle(Setting.DIAGNOSTICS_ENABLED),
                duration(Setting.LAG_DEGRADED, Duration.ZERO),
                optionalDuration(Setting.READY_MAX_LAG, Duration.ofMillis(1)));
    }

    /// Stands for a URL that was refused.
    private static final PostgresUrl NOWHERE = PostgresUrl.parse("postgres://localhost/nowhere");

    private PostgresUrl url(Setting setting) {
        String text = given(setting);
        if (text == null) {
            problems.add(setting, "is not set", "give the database's URL, postgres://user:password@host/database");
            return NOWHERE;
        }
        try {
            return PostgresUrl.parse(text);
        } catch (IllegalArgumentException e) {
            String reason = e.getMessage();
            problems.add(
                    setting, reason == null ? "not a URL" : reason, "write postgres://user:password@host/database");
            return NOWHERE;
        }
    }

    private @Nullable String given(Setting setting) {
        String text = environment.get(setting.variable());
        return text == null || text.isEmpty() ? null : text;
    }

    private @Nullable Object parse(Setting setting, String text) {
        try {
            return setting.kind().parse(text);
        } catch (IllegalArgumentException e) {
            String reason = e.getMessage();
            problems.add(setting, "cannot be read", reason == null ? "remove it" : reason);
            return null;
        }
    }

    /// The value given, or the default where none or an unreadable one was.
    private Object required(Setting setting) {
        String text = given(setting);
        Object value = text == null ? null : parse(setting, text);
        if (value != null) {
            return value;
        }
        String standard = setting.standard();
        return setting.kind().parse(standard == null ? "1" : standard);
    }

    private String text(Setting setting) {
        return (String) required(setting);
    }

    private Settings.Toggle toggle(Setting setting) {
        return required(setting).equals("true") ? Settings.Toggle.ON : Settings.Toggle.OFF;
    }

    private <E extends Enum<E>> E choice(Setting setting, Class<E> type) {
        return Enum.valueOf(type, ((String) required(setting)).toUpperCase(Locale.ROOT));
    }

    private Duration duration(Setting setting, Duration least) {
        Duration value = (Duration) required(setting);
        if (value.compareTo(least) < 0) {
            problems.add(setting, "is too short", "at least " + text(least));
        }
        return value;
    }

    /// @return null when it is unset
    private @Nullable Duration optionalDuration(Setting setting, Duration least) {
        String text = given(setting);
        Duration value = text == null ? null : (Duration) parse(setting, text);
        if (value != null && value.compareTo(least) < 0) {
            problems.add(setting, "is too short", "at least " + text(least));
        }
        return value;
    }

    private static String text(Duration duration) {
        return duration.toMillis() % 1000 == 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
    }

    private ByteSize size(Setting setting, long least) {
        ByteSize value = (ByteSize) required(setting);
        if (value.bytes() < least) {
            problems.add(setting, "is too small", "at least " + new ByteSize(least));
        }
        return value;
    }

    private double share(Setting setting) {
        return ((BigDecimal) required(setting)).doubleValue();
    }

    private int count(Setting setting, int least, int most) {
        int value = (Integer) required(setting);
        if (value < least || value > most) {
            problems.add(setting, "is out of range", "write a number from " + least + " to " + most);
        }
        return value;
    }
}
