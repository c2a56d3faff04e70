package sluice.core.session;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;

/// Where sessions are not watched.
final class NoRevocations implements Revocations {
    @Override
    public @Nullable Refusal refusal(Identity caller, Instant now) {
        return null;
    }

    @Override
    public @Nullable IdType sessionType() {
        return null;
    }

    @Override
    public @Nullable IdType userType() {
        return null;
    }

    @Override
    public @Nullable String session(Identity caller) {
        return null;
    }

    @Override
    public @Nullable String user(Identity caller) {
        return null;
    }

    @Override
    public void compareAs(@Nullable IdType sessions, @Nullable IdType users) {}

    @Override
    public void unseen() {}

    @Override
    public boolean sessionEnded(String session, Moment at) {
        return false;
    }

    @Override
    public void everySessionEnded(Moment at) {}

    @Override
    public boolean banned(String user, Instant until, Moment at) {
        return false;
    }

    @Override
    public void unbanned(String user, Moment at) {}

    @Override
    public void bansMissed(Moment at) {}

    @Override
    public void timelineLeft(Lsn at) {}
}
