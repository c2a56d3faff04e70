package sluice.core.shape;

import org.jspecify.annotations.Nullable;

/// One entry of a request's `subscriptions`.
///
/// @param label the client's `sub`, empty when it sent none
/// @param target null when the entry has none
/// @param problem why the entry cannot be read at all, null when it can
public record SubscriptionRequest(
        String label,
        @Nullable SubscriptionTarget target,
        @Nullable String problem) {
    /// The shape asked for, null when the entry asks for none.
    public @Nullable ShapeRequest shape() {
        return target instanceof ShapeRequest shape ? shape : null;
    }

    /// The channel asked for, null when the entry asks for none.
    public @Nullable ChannelRequest channel() {
        return target instanceof ChannelRequest channel ? channel : null;
    }
}
