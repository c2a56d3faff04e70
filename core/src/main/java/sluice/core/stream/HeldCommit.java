package sluice.core.stream;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import sluice.core.event.PassingEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// What one commit brought a stream that has to wait for an answer. Sent whole, in order, when nothing waits any
/// more.
public final class HeldCommit {
    /// An event besides its values, generously.
    private static final long ENVELOPE_BYTES = 512;

    private final long serial;
    private final Xid xid;
    private final Lsn commitLsn;
    private final Instant commitTime;
    private final Recipient recipient;
    private final List<HeldEvent> events = new ArrayList<>();
    private final List<HeldBroadcast> broadcasts = new ArrayList<>(0);

    /// @param serial the dispatch's own count of what it dispatches
    /// @param recipient whose part it is
    public HeldCommit(long serial, Xid xid, Lsn commitLsn, Instant commitTime, Recipient recipient) {
        this.serial = serial;
        this.xid = xid;
        this.commitLsn = commitLsn;
        this.commitTime = commitTime;
        this.recipient = recipient;
    }

    public long serial() {
        return serial;
    }

    public Xid xid() {
        return xid;
    }

    public Lsn commitLsn() {
        return commitLsn;
    }

    public Instant commitTime() {
        return commitTime;
    }

    /// Whose part it is.
    public Recipient recipient() {
        return recipient;
    }

    public List<HeldEvent> events() {
        return events;
    }

    /// Broadcasts that come after the commit's rows. They wait for nothing of their own.
    ///
    /// @param to what has ended by then receives nothing
    public record HeldBroadcast(ChannelSubscription to, PassingEvent event) {}

    public List<HeldBroadcast> broadcasts() {
        return broadcasts;
    }

    /// Events and broadcasts.
    public int size() {
        return events.size() + broadcasts.size();
    }

    /// Text bytes of its events, broadcasts included.
    public long weightBytes() {
        long sum = 0;
        for (HeldEvent event : events) {
            sum += event.weightBytes();
        }
        for (HeldBroadcast broadcast : broadcasts) {
            sum += broadcast.event().weightBytes();
        }
        return sum;
    }

    /// About what its events will weigh in the stream's queue.
    public long encodedBytesEstimate() {
        return encodedBytesEstimate(weightBytes(), events.size());
    }

    /// About what so many events with so many bytes of text will weigh in a stream's queue.
    public static long encodedBytesEstimate(long textBytes, int events) {
        return textBytes + ENVELOPE_BYTES * events;
    }

    /// Whether every event of the commit is decided.
    public boolean isDecided() {
        for (HeldEvent event : events) {
            if (event.isWaiting()) {
                return false;
            }
        }
        return true;
    }
}
