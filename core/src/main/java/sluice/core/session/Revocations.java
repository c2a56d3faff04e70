package sluice.core.session;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;

/// Who may no longer be served: told by the engine as the log says so, asked whenever somebody comes in.
///
/// Ids are given as keys of their column's type ({@link IdType}), callers as their tokens name them.
public interface Revocations {
    /// Nothing is ever revoked.
    Revocations NONE = new NoRevocations();

    /// When something was revoked.
    ///
    /// @param commitLsn in the log; what a failover undid is forgotten by it
    /// @param time by this server's clock
    record Moment(Lsn commitLsn, Instant time) {}

    /// Why the caller may not come in now, null when it may.
    @Nullable
    Refusal refusal(Identity caller, Instant now);

    /// How ids of sessions are compared, null when none can be read.
    @Nullable
    IdType sessionType();

    /// How ids of users are compared, null when none can be read or nobody is ever banned.
    @Nullable
    IdType userType();

    /// The session a caller's token names, as a key; null when it names none that could be told.
    @Nullable
    String session(Identity caller);

    /// The user a caller's token names, as a key; null when it names none that could be told.
    @Nullable
    String user(Identity caller);

    /// How ids are compared from here on.
    ///
    /// @param sessions null when no token's session can be read
    /// @param users null when no user is ever banned
    void compareAs(@Nullable IdType sessions, @Nullable IdType users);

    /// The log no longer says who may be served: nobody whose token names a session or a subject is let in until
    /// {@link #compareAs}.
    void unseen();

    /// @return whether it was not known before
    boolean sessionEnded(String session, Moment at);

    /// Every session that began before ended.
    void everySessionEnded(Moment at);

    /// @param until {@link BanTime#FOREVER} when nothing but {@link #unbanned} ends it
    /// @return whether it was not known before
    boolean banned(String user, Instant until, Moment at);

    void unbanned(String user, Moment at);

    /// Users may have been banned before without a word in the log.
    void bansMissed(Moment at);

    /// What was said of commits after this position never happened.
    void timelineLeft(Lsn at);
}
