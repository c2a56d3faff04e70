package sluice.server.postgres.wal;

import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

/// Where the reader puts what it read. Called on the reader's thread only; must never wait.
public interface WalSink {
    /// Takes the next event.
    ///
    /// @return false when there is no room: the reader keeps feedback going and offers the same event again
    boolean offer(WalEvent event);

    /// Up to where the slot may be confirmed: nothing before it is outstanding. Zero while nothing is known.
    Lsn confirmable();
}
