package sluice.server.demo;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;

/// What stands behind a server: PostgreSQL with the demo's roles and tables, and a key set. For a server that
/// somebody else starts.
///
/// Life: `start`, `close`. PostgreSQL also stops when this process ends in any other way.
public final class Backdrop implements AutoCloseable {
    private static final int MAJOR = 18;
    private static final Duration TOKENS_LAST = Duration.ofHours(24);

    /// Started parts, the last one first.
    private final Deque<AutoCloseable> parts;

    private final Map<String, String> settings;
    private final DemoKey key;
    private final String jdbcUrl;

    private Backdrop(Deque<AutoCloseable> parts, Map<String, String> settings, DemoKey key, String jdbcUrl) {
        this.parts = parts;
        this.settings = settings;
        this.key = key;
        this.jdbcUrl = jdbcUrl;
    }

    /// Blocks until PostgreSQL accepts connections.
    ///
    /// @param data where everything lies
    /// @param binaries where the build put PostgreSQL's programs
    public static Backdrop start(Path data, Path binaries, Progress progress) throws DemoException {
        Deque<AutoCloseable> parts = new ArrayDeque<>();
        try {
            return start(new DemoOptions(0, MAJOR, data, binaries), progress, parts);
        } catch (DemoException | RuntimeException e) {
            closeAll(parts);
            throw e;
        }
    }

    private static Backdrop start(DemoOptions options, Progress progress, Deque<AutoCloseable> parts)
            throws DemoException {
        Unprivileged unprivileged = Unprivileged.here();
        Path programs = PostgresBinaries.unpacked(options.binaries(), options.postgresMajor(), progress);
        parts.push(FolderLock.take(options.data()));
        EmbeddedCluster cluster = EmbeddedCluster.start(
                new EmbeddedCluster.Place(options.data(), options.postgresMajor(), programs, unprivileged), progress);
        parts.push(cluster);
        DemoLogins logins = new DemoLogins(cluster.port(), Secrets.password(), Secrets.password());
        new DemoDatabase(new DemoState(0, "", cluster.port(), cluster.password()).target())
                .prepare(logins.replicationPassword(), logins.authorizationPassword());
        DemoKey key = DemoKey.loadOrCreate(options.data());
        JwksEndpoint keys = JwksEndpoint.start(key.keySet());
        parts.push(keys);
        String jdbcUrl = "jdbc:postgresql://127.0.0.1:" + cluster.port() + "/" + DemoState.DATABASE + "?user="
                + EmbeddedCluster.OWNER + "&password=" + cluster.password();
        return new Backdrop(parts, logins.settings(options, keys.url()), key, jdbcUrl);
    }

    /// A server's environment; its address is any free port.
    public Map<String, String> settings() {
        return new LinkedHashMap<>(settings);
    }

    /// For the owner of everything; holds a password.
    public String jdbcUrl() {
        return jdbcUrl;
    }

    /// A user's token, good for a day.
    public String token(String subject) {
        return key.sign(subject, DemoTokens.USER_ROLE, TOKENS_LAST);
    }

    /// Ends the parts in the opposite order of their start.
    @Override
    public void close() {
        closeAll(parts);
    }

    /// A part that cannot be closed does not keep the others open.
    private static void closeAll(Deque<AutoCloseable> parts) {
        for (AutoCloseable part = parts.poll(); part != null; part = parts.poll()) {
            try {
                part.close();
            } catch (Exception e) {
                System.err.println("stopping went wrong: " + e);
            }
        }
    }
}
