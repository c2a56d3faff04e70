package sluice.server.runtime;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jctools.queues.SpscUnboundedArrayQueue;
import org.jspecify.annotations.Nullable;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.server.postgres.wal.WalSink;

/// From the reader's thread to the engine's: events of the log in order, bounded by the bytes they hold.
///
/// Full: {@link #offer} says so, and the reader keeps the event, goes on with its feedback and offers again. One
/// event is always taken by an empty inbox, however large. One producer, one consumer.
public final class WalInbox implements WalSink {
    private final SpscUnboundedArrayQueue<WalEvent> queue = new SpscUnboundedArrayQueue<>(1024);
    private final AtomicLong weightBytes = new AtomicLong();
    private final AtomicInteger timelinesWaiting = new AtomicInteger();
    private final AtomicReference<Lsn> received = new AtomicReference<>(Lsn.ZERO);
    private final AtomicReference<Lsn> confirmable = new AtomicReference<>(Lsn.ZERO);
    private final long weightBytesMax;
    private final Runnable wake;

    /// The engine's own: it has one that it has not answered yet with a position of the new timeline.
    private boolean timelineTaken;

    /// @param wake called after each event taken in; must be cheap and never wait
    public WalInbox(long weightBytesMax, Runnable wake) {
        this.weightBytesMax = weightBytesMax;
        this.wake = wake;
    }

    @Override
    public boolean offer(WalEvent event) {
        long held = weightBytes.get();
        if (held > 0 && held + event.weightBytes() > weightBytesMax) {
            return false;
        }
        weightBytes.addAndGet(event.weightBytes());
        note(event);
        queue.offer(event);
        wake.run();
        return true;
    }

    private void note(WalEvent event) {
        switch (event) {
            case WalEvent.Committed(var transaction) -> received.set(transaction.endLsn());
            case WalEvent.SpilledBegin begin -> received.set(begin.endLsn());
            case WalEvent.Idle(var walEnd) -> received.set(walEnd);
            case WalEvent.TimelineLeft(var at) -> {
                received.set(at);
                timelinesWaiting.incrementAndGet();
            }
            case WalEvent.SpilledImages images -> {}
            case WalEvent.SpilledChunk chunk -> {}
            case WalEvent.SpilledEnd end -> {}
            case WalEvent.LoneMessage message -> {}
        }
    }

    /// The end of what came in last; any thread.
    public Lsn received() {
        return received.get();
    }

    /// Zero from the offer of a {@link WalEvent.TimelineLeft} until it is dispatched: what was confirmable before
    /// may lie past commits of the new timeline that wait.
    @Override
    public Lsn confirmable() {
        return timelinesWaiting.get() == 0 ? confirmable.get() : Lsn.ZERO;
    }

    /// Whether commits of a timeline that was left may still wait for the engine. Any thread.
    public boolean holdsTwoTimelines() {
        return timelinesWaiting.get() != 0;
    }

    /// The next event, null when there is none. The engine's thread only.
    @Nullable
    WalEvent poll() {
        WalEvent event = queue.poll();
        if (event != null) {
            weightBytes.addAndGet(-event.weightBytes());
            timelineTaken |= event instanceof WalEvent.TimelineLeft;
        }
        return event;
    }

    /// Everything up to here has been dispatched. The engine's thread only.
    void confirm(Lsn lsn) {
        confirmable.set(lsn);
        if (timelineTaken) {
            timelineTaken = false;
            timelinesWaiting.decrementAndGet();
        }
    }

    /// Bytes waiting for the engine.
    public long weightBytes() {
        return weightBytes.get();
    }
}
