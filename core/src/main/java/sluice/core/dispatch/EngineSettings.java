package sluice.core.dispatch;

import java.time.Duration;
import sluice.core.channel.ChannelSettings;
import sluice.core.resume.ResumeBuffer;
import sluice.core.stream.RateBucket;

/// The engine's bounds.
///
/// @param heartbeat told to clients in `ready`
/// @param queueEventsMax most events of one commit, and of what waits for a stream
/// @param queueBytesMax the same in bytes
/// @param reloadTimeout how long a catalog reload may hold the line
/// @param questionTimeout how long PostgreSQL may take to answer about a caller
/// @param stampWait how long an answer may be too old for the commit it is to decide
/// @param lease how long it is believed that the time has taken no rule away
/// @param probesPerSecondMax Tier C queries a second, all streams together
/// @param probesOutstandingMax Tier C queries unanswered at once
public record EngineSettings(
        Duration heartbeat,
        int subscriptionsPerStreamMax,
        int shapesPerStreamMax,
        int unindexedShapesMax,
        int changeBytesMax,
        int queueEventsMax,
        long queueBytesMax,
        Duration reloadTimeout,
        Duration questionTimeout,
        Duration rightsPoll,
        Duration catalogRefresh,
        Duration stampWait,
        Duration lease,
        int probesPerSecondMax,
        int probesOutstandingMax,
        IdentityPolicy replicaIdentity,
        CrossChecking crossChecking,
        Rates rates,
        Feeding feeding,
        ChannelSettings channels,
        DegradedDeletes degradedDeletes) {
    /// What becomes of a DELETE whose old row does not carry what the decision needs.
    public enum DegradedDeletes {
        WITHHOLD,
        /// Everybody subscribed to the table whom it may concern is sent its key.
        DELIVER
    }

    /// What rows come from besides the commit being dispatched.
    public record Feeding(ResumeBuffer.Bounds buffer, Snapshots snapshots) {}

    /// Whether subscriptions may begin with the rows there are.
    public enum Snapshots {
        SERVED,
        DISABLED
    }

    /// How often one stream may ask for something.
    ///
    /// @param subscribe counts subscriptions, not requests
    public record Rates(RateBucket.Limit subscribe) {}

    /// Which decisions in process PostgreSQL is asked to confirm, for each rule.
    ///
    /// @param first so many from the start; 0 asks for none at all, of callers neither
    /// @param every one in so many after these; 0 for none
    public record CrossChecking(int first, int every) {}

    /// What a filter column outside the replica identity brings a subscription.
    public enum IdentityPolicy {
        WARN,
        STRICT
    }
}
