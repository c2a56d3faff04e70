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

    /// The string as UTF-8; ASCII takes no copy in between.
    public void put(String text) {
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit >= 0x80) {
                put(text.substring(i).getBytes(StandardCharsets.UTF_8));
                return;
            }
            put(unit);
        }
    }

    /// The decimal digits of a number that is not negative.
    ///
    /// @throws IllegalArgumentException below zero
    public void putDecimal(long value) {
        if (value < 0) {
            throw new IllegalArgumentException("negative: " + value);
        }
        int digits = 1;
        for (long rest = value; rest >= 10; rest /= 10) {
            digits++;
        }
        if (bytes.length - length < digits) {
            grow(digits);
        }
        length += digits;
        int at = length;
        long rest = value;
        do {
            bytes[--at] = (byte) ('0' + rest % 10);
            rest /= 10;
        } while (rest != 0);
    }

    /// Forgets everything, and gives memory back when one large run made the array outgrow `capacityMax`.
    public void clear(int capacityMax) {
        length = 0;
        if (bytes.length > capacityMax) {
            bytes = new byte[capacityMax];
        }
    }

    /// A copy of what was written.
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    private void grow(int count) {
        // doubling overflows to a negative number past 1 GiB, which the maximum then ignores
        bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, Math.addExact(length, count)));
    }
}
