package sluice.server.postgres.wal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import sluice.core.transaction.SpillException;
import sluice.core.transaction.SpillStore;

/// Runs as files of one folder that holds at most so many bytes.
///
/// Nothing in it outlives the process: what a crash left is removed by {@link #clean}, which the reader calls once it
/// holds the reader lock, so that a standby never removes what another process still reads. One thread, but for
/// what is kept.
public final class FileSpillStore implements SpillStore {
    private static final String PREFIX = "sluice-spill-";

    private final Path folder;
    private final long bytesMax;
    private final long keptBytesMax;
    private final AtomicLong keptBytes = new AtomicLong();
    private long bytes;
    private long files;

    /// @param folder made when it is missing
    /// @param bytesMax of all runs together
    public FileSpillStore(Path folder, long bytesMax) {
        this(folder, bytesMax, 0);
    }

    /// @param keptBytesMax of all commits that are kept beyond their dispatch, beside those runs; zero keeps none
    public FileSpillStore(Path folder, long bytesMax, long keptBytesMax) {
        this.folder = folder;
        this.bytesMax = bytesMax;
        this.keptBytesMax = keptBytesMax;
    }

    Path folder() {
        return folder;
    }

    /// Bytes of runs now on disk.
    public long bytes() {
        return bytes;
    }

    /// Bytes of commits that are kept. Any thread.
    public long keptBytes() {
        return keptBytes.get();
    }

    /// Makes the folder and removes what an earlier process left in it.
    ///
    /// @throws SpillException when the folder cannot be used
    public void clean() {
        try {
            Files.createDirectories(folder);
            try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, PREFIX + "*")) {
                for (Path file : left) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw failed("cannot be cleaned", e);
        }
        bytes = 0;
    }

    private SpillException failed(String what, IOException cause) {
        return new SpillException(
                "the spill folder \"" + folder + "\" (SLUICE_SPILL_DIR) " + what + ": " + cause.getMessage(), cause);
    }

    @Override
    public Writer create() {
        Path file = folder.resolve(PREFIX + files++);
        try {
            Files.createDirectories(folder);
            OutputStream out =
                    Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
            return new FileWriter(file, out);
        } catch (IOException e) {
            throw failed("cannot be written", e);
        }
    }

    @Override
    public @Nullable Keeping keep() {
        if (keptBytesMax == 0) {
            return null;
        }
        Path file = folder.resolve(PREFIX + files++);
        try {
            Files.createDirectories(folder);
            if (!leavesRoomForRuns()) {
                return null;
            }
            FileChannel out = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            // it is nobody's by name, and gone with the process
            Files.delete(file);
            return new KeptFile(out);
        } catch (IOException e) {
            // the disk is full, say: the commit is given to those who can take it, and not kept
            return null;
        }
    }

    /// Whether the disk has what runs may still want of it: running out of that ends the process, keeping nothing
    /// does not.
    private boolean leavesRoomForRuns() {
        try {
            return Files.getFileStore(folder).getUsableSpace() >= bytesMax - bytes;
        } catch (IOException e) {
            return false;
        }
    }

    /// One that is written once, then read on any thread.
    private final class KeptFile implements Keeping, Kept {
        private final FileChannel file;
        private final AtomicBoolean deleted = new AtomicBoolean();
        private long written;

        KeptFile(FileChannel file) {
            this.file = file;
        }

        @Override
        public boolean write(byte[] bytes, int offset, int length) {
            written += length;
            if (keptBytes.addAndGet(length) > keptBytesMax || !leavesRoomForRuns()) {
                return false;
            }
            try {
                ByteBuffer source = ByteBuffer.wrap(bytes, offset, length);
                while (source.hasRemaining()) {
                    if (file.write(source) == 0) {
                        return false;
                    }
                }
                return true;
            } catch (IOException e) {
                return false;
            }
        }

        @Override
        public Kept finish() {
            return this;
        }

        @Override
        public void abandon() {
            delete();
        }

        @Override
        public byte[] read(long position, int length) {
            ByteBuffer target = ByteBuffer.allocate(length);
            try {
                while (target.hasRemaining()) {
                    if (file.read(target, position + target.position()) < 0) {
                        throw new SpillException("a kept commit ends too early");
                    }
                }
            } catch (IOException e) {
                throw failed("cannot be read", e);
            }
            return target.array();
        }

        @Override
        public void delete() {
            if (!deleted.compareAndSet(false, true)) {
                return;
            }
            try {
                file.close();
            } catch (IOException e) {
                throw failed("cannot be cleaned", e);
            } finally {
                keptBytes.addAndGet(-written);
            }
        }
    }

    private final class FileWriter implements Writer {
        private final Path file;
        private final OutputStream out;
        private final byte[] chunk = new byte[64 * 1024];
        private int filled;
        private long written;

        FileWriter(Path file, OutputStream out) {
            this.file = file;
            this.out = out;
        }

        @Override
        public void write(byte[] source, int offset, int length) {
            if (length > bytesMax - bytes) {
                abandon();
                throw new SpillException("a commit does not fit in the spill folder, which may hold " + bytesMax
                        + " bytes (SLUICE_SPILL_MAX_BYTES)");
            }
            bytes += length;
            written += length;
            int from = offset;
            int end = offset + length;
            while (from < end) {
                int count = Math.min(end - from, chunk.length - filled);
                System.arraycopy(source, from, chunk, filled, count);
                filled += count;
                from += count;
                if (filled == chunk.length) {
                    flush();
                }
            }
        }

        private void flush() {
            try {
                out.write(chunk, 0, filled);
                filled = 0;
            } catch (IOException e) {
                abandon();
                throw failed("cannot be written", e);
            }
        }

        private void abandon() {
            bytes -= written;
            written = 0;
            try {
                out.close();
                Files.deleteIfExists(file);
            } catch (IOException e) {
                // removed at the next start; what matters is being thrown by the caller
                return;
            }
        }

        @Override
        public Run finish() {
            flush();
            try {
                out.close();
            } catch (IOException e) {
                abandon();
                throw failed("cannot be written", e);
            }
            return new FileRun(file, written);
        }
    }

    private final class FileRun implements Run {
        private final Path file;
        private final long size;

        FileRun(Path file, long size) {
            this.file = file;
            this.size = size;
        }

        @Override
        public Reader open() {
            try {
                return new FileReader(Files.newInputStream(file));
            } catch (IOException e) {
                throw failed("cannot be read", e);
            }
        }

        @Override
        public void delete() {
            try {
                Files.deleteIfExists(file);
                bytes -= size;
            } catch (IOException e) {
                throw failed("cannot be cleaned", e);
            }
        }
    }

    private final class FileReader implements Reader {
        private final InputStream in;

        FileReader(InputStream in) {
            this.in = in;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            try {
                return in.read(target, offset, length);
            } catch (IOException e) {
                throw failed("cannot be read", e);
            }
        }

        @Override
        public void close() {
            try {
                in.close();
            } catch (IOException e) {
                throw failed("cannot be read", e);
            }
        }
    }
}
