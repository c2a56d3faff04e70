package sluice.core.stream;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Whether another stream fits in memory.
///
/// A stream is admitted while what a collection could not give back, with what the streams opened since that
/// collection are expected to hold, stays below a share of the limit. It counts for the heap, and for heap and direct
/// memory together, whichever is fuller.
///
/// Clients that come back all at once lift what is measured for a moment: streams that are being set up, and garbage
/// that was in use during the collection. So a node that held so many streams below the share is let a fifth of the
/// way from the share to the limit, up to that many streams, until it has not held them for five minutes.
///
/// Not thread-safe. Time and readings come from outside.
public final class Admission {
    /// For how long a node is known to hold what it held.
    static final Duration REMEMBERED = Duration.ofMinutes(5);

    /// What a stream holds before any was measured.
    static final long EXPECTED_BYTES = 16L << 10;

    /// However few or many streams were measured.
    static final long EXPECTED_BYTES_MIN = 4L << 10;

    static final long EXPECTED_BYTES_MAX = 256L << 10;

    /// With fewer streams than this a heap says nothing about a stream.
    static final int MEASURED_STREAMS_MIN = 20;

    private static final double RECONNECT_PART = 0.2;

    private final Limits limits;
    private final double reconnectShare;

    private long lastCollection = -1;
    private long openedSince;
    private long expectedBytes = EXPECTED_BYTES;

    /// What the heap holds besides streams; null before a collection found few enough of them.
    private @Nullable Long idleBytes;

    private int mostHeld;
    private Instant mostHeldAt = Instant.MIN;

    /// @param heapBytes the most the heap may have
    /// @param directBytes the most direct memory may have
    /// @param share above 0 and at most 1
    public record Limits(long heapBytes, long directBytes, double share) {}

    /// What is in use.
    ///
    /// @param heapBytes after the last collection; 0 before the first
    /// @param directBytes now
    /// @param collection how many collections there were
    public record Reading(long heapBytes, long directBytes, long collection) {}

    /// What becomes of a stream.
    public enum Verdict {
        ADMITTED,
        REFUSED
    }

    public Admission(Limits limits) {
        this.limits = limits;
        this.reconnectShare = limits.share() + RECONNECT_PART * (1 - limits.share());
    }

    /// Whether one more stream may open; if so it is counted as opened.
    ///
    /// @param streams held now, without this one
    public Verdict admit(Reading reading, int streams, Instant now) {
        look(reading, streams, now);
        double share = projected(reading, openedSince + 1);
        boolean below = share < limits.share();
        boolean returning = streams < mostHeld && share < reconnectShare;
        if (!below && !returning) {
            return Verdict.REFUSED;
        }
        openedSince++;
        if (below && streams + 1 >= mostHeld) {
            mostHeld = streams + 1;
            mostHeldAt = now;
        }
        return Verdict.ADMITTED;
    }

    /// Notes how things are; between two streams too, so that the most streams held and what they hold are known.
    ///
    /// @param streams held now
    public void look(Reading reading, int streams, Instant now) {
        if (streams >= mostHeld) {
            mostHeldAt = now;
        } else if (now.isAfter(mostHeldAt.plus(REMEMBERED))) {
            mostHeld = 0;
        }
        if (reading.collection() == lastCollection) {
            return;
        }
        lastCollection = reading.collection();
        openedSince = 0;
        Long idle = idleBytes;
        if (streams < MEASURED_STREAMS_MIN) {
            idleBytes = reading.heapBytes();
        } else if (idle != null) {
            long each = (reading.heapBytes() - idle) / streams;
            expectedBytes = Math.clamp(each, EXPECTED_BYTES_MIN, EXPECTED_BYTES_MAX);
        }
    }

    /// The share of the limit that is taken, by the heap or by all memory together.
    public double projected(Reading reading) {
        return projected(reading, openedSince);
    }

    private double projected(Reading reading, long opened) {
        double heap = (double) reading.heapBytes() + (double) opened * expectedBytes;
        double ofHeap = heap / limits.heapBytes();
        double ofAll = (heap + reading.directBytes()) / ((double) limits.heapBytes() + limits.directBytes());
        return Math.max(ofHeap, ofAll);
    }

    /// What one stream is expected to hold.
    public long expectedBytes() {
        return expectedBytes;
    }
}
