package sluice.core.value;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A growing run of bytes, reused from one event to the next. Not shared between threads.
public final class ByteSink {
    private byte[] bytes;
    private int length;

    public ByteSink(int capacity) {
        bytes = new byte[capacity];
    }

    public int length() {
        return length;
    }

    /// Forgets everything after the first `newLength` bytes, e.g. a value found hostile half-way.
    public void truncate(int newLength) {
        length = newLength;
    }

    public void put(int value) {
        if (length == bytes.length) {
            grow(1);
        }
        bytes[length++] = (byte) value;
    }

    public void put(byte[] source) {
        put(source, 0, source.length);
    }

    public void put(byte[] source, int offset, int count) {
        if (bytes.length - length < count) {
            grow(count);
        }
        System.arraycopy(source, offset, bytes, length, count);
        length += count;
    }

    public void put(String text) {
        put(text.getBytes(StandardCharsets.UTF_8));
    }

    /// A copy of what was written.
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    private void grow(int count) {
        bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, Math.addExact(length, count)));
    }
}
