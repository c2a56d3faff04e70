package sluice.core.event;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.error.WarningCode;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// Everything a stream is told besides changes. {@link FrameEncoder} makes bytes of it.
public sealed interface StreamEvent {
    /// The first event of every stream.
    ///
    /// @param walLsn the position the stream is complete from; null while there is none
    /// @param lagMillis how late changes arrive; null while they arrive on time
    /// @param subscriptions one result per requested entry, in the request's order
    record Ready(
            String streamId,
            Instant serverTime,
            long heartbeatMillis,
            @Nullable Lsn walLsn,
            @Nullable Long lagMillis,
            List<SubscriptionResult> subscriptions)
            implements StreamEvent {
        public Ready {
            subscriptions = List.copyOf(subscriptions);
        }
    }

    /// All rows of a subscription's snapshot have been sent.
    ///
    /// @param floorLsn the position the rows are of
    record SnapshotEnd(String sub, long rows, Lsn floorLsn, Completeness completeness) implements StreamEvent {}

    /// Whether a snapshot has every row of its shape.
    enum Completeness {
        WHOLE,
        /// There are more rows than a snapshot may have.
        TRUNCATED
    }

    /// The end of a transaction: everything it brought came before.
    ///
    /// @param sub the subscription it is told of, while that is fed apart from its stream; null for the stream's
    ///     others
    /// @param xid as PostgreSQL logs it, without its epoch
    record Commit(@Nullable String sub, Lsn commitLsn, Instant commitTime, Xid xid) implements StreamEvent {}

    /// The subscription has caught up: from here on it sees each commit together with its stream.
    ///
    /// @param walLsn the position it is complete up to
    record Live(String sub, Lsn walLsn) implements StreamEvent {}

    /// Changes have begun to arrive late, or arrive on time again.
    ///
    /// @param lagMillis how late when it was written; 0 when they are on time
    record Delay(long lagMillis) implements StreamEvent {}

    /// Something the client should know; the stream and its subscriptions go on.
    ///
    /// @param sub the subscription it is about, null when it is about the stream
    /// @param effect what the client will notice
    /// @param remedy what to do about it, SQL where there is some
    record Warning(
            @Nullable String sub,
            WarningCode code,
            String message,
            @Nullable String effect,
            @Nullable String remedy) implements StreamEvent {}

    /// The end of a subscription or, without `sub`, of the stream.
    ///
    /// @param retryAfterMillis when to come back, null when the client is free to choose
    record Failure(
            @Nullable String sub,
            ErrorCode code,
            String message,
            @Nullable Action action,
            @Nullable Long retryAfterMillis)
            implements StreamEvent {}

    /// What the client has to do besides asking again.
    enum Action {
        /// Forget the rows it holds and read them again.
        RESNAPSHOT;

        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
