package sluice.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sluice.bench.micro.PolicyBenchmark;
import sluice.bench.micro.SampleTable;
import sluice.server.demo.Backdrop;
import sluice.server.demo.DemoException;

/// PostgreSQL, its tables and a key set, in a folder that is deleted at the end.
final class TestBed implements AutoCloseable {
    private final Path folder;
    private final Backdrop backdrop;
    private final Consumer<String> progress;
    private final List<String> tokens = new ArrayList<>();

    private TestBed(Path folder, Backdrop backdrop, Consumer<String> progress) {
        this.folder = folder;
        this.backdrop = backdrop;
        this.progress = progress;
    }

    static TestBed start(Path binaries, Consumer<String> progress) throws IOException, DemoException, BenchException {
        Path folder = Files.createTempDirectory("sluice-bench-");
        boolean started = false;
        try {
            Backdrop backdrop = Backdrop.start(folder.resolve("demo"), binaries, progress::accept);
            TestBed bed = new TestBed(folder, backdrop, progress);
            try (Connection connection = bed.connect()) {
                Tables.create(connection);
                started = true;
                return bed;
            } catch (SQLException e) {
                throw new BenchException("the tables could not be made: " + e.getMessage());
            } finally {
                if (!started) {
                    backdrop.close();
                }
            }
        } finally {
            if (!started) {
                delete(folder);
            }
        }
    }

    void progress(String step) {
        progress.accept(step);
    }

    /// As the owner of everything.
    Connection connect() throws BenchException {
        try {
            return DriverManager.getConnection(backdrop.jdbcUrl());
        } catch (SQLException e) {
            throw new BenchException("PostgreSQL cannot be reached: " + e.getMessage());
        }
    }

    /// Makes the table of the sample policies.
    ///
    /// @return the file that {@link PolicyBenchmark#DATABASE} names
    Path createSamplePolicies() throws IOException, SQLException {
        String callersUrl = Objects.requireNonNull(backdrop.settings().get("SLUICE_DB_AUTHZ_URL"));
        new SampleTable(backdrop.jdbcUrl(), callersUrl).create();
        Path file = folder.resolve("database");
        Files.write(file, List.of(backdrop.jdbcUrl(), callersUrl));
        return file;
    }

    /// Starts a server and waits until it streams.
    ServerProcess startServer() throws IOException, InterruptedException, BenchException {
        progress("starting the server");
        return ServerProcess.start(backdrop.settings(), folder.resolve("server.log"));
    }

    /// The token of the user of the load client's stream with this index. One must have been started with so many.
    String token(int stream) {
        return tokens.get(stream);
    }

    /// Starts a load client, each of whose streams is of a user of its own, and waits until all are open.
    ///
    /// @param body of the request, for a user
    ClientProcess startClient(ServerProcess server, int streams, Function<UUID, String> body)
            throws IOException, BenchException {
        if (tokens.size() < streams) {
            progress("signing " + streams + " tokens");
        }
        List<String> requests = new ArrayList<>();
        for (int i = 0; i < streams; i++) {
            UUID user = new UUID(0x5eed_0000_0000_4000L, 0x8000_0000_0000_0001L + i);
            if (tokens.size() == i) {
                tokens.add(backdrop.token(user.toString()));
            }
            requests.add(tokens.get(i) + "\t" + body.apply(user));
        }
        Path file = folder.resolve("requests");
        Files.deleteIfExists(file);
        Files.write(file, requests);
        progress("opening " + streams + " streams");
        ClientProcess client = ClientProcess.start(server.port(), file);
        progress(streams + " streams are open, " + client.openedMillis() + " ms");
        return client;
    }

    @Override
    public void close() {
        try {
            backdrop.close();
        } finally {
            delete(folder);
        }
    }

    private static void delete(Path folder) {
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException problem)
                        throws IOException {
                    if (problem != null) {
                        throw problem;
                    }
                    Files.delete(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
