package sluice.server.demo;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// One demo at a time uses a folder. The system frees the lock when the process ends, however it ends.
final class FolderLock implements AutoCloseable {
    private final FileChannel channel;

    private FolderLock(FileChannel channel) {
        this.channel = channel;
    }

    /// @throws DemoException when another demo holds the folder
    static FolderLock take(Path folder) throws DemoException {
        try {
            Folders.createPrivate(folder);
            FileChannel channel =
                    FileChannel.open(folder.resolve("demo.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (tryLock(channel) == null) {
                channel.close();
                DemoState running = DemoState.read(folder);
                throw new DemoException(
                        "a demo already runs from " + folder
                                + (running == null ? "" : " on " + running.baseUrl() + ", process " + running.pid()),
                        "stop it, or give another folder with --data");
            }
            return new FolderLock(channel);
        } catch (IOException e) {
            throw new DemoException(
                    "the folder " + folder + " cannot be used (" + e.getMessage() + ")",
                    "give another one with --data");
        }
    }

    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
