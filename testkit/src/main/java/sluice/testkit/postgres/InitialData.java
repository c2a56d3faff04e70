package sluice.testkit.postgres;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/// Where the empty cluster of a new server comes from.
public enum InitialData {
    /// Made by `initdb`, about a second of work: a system identifier of its own, by which servers are told apart.
    OWN {
        @Override
        void make(PostgresBinaries binaries, ServerAccount account, Path data) throws IOException {
            initdb(binaries, account, data);
        }
    },
    /// Copied from one that was made before, much faster: all such servers of one version have the same identifier.
    COPIED {
        @Override
        void make(PostgresBinaries binaries, ServerAccount account, Path data) throws IOException {
            String name = "model-" + binaries.version() + (account.owner() == null ? "" : "-" + account.owner());
            Path model = SharedFolder.named(name, folder -> {
                account.adopt(folder);
                initdb(binaries, account, folder.resolve("data"));
            });
            copy(model.resolve("data"), data);
        }
    };

    abstract void make(PostgresBinaries binaries, ServerAccount account, Path data) throws IOException;

    private static void initdb(PostgresBinaries binaries, ServerAccount account, Path data) throws IOException {
        // glibc has C.UTF-8 everywhere; macOS does not.
        String locale = System.getProperty("os.name").startsWith("Mac") ? "C" : "C.UTF-8";
        List<String> command = account.command(List.of(
                binaries.program("initdb").toString(),
                "--pgdata=" + data,
                "--username=" + PostgresServer.SUPERUSER,
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=" + locale,
                "--no-sync",
                "--no-instructions"));
        Process initdb = new ProcessBuilder(command)
                .directory(Path.of("/").toFile()) // the account may not read the folder we are in
                .redirectErrorStream(true)
                .start();
        initdb.getOutputStream().close();
        String said = new String(initdb.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (initdb.waitFor() != 0) {
                throw new IllegalStateException("initdb of PostgreSQL " + binaries.version() + " failed:\n" + said);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while initdb runs", e);
        }
    }

    /// With permissions: PostgreSQL refuses a data folder that others can read.
    static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                Files.copy(folder, to.resolve(from.relativize(folder)), StandardCopyOption.COPY_ATTRIBUTES);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
