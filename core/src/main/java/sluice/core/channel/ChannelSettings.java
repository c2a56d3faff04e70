package sluice.core.channel;

import java.time.Duration;
import java.util.List;
import sluice.core.stream.RateBucket;

/// The bounds of channels.
///
/// @param messagePrefix what the prefixes of the database's messages meant for clients begin with
/// @param messageBytesMax a larger message of the database can never be queued
/// @param publishRate broadcasts of a stream
/// @param presenceRate presence requests of a stream
/// @param presenceBroadcast how long changes of presence are collected
/// @param presenceKeysMax most keys present in one channel
/// @param recheckEvery how often verdicts that have run out are looked for
public record ChannelSettings(
        List<Namespace> namespaces,
        String messagePrefix,
        long messageBytesMax,
        RateBucket.Limit publishRate,
        RateBucket.Limit presenceRate,
        Duration presenceBroadcast,
        int presenceKeysMax,
        Duration recheckEvery) {
    /// What one member of a channel's presence may say of itself.
    public static final int META_BYTES_MAX = 4096;

    public ChannelSettings {
        namespaces = List.copyOf(namespaces);
    }
}
