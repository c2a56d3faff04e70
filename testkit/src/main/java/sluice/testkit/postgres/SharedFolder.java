package sluice.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.locks.ReentrantLock;

/// Folders that are made once per machine and user and then only read, by all builds.
final class SharedFolder {
    private static final ReentrantLock MAKING = new ReentrantLock();

    @FunctionalInterface
    interface Making {
        void into(Path folder) throws IOException;
    }

    private SharedFolder() {}

    /// Where servers and unpacked programs live: readable by all, since as root the server runs as somebody else.
    static Path workspace() {
        Path workspace = Path.of(System.getProperty("java.io.tmpdir"))
                .toAbsolutePath()
                .resolve("sluice-postgres-" + System.getProperty("user.name"));
        try {
            Files.createDirectories(workspace);
            if (!Files.getOwner(workspace).getName().equals(System.getProperty("user.name"))) {
                throw new IllegalStateException(workspace + " belongs to somebody else");
            }
            Files.setPosixFilePermissions(workspace, PosixFilePermissions.fromString("rwxr-xr-x"));
            return workspace;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The folder of that name, made if it is not there whole. A lock file keeps other processes
    /// out meanwhile, a lock
    /// the other threads of this one.
    static Path named(String name, Making making) throws IOException {
        Path folder = workspace().resolve(name);
        Path whole = workspace().resolve(name + ".whole");
        MAKING.lock();
        try (FileChannel channel = FileChannel.open(
                        workspace().resolve(name + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (!Files.exists(whole) || !Files.isDirectory(folder)) {
                Folders.delete(folder);
                Files.createDirectories(folder);
                making.into(folder);
                Files.write(whole, new byte[0]);
            }
            return folder;
        } finally {
            MAKING.unlock();
        }
    }
}
