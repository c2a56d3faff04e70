package sluice.server.runtime;

import java.util.List;
import sluice.core.dispatch.Effect;
import sluice.core.event.EventBody;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.snapshot.SnapshotSpool;

/// Rows of shapes, read at once and given out as their clients take them. Called on virtual threads.
public interface Snapshots {
    /// Waits for the database; never throws for what the database or the disk do.
    SnapshotOutcome read(Effect.ReadSnapshot request);

    /// The next rows; none at the end.
    ///
    /// @throws RuntimeException when the spool can give no more though there is more; its message is for the client
    List<EventBody> take(SnapshotSpool spool, int rowsMax, long bytesMax);

    /// Gives back what the spool holds; safe to call twice, and while rows are being taken.
    void drop(SnapshotSpool spool);
}
