package sluice.core.stream;

/// The bytes that tell a subscription's events apart, made once at subscribe.
///
/// @param labelJson the client's label as a JSON string, quotes included, UTF-8
public record SubscriptionTag(byte[] labelJson) {}
