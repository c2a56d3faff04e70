package sluice.core.dispatch;

import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Set;
import sluice.core.event.StreamEvent;
import sluice.core.stream.FrameSink;
import sluice.core.stream.HeldCommit;
import sluice.core.stream.Recipient;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// Where one transaction ends and the next begins, for streams that asked to be told. Owned by the engine's thread.
///
/// The end is told after the last event of a transaction that brought any. A transaction of which a part waits for an
/// answer, or for room in the stream's queue, ends when that part is given. What a subscription is given apart from
/// its stream ends by itself, under the subscription's name.
final class TransactionEnds {
    private final FrameSink sink;

    /// Those of whom a transaction is open; most are here within one step only.
    private final Set<Recipient> open = new LinkedHashSet<>();

    TransactionEnds(FrameSink sink) {
        this.sink = sink;
    }

    /// The recipient is given an event of this transaction.
    void given(Recipient recipient, Xid xid, Lsn commitLsn, Instant commitTime) {
        if (recipient.stream().framing() == StreamState.Framing.TRANSACTIONS && recipient.openTransaction() == null) {
            String label = recipient instanceof Subscription apart ? apart.label() : null;
            recipient.openTransaction(new StreamEvent.Commit(label, commitLsn, commitTime, xid));
            open.add(recipient);
        }
    }

    /// What the open commit gave the stream was taken back.
    void takenBack(StreamState stream, Lsn commitLsn) {
        StreamEvent.Commit begun = stream.openTransaction();
        if (begun != null && begun.commitLsn().equals(commitLsn)) {
            stream.openTransaction(null);
        }
    }

    /// What was given is of whole transactions, but where more of one waits.
    void end() {
        if (!open.isEmpty()) {
            open.removeIf(recipient -> {
                end(recipient);
                return recipient.openTransaction() == null || recipient.isOver();
            });
        }
    }

    /// Tells the end of the open transaction, unless more of it is to come.
    void end(Recipient recipient) {
        StreamEvent.Commit ended = recipient.openTransaction();
        if (ended != null
                && !recipient.isOver()
                && !ended.commitLsn().equals(recipient.replayedCommit())
                && !isHeld(recipient, ended.commitLsn())) {
            recipient.openTransaction(null);
            Frames.give(sink, recipient.stream(), ended);
        }
    }

    /// Whether a part of the commit still waits to be given.
    private static boolean isHeld(Recipient recipient, Lsn commitLsn) {
        for (HeldCommit waiting : recipient.stream().held()) {
            if (waiting.recipient().equals(recipient) && waiting.commitLsn().equals(commitLsn)) {
                return true;
            }
        }
        return false;
    }
}
