package sluice.core.dispatch;

import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Set;
import sluice.core.event.StreamEvent;
import sluice.core.stream.FrameSink;
import sluice.core.stream.HeldCommit;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// Where one transaction ends and the next begins, for streams that asked to be told. Owned by the engine's thread.
///
/// The end is told after the last event of a transaction that brought the stream any. A transaction of which a part
/// waits for an answer, or for room in the stream's queue, ends when that part is given. What a subscription gets
/// apart from its stream is no part of the stream's transactions.
final class TransactionEnds {
    private final FrameSink sink;

    /// Streams of which a transaction is open; most are here within one step only.
    private final Set<StreamState> open = new LinkedHashSet<>();

    TransactionEnds(FrameSink sink) {
        this.sink = sink;
    }

    /// The stream is given an event of this transaction.
    void given(Subscription subscription, Xid xid, Lsn commitLsn, Instant commitTime) {
        if (!subscription.isApart()) {
            given(subscription.stream(), xid, commitLsn, commitTime);
        }
    }

    void given(StreamState stream, Xid xid, Lsn commitLsn, Instant commitTime) {
        if (stream.framing() == StreamState.Framing.TRANSACTIONS && stream.openTransaction() == null) {
            stream.openTransaction(new StreamEvent.Commit(commitLsn, commitTime, xid));
            open.add(stream);
        }
    }

    /// What the open commit gave the stream was taken back.
    void takenBack(StreamState stream) {
        stream.openTransaction(null);
    }

    /// What was given is of whole transactions, but where more of one waits.
    void end() {
        if (!open.isEmpty()) {
            open.removeIf(stream -> {
                end(stream);
                return stream.openTransaction() == null || !stream.isOpen();
            });
        }
    }

    /// Tells the stream the end of its open transaction, unless more of it is to come.
    void end(StreamState stream) {
        StreamEvent.Commit ended = stream.openTransaction();
        if (ended == null || !stream.isOpen()) {
            return;
        }
        HeldCommit waiting = stream.held().peekFirst();
        boolean more = ended.commitLsn().equals(stream.replayedCommit())
                || (waiting != null && waiting.commitLsn().equals(ended.commitLsn()));
        if (!more) {
            stream.openTransaction(null);
            Frames.give(sink, stream, ended);
        }
    }
}
