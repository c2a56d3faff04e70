package sluice.server.session;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sluice.core.session.IdType;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.core.session.Revocations;
import sluice.core.session.Revocations.Moment;
import sluice.core.wal.Lsn;
import sluice.server.http.SessionCheck;

/// Asks the database whether a session's row exists, and whether its user is banned.
///
/// A session that is found, and a user that is not banned, are trusted for {@link #TRUSTED} without asking again: the
/// end of either comes by the log. A session that is missing is remembered as revoked; a ban is not, for it may be
/// lifted before the answer is here. Thread-safe. So many questions at once as the database is to bear; who waits
/// longer than {@link #WAIT} for a turn is told that nothing is known.
public final class SessionLookup implements SessionCheck {
    static final Duration TRUSTED = Duration.ofSeconds(30);
    static final Duration WAIT = Duration.ofSeconds(5);
    /// Full: what was asked longest ago is asked again.
    private static final int TRUSTED_MAX = 100_000;

    private static final long LOG_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Logger LOG = LoggerFactory.getLogger(SessionLookup.class);

    /// After every position of the log: of the server that was asked, which a failover leaves.
    private static final Lsn NOT_OF_THE_LOG = new Lsn(-1);

    private final Questions questions;
    private final Revocations revocations;
    private final Semaphore turns;
    private final InstantSource clock;
    private final Ticker nanos;
    private final Cache<Key, Boolean> found;
    private final AtomicLong silentUntil;

    private enum Kind {
        SESSION,
        USER
    }

    private record Key(Kind kind, String id) {}

    /// What is asked.
    ///
    /// @param session whether the sessions table has a row of an id
    /// @param ban whether the user of an id is banned now; null where that is not looked up
    public record Questions(Question session, @Nullable Question ban) {}

    /// Whether there is such a row of this id.
    @FunctionalInterface
    public interface Question {
        /// @throws RuntimeException when the database does not say; its message may be logged
        boolean exists(IdType type, String id);
    }

    /// @param revocations thread-safe
    /// @param atOnce questions under way at once
    public SessionLookup(Questions questions, Revocations revocations, int atOnce, InstantSource clock, Ticker nanos) {
        this.questions = questions;
        this.revocations = revocations;
        this.turns = new Semaphore(atOnce);
        this.clock = clock;
        this.nanos = nanos;
        this.found = Caffeine.newBuilder()
                .maximumSize(TRUSTED_MAX)
                .expireAfterWrite(TRUSTED)
                .ticker(nanos)
                .build();
        this.silentUntil = new AtomicLong(nanos.read());
    }

    /// A token whose session cannot be read is refused without a question.
    @Override
    public boolean mustAsk(Identity caller) {
        return isUnknown(Kind.SESSION, revocations.session(caller)) || isUnknown(Kind.USER, user(caller));
    }

    private boolean isUnknown(Kind kind, @Nullable String id) {
        return id != null && found.getIfPresent(new Key(kind, id)) == null;
    }

    /// Null when nobody's ban is looked up.
    private @Nullable String user(Identity caller) {
        return questions.ban() == null ? null : revocations.user(caller);
    }

    @Override
    public Outcome ask(Identity caller) {
        try {
            if (!turns.tryAcquire(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                return Outcome.UNAVAILABLE;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.UNAVAILABLE;
        }
        try {
            return inTurn(caller);
        } catch (RuntimeException e) {
            long now = nanos.read();
            long silent = silentUntil.get();
            if (now - silent >= 0 && silentUntil.compareAndSet(silent, now + LOG_PAUSE_NANOS)) {
                LOG.atWarn().addKeyValue("reason", e.getMessage()).log("sessions cannot be looked up");
            }
            return Outcome.UNAVAILABLE;
        } finally {
            turns.release();
        }
    }

    private Outcome inTurn(Identity caller) {
        Instant asked = clock.instant();
        Refusal refusal = revocations.refusal(caller, asked);
        if (refusal != null) {
            return switch (refusal) {
                case UNSEEN -> Outcome.UNAVAILABLE;
                case USER_BANNED -> Outcome.BANNED;
                case SESSION_REVOKED, SESSION_UNREADABLE, USER_UNREADABLE, ISSUED_TOO_EARLY -> Outcome.MISSING;
            };
        }
        Outcome session = session(caller, asked);
        return session == Outcome.PRESENT ? banned(user(caller)) : session;
    }

    private Outcome session(Identity caller, Instant asked) {
        if (caller.session() == null) {
            return Outcome.PRESENT;
        }
        String id = revocations.session(caller);
        IdType type = revocations.sessionType();
        if (id == null || type == null) {
            // the column became another one meanwhile
            return Outcome.UNAVAILABLE;
        }
        if (!isUnknown(Kind.SESSION, id)) {
            // whoever had the turn before asked about the same session
            return Outcome.PRESENT;
        }
        if (questions.session().exists(type, id)) {
            found.put(new Key(Kind.SESSION, id), Boolean.TRUE);
            return Outcome.PRESENT;
        }
        revocations.sessionEnded(id, new Moment(NOT_OF_THE_LOG, asked));
        return Outcome.MISSING;
    }

    private Outcome banned(@Nullable String id) {
        Question ban = questions.ban();
        if (ban == null || !isUnknown(Kind.USER, id)) {
            return Outcome.PRESENT;
        }
        IdType type = revocations.userType();
        if (id == null || type == null) {
            return Outcome.UNAVAILABLE;
        }
        if (ban.exists(type, id)) {
            return Outcome.BANNED;
        }
        found.put(new Key(Kind.USER, id), Boolean.TRUE);
        return Outcome.PRESENT;
    }
}
