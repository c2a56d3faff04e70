package sluice.server.config;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.ChannelSettings;
import sluice.core.channel.Namespace;
import sluice.core.session.RevocationTables;
import sluice.core.wal.SlotName;
import sluice.server.postgres.PostgresUrl;

/// Everything an operator can say, checked. Immutable; nothing in it prints a password.
///
/// @param revocation null when no session is ever ended
public record Settings(
        Http http,
        Log log,
        Database database,
        Replication replication,
        Tokens tokens,
        Rights rights,
        Streams streams,
        Snapshots snapshots,
        Channels channels,
        @Nullable Revocation revocation,
        Operation operation) {

    /// A switch.
    public enum Toggle {
        ON,
        OFF;

        public boolean isOn() {
            return this == ON;
        }
    }

    /// @param pathPrefix begins with a slash and does not end with one, or is empty
    /// @param reconnectSpread zero sends no `retry_after_ms`
    public record Http(
            ListenAddress listen,
            String pathPrefix,
            String requestIdHeader,
            Duration shutdownGrace,
            Duration reconnectSpread) {}

    /// @param nodeId prefix of stream ids: letters, digits, `.`, `_` and `-`
    public record Log(Level level, Format format, String nodeId) {
        /// Least level logged.
        public enum Level {
            DEBUG,
            INFO,
            WARN,
            ERROR
        }

        /// Form of a line.
        public enum Format {
            JSON,
            TEXT
        }
    }

    /// @param connectionsMax at least {@link #RESERVED} + 1
    public record Database(
            PostgresUrl replication, PostgresUrl pool, int connectionsMax, int connectionsMin, Toggle paranoidReset) {
        /// The reader lock, reloads of tables and of the whole catalog, and the rights poll have a
        /// connection each.
        public static final int RESERVED = 4;
    }

    /// @param protocolVersion null for the highest the database has
    /// @param transactionMemory bytes of one transaction held before it is written to the spill folder
    public record Replication(
            SlotName slot,
            String publication,
            Toggle slotRecreate,
            @Nullable Integer protocolVersion,
            Toggle messages,
            String messagePrefix,
            Duration statusInterval,
            Images images,
            ByteSize transactionMemory,
            Path spillDirectory,
            ByteSize spillMax) {
        /// What roles that bypass row-level security receive of a row changed several times in one transaction.
        public enum Images {
            NET,
            ALL
        }
    }

    /// @param issuer null when `iss` is not checked
    public record Tokens(
            URI jwks,
            Duration jwksRefresh,
            Algorithm algorithm,
            @Nullable String issuer,
            String audience,
            Duration leeway,
            List<String> allowedRoles,
            String sessionClaim) {
        public Tokens {
            allowedRoles = List.copyOf(allowedRoles);
        }

        /// The pinned signature algorithm.
        public enum Algorithm {
            ES256,
            RS256
        }
    }

    /// How rights are decided and kept fresh.
    public record Rights(
            Duration lease,
            Duration catalogRefresh,
            Duration reloadTimeout,
            Duration rightsPoll,
            Duration stampWait,
            TierC tierC,
            int probesPerSecondMax,
            Duration probeTimeout,
            CrossChecking crossChecking,
            int unindexedShapesMax,
            IdentityCheck identityCheck,
            DegradedDeletes degradedDeletes) {
        /// Which decisions in process PostgreSQL is asked to confirm, for each rule.
        ///
        /// @param first so many from the start; 0 for none at all
        /// @param every one in so many after these; 0 for none
        public record CrossChecking(int first, int every) {}

        /// Whether rules that need one query per change are served.
        public enum TierC {
            ALLOW,
            DENY
        }

        /// What becomes of a shape whose replica identity does not carry what it needs.
        public enum IdentityCheck {
            WARN,
            STRICT
        }

        /// What becomes of a delete that cannot be decided.
        public enum DegradedDeletes {
            WITHHOLD,
            DELIVER
        }
    }

    /// @param streamsMax 0 for no limit
    /// @param admitMemory share of memory, from 0 to 1, past which streams are refused; 0 never refuses
    public record Streams(
            Duration heartbeat,
            int queueEventsMax,
            ByteSize queueBytesMax,
            Duration writeTimeout,
            int streamsMax,
            int subscriptionsMax,
            int shapesMax,
            ByteSize changeBytesMax,
            int subscribeRate,
            double admitMemory,
            Ring ring) {}

    /// The buffer of recent commits.
    ///
    /// @param ageMax zero keeps commits until the memory is full
    /// @param memoryShare of the JVM's maximum heap, from 0 to 1; 0 turns the buffer off
    public record Ring(Duration ageMax, double memoryShare) {}

    /// Initial snapshots.
    ///
    /// @param concurrentMax read at once
    /// @param timeout of reading one
    public record Snapshots(Toggle enabled, int concurrentMax, int rowsMax, Duration timeout) {}

    /// What ends sessions.
    public record Revocation(RevocationTables tables, Lookup lookup) {
        /// Whether a session's row must exist for a stream to open.
        public enum Lookup {
            ON,
            OFF
        }
    }

    /// Broadcasts and presence.
    ///
    /// @param publishRate a second and stream; 0 for no limit
    /// @param presenceRate a window and stream; 0 for no limit
    /// @param hookBearer null when the hooks expect none
    public record Channels(
            List<Namespace> namespaces,
            ByteSize payloadBytesMax,
            int publishRate,
            int presenceRate,
            Duration presenceWindow,
            Duration presenceBroadcast,
            int presenceKeysMax,
            Duration hookTtl,
            Duration hookTimeout,
            @Nullable Secret hookBearer) {
        /// What one member may take in a list of them.
        public static final int MEMBER_BYTES_MAX = ChannelSettings.META_BYTES_MAX + 512;

        public Channels {
            namespaces = List.copyOf(namespaces);
        }
    }

    /// @param lagDegraded zero never reports it
    /// @param readyMaxLag null when lag never makes the server unready
    public record Operation(
            Toggle metrics,
            Toggle diagnostics,
            Duration lagDegraded,
            @Nullable Duration readyMaxLag) {}
}
