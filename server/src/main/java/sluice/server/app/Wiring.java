package sluice.server.app;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.ChannelSettings;
import sluice.core.dispatch.EngineSettings;
import sluice.core.dispatch.Notice;
import sluice.core.resume.ResumeBuffer;
import sluice.core.stream.RateBucket;
import sluice.server.config.Secret;
import sluice.server.config.Settings;
import sluice.server.config.Settings.Toggle;
import sluice.server.hook.HttpHooks;
import sluice.server.http.HttpSettings;
import sluice.server.jwks.SigningAlgorithm;
import sluice.server.jwks.TokenRules;
import sluice.server.metrics.Metrics;
import sluice.server.postgres.query.Pool;
import sluice.server.postgres.query.SlotServer;
import sluice.server.postgres.query.SnapshotQueries;
import sluice.server.postgres.query.StartupValidation;
import sluice.server.postgres.query.StartupValidation.SlotRecreation;
import sluice.server.postgres.wal.FileSpillStore;
import sluice.server.postgres.wal.PoolServer;
import sluice.server.postgres.wal.WalReader;
import sluice.server.runtime.WalInbox;
import sluice.server.snapshot.SnapshotReader;
import sluice.server.snapshot.SpoolStore;

/// What each part is told, out of the settings.
final class Wiring {
    /// Commits waiting between the reader and the engine.
    static final long INBOX_BYTES = 32L << 20;

    /// One piece of a spilled commit.
    static final long SPILL_CHUNK_BYTES = 1L << 20;

    /// Questions about callers that may be unanswered before the change is withheld.
    private static final int PROBES_OUTSTANDING_MAX = 10_000;

    /// The kernel's share of what a client that does not read may hold.
    private static final int SEND_BUFFER_BYTES = 128 << 10;

    private static final int CONNECTIONS_MAX = 100_000;

    /// Of the spill folder, for snapshots.
    private static final int SPOOL_SHARE = 8;

    /// Of the spill folder, for commits that are kept after their dispatch.
    private static final int KEPT_SHARE = 4;

    /// Of the heap, for snapshots.
    private static final int SPOOL_HEAP_SHARE = 64;

    /// Of one snapshot; a larger one goes to a file.
    private static final long SPOOL_MEMORY_BYTES = 1L << 20;

    /// Whoever holds a table does not hold up the snapshots of other tables for longer.
    private static final Duration SNAPSHOT_LOCK_TIMEOUT = Duration.ofSeconds(2);

    private Wiring() {}

    static SigningAlgorithm algorithm(Settings settings) {
        return switch (settings.tokens().algorithm()) {
            case ES256 -> SigningAlgorithm.ES256;
            case RS256 -> SigningAlgorithm.RS256;
        };
    }

    static TokenRules tokens(Settings settings) {
        Settings.Tokens tokens = settings.tokens();
        return new TokenRules(
                algorithm(settings),
                tokens.issuer(),
                tokens.audience(),
                tokens.leeway(),
                tokens.allowedRoles(),
                tokens.sessionClaim());
    }

    static int callerConnections(Settings settings) {
        return settings.database().connectionsMax() - Settings.Database.RESERVED;
    }

    static Pool pool(Settings settings) {
        return Pool.open(
                settings.database().pool(),
                new Pool.Sizing(
                        callerConnections(settings),
                        settings.database().connectionsMin(),
                        settings.snapshots().concurrentMax(),
                        Duration.ofSeconds(5),
                        Pool.Memory.between(settings.rights().rightsPoll())),
                settings.database().paranoidReset().isOn() ? Pool.Reset.DISCARD_ALL : Pool.Reset.ROLLBACK);
    }

    static StartupValidation.Expectation expectation(Settings settings) {
        return new StartupValidation.Expectation(
                settings.replication().slot(),
                settings.replication().publication(),
                settings.tokens().allowedRoles(),
                settings.database().replication().user(),
                settings.replication().protocolVersion(),
                settings.replication().slotRecreate() == Toggle.ON ? SlotRecreation.ALLOWED : SlotRecreation.FORBIDDEN,
                SessionWiring.expectation(settings));
    }

    static WalReader.Source source(Settings settings) {
        Settings.Replication replication = settings.replication();
        return new WalReader.Source(
                settings.database().replication(),
                settings.database().pool(),
                replication.slot(),
                replication.publication(),
                replication.protocolVersion(),
                replication.messages().isOn() ? WalReader.Messages.DELIVERED : WalReader.Messages.IGNORED,
                replication.statusInterval(),
                replication.slotRecreate().isOn() ? WalReader.LostSlot.RECREATE : WalReader.LostSlot.STOP);
    }

    /// Before the reader's first connection no commit waits for an answer, and each timeline will do.
    static IntPredicate followed(WalReader reader, WalInbox inbox) {
        return timeline -> {
            int handedOver = reader.timeline();
            return handedOver == 0 || (handedOver == timeline && !inbox.holdsTwoTimelines());
        };
    }

    static FileSpillStore spill(Settings settings) {
        Settings.Replication replication = settings.replication();
        return new FileSpillStore(
                replication.spillDirectory(),
                replication.spillMax().bytes() - spoolBytes(settings) - keptBytes(settings),
                keptBytes(settings));
    }

    /// Commits that are kept after their dispatch share the folder too, and may never take the room of the one that
    /// is being read.
    private static long keptBytes(Settings settings) {
        return buffer(settings.streams().ring()).bytesMax() == 0
                ? 0
                : settings.replication().spillMax().bytes() / KEPT_SHARE;
    }

    /// Rows that wait for their clients share the folder of commits, but may never take their room.
    private static long spoolBytes(Settings settings) {
        return settings.snapshots().enabled().isOn()
                ? settings.replication().spillMax().bytes() / SPOOL_SHARE
                : 0;
    }

    /// @param server where the log is read from now
    static SnapshotReader snapshots(
            Settings settings,
            Pool pool,
            Supplier<@Nullable PoolServer> server,
            Metrics metrics,
            Consumer<Notice> log) {
        SpoolStore spools = new SpoolStore(
                settings.replication().spillDirectory(),
                new SpoolStore.Bounds(
                        spoolBytes(settings), Runtime.getRuntime().maxMemory() / SPOOL_HEAP_SHARE, SPOOL_MEMORY_BYTES));
        spools.clean();
        SnapshotQueries queries = new SnapshotQueries(
                pool,
                () -> slotServer(server.get()),
                String.valueOf(settings.database().pool().user()),
                new SnapshotQueries.Bounds(
                        settings.snapshots().rowsMax(),
                        changeBytesMax(settings),
                        settings.snapshots().timeout(),
                        SNAPSHOT_LOCK_TIMEOUT));
        return new SnapshotReader(queries, spools, changeBytesMax(settings), metrics, log);
    }

    private static @Nullable SlotServer slotServer(@Nullable PoolServer server) {
        return server == null ? null : new SlotServer(server.systemIdentifier(), server.timeline(), server.database());
    }

    static int changeBytesMax(Settings settings) {
        return Math.toIntExact(
                Math.min(Integer.MAX_VALUE, settings.streams().changeBytesMax().bytes()));
    }

    static HttpSettings http(Settings settings) {
        Settings.Streams streams = settings.streams();
        HttpSettings.Times times = HttpSettings.Times.DEFAULT;
        return new HttpSettings(
                new InetSocketAddress(
                        settings.http().listen().host(),
                        settings.http().listen().port()),
                settings.http().pathPrefix(),
                settings.log().nodeId(),
                settings.http().requestIdHeader(),
                new HttpSettings.Limits(
                        streams.streamsMax(),
                        CONNECTIONS_MAX,
                        streams.queueEventsMax(),
                        streams.queueBytesMax().bytes(),
                        SEND_BUFFER_BYTES,
                        settings.channels().payloadBytesMax().bytes()),
                new HttpSettings.Times(
                        streams.heartbeat(),
                        streams.writeTimeout(),
                        times.header(),
                        times.body(),
                        times.idle(),
                        settings.http().shutdownGrace(),
                        settings.http().reconnectSpread()),
                settings.operation().metrics().isOn()
                        ? HttpSettings.MetricsEndpoint.SERVED
                        : HttpSettings.MetricsEndpoint.HIDDEN,
                HttpSettings.TransportChoice.BEST);
    }

    private static ResumeBuffer.Bounds buffer(Settings.Ring ring) {
        return new ResumeBuffer.Bounds(
                ring.ageMax(), (long) (Runtime.getRuntime().maxMemory() * ring.memoryShare()));
    }

    /// A commit that takes half of the room for those that are kept finds it.
    private static ResumeBuffer.Bounds withFiles(ResumeBuffer.Bounds buffer, Settings settings) {
        return new ResumeBuffer.Bounds(buffer.ageMax(), buffer.bytesMax(), keptBytes(settings) / 2);
    }

    static EngineSettings engine(Settings settings) {
        Settings.Streams streams = settings.streams();
        Settings.Rights rights = settings.rights();
        return new EngineSettings(
                streams.heartbeat(),
                streams.subscriptionsMax(),
                streams.shapesMax(),
                rights.unindexedShapesMax(),
                changeBytesMax(settings),
                streams.queueEventsMax(),
                streams.queueBytesMax().bytes(),
                rights.reloadTimeout(),
                Duration.ofSeconds(10),
                rights.rightsPoll(),
                rights.catalogRefresh(),
                rights.stampWait(),
                rights.lease(),
                rights.probesPerSecondMax(),
                PROBES_OUTSTANDING_MAX,
                rights.identityCheck() == Settings.Rights.IdentityCheck.STRICT
                        ? EngineSettings.IdentityPolicy.STRICT
                        : EngineSettings.IdentityPolicy.WARN,
                new EngineSettings.CrossChecking(
                        rights.crossChecking().first(), rights.crossChecking().every()),
                new EngineSettings.Rates(new RateBucket.Limit(streams.subscribeRate(), Duration.ofSeconds(1))),
                new EngineSettings.Feeding(
                        withFiles(buffer(streams.ring()), settings),
                        settings.snapshots().enabled().isOn()
                                ? EngineSettings.Snapshots.SERVED
                                : EngineSettings.Snapshots.DISABLED),
                channels(settings),
                rights.degradedDeletes() == Settings.Rights.DegradedDeletes.DELIVER
                        ? EngineSettings.DegradedDeletes.DELIVER
                        : EngineSettings.DegradedDeletes.WITHHOLD);
    }

    private static ChannelSettings channels(Settings settings) {
        Settings.Channels channels = settings.channels();
        return new ChannelSettings(
                channels.namespaces(),
                settings.replication().messagePrefix(),
                // as JSON it may become six times as long, which the queue then says
                settings.streams().queueBytesMax().bytes(),
                new RateBucket.Limit(channels.publishRate(), Duration.ofSeconds(1)),
                new RateBucket.Limit(channels.presenceRate(), channels.presenceWindow()),
                channels.presenceBroadcast(),
                channels.presenceKeysMax(),
                settings.rights().catalogRefresh());
    }

    static HttpHooks.Options hooks(Settings settings) {
        Secret bearer = settings.channels().hookBearer();
        return new HttpHooks.Options(
                settings.channels().hookTimeout(),
                settings.channels().hookTtl(),
                bearer == null ? null : bearer.reveal(),
                settings.http().requestIdHeader());
    }

    /// Beginnings of the logical messages that anybody listens to.
    static List<String> messagePrefixes(Settings settings) {
        return settings.replication().messages().isOn()
                ? List.of(settings.replication().messagePrefix())
                : List.of();
    }
}
