package sluice.core.dispatch;

import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.event.StreamEvent;
import sluice.core.stream.FrameSink;
import sluice.core.stream.HeldCommit;
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

    /// Streams of which a transaction is open; most are here within one step only.
    private final Set<StreamState> open = new LinkedHashSet<>();

    /// The same of subscriptions that are apart from their streams.
    private final Set<Subscription> openApart = new LinkedHashSet<>();

    TransactionEnds(FrameSink sink) {
        this.sink = sink;
    }

    /// The subscription is given an event of this transaction.
    void given(Subscription subscription, Xid xid, Lsn commitLsn, Instant commitTime) {
        StreamState stream = subscription.stream();
        if (!subscription.isApart()) {
            given(stream, xid, commitLsn, commitTime);
        } else if (isTold(stream) && subscription.openTransaction() == null) {
            subscription.openTransaction(new StreamEvent.Commit(subscription.label(), commitLsn, commitTime, xid));
            openApart.add(subscription);
        }
    }

    /// The stream is given an event of this transaction.
    void given(StreamState stream, Xid xid, Lsn commitLsn, Instant commitTime) {
        if (isTold(stream) && stream.openTransaction() == null) {
            stream.openTransaction(new StreamEvent.Commit(null, commitLsn, commitTime, xid));
            open.add(stream);
        }
    }

    private static boolean isTold(StreamState stream) {
        return stream.framing() == StreamState.Framing.TRANSACTIONS;
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
            open.removeIf(stream -> {
                end(stream);
                return stream.openTransaction() == null || !stream.isOpen();
            });
        }
        if (!openApart.isEmpty()) {
            openApart.removeIf(subscription -> {
                end(subscription);
                return subscription.openTransaction() == null || isOver(subscription);
            });
        }
    }

    /// What was held of a transaction has been given.
    void end(StreamState stream, HeldCommit given) {
        Subscription apart = given.apart();
        if (apart == null) {
            end(stream);
        } else {
            end(apart);
        }
    }

    /// Tells the stream the end of its open transaction, unless more of it is to come.
    private void end(StreamState stream) {
        StreamEvent.Commit ended = stream.openTransaction();
        if (ended != null
                && stream.isOpen()
                && !ended.commitLsn().equals(stream.replayedCommit())
                && !isHeld(stream, null, ended.commitLsn())) {
            stream.openTransaction(null);
            Frames.give(sink, stream, ended);
        }
    }

    private void end(Subscription apart) {
        StreamEvent.Commit ended = apart.openTransaction();
        if (ended != null
                && !isOver(apart)
                && !ended.commitLsn().equals(apart.replayedCommit())
                && !isHeld(apart.stream(), apart, ended.commitLsn())) {
            apart.openTransaction(null);
            Frames.give(sink, apart.stream(), ended);
        }
    }

    private static boolean isOver(Subscription apart) {
        return apart.state() == Subscription.State.ENDED || !apart.stream().isOpen();
    }

    /// @param apart whose part of the commit is asked about, null for the stream's own
    private static boolean isHeld(StreamState stream, @Nullable Subscription apart, Lsn commitLsn) {
        for (HeldCommit waiting : stream.held()) {
            if (Objects.equals(waiting.apart(), apart) && waiting.commitLsn().equals(commitLsn)) {
                return true;
            }
        }
        return false;
    }
}
