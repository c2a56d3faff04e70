package sluice.core.stream;

import sluice.core.value.JsonString;

/// The bytes that tell a subscription's events apart, made once at subscribe.
///
/// @param labelJson the client's label as a JSON string, quotes included, UTF-8
public record SubscriptionTag(byte[] labelJson) {
    public static SubscriptionTag of(String label) {
        return new SubscriptionTag(JsonString.quoted(label));
    }
}
