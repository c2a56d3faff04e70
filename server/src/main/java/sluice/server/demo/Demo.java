package sluice.server.demo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.Deque;
import sluice.server.postgres.console.Console;

/// A running demo: PostgreSQL, key set, server.
///
/// Life: `start` brings up each part and waits until the server streams; `close` ends them in the opposite order.
/// When a later part fails, what was started is ended before `start` throws.
public final class Demo implements AutoCloseable {
    /// Started parts, the last one first.
    private final Deque<AutoCloseable> parts;

    private final DemoFacts facts;
    private final DemoDatabase database;
    private final DemoServer server;
    private final DemoKey key;

    private Demo(Deque<AutoCloseable> parts, DemoServer server, DemoFacts facts, DemoDatabase database, DemoKey key) {
        this.parts = parts;
        this.server = server;
        this.facts = facts;
        this.database = database;
        this.key = key;
    }

    /// Blocks until streams can be opened, a few seconds on a folder that was used before.
    public static Demo start(DemoOptions options, Progress progress) throws DemoException {
        Deque<AutoCloseable> parts = new ArrayDeque<>();
        try {
            return start(options, progress, parts);
        } catch (DemoException | RuntimeException e) {
            closeAll(parts);
            throw e;
        } catch (IOException e) {
            closeAll(parts);
            throw new DemoException(
                    "the folder " + options.data() + " cannot be used (" + e.getMessage() + ")",
                    "give another one with --data");
        }
    }

    private static Demo start(DemoOptions options, Progress progress, Deque<AutoCloseable> parts)
            throws DemoException, IOException {
        checkPort(options.port());
        Unprivileged unprivileged = Unprivileged.here();
        var programs = PostgresBinaries.unpacked(options.binaries(), options.postgresMajor(), progress);
        parts.push(FolderLock.take(options.data()));
        EmbeddedCluster cluster = EmbeddedCluster.start(
                new EmbeddedCluster.Place(options.data(), options.postgresMajor(), programs, unprivileged), progress);
        parts.push(cluster);

        DemoLogins logins = new DemoLogins(cluster.port(), Secrets.password(), Secrets.password());
        Console.Target target = new DemoState(0, "", cluster.port(), cluster.password()).target();
        DemoDatabase database = new DemoDatabase(target);
        database.prepare(logins.replicationPassword(), logins.authorizationPassword());

        DemoKey key = DemoKey.loadOrCreate(options.data());
        JwksEndpoint jwks = JwksEndpoint.start(key.keySet());
        parts.push(jwks);
        DemoTokens tokens = DemoTokens.signedWith(key);

        progress.step("starting the server");
        DemoServer server =
                DemoServer.start(options, logins.settings(options, jwks.url()), DemoRoutes.of(database, key, tokens));
        parts.push(server);
        String baseUrl = "http://127.0.0.1:" + server.port();
        server.awaitReady(baseUrl);

        new DemoState(ProcessHandle.current().pid(), baseUrl, cluster.port(), cluster.password()).write(options.data());
        parts.push(() -> DemoState.remove(options.data()));
        String postgresUrl = "postgres://" + EmbeddedCluster.OWNER + ":" + cluster.password() + "@127.0.0.1:"
                + cluster.port() + "/" + DemoState.DATABASE;
        return new Demo(parts, server, new DemoFacts(baseUrl, postgresUrl, tokens, options.data()), database, key);
    }

    /// Before anything else starts: the answer comes at once and nothing has to be undone.
    private static void checkPort(int port) throws DemoException {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw new DemoException(
                    "port " + port + " of 127.0.0.1 cannot be used (" + e.getMessage() + ")",
                    "stop what listens there, or use --port 0 for any free port");
        }
    }

    public DemoFacts facts() {
        return facts;
    }

    /// Blocks until the server cannot go on, and says why; a healthy one never returns.
    public String awaitEnd() {
        return server.ended().join();
    }

    /// A token of the person's in this session.
    String token(Person person, String session) {
        return key.sign(person.id(), DemoTokens.USER_ROLE, session, DemoTokens.VALIDITY);
    }

    DemoDatabase database() {
        return database;
    }

    /// Ends the server, then PostgreSQL. Waits for both. The first caller closes; a second one returns at once.
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
