package sluice.server.postgres.wal;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;

/// Which history of the log this process follows, from one connection to the next. One thread, but for {@link
/// #timeline}.
///
/// Life: the first connection's; when a later one has a higher timeline, {@link #leftAt} is where ours was left,
/// until the engine has been given that and {@link #adopt} is called.
final class History {
    private @Nullable String systemId;
    private volatile int timeline;
    private int timelineNow;
    private @Nullable Lsn leftAt;

    /// Looks at who answers.
    ///
    /// @throws ReplicationException when this is no continuation of what was delivered
    void meet(ReplicationConnection connection, ReplicationConnection.SystemIdentity identity) throws SQLException {
        if (systemId == null) {
            systemId = identity.systemId();
            timeline = identity.timeline();
        }
        if (!identity.systemId().equals(systemId)) {
            throw new ReplicationException("another database system answers than before");
        }
        timelineNow = identity.timeline();
        leftAt = null;
        if (timelineNow == timeline) {
            return;
        }
        Lsn left = timelineNow > timeline ? connection.switchPoint(timeline, timelineNow) : null;
        if (left == null) {
            throw new ReplicationException("timeline " + timelineNow + " answers, which does not continue timeline "
                    + timeline + " that was followed; name the present primary in SLUICE_DB_REPL_URL");
        }
        leftAt = left;
    }

    /// Where the history followed so far ends, null while it goes on.
    @Nullable
    Lsn leftAt() {
        return leftAt;
    }

    /// The one whose commits are handed over; 0 before the first connection. Any thread.
    int timeline() {
        return timeline;
    }

    int timelineNow() {
        return timelineNow;
    }

    /// The new history is followed from here on.
    void adopt() {
        timeline = timelineNow;
        leftAt = null;
    }

    String systemId() {
        return String.valueOf(systemId);
    }
}
