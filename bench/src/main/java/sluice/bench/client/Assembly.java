package sluice.bench.client;

import java.util.Arrays;

/// Where the bytes of one read become whole frames; all streams take turns with it.
///
/// One thread's. Grows to what one read of a stream can bring, and not past {@link #BYTES_MAX}.
final class Assembly {
    static final int BYTES_MAX = 4 * 1024 * 1024;

    private byte[] bytes = new byte[64 * 1024];
    private int length;

    void clear() {
        length = 0;
    }

    /// @return false when it does not fit, and then nothing was taken
    boolean append(byte[] from, int at, int count) {
        if (count > BYTES_MAX - length) {
            return false;
        }
        if (length + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(length + count, Math.min(BYTES_MAX, bytes.length * 2)));
        }
        System.arraycopy(from, at, bytes, length, count);
        length += count;
        return true;
    }

    /// Hands over each whole frame.
    ///
    /// @return what is left of the next one; empty when nothing is
    byte[] takeFrames(FrameListener listener) {
        int start = 0;
        for (int i = 0; i + 1 < length; i++) {
            if (bytes[i] == '\n' && bytes[i + 1] == '\n') {
                FrameReader.read(bytes, start, i, listener);
                start = i + 2;
                i++;
            }
        }
        return start == length ? ChunkReader.NOTHING : Arrays.copyOfRange(bytes, start, length);
    }
}
