package sluice.core.event;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;

/// What became of one requested subscription, as `ready` tells it.
///
/// @param sub the client's label, empty when it sent none
public record SubscriptionResult(String sub, Outcome outcome) {
    /// Granted or refused.
    public sealed interface Outcome {}

    /// @param tier the letter of the rule's tier
    /// @param history to be sent back beside a resume position of the subscription
    /// @param resumed whether a resume missed nothing; null when none was asked for
    /// @param routingKey the column changes are looked up by; null when every change of the table is looked at
    /// @param reason one sentence: why this tier
    /// @param warnings each is also sent as an event of its own
    public record Granted(
            String tier,
            Indexing indexing,
            @Nullable String routingKey,
            String reason,
            String history,
            @Nullable Boolean resumed,
            List<StreamEvent.Warning> warnings)
            implements Outcome {
        public Granted {
            warnings = List.copyOf(warnings);
        }
    }

    /// A channel was joined, about which there is nothing more to say.
    public record Joined() implements Outcome {}

    /// @param retryAfterMillis when the same request may be made again, null when the client is free to choose
    public record Refused(
            ErrorCode code, String message, @Nullable Long retryAfterMillis) implements Outcome {}

    /// Whether changes find the subscription by a look-up through an indexed column.
    public enum Indexing {
        INDEXED,
        UNINDEXED
    }
}
