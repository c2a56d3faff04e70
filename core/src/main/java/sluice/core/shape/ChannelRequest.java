package sluice.core.shape;

/// A channel as the client wrote it, unchecked.
///
/// @param channel `namespace:name`
public record ChannelRequest(String channel, Members members) implements SubscriptionTarget {
    /// Whether the list of who is present comes first, whole. Differences come to everyone who joined.
    public enum Members {
        LISTED,
        NOT_LISTED
    }
}
