package sluice.bench.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Finds the few facts the checks need in a frame, without reading the rest of it.
///
/// It knows the server's frames: `seq` stands at the head, the commit's members before the row, and the row has the
/// columns `n` and `t`, as the payload of a broadcast has members. Allocates nothing for either.
final class FrameReader {
    private static final byte[] CHANGE = ascii("event: change\n");
    private static final byte[] BROADCAST = ascii("event: broadcast\n");
    private static final byte[] READY = ascii("event: ready\n");
    private static final byte[] ERROR = ascii("event: error\n");
    private static final byte[] REFUSED = ascii("\"ok\":false");
    private static final byte[] SEQ = ascii("\"seq\":");
    private static final byte[] COMMIT_TIME = ascii("\"commit_time\":\"");
    private static final byte[] RECORD = ascii("\"record\":{");
    private static final byte[] PAYLOAD = ascii("\"payload\":{");
    private static final byte[] TAKEN = ascii("\"at\":\"");
    private static final byte[] ROW = ascii("\"n\":");
    private static final byte[] CALLED = ascii("\"t\":");
    private static final int TEXT_MAX = 300;
    private static final int SECONDS_LENGTH = "2026-01-01T00:00:00".length();

    private FrameReader() {}

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /// @param end where the frame's blank line begins
    static void read(byte[] bytes, int start, int end, FrameListener listener) {
        if (startsWith(bytes, start, end, CHANGE)) {
            change(bytes, start, end, listener);
        } else if (startsWith(bytes, start, end, BROADCAST)) {
            broadcast(bytes, start, end, listener);
        } else if (startsWith(bytes, start, end, READY)) {
            listener.ready(find(REFUSED, bytes, start, end) < 0);
        } else if (startsWith(bytes, start, end, ERROR)) {
            int shown = Math.min(end - start, TEXT_MAX);
            listener.failure(new String(bytes, start, shown, StandardCharsets.UTF_8).replace('\n', ' '));
        } else {
            listener.other();
        }
    }

    private static void change(byte[] bytes, int start, int end, FrameListener listener) {
        int seq = find(SEQ, bytes, start, end);
        int time = find(COMMIT_TIME, bytes, start, end);
        int record = find(RECORD, bytes, start, end);
        int row = record < 0 ? -1 : find(ROW, bytes, record, end);
        int called = record < 0 ? -1 : find(CALLED, bytes, record, end);
        if (seq < 0 || time < 0 || row < 0 || called < 0 || end - time <= SECONDS_LENGTH) {
            listener.unreadable("a change without seq, commit_time, n or t");
            return;
        }
        listener.change(
                number(bytes, seq, end), number(bytes, row, end), micros(bytes, time, end), number(bytes, called, end));
    }

    private static void broadcast(byte[] bytes, int start, int end, FrameListener listener) {
        int taken = find(TAKEN, bytes, start, end);
        int payload = find(PAYLOAD, bytes, start, end);
        int number = payload < 0 ? -1 : find(ROW, bytes, payload, end);
        int called = payload < 0 ? -1 : find(CALLED, bytes, payload, end);
        if (taken < 0 || number < 0 || called < 0 || end - taken <= SECONDS_LENGTH) {
            listener.unreadable("a broadcast without at, n or t");
            return;
        }
        listener.broadcast(number(bytes, number, end), micros(bytes, taken, end), number(bytes, called, end));
    }

    /// Index after the first occurrence, -1 when there is none.
    private static int find(byte[] wanted, byte[] bytes, int start, int end) {
        byte first = wanted[0];
        for (int at = start; at + wanted.length <= end; at++) {
            if (bytes[at] == first && startsWith(bytes, at, end, wanted)) {
                return at + wanted.length;
            }
        }
        return -1;
    }

    private static boolean startsWith(byte[] bytes, int at, int end, byte[] wanted) {
        return at + wanted.length <= end && Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length);
    }

    private static long number(byte[] bytes, int at, int end) {
        long value = 0;
        for (int i = at; i < end && bytes[i] >= '0' && bytes[i] <= '9'; i++) {
            value = value * 10 + (bytes[i] - '0');
        }
        return value;
    }

    /// Microseconds since the epoch of `2026-01-31T23:59:59.123456Z`, its fraction of any length.
    static long micros(byte[] bytes, int at, int end) {
        long days = days(number(bytes, at, at + 4), number(bytes, at + 5, at + 7), number(bytes, at + 8, at + 10));
        long seconds = ((days * 24 + number(bytes, at + 11, at + 13)) * 60 + number(bytes, at + 14, at + 16)) * 60
                + number(bytes, at + 17, at + 19);
        long fraction = 0;
        int next = at + SECONDS_LENGTH;
        if (next < end && bytes[next] == '.') {
            next++;
        }
        for (int digits = 0; digits < 6; digits++) {
            boolean isDigit = next < end && bytes[next] >= '0' && bytes[next] <= '9';
            fraction = fraction * 10 + (isDigit ? bytes[next++] - '0' : 0);
        }
        return seconds * 1_000_000 + fraction;
    }

    /// Days since the epoch of a Gregorian date. The year is taken to begin in March, so that the
    /// leap day is its last.
    private static long days(long year, long month, long day) {
        long shifted = month <= 2 ? year - 1 : year;
        long era = Math.floorDiv(shifted, 400);
        long yearOfEra = shifted - era * 400;
        long dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468;
    }
}
