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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sluice.core.session.IdType;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.core.session.Revocations;
import sluice.core.session.Revocations.Moment;
import sluice.core.wal.Lsn;
import sluice.server.http.SessionCheck;

/// Asks the database whether a session's row exists.
///
/// A session that is found is trusted for {@link #TRUSTED} without asking again: its end comes by the log. One that
/// is missing is remembered as revoked. Thread-safe. So many questions at once as the database is to bear; who waits
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

    private final Question question;
    private final Revocations revocations;
    private final Semaphore turns;
    private final InstantSource clock;
    private final Ticker nanos;
    private final Cache<String, Boolean> found;
    private final AtomicLong silentUntil;

    /// Whether the sessions table has a row of this id.
    @FunctionalInterface
    public interface Question {
        /// @throws RuntimeException when the database does not say; its message may be logged
        boolean exists(IdType type, String id);
    }

    /// @param revocations thread-safe
    /// @param atOnce questions under way at once
    public SessionLookup(Question question, Revocations revocations, int atOnce, InstantSource clock, Ticker nanos) {
        this.question = question;
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
        String key = revocations.session(caller);
        return key != null && found.getIfPresent(key) == null;
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
        String key = revocations.session(caller);
        IdType type = revocations.sessionType();
        Instant asked = clock.instant();
        if (key == null || type == null) {
            // the column became another one meanwhile
            return Outcome.UNAVAILABLE;
        }
        Refusal refusal = revocations.refusal(caller, asked);
        if (refusal != null) {
            return refusal == Refusal.UNSEEN ? Outcome.UNAVAILABLE : Outcome.MISSING;
        }
        if (found.getIfPresent(key) != null) {
            // whoever had the turn before asked about the same session
            return Outcome.PRESENT;
        }
        if (question.exists(type, key)) {
            found.put(key, Boolean.TRUE);
            return Outcome.PRESENT;
        }
        revocations.sessionEnded(key, new Moment(NOT_OF_THE_LOG, asked));
        return Outcome.MISSING;
    }
}
