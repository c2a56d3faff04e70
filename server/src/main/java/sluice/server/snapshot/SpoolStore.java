package sluice.server.snapshot;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;

/// The room that rows of snapshots wait in: some memory, then one file a spool, bounded in all.
///
/// Full: the snapshot that asks for more fails, to be asked for again; those that were read go on. Files are unlinked
/// as soon as they are open where the system allows it, so nothing is left of a process that was killed; what is left
/// elsewhere is removed by {@link #clean}. Safe for any thread.
public final class SpoolStore {
    private static final String PREFIX = "sluice-snapshot-";

    private final Path folder;
    private final Bounds bounds;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong memoryBytes = new AtomicLong();
    private final AtomicLong files = new AtomicLong();

    /// @param bytesMax of all spools, in memory and in files
    /// @param memoryBytesMax of all spools, in memory
    /// @param spoolMemoryMax of one spool, in memory
    public record Bounds(long bytesMax, long memoryBytesMax, long spoolMemoryMax) {}

    /// @param folder made when it is missing
    public SpoolStore(Path folder, Bounds bounds) {
        this.folder = folder;
        this.bounds = bounds;
    }

    /// Removes what an earlier process left in the folder. What cannot be removed stays; it is in nobody's way.
    public void clean() {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, PREFIX + "*")) {
            for (Path file : left) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            // the folder's state shows when a spool needs it
            return;
        }
    }

    /// An empty spool; holds nothing until rows are added.
    public Spool create() {
        return new Spool(this);
    }

    /// Held by all spools.
    public long bytes() {
        return bytes.get();
    }

    /// Of these, in memory.
    public long memoryBytes() {
        return memoryBytes.get();
    }

    void reserve(long count) {
        if (!reserved(bytes, count, bounds.bytesMax())) {
            throw new SpoolException(
                    SpoolException.Kind.FULL,
                    "rows that wait for their clients take all the room there is for them, " + bounds.bytesMax()
                            + " bytes (an eighth of SLUICE_SPILL_MAX_BYTES)");
        }
    }

    void release(long count) {
        bytes.addAndGet(-count);
    }

    /// @param held by the spool in memory already
    boolean reserveMemory(long held, long count) {
        return held + count <= bounds.spoolMemoryMax() && reserved(memoryBytes, count, bounds.memoryBytesMax());
    }

    void releaseMemory(long count) {
        memoryBytes.addAndGet(-count);
    }

    private static boolean reserved(AtomicLong held, long count, long max) {
        long before = held.get();
        while (before + count <= max) {
            if (held.compareAndSet(before, before + count)) {
                return true;
            }
            before = held.get();
        }
        return false;
    }

    FileChannel open() throws IOException {
        Files.createDirectories(folder);
        return FileChannel.open(
                folder.resolve(PREFIX + ProcessHandle.current().pid() + "-" + files.incrementAndGet()),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE);
    }
}
