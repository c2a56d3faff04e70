package sluice.testkit.postgres;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sluice.testkit.Await;

/// One PostgreSQL server on a port of the loopback address, in a folder of its own that goes when it goes.
///
/// Life: created (a folder with an empty cluster), then any number of times started and
/// stopped, then closed (folder removed).
///
/// The postmaster is a child of a small shell that waits for its standard input to end. That happens when this
/// process closes it, and also when this process is killed, whatever the signal: then the shell stops the
/// postmaster and removes the folder. If even the shell was killed, the next start of any server finds the folder
/// unlocked and clears it away.
///
/// Not safe for use by several threads.
public final class PostgresServer implements AutoCloseable {
    /// How a server goes down. Immediate is what a crash leaves: recovery on the next start.
    public enum Stop {
        FAST,
        IMMEDIATE
    }

    public static final String SUPERUSER = "postgres";

    private static final Duration START_MAX = Duration.ofSeconds(60);
    private static final Duration STOP_MAX = Duration.ofSeconds(30);
    private static final String LOCK = "owner.lock";

    // The system forgets a process's lock when any channel of the process to that file is closed, so what is ours
    // must never be opened to see whether it is locked.
    private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

    // Ignores what a terminal sends to all processes at once: the postmaster, not the watch, answers it. The pid is
    // read from the data folder, since a program that changes the account may stand in between.
    private static final String WATCH = """
            trap '' INT HUP TERM
            folder=$1 data=$1/data log=$1/server.log
            shift
            ( "$@" </dev/null >>"$log" 2>&1; echo ended ) &
            read -r how || how=orphan
            tries=0
            while [ ! -s "$data/postmaster.pid" ] && [ $tries -lt 5 ] && kill -0 $! 2>/dev/null; do
              tries=$((tries + 1))
              sleep 1
            done
            signal=QUIT
            [ "$how" != FAST ] || signal=INT
            kill -$signal "$(head -n 1 "$data/postmaster.pid")" 2>/dev/null
            wait
            [ "$how" != orphan ] || rm -rf "$folder"
            """;

    private final PostgresBinaries binaries;
    private final ServerAccount account;
    private final Path folder;
    private final FileChannel owner;
    private final int port;
    private @Nullable Process watch;

    private PostgresServer(PostgresBinaries binaries, ServerAccount account, Path folder, FileChannel owner, int port) {
        this.binaries = binaries;
        this.account = account;
        this.folder = folder;
        this.owner = owner;
        this.port = port;
    }

    /// A server with an empty cluster, not yet started.
    ///
    /// @param settings what is appended to `postgresql.conf`, so that `ALTER SYSTEM` still wins
    /// @param access lines of `pg_hba.conf`
    public static PostgresServer create(
            PostgresBinaries binaries, InitialData initial, Map<String, String> settings, List<String> access) {
        return create(binaries, ServerAccount.find(), initial, settings, access);
    }

    /// A server with a copy of all that a stopped server holds, slots included; not yet started.
    ///
    /// @param settings as in {@link #create}; they win over those of the original
    public static PostgresServer copyOf(PostgresServer stopped, Map<String, String> settings, List<String> access) {
        if (stopped.isRunning()) {
            throw new IllegalStateException("stop the server that is to be copied");
        }
        Path original = stopped.folder.resolve("data");
        return make(
                stopped.binaries,
                ServerAccount.find(),
                (binaries, account, data) -> InitialData.copy(original, data),
                settings,
                access);
    }

    static PostgresServer create(
            PostgresBinaries binaries,
            ServerAccount account,
            InitialData initial,
            Map<String, String> settings,
            List<String> access) {
        return make(binaries, account, initial::make, settings, access);
    }

    private interface Contents {
        void make(PostgresBinaries binaries, ServerAccount account, Path data) throws IOException;
    }

    private static PostgresServer make(
            PostgresBinaries binaries,
            ServerAccount account,
            Contents contents,
            Map<String, String> settings,
            List<String> access) {
        try {
            Path servers = Files.createDirectories(SharedFolder.workspace().resolve("clusters"));
            clearAbandoned(servers);
            Path folder = Files.createTempDirectory(servers, binaries.version() + "-");
            FileChannel owner = claim(folder);
            PostgresServer server = new PostgresServer(binaries, account, folder, owner, freePort());
            server.initialize(contents, settings, access);
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String version() {
        return binaries.version();
    }

    public int port() {
        return port;
    }

    /// What the server has logged, the newest last.
    public String log() {
        try {
            Path log = folder.resolve("server.log");
            return Files.exists(log) ? Files.readString(log) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Makes it a standby from its next start on: it replays what its log holds and waits for `pg_promote()`.
    public void becomeStandby() {
        try {
            Files.writeString(folder.resolve("data").resolve("standby.signal"), "");
            account.adopt(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public boolean isRunning() {
        return watch != null;
    }

    Path folder() {
        return folder;
    }

    /// Returns when the server takes connections.
    public void start() {
        if (watch != null) {
            throw new IllegalStateException("already started");
        }
        List<String> postgres = List.of(
                binaries.program("postgres").toString(),
                "-D",
                folder.resolve("data").toString(),
                "-p",
                Integer.toString(port));
        List<String> command = new ArrayList<>(List.of("sh", "-c", WATCH, "sh", folder.toString()));
        command.addAll(account.command(postgres));
        try {
            Process started = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            watch = started;
            BufferedReader words = started.inputReader();
            Await.until("PostgreSQL takes connections", START_MAX, () -> {
                if (words.ready() || !started.isAlive()) {
                    throw new IllegalStateException("PostgreSQL " + version() + " did not start:\n" + log());
                }
                return takesConnections();
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns when the server is down. Its data stays.
    public void stop(Stop how) {
        tell(how + "\n");
    }

    /// Stops the server and removes all it left.
    @Override
    public void close() {
        try {
            tell("");
            Folders.delete(folder);
            owner.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void tell(String word) {
        Process running = watch;
        if (running == null) {
            return;
        }
        try {
            running.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            running.getOutputStream().close();
            if (!running.waitFor(STOP_MAX.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("PostgreSQL " + version() + " did not stop:\n" + log());
            }
            watch = null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while PostgreSQL stops", e);
        }
    }

    private void initialize(Contents contents, Map<String, String> settings, List<String> access) throws IOException {
        Path data = folder.resolve("data");
        account.adopt(folder);
        contents.make(binaries, account, data);
        List<String> lines = new ArrayList<>();
        lines.add("listen_addresses = '127.0.0.1'");
        lines.add("unix_socket_directories = ''"); // a socket's path may have 107 bytes, a temporary folder's more
        settings.forEach((name, value) -> lines.add(name + " = '" + value.replace("'", "''") + "'"));
        Files.write(data.resolve("postgresql.conf"), lines, StandardOpenOption.APPEND);
        Files.write(data.resolve("pg_hba.conf"), access);
        account.adopt(folder);
    }

    private boolean takesConnections() {
        Properties properties = new Properties();
        properties.setProperty("user", SUPERUSER);
        properties.setProperty("connectTimeout", "5");
        properties.setProperty("socketTimeout", "5");
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
        try (Connection connection = DriverManager.getConnection(url, properties)) {
            return connection.isValid(5);
        } catch (SQLException e) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /// Locks the folder's lock file before it has its name: whoever finds it, finds it locked.
    private static FileChannel claim(Path folder) throws IOException {
        OURS.add(folder);
        Path unnamed = folder.resolve(LOCK + ".new");
        FileChannel owner = FileChannel.open(unnamed, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        owner.lock();
        Files.move(unnamed, folder.resolve(LOCK));
        return owner;
    }

    /// Folders whose owner is gone, with servers that may still run in them.
    private static void clearAbandoned(Path servers) throws IOException {
        try (Stream<Path> folders = Files.list(servers)) {
            for (Path folder : folders.toList()) {
                Path lock = folder.resolve(LOCK);
                if (OURS.contains(folder) || !Files.exists(lock)) {
                    continue;
                }
                try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE)) {
                    if (channel.tryLock() != null) {
                        killPostmaster(folder.resolve("data").resolve("postmaster.pid"));
                        Folders.delete(folder);
                    }
                } catch (IOException e) {
                    // Its own watch is clearing it away.
                }
            }
        }
    }

    private static void killPostmaster(Path pidFile) throws IOException {
        if (!Files.exists(pidFile)) {
            return;
        }
        long pid = Long.parseLong(Files.readAllLines(pidFile).getFirst().strip());
        ProcessHandle.of(pid)
                .filter(process -> process.info().command().orElse("").endsWith("postgres"))
                .ifPresent(ProcessHandle::destroyForcibly);
    }
}
