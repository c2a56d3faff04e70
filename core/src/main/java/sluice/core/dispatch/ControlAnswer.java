package sluice.core.dispatch;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.event.SubscriptionResult;
import sluice.core.wal.Lsn;

/// What came of a {@link ControlRequest}, or of dropping shapes. Whatever it says is done already.
public sealed interface ControlAnswer {
    /// @param retryAfterMillis when the same request may be made again, null when it makes no difference
    record Refused(ErrorCode code, String message, @Nullable Long retryAfterMillis) implements ControlAnswer {
        public Refused(ErrorCode code, String message) {
            this(code, message, null);
        }
    }

    /// @param results one for each requested entry, in the request's order
    /// @param walLsn where the stream was complete when they were installed
    record Subscribed(List<SubscriptionResult> results, Lsn walLsn) implements ControlAnswer {
        public Subscribed {
            results = List.copyOf(results);
        }
    }

    /// @param count subscriptions removed
    record Removed(int count) implements ControlAnswer {}

    /// @param count streams a broadcast went to
    record Delivered(int count) implements ControlAnswer {}

    record Done() implements ControlAnswer {}

    /// @param revoked subscriptions the new token may not have
    record TokenTaken(int revoked) implements ControlAnswer {}

    /// @param count shapes an operator dropped
    record Dropped(int count) implements ControlAnswer {}
}
