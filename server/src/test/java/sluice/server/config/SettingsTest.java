package sluice.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.core.channel.Namespace;
import sluice.core.session.RevocationTables;
import sluice.core.wal.SlotName;
import sluice.server.config.Settings.Toggle;

class SettingsTest {
    private static final SettingsReader.Place PLACE = new SettingsReader.Place("host_1.example", Path.of("/tmp"));

    private static Map<String, String> required() {
        Map<String, String> environment = new HashMap<>();
        environment.put("SLUICE_DB_REPL_URL", "postgres://sluice_repl:geheim@db:5433/app?replication=database");
        environment.put("SLUICE_DB_AUTHZ_URL", "postgres://sluice_authz:geheim@db:5433/app");
        environment.put("SLUICE_JWKS_URL", "https://auth.example/jwks.json");
        return environment;
    }

    private static Settings read(Map<String, String> environment) {
        return new SettingsReader(environment, PLACE).read();
    }

    private static Map<String, String> with(String... pairs) {
        Map<String, String> environment = required();
        for (int i = 0; i < pairs.length; i += 2) {
            environment.put(pairs[i], pairs[i + 1]);
        }
        return environment;
    }

    private static List<SettingsException.Problem> problems(Map<String, String> environment) {
        SettingsException refused = catchThrowableOfType(SettingsException.class, () -> read(environment));
        assertThat(refused).isNotNull();
        return refused.problems();
    }

    @Test
    void defaults_are_those_of_the_reference() {
        Settings settings = read(required());
        assertThat(settings.http())
                .isEqualTo(new Settings.Http(
                        new ListenAddress("0.0.0.0", 4000),
                        "/sluice/v1",
                        "X-Request-ID",
                        Duration.ofSeconds(15),
                        Duration.ofSeconds(10)));
        assertThat(settings.log())
                .isEqualTo(new Settings.Log(Settings.Log.Level.INFO, Settings.Log.Format.JSON, "host_1.example"));
        assertThat(settings.database().connectionsMax()).isEqualTo(8);
        assertThat(settings.database().connectionsMin()).isEqualTo(2);
        assertThat(settings.database().paranoidReset()).isEqualTo(Toggle.OFF);
        assertThat(settings.replication())
                .isEqualTo(new Settings.Replication(
                        new SlotName("sluice"),
                        "sluice",
                        Toggle.OFF,
                        null,
                        Toggle.ON,
                        "sluice:",
                        Duration.ofSeconds(10),
                        Settings.Replication.Images.NET,
                        new ByteSize(64 << 20),
                        Path.of("/tmp/sluice-spill-sluice"),
                        new ByteSize(8L << 30)));
        assertThat(settings.tokens())
                .isEqualTo(new Settings.Tokens(
                        URI.create("https://auth.example/jwks.json"),
                        Duration.ofMinutes(5),
                        Settings.Tokens.Algorithm.ES256,
                        null,
                        "authenticated",
                        Duration.ofSeconds(10),
                        List.of("anon", "authenticated", "service_role"),
                        "session_id"));
    }

    @Test
    void defaults_about_rights_and_streams_are_those_of_the_reference() {
        Settings settings = read(required());
        assertThat(settings.rights())
                .isEqualTo(new Settings.Rights(
                        Duration.ofSeconds(60),
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(10),
                        Settings.Rights.TierC.ALLOW,
                        2000,
                        Duration.ofSeconds(1),
                        new Settings.Rights.CrossChecking(5, 1000),
                        200,
                        Settings.Rights.IdentityCheck.WARN,
                        Settings.Rights.DegradedDeletes.WITHHOLD));
        assertThat(settings.streams())
                .isEqualTo(new Settings.Streams(
                        Duration.ofSeconds(20),
                        256,
                        new ByteSize(4 << 20),
                        Duration.ofSeconds(10),
                        0,
                        100,
                        20,
                        new ByteSize(1 << 20),
                        20,
                        0.5,
                        new Settings.Ring(Duration.ofSeconds(30), 0.1)));
        assertThat(settings.snapshots())
                .isEqualTo(new Settings.Snapshots(Toggle.ON, 4, 50_000, Duration.ofSeconds(30)));
        assertThat(settings.operation())
                .isEqualTo(new Settings.Operation(Toggle.ON, Toggle.ON, Duration.ofSeconds(5), null));
    }

    private static Map<String, String> everything() {
        Map<String, String> all = new LinkedHashMap<>(with(
                "SLUICE_LISTEN_ADDR", "[::1]:0",
                "SLUICE_PATH_PREFIX", "/live",
                "SLUICE_AUTHZ_LEASE", "45s",
                "SLUICE_RING_MAX_AGE", "17s",
                "SLUICE_RING_MEMORY", "0.25",
                "SLUICE_REQUEST_ID_HEADER", "X-Trace",
                "SLUICE_SHUTDOWN_GRACE", "1m30s",
                "SLUICE_RECONNECT_SPREAD", "0",
                "SLUICE_LOG_LEVEL", "debug",
                "SLUICE_LOG_FORMAT", "text",
                "SLUICE_NODE_ID", "node-7",
                "SLUICE_DB_POOL_MAX_CONNS", "5",
                "SLUICE_DB_POOL_MIN_CONNS", "0",
                "SLUICE_PARANOID_POOL_RESET", "true",
                "SLUICE_SLOT_NAME", "live_2",
                "SLUICE_PUBLICATION", "Pub One",
                "SLUICE_SLOT_RECREATE", "true",
                "SLUICE_PROTO_VERSION", "2",
                "SLUICE_MESSAGES", "false",
                "SLUICE_STATUS_INTERVAL", "2s",
                "SLUICE_TRANSACTION_IMAGES", "all",
                "SLUICE_TRANSACTION_MEMORY", "1MiB",
                "SLUICE_SPILL_DIR", "/var/spill",
                "SLUICE_SPILL_MAX_BYTES", "1GiB",
                "SLUICE_JWKS_REFRESH", "1h",
                "SLUICE_JWT_ALG", "RS256",
                "SLUICE_JWT_ISSUER", "https://issuer.example",
                "SLUICE_JWT_AUDIENCE", "app",
                "SLUICE_JWT_LEEWAY", "0s",
                "SLUICE_ALLOWED_ROLES", "web, web-admin",
                "SLUICE_JWT_REQUIRE_ROLE", "true",
                "SLUICE_CATALOG_REFRESH", "1500ms",
                "SLUICE_RELOAD_TIMEOUT", "3s",
                "SLUICE_RIGHTS_POLL", "250ms",
                "SLUICE_STAMP_WAIT", "5s",
                "SLUICE_TIER_C", "deny",
                "SLUICE_TIER_C_MAX_PROBES_PER_SECOND", "0",
                "SLUICE_TIER_C_TIMEOUT", "100ms",
                "SLUICE_JWT_SESSION_CLAIM", "sid",
                "SLUICE_TIER_B_VERIFY", "6",
                "SLUICE_TIER_B_SAMPLE", "77",
                "SLUICE_UNINDEXED_SHAPES_MAX", "7",
                "SLUICE_REPLICA_IDENTITY", "strict",
                "SLUICE_DEGRADED_DELETES", "deliver"));
        all.putAll(ofStreams());
        return all;
    }

    private static Map<String, String> ofStreams() {
        return with(
                "SLUICE_HEARTBEAT", "5s",
                "SLUICE_STREAM_QUEUE", "9",
                "SLUICE_STREAM_QUEUE_BYTES", "128KiB",
                "SLUICE_WRITE_TIMEOUT", "1s",
                "SLUICE_MAX_STREAMS", "11",
                "SLUICE_MAX_SUBS_PER_STREAM", "12",
                "SLUICE_MAX_SHAPES_PER_STREAM", "13",
                "SLUICE_MAX_CHANGE_BYTES", "65536",
                "SLUICE_SUBSCRIBE_RATE", "14",
                "SLUICE_ADMIT_MEMORY", "0.7",
                "SLUICE_SNAPSHOT_ENABLED", "false",
                "SLUICE_SNAPSHOT_MAX_CONCURRENT", "3",
                "SLUICE_SNAPSHOT_MAX_ROWS", "1000",
                "SLUICE_SNAPSHOT_TIMEOUT", "2m",
                "SLUICE_REVOCATION_ENABLED", "true",
                "SLUICE_REVOCATION_SESSIONS_TABLE", "app.logins",
                "SLUICE_REVOCATION_USERS_TABLE", "app.people",
                "SLUICE_REVOCATION_USERS_BAN_COLUMN", "locked_until",
                "SLUICE_REVOCATION_SESSION_LOOKUP", "true",
                "SLUICE_MESSAGE_PREFIX", "live.",
                "SLUICE_MAX_PAYLOAD_BYTES", "1KiB",
                "SLUICE_PUBLISH_RATE", "14",
                "SLUICE_PRESENCE_RATE", "0",
                "SLUICE_PRESENCE_WINDOW", "15s",
                "SLUICE_PRESENCE_BROADCAST", "100ms",
                "SLUICE_PRESENCE_MAX_KEYS", "16",
                "SLUICE_CHANNELS", "lobby:public, mine:owner,team:hook:https://app.example:8443/hook?x=1",
                "SLUICE_CHANNEL_HOOK_TTL", "0",
                "SLUICE_CHANNEL_HOOK_TIMEOUT", "3s",
                "SLUICE_CHANNEL_HOOK_BEARER", "geheim",
                "SLUICE_METRICS_ENABLED", "false",
                "SLUICE_DIAGNOSTICS_ENABLED", "false",
                "SLUICE_LAG_DEGRADED", "0",
                "SLUICE_READY_MAX_LAG", "2m",
                "SLUICE_JAVA_OPTIONS", "-Xmx1g");
    }

    @Test
    void every_variable_that_is_set_is_read() {
        Map<String, String> environment = everything();
        for (Setting setting : Setting.values()) {
            if (setting.availability() != Setting.Availability.LATER) {
                assertThat(environment).containsKey(setting.variable());
            }
        }
        Settings settings = read(environment);
        assertThat(settings.http())
                .isEqualTo(new Settings.Http(
                        new ListenAddress("::1", 0), "/live", "X-Trace", Duration.ofSeconds(90), Duration.ZERO));
        assertThat(settings.log())
                .isEqualTo(new Settings.Log(Settings.Log.Level.DEBUG, Settings.Log.Format.TEXT, "node-7"));
        assertThat(settings.database().connectionsMax()).isEqualTo(5);
        assertThat(settings.database().connectionsMin()).isZero();
        assertThat(settings.database().paranoidReset()).isEqualTo(Toggle.ON);
        assertThat(settings.database().replication().user()).isEqualTo("sluice_repl");
        assertThat(settings.database().pool().user()).isEqualTo("sluice_authz");
        assertThat(settings.replication())
                .isEqualTo(new Settings.Replication(
                        new SlotName("live_2"),
                        "Pub One",
                        Toggle.ON,
                        2,
                        Toggle.OFF,
                        "live.",
                        Duration.ofSeconds(2),
                        Settings.Replication.Images.ALL,
                        new ByteSize(1 << 20),
                        Path.of("/var/spill"),
                        new ByteSize(1 << 30)));
        assertThat(settings.tokens())
                .isEqualTo(new Settings.Tokens(
                        URI.create("https://auth.example/jwks.json"),
                        Duration.ofHours(1),
                        Settings.Tokens.Algorithm.RS256,
                        "https://issuer.example",
                        "app",
                        Duration.ZERO,
                        List.of("web", "web-admin"),
                        "sid"));
    }

    @Test
    void every_variable_about_rights_and_streams_is_read() {
        Settings settings = read(everything());
        assertThat(settings.rights())
                .isEqualTo(new Settings.Rights(
                        Duration.ofSeconds(45),
                        Duration.ofMillis(1500),
                        Duration.ofSeconds(3),
                        Duration.ofMillis(250),
                        Duration.ofSeconds(5),
                        Settings.Rights.TierC.DENY,
                        0,
                        Duration.ofMillis(100),
                        new Settings.Rights.CrossChecking(6, 77),
                        7,
                        Settings.Rights.IdentityCheck.STRICT,
                        Settings.Rights.DegradedDeletes.DELIVER));
        assertThat(settings.streams())
                .isEqualTo(new Settings.Streams(
                        Duration.ofSeconds(5),
                        9,
                        new ByteSize(128 << 10),
                        Duration.ofSeconds(1),
                        11,
                        12,
                        13,
                        new ByteSize(65536),
                        14,
                        0.7,
                        new Settings.Ring(Duration.ofSeconds(17), 0.25)));
        assertThat(settings.snapshots()).isEqualTo(new Settings.Snapshots(Toggle.OFF, 3, 1_000, Duration.ofMinutes(2)));
        assertThat(settings.operation())
                .isEqualTo(new Settings.Operation(Toggle.OFF, Toggle.OFF, Duration.ZERO, Duration.ofMinutes(2)));
    }

    @Test
    void what_ends_sessions_is_read_when_it_is_enabled() {
        assertThat(read(required()).revocation()).isNull();
        assertThat(read(everything()).revocation())
                .isEqualTo(new Settings.Revocation(
                        new RevocationTables(
                                new RevocationTables.Table("app", "logins"),
                                new RevocationTables.Table("app", "people"),
                                "locked_until"),
                        Settings.Revocation.Lookup.ON));
        assertThat(read(with("SLUICE_REVOCATION_ENABLED", "true")).revocation())
                .isEqualTo(new Settings.Revocation(
                        new RevocationTables(new RevocationTables.Table("auth", "sessions"), null, "banned_until"),
                        Settings.Revocation.Lookup.OFF));
    }

    @Test
    void a_setting_about_sessions_that_would_do_nothing_or_says_two_things_is_refused() {
        for (String variable : List.of("SESSIONS_TABLE", "USERS_TABLE", "USERS_BAN_COLUMN")) {
            assertThat(problems(with("SLUICE_REVOCATION_" + variable, "app.logins")))
                    .extracting(SettingsException.Problem::variable)
                    .containsExactly("SLUICE_REVOCATION_" + variable);
        }
        assertThat(problems(with("SLUICE_REVOCATION_SESSION_LOOKUP", "true"))
                        .getFirst()
                        .remedy())
                .isEqualTo("set SLUICE_REVOCATION_ENABLED=true, or remove it");
        assertThat(problems(with("SLUICE_REVOCATION_ENABLED", "yes"))).hasSize(1);
        for (String name : List.of("sessions", "a.b.c", ".sessions", "auth.")) {
            assertThat(problems(with("SLUICE_REVOCATION_ENABLED", "true", "SLUICE_REVOCATION_SESSIONS_TABLE", name)))
                    .hasSize(1);
        }
        assertThat(problems(
                        with("SLUICE_REVOCATION_ENABLED", "true", "SLUICE_REVOCATION_USERS_TABLE", "auth.sessions")))
                .hasSize(1);
        assertThat(problems(with("SLUICE_REVOCATION_ENABLED", "true", "SLUICE_REVOCATION_USERS_BAN_COLUMN", "x")))
                .hasSize(1);
    }

    @Test
    void every_variable_about_channels_is_read() {
        assertThat(read(everything()).channels())
                .isEqualTo(new Settings.Channels(
                        List.of(
                                new Namespace("lobby", new Namespace.Admission.Everyone()),
                                new Namespace("mine", new Namespace.Admission.Owner()),
                                new Namespace(
                                        "team", new Namespace.Admission.Hook("https://app.example:8443/hook?x=1"))),
                        new ByteSize(1024),
                        14,
                        0,
                        Duration.ofSeconds(15),
                        Duration.ofMillis(100),
                        16,
                        Duration.ZERO,
                        Duration.ofSeconds(3),
                        new Secret("geheim")));
        assertThat(read(required()).channels())
                .isEqualTo(new Settings.Channels(
                        List.of(new Namespace("room", new Namespace.Admission.Everyone())),
                        new ByteSize(262144),
                        100,
                        5,
                        Duration.ofSeconds(30),
                        Duration.ofMillis(1500),
                        10,
                        Duration.ofSeconds(60),
                        Duration.ofSeconds(2),
                        null));
    }

    @Test
    void a_list_of_namespaces_that_says_nothing_certain_is_refused() {
        for (String wrong : List.of(
                "room",
                "room:",
                "room:open",
                "room:public,",
                "room:public,room:owner",
                "room:public:http://x",
                "my room:public",
                ":public",
                "team:hook",
                "team:hook:",
                "team:hook:ftp://app/hook",
                "team:hook:https://u:geheim@app/hook",
                "team:hook:https:///hook",
                "room:Public")) {
            assertRefused("SLUICE_CHANNELS", wrong);
            SettingsException refused =
                    catchThrowableOfType(SettingsException.class, () -> read(with("SLUICE_CHANNELS", wrong)));
            assertThat(refused).hasMessageNotContaining("geheim");
        }
    }

    @Test
    void an_empty_variable_counts_as_unset() {
        assertThat(read(with("SLUICE_HEARTBEAT", "", "SLUICE_ISSUER_URL", "", "SLUICE_NODE_ID", ""))
                        .streams())
                .isEqualTo(read(required()).streams());
    }

    @Test
    void all_problems_are_told_at_once() {
        assertThat(problems(Map.of("SLUICE_HEARTBEAT", "soon", "SLUICE_TIER_C", "maybe", "SLUICE_RINGS", "3")))
                .extracting(SettingsException.Problem::variable)
                .containsExactlyInAnyOrder(
                        "SLUICE_RINGS",
                        "SLUICE_HEARTBEAT",
                        "SLUICE_TIER_C",
                        "SLUICE_DB_REPL_URL",
                        "SLUICE_DB_AUTHZ_URL",
                        "SLUICE_JWKS_URL");
    }

    @Test
    void an_unknown_variable_is_refused_with_the_nearest_name() {
        assertThat(problems(with("SLUICE_HEARTBEET", "20s")))
                .containsExactly(new SettingsException.Problem(
                        "SLUICE_HEARTBEET", "is not a setting", "did you mean SLUICE_HEARTBEAT? remove or rename it"));
        assertThat(problems(with("SLUICE_XYZZY_PLUGH_QUUX", "1")).getFirst().remedy())
                .isEqualTo("remove it");
        assertThat(read(with("OTHER_PREFIX", "1"))).isNotNull();
    }

    @Test
    void a_setting_of_a_part_to_come_is_refused_unless_it_says_what_is_done_today() {
        for (Setting setting : Setting.values()) {
            if (setting.availability() != Setting.Availability.LATER) {
                continue;
            }
            String standard = setting.standard();
            if (standard != null) {
                assertThat(read(with(setting.variable(), standard))).isNotNull();
            }
            String other = otherThanDefault(setting);
            assertThat(problems(with(setting.variable(), other)))
                    .containsExactly(
                            new SettingsException.Problem(setting.variable(), "not supported yet", "remove it"));
        }
        assertThat(read(with("SLUICE_RING_MEMORY", "0.10", "SLUICE_SNAPSHOT_ENABLED", "false")))
                .isNotNull();
    }

    private static String otherThanDefault(Setting setting) {
        return switch (setting.kind().form()) {
            case TEXT, SECRET -> "other";
            case FLAG -> "true".equals(setting.standard()) ? "false" : "true";
            case DURATION -> "7m";
            case SIZE, COUNT -> "77";
            case SHARE -> "0.77";
            case ADDRESS -> ":1";
            case CHOICE -> setting.kind().words().getLast();
        };
    }

    @Test
    void an_unreadable_value_is_refused_by_its_variable() {
        for (Setting setting : Setting.values()) {
            Kind.Form form = setting.kind().form();
            if (form != Kind.Form.TEXT && form != Kind.Form.SECRET) {
                assertThat(problems(with(setting.variable(), "~?~")))
                        .extracting(SettingsException.Problem::variable)
                        .containsOnly(setting.variable());
            }
        }
    }

    @Test
    void contradictions_are_refused() {
        assertRefused("SLUICE_DB_REPL_URL", "postgres://sluice_repl@db/app");
        assertRefused("SLUICE_DB_AUTHZ_URL", "postgres://sluice_authz@db/app?replication=database");
        assertRefused("SLUICE_JWT_REQUIRE_ROLE", "false");
        assertRefused("SLUICE_HEARTBEAT", "4999ms");
        assertRefused("SLUICE_DB_POOL_MIN_CONNS", "9");
        assertRefused("SLUICE_DB_POOL_MAX_CONNS", "3");
        assertRefused("SLUICE_STREAM_QUEUE_BYTES", "1MiB");
        assertRefused("SLUICE_SPILL_MAX_BYTES", "63MiB");
        assertRefused("SLUICE_REQUEST_ID_HEADER", "authorization");
        assertRefused("SLUICE_ALLOWED_ROLES", "anon,anon");
        assertRefused("SLUICE_ALLOWED_ROLES", "anon,");
        assertRefused("SLUICE_ALLOWED_ROLES", "none");
        assertRefused("SLUICE_PROTO_VERSION", "5");
        assertRefused("SLUICE_PATH_PREFIX", "live/");
        assertRefused("SLUICE_JWKS_URL", "https://user:pw@auth/jwks");
        assertRefused("SLUICE_SLOT_NAME", "Sluice");
        assertRefused("SLUICE_MESSAGE_PREFIX", "");
        assertRefused("SLUICE_SPILL_DIR", "relative/folder");
        assertRefused("SLUICE_MAX_PAYLOAD_BYTES", "4MiB");
        assertRefused("SLUICE_PRESENCE_MAX_KEYS", "0");
        assertRefused("SLUICE_PRESENCE_MAX_KEYS", "1000");
        assertRefused("SLUICE_PRESENCE_BROADCAST", "0");
        assertRefused("SLUICE_RING_MEMORY", "0");
    }

    private static void assertRefused(String variable, String value) {
        assertThat(problems(with(variable, value)))
                .as(variable)
                .extracting(SettingsException.Problem::variable)
                .containsExactly(variable);
    }

    @Test
    void nothing_printed_holds_a_password() {
        assertThat(read(required()).toString()).doesNotContain("geheim");
        Map<String, String> broken = with(
                "SLUICE_DB_REPL_URL", "postgres://u:geheim@h:port/app",
                "SLUICE_DB_AUTHZ_URL", "mysql://u:geheim@h/app",
                "SLUICE_JWKS_URL", "ftp://u:geheim@h",
                "SLUICE_ISSUER_BEARER", "geheim",
                "SLUICE_HEARTBEAT", "geheim");
        SettingsException refused = catchThrowableOfType(SettingsException.class, () -> read(broken));
        assertThat(refused.problems()).hasSize(5);
        assertThat(refused).hasMessageNotContaining("geheim");
        assertThat(new Secret("geheim")).hasToString("(hidden)");
    }

    @Test
    void durations_are_read_as_go_writes_them() {
        assertThat(GoDuration.parse("1h30m")).isEqualTo(Duration.ofMinutes(90));
        assertThat(GoDuration.parse("1.5s")).isEqualTo(Duration.ofMillis(1500));
        assertThat(GoDuration.parse("100us")).isEqualTo(Duration.ofNanos(100_000));
        assertThat(GoDuration.parse("0")).isEqualTo(Duration.ZERO);
        for (String wrong : List.of("5", "s", "5 s", "-5s", "5d", "1e3s", "9999999999h", "")) {
            assertThat(catchThrowableOfType(IllegalArgumentException.class, () -> GoDuration.parse(wrong)))
                    .as(wrong)
                    .isNotNull();
        }
    }

    @Test
    void sizes_print_as_they_are_read() {
        for (String text : List.of("0", "1", "1KiB", "64MiB", "1536MiB", "2GiB", "262145")) {
            assertThat(ByteSize.parse(text)).hasToString(text);
        }
        assertThat(ByteSize.parse("1048576").toString()).isEqualTo("1MiB");
        for (String wrong : List.of("1 MiB", "1MB", "-1", "1.5MiB", "999999999999999999TiB", "")) {
            assertThat(catchThrowableOfType(IllegalArgumentException.class, () -> ByteSize.parse(wrong)))
                    .as(wrong)
                    .isNotNull();
        }
    }
}
