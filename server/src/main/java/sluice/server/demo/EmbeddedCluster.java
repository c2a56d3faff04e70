package sluice.server.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A PostgreSQL of the demo's own, its data in a folder that stays.
///
/// Life: `start` makes the cluster when there is none, ends a postmaster that an earlier run
/// left behind, and starts one.
/// `close` stops it. It also stops by itself when this process ends in any way, kill -9
/// included: a shell waits on a pipe
/// whose other end only this process holds.
///
/// The caller holds the folder's lock, so a postmaster found running there belongs to nobody.
final class EmbeddedCluster implements AutoCloseable {
    static final String OWNER = "postgres";

    private static final int STOP_SECONDS = 60;

    /// Arguments: pg_ctl, data folder, log file, port. Prints one line when PostgreSQL runs or
    /// could not be started.
    /// pg_ctl gives the postmaster a session of its own, so that Ctrl-C in a terminal does not reach it; the shell
    /// itself ignores it.
    private static final String KEEPER = """
            trap '' INT HUP TERM
            if "$1" start -w -t 60 -s -D "$2" -l "$3" -o "-p $4" </dev/null >&2; then echo started; else echo failed; fi
            while read -r line; do :; done
            "$1" stop -m fast -w -t 30 -s -D "$2" </dev/null >/dev/null 2>&1 \
              || "$1" stop -m immediate -w -t 10 -s -D "$2" </dev/null >/dev/null 2>&1
            """;

    private final Process keeper;
    private final int port;
    private final String password;

    private EmbeddedCluster(Process keeper, int port, String password) {
        this.keeper = keeper;
        this.port = port;
        this.password = password;
    }

    /// Where a cluster's files lie.
    ///
    /// @param folder the demo's own folder
    /// @param programs PostgreSQL's `bin`, `lib` and `share`
    record Place(Path folder, int major, Path programs, Unprivileged unprivileged) {
        Path data() {
            return folder.resolve("postgresql-" + major);
        }

        Path log() {
            return folder.resolve("postgresql-" + major + ".log");
        }

        Path passwordFile() {
            return folder.resolve("postgres-password");
        }

        String program(String name) {
            return programs.resolve("bin").resolve(name).toString();
        }
    }

    /// Blocks until PostgreSQL accepts connections, a minute at most.
    static EmbeddedCluster start(Place place, Progress progress) throws DemoException {
        try {
            String password = password(place);
            place.unprivileged().handOver(place.folder(), place.programs());
            if (!Files.isRegularFile(place.data().resolve("PG_VERSION"))) {
                progress.step("creating a PostgreSQL " + place.major() + " cluster in " + place.data());
                initialize(place);
            }
            stopLeftover(place, progress);
            Files.writeString(place.data().resolve("sluice.conf"), settings(), StandardCharsets.UTF_8);
            // Again: the folder now holds files of this process.
            place.unprivileged().handOver(place.folder(), place.programs());
            progress.step("starting PostgreSQL " + place.major());
            return launch(place, freePort(), password);
        } catch (IOException e) {
            throw new DemoException("the data folder cannot be used (" + e + ")", "give another one with --data");
        }
    }

    private static String password(Place place) throws IOException {
        if (!Files.isRegularFile(place.passwordFile())) {
            Folders.writePrivate(place.passwordFile(), Secrets.password());
        }
        return Files.readString(place.passwordFile(), StandardCharsets.UTF_8).strip();
    }

    /// Under another name first: a folder of the final name is a whole cluster.
    private static void initialize(Place place) throws IOException, DemoException {
        Path unfinished = place.folder().resolve("postgresql-" + place.major() + ".new");
        Folders.delete(unfinished);
        Command.Outcome made = Command.run(place.unprivileged()
                .command(List.of(
                        place.program("initdb"),
                        "-D",
                        unfinished.toString(),
                        "-U",
                        OWNER,
                        "-E",
                        "UTF8",
                        "--no-locale",
                        "--no-instructions",
                        "--auth=scram-sha-256",
                        "--pwfile=" + place.passwordFile())));
        if (!made.succeeded()) {
            Folders.delete(unfinished);
            throw new DemoException("PostgreSQL's initdb failed: " + lastLine(made.output()), "");
        }
        Path configuration = unfinished.resolve("postgresql.conf");
        Files.writeString(configuration, Files.readString(configuration) + "\ninclude_if_exists = 'sluice.conf'\n");
        Files.move(unfinished, place.data());
    }

    private static String settings() {
        return """
                wal_level = logical
                max_wal_senders = 8
                max_replication_slots = 8
                max_slot_wal_keep_size = 1GB
                listen_addresses = '127.0.0.1'
                unix_socket_directories = ''
                max_connections = 60
                shared_buffers = 64MB
                fsync = on
                synchronous_commit = on
                log_checkpoints = off
                """;
    }

    /// kill -9 of both this program and its shell leaves PostgreSQL running.
    private static void stopLeftover(Place place, Progress progress) throws DemoException {
        if (!Files.exists(place.data().resolve("postmaster.pid"))) {
            return;
        }
        List<String> status = List.of(
                place.program("pg_ctl"), "status", "-s", "-D", place.data().toString());
        if (!Command.run(place.unprivileged().command(status)).succeeded()) {
            return;
        }
        progress.step("stopping the PostgreSQL that an earlier run left behind");
        for (String mode : List.of("fast", "immediate")) {
            List<String> stop = List.of(
                    place.program("pg_ctl"),
                    "stop",
                    "-w",
                    "-s",
                    "-t",
                    "20",
                    "-m",
                    mode,
                    "-D",
                    place.data().toString());
            // It may end by itself meanwhile: what counts is whether it still runs.
            Command.run(place.unprivileged().command(stop));
            if (!Command.run(place.unprivileged().command(status)).succeeded()) {
                return;
            }
        }
        throw new DemoException(
                "an earlier PostgreSQL still runs in " + place.data() + " and does not stop",
                "stop the process whose id is the first line of postmaster.pid there");
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static EmbeddedCluster launch(Place place, int port, String password) throws IOException, DemoException {
        Files.deleteIfExists(place.log());
        Process keeper = new ProcessBuilder(place.unprivileged()
                        .command(List.of(
                                "/bin/sh",
                                "-c",
                                KEEPER,
                                "sluice-demo-postgres",
                                place.program("pg_ctl"),
                                place.data().toString(),
                                place.log().toString(),
                                Integer.toString(port))))
                .redirectError(ProcessBuilder.Redirect.appendTo(
                        place.folder().resolve("keeper.log").toFile()))
                .start();
        EmbeddedCluster cluster = new EmbeddedCluster(keeper, port, password);
        // Not closed: the pipe stays with the process.
        BufferedReader answers =
                new BufferedReader(new InputStreamReader(keeper.getInputStream(), StandardCharsets.UTF_8));
        String answer = answers.readLine();
        if (!"started".equals(answer)) {
            cluster.close();
            String log = Folders.lastLines(place.log(), 3).strip();
            throw new DemoException("PostgreSQL did not start: " + (log.isEmpty() ? "its log is empty" : log), "");
        }
        return cluster;
    }

    private static String lastLine(String output) {
        String text = output.strip();
        return text.substring(text.lastIndexOf('\n') + 1);
    }

    int port() {
        return port;
    }

    /// The owner's, who is a superuser.
    String password() {
        return password;
    }

    /// Stops PostgreSQL and waits for it. Later calls do nothing.
    @Override
    public void close() {
        try {
            keeper.getOutputStream().close();
            if (!keeper.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                keeper.destroyForcibly();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
