package sluice.core.stream;

import sluice.core.value.JsonString;

/// What tells a subscription's events apart, made once for all that have the label.
///
/// @param label as the client gave it
/// @param labelJson the same as a JSON string, quotes included, UTF-8
public record SubscriptionTag(String label, byte[] labelJson) {
    public static SubscriptionTag of(String label) {
        return new SubscriptionTag(label, JsonString.quoted(label));
    }
}
