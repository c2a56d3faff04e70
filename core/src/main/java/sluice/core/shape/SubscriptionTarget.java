package sluice.core.shape;

/// What one entry of a request asks for.
public sealed interface SubscriptionTarget permits ShapeRequest, ChannelRequest {}
