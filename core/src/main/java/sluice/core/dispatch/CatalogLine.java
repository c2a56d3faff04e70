package sluice.core.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Stamp;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// The line of commits while it is parked for a catalog reload. Owned by the engine's thread.
///
/// A commit whose Relation messages announce tables is dispatched only when the catalog of these tables was read in a
/// snapshot that sees the commit and every commit dispatched before it: an earlier one may have moved rights and be
/// shown by PostgreSQL later. The engine does not wait: it takes no further event of the log until the answer,
/// the deadline or a failure moves the line. Life: FREE, then PARKED with a request out or a pause before the next,
/// then FREE again.
final class CatalogLine {
    private static final Duration PAUSE = Duration.ofMillis(20);

    private record Parked(WalEvent event, Xid xid, List<Integer> oids, Instant deadline) {}

    /// What moved the line.
    sealed interface Release {
        /// The catalog is as new as the commit.
        record Ready(WalEvent event) implements Release {}

        /// It could not be read in time; the shapes of these tables end.
        record GaveUp(WalEvent event, List<Integer> oids) implements Release {}
    }

    private final EffectSink effects;
    private final Duration timeout;
    private final CommitOrder order;
    private @Nullable Parked parked;
    private long outstandingRequest;
    private @Nullable Instant retryAt;

    CatalogLine(EffectSink effects, Duration timeout, CommitOrder order) {
        this.order = order;
        this.effects = effects;
        this.timeout = timeout;
    }

    boolean isFree() {
        return parked == null;
    }

    /// Where the commit that waits here is in the log, 0 while none does.
    Lsn parkedAt() {
        Parked held = parked;
        return held == null ? Lsn.ZERO : CommitStart.commitLsn(held.event());
    }

    void park(WalEvent event, Xid xid, List<Integer> oids, long requestId, Instant now) {
        parked = new Parked(event, xid, List.copyOf(oids), now.plus(timeout));
        order.next(xid);
        request(requestId);
    }

    private void request(long requestId) {
        Parked held = parked;
        if (held != null) {
            outstandingRequest = requestId;
            retryAt = null;
            effects.emit(new Effect.LoadCatalog(requestId, new CatalogScope.Tables(held.oids())));
        }
    }

    /// The tables a request asked for, empty when the request is not this line's.
    List<Integer> askedBy(long requestId) {
        Parked held = parked;
        return held != null && requestId == outstandingRequest ? new ArrayList<>(held.oids()) : List.of();
    }

    /// Whether an answer sees the commit that waits. One that does not may be half old and half new where
    /// PostgreSQL looks past its own snapshot, as for privileges, and is asked for again.
    boolean isNewEnough(Stamp stamp) {
        Parked held = parked;
        return held != null && stamp.snapshot().sees(held.xid());
    }

    /// @param stamp of the answer, which has been applied if it is new enough; null when the load failed
    /// @return what moved the line, null when it stays parked
    @Nullable
    Release answered(long requestId, @Nullable Stamp stamp, Instant now) {
        Parked held = parked;
        if (held == null || requestId != outstandingRequest) {
            return null;
        }
        outstandingRequest = 0;
        UnseenCommits unseen = order.unseen();
        if (stamp != null && stamp.snapshot().sees(held.xid()) && unseen.showsFirst(stamp.snapshot(), unseen.count())) {
            free();
            return new Release.Ready(held.event());
        }
        retryAt = now.plus(PAUSE);
        return null;
    }

    private void free() {
        parked = null;
        order.next(null);
    }

    /// @param nextRequestId used when a request is due
    @Nullable
    Release tick(Instant now, long nextRequestId) {
        Parked held = parked;
        if (held == null) {
            return null;
        }
        if (now.isAfter(held.deadline())) {
            free();
            outstandingRequest = 0;
            return new Release.GaveUp(held.event(), held.oids());
        }
        Instant due = retryAt;
        if (due != null && !due.isAfter(now)) {
            request(nextRequestId);
        }
        return null;
    }
}
