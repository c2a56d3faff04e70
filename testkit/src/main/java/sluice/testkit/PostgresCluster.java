package sluice.testkit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import sluice.testkit.postgres.InitialData;
import sluice.testkit.postgres.PostgresBinaries;
import sluice.testkit.postgres.PostgresServer;

/// A real PostgreSQL server for tests.
///
/// [#of] gives the one that all tests of this JVM share, per major version; nobody stops it or changes its settings.
/// [#start] gives one of your own for that. Both are gone when the JVM is, however it ends.
///
/// `fsync` is off, since no test survives a power cut. `synchronous_commit` is on: without it a commit stays
/// invisible to logical decoding until the WAL writer flushes. The server's time zone is neither UTC nor the JVM's.
public final class PostgresCluster implements AutoCloseable {
    public static final List<Integer> MAJORS = List.of(15, 16, 17, 18);
    public static final int NEWEST = 18;

    private static final String TIME_ZONE = "America/St_Johns";

    private static final Map<Integer, PostgresCluster> SHARED = new ConcurrentHashMap<>();

    // The product's own accounts need their password, so that a wrong one is refused; all others are let in.
    private static final List<String> ACCESS = List.of(
            "host all         " + StandardRoles.WITH_PASSWORD + " 127.0.0.1/32 scram-sha-256",
            "host replication " + StandardRoles.WITH_PASSWORD + " 127.0.0.1/32 scram-sha-256",
            "host all         all 127.0.0.1/32 trust",
            "host replication all 127.0.0.1/32 trust");

    private final PostgresServer server;
    private final int major;
    private final AtomicInteger databases = new AtomicInteger();

    private PostgresCluster(PostgresServer server, int major) {
        this.server = server;
        this.major = major;
    }

    /// The shared cluster, started on first use.
    public static PostgresCluster of(int major) {
        return SHARED.computeIfAbsent(major, wanted -> start(wanted, InitialData.COPIED, Map.of()));
    }

    /// A cluster of one's own.
    ///
    /// @param settings replace or add to the usual ones
    public static PostgresCluster start(int major, Map<String, String> settings) {
        return start(major, InitialData.OWN, settings);
    }

    /// A standby with a copy of all that a stopped cluster of one's own holds, slots included. It follows nobody:
    /// `SELECT pg_promote()` makes it a primary that goes on from there, on the next timeline.
    public PostgresCluster startStandby() {
        refuseShared();
        PostgresServer copy = PostgresServer.copyOf(server, Map.of("hot_standby", "on"), ACCESS);
        copy.becomeStandby();
        return started(copy, major);
    }

    private static PostgresCluster start(int major, InitialData initial, Map<String, String> settings) {
        Map<String, String> all = usualSettings();
        all.putAll(settings);
        return started(PostgresServer.create(PostgresBinaries.of(major), initial, all, ACCESS), major);
    }

    private static PostgresCluster started(PostgresServer server, int major) {
        // The watch of the server would also end it, but would not be waited for.
        Thread closer = new Thread(server::close, "postgres-" + major + "-closer");
        Runtime.getRuntime().addShutdownHook(closer);
        server.start();
        return new PostgresCluster(server, major);
    }

    private static Map<String, String> usualSettings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("wal_level", "logical");
        settings.put("max_replication_slots", "200");
        settings.put("max_wal_senders", "200");
        settings.put("max_connections", "300");
        settings.put("max_prepared_transactions", "50");
        settings.put("fsync", "off");
        settings.put("full_page_writes", "off");
        settings.put("synchronous_commit", "on");
        settings.put("shared_buffers", "64MB");
        settings.put("timezone", TIME_ZONE);
        settings.put("log_line_prefix", "%m [%p] %q%u@%d %a ");
        return settings;
    }

    public int major() {
        return major;
    }

    /// Such as `18.4.0`: PostgreSQL's release and the packaging's.
    public String version() {
        return server.version();
    }

    public int port() {
        return server.port();
    }

    /// The zone of sessions that ask for none.
    public String serverTimeZone() {
        return TIME_ZONE;
    }

    public String log() {
        return server.log();
    }

    /// A new empty database; the name gets a number, so that two tests may ask for the same.
    public PostgresDatabase createDatabase(String name) {
        return createDatabase(name, DatabaseOptions.plain());
    }

    public PostgresDatabase createDatabase(String name, DatabaseOptions options) {
        String unique = name + "_" + databases.incrementAndGet();
        try (PostgresDatabase maintenance = PostgresDatabase.existing(this, PostgresDatabase.MAINTENANCE)) {
            String quoted = PostgresDatabase.quoted(unique);
            maintenance.execute("CREATE DATABASE " + quoted + locale(options.icuLocale()));
            options.settings()
                    .forEach((setting, value) -> maintenance.execute(
                            "ALTER DATABASE " + quoted + " SET " + setting + " = " + PostgresDatabase.literal(value)));
        }
        return PostgresDatabase.existing(this, unique);
    }

    private static String locale(@Nullable String icu) {
        if (icu == null) {
            return " TEMPLATE template0";
        }
        return " TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE " + PostgresDatabase.literal(icu);
    }

    /// A database that is there already, under its full name.
    public PostgresDatabase database(String name) {
        return PostgresDatabase.existing(this, name);
    }

    /// Stops a cluster of one's own; its data stays.
    public void stop(PostgresServer.Stop how) {
        refuseShared();
        server.stop(how);
    }

    /// Starts a cluster of one's own again, on the same port.
    public void start() {
        refuseShared();
        server.start();
    }

    @Override
    public void close() {
        refuseShared();
        server.close();
    }

    private void refuseShared() {
        if (SHARED.containsValue(this)) {
            throw new IllegalStateException("other tests use this cluster: start one of your own");
        }
    }
}
