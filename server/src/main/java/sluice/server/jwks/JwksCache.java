package sluice.server.jwks;

import com.nimbusds.jose.JWSVerifier;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The current key set, and when it is fetched again.
///
/// Life: made by {@link #load}, which fails when there is no usable key; then {@link
/// #refreshIfDue} is called by a timer
/// and {@link #candidates} by whoever verifies. Both may block on the fetch, so neither runs
/// on an event loop. One fetch
/// runs at a time. A failed fetch keeps the keys there are.
public final class JwksCache {
    /// Tokens with unknown key ids cause at most one fetch in this time, however many arrive.
    static final Duration UNKNOWN_KID_PAUSE = Duration.ofSeconds(10);

    /// Whoever waits for another's fetch gives up after this long and is answered from the keys there are.
    private static final Duration WAIT_MAX = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(JwksCache.class);

    private final JwksSource source;
    private final SigningAlgorithm algorithm;
    private final Duration refresh;
    private final LongSupplier nanoClock;
    private final ReentrantLock fetching = new ReentrantLock();

    private volatile KeySet current;
    private volatile long fetchedNanos;

    /// Guarded by {@link #fetching}; null until a token first named an unknown key.
    private @Nullable Long unknownKidNanos;

    private JwksCache(
            JwksSource source, SigningAlgorithm algorithm, Duration refresh, LongSupplier nanoClock, KeySet first) {
        this.source = source;
        this.algorithm = algorithm;
        this.refresh = refresh;
        this.nanoClock = nanoClock;
        this.current = first;
        this.fetchedNanos = nanoClock.getAsLong();
    }

    /// Fetches for the first time.
    ///
    /// @param nanoClock monotonic nanoseconds, as `System.nanoTime`
    /// @throws JwksException when the set cannot be fetched or has no usable key: the server must not start
    public static JwksCache load(
            JwksSource source, SigningAlgorithm algorithm, Duration refresh, LongSupplier nanoClock)
            throws JwksException {
        KeySet first = KeySet.parse(source.fetch(), algorithm);
        warnOfSymmetricKeys(first);
        return new JwksCache(source, algorithm, refresh, nanoClock, first);
    }

    /// Fetches when the last good fetch is older than the refresh interval.
    public void refreshIfDue() {
        if (nanoClock.getAsLong() - fetchedNanos < refresh.toNanos() || !fetching.tryLock()) {
            return;
        }
        try {
            fetch();
        } finally {
            fetching.unlock();
        }
    }

    /// The keys to try for a token, after asking again once if its key id is unknown.
    List<JWSVerifier> candidates(@Nullable String kid) {
        List<JWSVerifier> known = current.candidates(kid);
        if (!known.isEmpty()) {
            return known;
        }
        fetchForUnknownKid();
        return current.candidates(kid);
    }

    private void fetchForUnknownKid() {
        try {
            if (!fetching.tryLock(WAIT_MAX.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        try {
            Long last = unknownKidNanos;
            if (last != null && nanoClock.getAsLong() - last < UNKNOWN_KID_PAUSE.toNanos()) {
                // someone else has just asked, and this caller may have waited for exactly that answer
                return;
            }
            fetch();
            unknownKidNanos = nanoClock.getAsLong();
        } finally {
            fetching.unlock();
        }
    }

    /// Fetches whatever the time. Whoever comes while another fetches waits for that one, then fetches.
    ///
    /// @return the symmetric keys of the set, none of which is loaded
    /// @throws JwksException when there is no good answer: the known keys stay
    int refresh() throws JwksException {
        try {
            if (!fetching.tryLock(WAIT_MAX.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new JwksException("another fetch did not end in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new JwksException("the server is stopping");
        }
        try {
            return take();
        } finally {
            fetching.unlock();
        }
    }

    private void fetch() {
        try {
            take();
        } catch (JwksException e) {
            LOG.atWarn().addKeyValue("reason", e.getMessage()).log("key set not refreshed; the known keys stay");
        }
    }

    private int take() throws JwksException {
        KeySet fetched = KeySet.parse(source.fetch(), algorithm);
        warnOfSymmetricKeys(fetched);
        current = fetched;
        fetchedNanos = nanoClock.getAsLong();
        return fetched.symmetricKeys();
    }

    private static void warnOfSymmetricKeys(KeySet keys) {
        if (keys.symmetricKeys() > 0) {
            LOG.atWarn().addKeyValue("count", keys.symmetricKeys()).log("key set holds symmetric keys; never loaded");
        }
    }
}
