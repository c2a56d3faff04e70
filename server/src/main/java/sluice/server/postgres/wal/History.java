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
    /// No server writes it.
    static final int NONE = -1;

    private @Nullable String systemId;
    private volatile int timeline;
    private int timelineNow;
    private volatile @Nullable Lsn leftAt;

    /// What a server knows of the timelines it has.
    @FunctionalInterface
    interface SwitchPoints {
        /// @return where the one was left on the way to the other; null when it does not lead there
        @Nullable
        Lsn switchPoint(int from, int to) throws SQLException;
    }

    /// Looks at who answers.
    ///
    /// @throws ReplicationException when this is no continuation of what was delivered
    void meet(SwitchPoints server, ReplicationConnection.SystemIdentity identity) throws SQLException {
        if (systemId == null) {
            systemId = identity.systemId();
            timeline = identity.timeline();
        }
        if (!identity.systemId().equals(systemId)) {
            throw new ReplicationException("another database system answers than before");
        }
        timelineNow = identity.timeline();
        if (timelineNow == timeline) {
            leftAt = null;
            return;
        }
        Lsn left = timelineNow > timeline ? server.switchPoint(timeline, timelineNow) : null;
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

    /// The one whose commits are handed over; 0 before the first connection, {@link #NONE} while it is being left:
    /// the engine may have been told of that before {@link #adopt}. Any thread.
    int timeline() {
        return leftAt == null ? timeline : NONE;
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
