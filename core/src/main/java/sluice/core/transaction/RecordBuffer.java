package sluice.core.transaction;

import java.util.Arrays;

/// Bytes of one record on their way to or from a run: written from the start, then read from the start. Reused.
final class RecordBuffer {
    private byte[] bytes = new byte[512];
    private int length;
    private int position;

    void clear() {
        length = 0;
        position = 0;
    }

    /// Room for a record of this size, to be filled from outside and then read.
    byte[] fill(int size) {
        if (bytes.length < size) {
            bytes = new byte[Math.max(size, Math.min(bytes.length * 2, size + 65_536))];
        }
        length = size;
        position = 0;
        return bytes;
    }

    byte[] array() {
        return bytes;
    }

    int length() {
        return length;
    }

    void put(int value) {
        grow(1);
        bytes[length++] = (byte) value;
    }

    void putInt(int value) {
        grow(4);
        for (int shift = 24; shift >= 0; shift -= 8) {
            bytes[length++] = (byte) (value >>> shift);
        }
    }

    void putLong(long value) {
        putInt((int) (value >>> 32));
        putInt((int) value);
    }

    void putBytes(byte[] source, int offset, int count) {
        grow(count);
        System.arraycopy(source, offset, bytes, length, count);
        length += count;
    }

    void putSized(byte[] source) {
        putInt(source.length);
        putBytes(source, 0, source.length);
    }

    int take() {
        return bytes[position++];
    }

    int takeInt() {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            value = value << 8 | (bytes[position++] & 0xFF);
        }
        return value;
    }

    long takeLong() {
        long high = takeInt();
        return high << 32 | (takeInt() & 0xFFFF_FFFFL);
    }

    byte[] takeBytes(int count) {
        byte[] taken = Arrays.copyOfRange(bytes, position, position + count);
        position += count;
        return taken;
    }

    byte[] takeSized() {
        return takeBytes(takeInt());
    }

    private void grow(int count) {
        if (bytes.length - length < count) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, Math.addExact(length, count)));
        }
    }
}
