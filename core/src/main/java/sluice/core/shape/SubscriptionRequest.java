package sluice.core.shape;

import org.jspecify.annotations.Nullable;

/// One entry of a request's `subscriptions`.
///
/// @param label the client's `sub`, empty when it sent none
/// @param shape null when the entry has none
/// @param problem why the entry cannot be read at all, null when it can
public record SubscriptionRequest(
        String label,
        @Nullable ShapeRequest shape,
        @Nullable String problem) {}
