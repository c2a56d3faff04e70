package sluice.server.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A loop's open streams, spread over 64 buckets; one bucket a tick has its heartbeat. Loop thread only.
final class HeartbeatWheel {
    static final int BUCKETS = 64;

    private final @Nullable SseStream[][] buckets = new SseStream[BUCKETS][0];
    private final int[] sizes = new int[BUCKETS];
    private int nextBucket;
    private int hand;

    /// Round robin, so that streams opened together do not beat together.
    void add(SseStream stream) {
        int bucket = nextBucket;
        nextBucket = (nextBucket + 1) % BUCKETS;
        if (sizes[bucket] == buckets[bucket].length) {
            buckets[bucket] = Arrays.copyOf(buckets[bucket], Math.max(4, sizes[bucket] * 2));
        }
        buckets[bucket][sizes[bucket]] = stream;
        stream.placeInWheel(bucket, sizes[bucket]);
        sizes[bucket]++;
    }

    void remove(SseStream stream, int bucket, int slot) {
        if (buckets[bucket][slot] != stream) {
            throw new IllegalStateException("stream is not in slot " + slot + " of bucket " + bucket);
        }
        int last = --sizes[bucket];
        SseStream moved = buckets[bucket][last];
        buckets[bucket][last] = null;
        if (moved != null && moved != stream) {
            buckets[bucket][slot] = moved;
            moved.placeInWheel(bucket, slot);
        }
        if (sizes[bucket] == 0) {
            buckets[bucket] = new SseStream[0];
        }
    }

    /// The next bucket's heartbeats. A stream may leave the wheel while it has its turn.
    void tick(long nowNanos, long nowMillis) {
        int bucket = hand;
        hand = (hand + 1) % BUCKETS;
        for (int i = sizes[bucket] - 1; i >= 0; i--) {
            SseStream stream = i < sizes[bucket] ? buckets[bucket][i] : null;
            if (stream != null) {
                stream.heartbeat(nowNanos, nowMillis);
            }
        }
    }

    /// Every stream, in a copy.
    SseStream[] streams() {
        SseStream[] all = new SseStream[Arrays.stream(sizes).sum()];
        int count = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            for (int i = 0; i < sizes[bucket]; i++) {
                SseStream stream = buckets[bucket][i];
                if (stream != null) {
                    all[count++] = stream;
                }
            }
        }
        return Arrays.copyOf(all, count);
    }
}
