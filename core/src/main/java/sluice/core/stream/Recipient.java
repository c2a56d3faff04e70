package sluice.core.stream;

import org.jspecify.annotations.Nullable;
import sluice.core.event.StreamEvent;
import sluice.core.wal.Lsn;

/// Who is given one transaction after another and, where asked for, told where each ends: a stream, with its live
/// subscriptions and its channels, or one subscription that is fed apart from it. Owned by the engine's thread.
public abstract sealed class Recipient permits StreamState, Subscription {
    private StreamEvent.@Nullable Commit openTransaction;
    private @Nullable Lsn replayedCommit;

    /// The stream it writes to: its own, or itself.
    public abstract StreamState stream();

    /// Whether it is given anything any more.
    public abstract boolean isOver();

    /// The transaction of which it has been given events, and has not been told the end.
    public final StreamEvent.@Nullable Commit openTransaction() {
        return openTransaction;
    }

    public final void openTransaction(StreamEvent.@Nullable Commit transaction) {
        openTransaction = transaction;
    }

    /// The commit that it is being given from the buffer, in pieces; null when there is none.
    public final @Nullable Lsn replayedCommit() {
        return replayedCommit;
    }

    public final void replays(@Nullable Lsn commit) {
        replayedCommit = commit;
    }
}
