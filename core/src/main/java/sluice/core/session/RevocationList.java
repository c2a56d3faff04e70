package sluice.core.session;

import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;

/// The sessions that ended and the users that are banned, as far as they are remembered.
///
/// A session that ended is remembered until so many others have ended that there is no room, never by time: its
/// tokens may be good for as long as whoever issued them pleased. Full: the one that ended longest ago is forgotten,
/// and from then on a token issued before it ended is refused, unless sessions are looked up anyway; its owner asks
/// for a new token, which a session that ended does not get. The same holds for bans.
///
/// A session does not come back: a row inserted again under its id ends nothing and begins nothing. One thread.
public final class RevocationList implements Revocations {
    /// How far the clocks of whoever issues tokens and of this server may be apart.
    static final Duration CLOCKS_APART = Duration.ofMinutes(1);

    /// Longer than an answer about a session may be used.
    static final Duration LOOKUPS_TRUSTED = Duration.ofMinutes(1);

    private static final int BANS_REMEMBERED_A_USER = 8;

    private final int sessionsMax;
    private final int bansMax;
    private final Forgotten forgotten;
    private final Map<String, Moment> endedSessions = new LinkedHashMap<>();
    private final Map<String, Ban> bansByUser = new LinkedHashMap<>();
    private Instant sessionsForgottenUntil = Instant.MIN;
    private Instant bansForgottenUntil = Instant.MIN;

    /// What is remembered of a user from then or before may not be the last that was said.
    private Instant bansMissedUntil = Instant.MIN;

    private @Nullable IdType sessionType;
    private @Nullable IdType userType;
    private boolean seen = true;

    /// What becomes of a token whose session may be one that was forgotten.
    public enum Forgotten {
        REFUSED,
        /// Whoever lets it in looks its session up; refused while the answer may be older than what
        /// was forgotten.
        LOOKED_UP
    }

    /// What was last said of a user, and what it took the place of.
    ///
    /// @param until {@link Instant#MIN} when it ended a ban
    private record Ban(Instant until, Moment at, @Nullable Ban before) {}

    /// @param sessionsMax sessions that are remembered
    /// @param bansMax users whose bans are
    public RevocationList(int sessionsMax, int bansMax, Forgotten forgotten) {
        this.sessionsMax = sessionsMax;
        this.bansMax = bansMax;
        this.forgotten = forgotten;
    }

    @Override
    public @Nullable Refusal refusal(Identity caller, Instant now) {
        String session = caller.session();
        if (!seen && (session != null || caller.subject() != null)) {
            return Refusal.UNSEEN;
        }
        if (session != null) {
            String key = session(caller);
            if (key == null) {
                return Refusal.SESSION_UNREADABLE;
            }
            if (endedSessions.containsKey(key)) {
                return Refusal.SESSION_REVOKED;
            }
            if (mayBeOf(caller, sessionsForgottenUntil) && !isLookedUpSince(now)) {
                return Refusal.ISSUED_TOO_EARLY;
            }
        }
        return refusalOfUser(caller, now);
    }

    private @Nullable Refusal refusalOfUser(Identity caller, Instant now) {
        String subject = caller.subject();
        IdType type = userType;
        if (subject == null || type == null) {
            return null;
        }
        return switch (type.read(subject)) {
            case IdType.Reading.Known(var key) -> {
                Ban ban = bansByUser.get(key);
                if (ban != null && ban.until().isAfter(now)) {
                    yield Refusal.USER_BANNED;
                }
                boolean known = ban != null && ban.at().time().isAfter(bansMissedUntil);
                Instant unknownUntil = ban == null ? later(bansForgottenUntil, bansMissedUntil) : bansMissedUntil;
                yield !known && mayBeOf(caller, unknownUntil) ? Refusal.ISSUED_TOO_EARLY : null;
            }
            // no row has this id, so nobody can be banned under it
            case IdType.Reading.Impossible() -> null;
            case IdType.Reading.Undecided() -> Refusal.USER_UNREADABLE;
        };
    }

    /// Whether whoever comes in now was looked up after the last session was forgotten.
    private boolean isLookedUpSince(Instant now) {
        return switch (forgotten) {
            case REFUSED -> false;
            case LOOKED_UP -> now.isAfter(sessionsForgottenUntil.plus(LOOKUPS_TRUSTED));
        };
    }

    private static boolean mayBeOf(Identity caller, Instant forgottenUntil) {
        if (forgottenUntil.equals(Instant.MIN)) {
            return false;
        }
        Instant issued = caller.issuedAt();
        return issued == null || !issued.isAfter(forgottenUntil.plus(CLOCKS_APART));
    }

    @Override
    public @Nullable IdType sessionType() {
        return sessionType;
    }

    @Override
    public @Nullable IdType userType() {
        return userType;
    }

    @Override
    public @Nullable String session(Identity caller) {
        return key(sessionType, caller.session());
    }

    @Override
    public @Nullable String user(Identity caller) {
        return key(userType, caller.subject());
    }

    private static @Nullable String key(@Nullable IdType type, @Nullable String text) {
        return type != null && text != null && type.read(text) instanceof IdType.Reading.Known(var key) ? key : null;
    }

    @Override
    public void compareAs(@Nullable IdType sessions, @Nullable IdType users) {
        sessionType = sessions;
        userType = users;
        seen = true;
    }

    @Override
    public void unseen() {
        seen = false;
    }

    @Override
    public boolean sessionEnded(String session, Moment at) {
        if (endedSessions.putIfAbsent(session, at) != null) {
            return false;
        }
        if (endedSessions.size() > sessionsMax) {
            Iterator<Moment> oldest = endedSessions.values().iterator();
            sessionsForgottenUntil = later(sessionsForgottenUntil, oldest.next().time());
            oldest.remove();
        }
        return true;
    }

    /// Those who hold a token of theirs are told by its age, as if each had been remembered and forgotten.
    @Override
    public void everySessionEnded(Moment at) {
        sessionsForgottenUntil = later(sessionsForgottenUntil, at.time());
    }

    @Override
    public boolean banned(String user, Instant until, Moment at) {
        return say(user, until, at);
    }

    @Override
    public void unbanned(String user, Moment at) {
        if (bansByUser.containsKey(user)) {
            say(user, Instant.MIN, at);
        }
    }

    /// Who was banned is known by then, and who was not is told by the age of their tokens: whoever is banned gets
    /// no new one.
    @Override
    public void bansMissed(Moment at) {
        bansMissedUntil = later(bansMissedUntil, at.time());
    }

    private boolean say(String user, Instant until, Moment at) {
        Ban before = bansByUser.get(user);
        if (before != null && before.until().equals(until) && before.at().time().isAfter(bansMissedUntil)) {
            return false;
        }
        bansByUser.remove(user);
        bansByUser.put(user, new Ban(until, at, cut(before, BANS_REMEMBERED_A_USER - 1)));
        if (bansByUser.size() > bansMax) {
            Iterator<Ban> users = bansByUser.values().iterator();
            Ban oldest = users.next();
            users.remove();
            if (oldest.until().isAfter(at.time())) {
                bansForgottenUntil = later(bansForgottenUntil, oldest.at().time());
            }
        }
        return true;
    }

    private static @Nullable Ban cut(@Nullable Ban ban, int most) {
        if (ban == null || most == 0) {
            return null;
        }
        Ban before = ban.before();
        Ban kept = cut(before, most - 1);
        return Objects.equals(kept, before) ? ban : new Ban(ban.until(), ban.at(), kept);
    }

    /// What was forgotten for lack of room stays so: tokens of today do not suffer from it for long.
    @Override
    public void timelineLeft(Lsn at) {
        endedSessions.values().removeIf(ended -> ended.commitLsn().isAfter(at));
        for (Iterator<Map.Entry<String, Ban>> users = bansByUser.entrySet().iterator(); users.hasNext(); ) {
            Map.Entry<String, Ban> user = users.next();
            Ban ban = user.getValue();
            while (ban != null && ban.at().commitLsn().isAfter(at)) {
                ban = ban.before();
            }
            if (ban == null) {
                users.remove();
            } else {
                user.setValue(ban);
            }
        }
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    /// Sessions and users remembered.
    int size() {
        return endedSessions.size() + bansByUser.size();
    }
}
