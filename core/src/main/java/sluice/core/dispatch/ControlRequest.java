package sluice.core.dispatch;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.shape.SubscriptionRequest;

/// What a client asks of a stream that is open. The caller is verified; whether the stream is the caller's is the
/// engine's to say.
public sealed interface ControlRequest {
    /// More subscriptions.
    record Subscribe(List<SubscriptionRequest> requests) implements ControlRequest {
        public Subscribe {
            requests = List.copyOf(requests);
        }
    }

    /// Fewer subscriptions: shapes and channels of these labels. A label nothing has is passed over.
    record Unsubscribe(List<String> labels) implements ControlRequest {
        public Unsubscribe {
            labels = List.copyOf(labels);
        }
    }

    /// A broadcast to a channel the stream has joined.
    ///
    /// @param payload JSON on one line, null for none
    record Publish(String channel, String event, byte @Nullable [] payload, Echo echo) implements ControlRequest {
        /// Payloads are never printed.
        @Override
        public String toString() {
            return "Publish[" + channel + "]";
        }
    }

    /// Presence in a channel the stream has joined.
    ///
    /// @param key as the client gave it, null when it gave none
    /// @param meta JSON on one line, null for none
    record Presence(String channel, Action action, @Nullable String key, byte @Nullable [] meta)
            implements ControlRequest {
        /// What is done with the caller's entry.
        public enum Action {
            TRACK,
            UPDATE,
            UNTRACK,
            /// The client named another, which is told after what else may be wrong.
            UNKNOWN
        }

        /// What members say of themselves is never printed.
        @Override
        public String toString() {
            return "Presence[" + channel + ", " + action + "]";
        }
    }

    /// The stream goes on under the caller's token.
    record Token() implements ControlRequest {}

    /// Whether a broadcast comes back to the stream that sent it.
    enum Echo {
        TO_SELF,
        TO_OTHERS
    }
}
