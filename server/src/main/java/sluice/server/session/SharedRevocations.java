package sluice.server.session;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import sluice.core.session.IdType;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.core.session.Revocations;
import sluice.core.wal.Lsn;

/// One list for all threads: the engine's, which writes it, and whoever verifies a token. Held for a moment at a
/// time.
public final class SharedRevocations implements Revocations {
    private final Revocations list;

    /// @param list used by nobody else
    public SharedRevocations(Revocations list) {
        this.list = list;
    }

    @Override
    public synchronized @Nullable Refusal refusal(Identity caller, Instant now) {
        return list.refusal(caller, now);
    }

    @Override
    public synchronized @Nullable IdType sessionType() {
        return list.sessionType();
    }

    @Override
    public synchronized @Nullable IdType userType() {
        return list.userType();
    }

    @Override
    public synchronized @Nullable String session(Identity caller) {
        return list.session(caller);
    }

    @Override
    public synchronized @Nullable String user(Identity caller) {
        return list.user(caller);
    }

    @Override
    public synchronized void compareAs(@Nullable IdType sessions, @Nullable IdType users) {
        list.compareAs(sessions, users);
    }

    @Override
    public synchronized void unseen() {
        list.unseen();
    }

    @Override
    public synchronized boolean sessionEnded(String session, Moment at) {
        return list.sessionEnded(session, at);
    }

    @Override
    public synchronized void everySessionEnded(Moment at) {
        list.everySessionEnded(at);
    }

    @Override
    public synchronized boolean banned(String user, Instant until, Moment at) {
        return list.banned(user, until, at);
    }

    @Override
    public synchronized void unbanned(String user, Moment at) {
        list.unbanned(user, at);
    }

    @Override
    public synchronized void bansMissed(Moment at) {
        list.bansMissed(at);
    }

    @Override
    public synchronized void timelineLeft(Lsn at) {
        list.timelineLeft(at);
    }
}
