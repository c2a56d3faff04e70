package sluice.server.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import sluice.core.event.EventBody;
import sluice.core.snapshot.SnapshotSpool;

/// Encoded rows of one snapshot, first written, then taken.
///
/// The first rows are in memory; from the first one that does not fit there all are in a file, each behind its
/// length. Safe for any thread: a spool is dropped by one while another takes rows of it.
public final class Spool implements SnapshotSpool {
    private static final byte[] NO_POSITION = new byte[0];
    private static final int UNKNOWN = -1;
    private static final int BUFFER_BYTES = 64 << 10;

    /// What a row takes besides its bytes.
    private static final int ROW_OVERHEAD = 32;

    private final SpoolStore store;
    private final Queue<byte[]> memory = new ArrayDeque<>();
    private long memoryBytes;
    private @Nullable FileChannel file;
    private @Nullable ByteBuffer buffer;
    private long fileBytes;
    private long rows;
    private long writtenUntil;
    private long readUntil;

    /// Of the next row in the file, when it was read already.
    private int nextLength = UNKNOWN;

    private boolean dropped;

    Spool(SpoolStore store) {
        this.store = store;
    }

    /// Rows added and not taken yet.
    synchronized long rows() {
        return rows;
    }

    /// Whether rows are in a file.
    synchronized boolean isInFile() {
        return file != null;
    }

    synchronized void add(EventBody row) {
        requireKept();
        byte[] bytes = row.tail();
        long charge = bytes.length + (long) ROW_OVERHEAD;
        store.reserve(charge);
        if (file == null && store.reserveMemory(memoryBytes, charge)) {
            memory.add(bytes);
            memoryBytes += charge;
        } else {
            fileBytes += charge;
            write(bytes);
        }
        rows++;
    }

    private void write(byte[] bytes) {
        try {
            ByteBuffer into = buffer;
            if (file == null || into == null) {
                file = store.open();
                into = ByteBuffer.allocate(BUFFER_BYTES);
                buffer = into;
            }
            if (into.remaining() < Integer.BYTES) {
                flush();
            }
            into.putInt(bytes.length);
            int from = 0;
            while (from < bytes.length) {
                if (!into.hasRemaining()) {
                    flush();
                }
                int count = Math.min(into.remaining(), bytes.length - from);
                into.put(bytes, from, count);
                from += count;
            }
        } catch (IOException e) {
            throw broken("written", e);
        }
    }

    private void flush() throws IOException {
        FileChannel target = file;
        ByteBuffer full = buffer;
        if (target == null || full == null) {
            return;
        }
        full.flip();
        while (full.hasRemaining()) {
            writtenUntil += target.write(full, writtenUntil);
        }
        full.clear();
    }

    /// No row is added after this.
    synchronized void finish() {
        requireKept();
        try {
            flush();
        } catch (IOException e) {
            throw broken("written", e);
        }
        if (buffer != null) {
            buffer.limit(0);
        }
    }

    /// The next rows, as many as fit, at least one while there is any.
    ///
    /// @throws SpoolException when the spool was dropped or cannot be read
    synchronized List<EventBody> take(int rowsMax, long bytesMax) {
        requireKept();
        List<EventBody> taken = new ArrayList<>();
        long bytes = 0;
        while (taken.size() < rowsMax && rows > 0) {
            int next = nextLength();
            if (!taken.isEmpty() && bytes + next > bytesMax) {
                break;
            }
            bytes += next;
            taken.add(new EventBody(NO_POSITION, remove(next)));
            rows--;
        }
        if (rows == 0) {
            release();
        }
        return taken;
    }

    private int nextLength() {
        byte[] first = memory.peek();
        if (first != null) {
            return first.length;
        }
        if (nextLength == UNKNOWN) {
            byte[] length = new byte[Integer.BYTES];
            read(length);
            nextLength = ByteBuffer.wrap(length).getInt();
        }
        return nextLength;
    }

    private byte[] remove(int length) {
        byte[] first = memory.poll();
        if (first != null) {
            long charge = length + (long) ROW_OVERHEAD;
            memoryBytes -= charge;
            store.releaseMemory(charge);
            store.release(charge);
            return first;
        }
        byte[] row = new byte[length];
        read(row);
        nextLength = UNKNOWN;
        return row;
    }

    private void read(byte[] into) {
        FileChannel source = file;
        ByteBuffer from = buffer;
        if (source == null || from == null) {
            throw new IllegalStateException("rows without a file");
        }
        try {
            int at = 0;
            while (at < into.length) {
                if (!from.hasRemaining()) {
                    from.clear();
                    int count = source.read(from, readUntil);
                    from.flip();
                    if (count <= 0) {
                        throw new IOException("the file ends early");
                    }
                }
                int count = Math.min(from.remaining(), into.length - at);
                from.get(into, at, count);
                at += count;
                readUntil += count;
            }
        } catch (IOException e) {
            throw broken("read", e);
        }
    }

    private void requireKept() {
        if (dropped) {
            throw new SpoolException(SpoolException.Kind.DROPPED, "the rows were dropped");
        }
    }

    private static SpoolException broken(String what, IOException cause) {
        // a path at most, never a row
        return new SpoolException(
                SpoolException.Kind.BROKEN,
                "rows could not be " + what + " in the spill folder (SLUICE_SPILL_DIR): "
                        + cause.getClass().getSimpleName());
    }

    /// Gives everything back; the file is gone. Safe to call twice.
    synchronized void drop() {
        dropped = true;
        release();
    }

    private void release() {
        store.releaseMemory(memoryBytes);
        store.release(memoryBytes + fileBytes);
        memory.clear();
        memoryBytes = 0;
        fileBytes = 0;
        rows = 0;
        buffer = null;
        FileChannel open = file;
        file = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // unlinked already; the system takes the space back with the process at the latest
                return;
            }
        }
    }
}
