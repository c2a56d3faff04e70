package sluice.core.channel;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.stream.ChannelSubscription;

/// What hooks have said, and the joins that live on it. Owned by the engine's thread.
///
/// A join is a lease on its key's verdict: past the verdict's validity it is due to be asked about again, and goes on
/// until the answer is a denial. Answers are remembered for new joins, in a cache of bounded size: full, the oldest
/// is forgotten, which costs a question and no join.
public final class HookVerdicts {
    /// Answers remembered for new joins.
    static final int REMEMBERED_MAX = 10_000;

    /// Validity is shortened by up to this share, so that joins made together do not all expire together.
    private static final double SHORTENED_MAX = 0.2;

    private static final long RETRY_MILLIS_MIN = 1_000;
    private static final long RETRY_MILLIS_SPREAD = 4_000;

    /// A verdict as it stands.
    ///
    /// @param until a moment at which it no longer answers new joins
    /// @param asked the number of the question; a lower one was put earlier
    /// @param denial the last verdict before this, where that is a denial and this is none at all
    public record Known(
            HookAnswer.Verdict verdict,
            @Nullable String reason,
            Instant until,
            long asked,
            double random,
            @Nullable Known denial) {
        public Known(HookAnswer.Verdict verdict, @Nullable String reason, Instant until, long asked, double random) {
            this(verdict, reason, until, asked, random, null);
        }

        /// When the client may ask again: from one to five seconds, never while this answer stands.
        public long retryAfterMillis(Instant now) {
            long spread = RETRY_MILLIS_MIN + (long) (random * RETRY_MILLIS_SPREAD);
            return Math.max(spread, Duration.between(now, until).toMillis() + 1);
        }
    }

    private static final class Lease {
        private final Set<ChannelSubscription> joins = new LinkedHashSet<>();
        private Instant until;

        Lease(Instant until) {
            this.until = until;
        }
    }

    private final Map<HookKey, Known> remembered = new LinkedHashMap<>();
    private final Map<HookKey, Lease> leases = new LinkedHashMap<>();
    private final Map<ChannelSubscription, HookKey> keys = new LinkedHashMap<>();

    /// The verdict that answers a new join, null when the hook has to be asked.
    public @Nullable Known standing(HookKey key, Instant now) {
        Known known = remembered.get(key);
        return known != null && known.until().isAfter(now) ? known : null;
    }

    /// What counts of a verdict that was told a while ago: what a later question has brought since, but no
    /// verdict in the place of one that is still valid.
    public Known newest(HookKey key, Known told, Instant now) {
        Known latest = remembered.get(key);
        if (latest == null || latest.asked() <= told.asked()) {
            return told;
        }
        Known denial = latest.denial();
        if (denial != null && denial.asked() > told.asked()) {
            return denial;
        }
        boolean says =
                latest.verdict() != HookAnswer.Verdict.NONE || !told.until().isAfter(now);
        return says ? latest : told;
    }

    private static @Nullable Known denial(@Nullable Known before, HookAnswer answer) {
        if (before == null || answer.verdict() != HookAnswer.Verdict.NONE) {
            return null;
        }
        return before.verdict() == HookAnswer.Verdict.DENY ? before : before.denial();
    }

    /// Takes an answer in.
    ///
    /// @param asked the question's number
    /// @param random from 0 to 1
    /// @return what stands now: the answer, unless a later question was answered already
    public Known answered(HookKey key, HookAnswer answer, long asked, double random, Instant now) {
        Known before = remembered.get(key);
        if (before != null && before.asked() > asked) {
            return before;
        }
        Duration valid = answer.verdict() == HookAnswer.Verdict.NONE
                ? answer.validFor()
                : Duration.ofNanos((long) (answer.validFor().toNanos() * (1 - random * SHORTENED_MAX)));
        Known known =
                new Known(answer.verdict(), answer.reason(), now.plus(valid), asked, random, denial(before, answer));
        remembered.remove(key);
        remembered.put(key, known);
        if (remembered.size() > REMEMBERED_MAX) {
            remembered.remove(remembered.keySet().iterator().next());
        }
        Lease lease = leases.get(key);
        if (lease != null && known.verdict() == HookAnswer.Verdict.ALLOW) {
            lease.until = known.until();
        }
        return known;
    }

    /// A join lives on this key's verdict from here on. One that lived on another lives on that no more.
    ///
    /// @param until when it is due to be asked about
    public void hold(ChannelSubscription join, HookKey key, Instant until) {
        release(join);
        keys.put(join, key);
        Lease lease = leases.computeIfAbsent(key, absent -> new Lease(until));
        lease.joins.add(join);
    }

    /// The join is over.
    public void release(ChannelSubscription join) {
        HookKey key = keys.remove(join);
        Lease lease = key == null ? null : leases.get(key);
        if (key != null && lease != null) {
            lease.joins.remove(join);
            if (lease.joins.isEmpty()) {
                leases.remove(key);
            }
        }
    }

    /// The key the join lives on, null when it needs no verdict.
    public @Nullable HookKey key(ChannelSubscription join) {
        return keys.get(join);
    }

    /// The joins that live on the key's verdict.
    public List<ChannelSubscription> joins(HookKey key) {
        Lease lease = leases.get(key);
        return lease == null ? List.of() : List.copyOf(lease.joins);
    }

    /// The keys that have to be asked about again.
    public List<HookKey> due(Instant now) {
        List<HookKey> due = new ArrayList<>();
        for (Map.Entry<HookKey, Lease> entry : leases.entrySet()) {
            if (!entry.getValue().until.isAfter(now)) {
                due.add(entry.getKey());
            }
        }
        return due;
    }

    /// Whether joins live on the key and it has to be asked about.
    public boolean isDue(HookKey key, Instant now) {
        Lease lease = leases.get(key);
        return lease != null && !lease.until.isAfter(now);
    }

    int rememberedCount() {
        return remembered.size();
    }
}
