package sluice.server.app;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.dispatch.Engine;
import sluice.core.error.RequestException;
import sluice.core.session.Revocations;
import sluice.core.transaction.TransactionAssembler;
import sluice.core.transaction.TransactionImages;
import sluice.server.config.Settings;
import sluice.server.hook.HttpHooks;
import sluice.server.http.DiagnosticsReport;
import sluice.server.http.ExtraRoutes;
import sluice.server.http.HttpServer;
import sluice.server.http.JvmMemory;
import sluice.server.http.Readiness;
import sluice.server.http.SessionCheck;
import sluice.server.jwks.HttpJwksSource;
import sluice.server.jwks.JwksCache;
import sluice.server.jwks.JwksException;
import sluice.server.jwks.TokenVerifier;
import sluice.server.logging.RequestLog;
import sluice.server.metrics.Metrics;
import sluice.server.postgres.query.CallerQueries;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Finding;
import sluice.server.postgres.query.LogPush;
import sluice.server.postgres.query.OldestTransaction;
import sluice.server.postgres.query.Pool;
import sluice.server.postgres.query.ProbeQueries;
import sluice.server.postgres.query.QueryException;
import sluice.server.postgres.query.RightsPoll;
import sluice.server.postgres.query.SlotStatus;
import sluice.server.postgres.query.StartupValidation;
import sluice.server.postgres.wal.FileSpillStore;
import sluice.server.postgres.wal.PoolServer;
import sluice.server.postgres.wal.ReaderClock;
import sluice.server.postgres.wal.ReplicationCheck;
import sluice.server.postgres.wal.ReplicationException;
import sluice.server.postgres.wal.SlotCreationWatch;
import sluice.server.postgres.wal.WalReader;
import sluice.server.runtime.EffectRunner;
import sluice.server.runtime.EngineThread;
import sluice.server.runtime.HookRunner;
import sluice.server.runtime.SteadyClock;
import sluice.server.runtime.WalInbox;

/// One running server: everything wired, by hand.
///
/// Life: {@link #start} checks the settings against the database and listens; it serves once the reader streams; it
/// ends by {@link #close}, or by itself when the reader can no longer deliver every change ({@link #ended}).
public final class SluiceServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SluiceServer.class);
    private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration WATCH = Duration.ofMillis(100);
    private static final int WATCHES_A_STATUS = 50;

    private final Settings settings;
    private final Metrics metrics;
    private final FileSpillStore spill;
    private final JwksCache keys;
    private final Pool pool;
    private final Replication replication;
    private final MemoryGate memory;
    private final WalInbox inbox;
    private final EngineThread engineThread;
    private final PostgresDatabase database;
    private final EffectRunner effects;
    private final WalReader reader;
    private final SlotCreationWatch slotCreation;
    private final RetentionWatch retention;
    private final Diagnostics diagnostics;
    private final HttpHooks hooks;
    private final HookRunner hookRunner;
    private final RequestLog requestLog = new RequestLog(System::nanoTime);
    private final HttpServer http;
    private final ExecutorService blocking;
    private final ScheduledExecutorService timer;
    private final ScheduledExecutorService loadTimer;
    private final AtomicBoolean closed = new AtomicBoolean();
    private Thread readerThread = Thread.ofPlatform().unstarted(() -> {});
    private final long warningsEvery;
    private long watches;

    /// What is checked and opened before anything is wired.
    private record Foundation(
            Metrics metrics,
            JwksCache keys,
            Pool pool,
            List<Finding> warnings,
            CatalogLoader loader,
            CatalogImage catalog) {}

    /// Two processes never read a slot under the same name, whatever became of the slot in between.
    private static String incarnation(Settings settings) {
        return settings.replication().slot().text() + "-" + Long.toHexString(new SecureRandom().nextLong());
    }

    private SluiceServer(Settings settings, Foundation foundation, ExtraRoutes extraRoutes) {
        this.settings = settings;
        this.warningsEvery = Math.max(1, settings.rights().catalogRefresh().dividedBy(WATCH));
        this.metrics = foundation.metrics();
        this.keys = foundation.keys();
        this.pool = foundation.pool();
        InstantSource clock = InstantSource.system();
        Revocations revocations = SessionWiring.revocations(settings);
        this.replication =
                new Replication(clock, metrics, foundation.catalog().stamp().insertLsn(), incarnation(settings));
        this.engineThread = new EngineThread(new SteadyClock(clock, System::nanoTime), replication, broken -> {
            LOG.atError().setCause(broken).log("an invariant is broken; stopping");
            replication.end("an invariant is broken");
        });
        this.inbox = new WalInbox(Wiring.INBOX_BYTES, engineThread::wake);
        this.memory =
                new MemoryGate(settings.streams().admitMemory(), new JvmMemory(), JvmMemory::collect, clock, metrics);
        Gate gate = new Gate(engineThread, replication, memory);
        this.spill = Wiring.spill(settings);
        this.reader = reader(gate);
        pool.follow(Wiring.followed(reader, inbox));
        this.slotCreation = new SlotCreationWatch(reader, settings.database().pool(), ReaderClock.system(), gate::log);
        this.blocking = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("request-", 0).factory());
        this.timer = timer("timer");
        this.loadTimer = timer("load-timer");
        this.retention = new RetentionWatch(settings.replication().slot(), this::oldestTransaction, gate::log);
        this.diagnostics = new Diagnostics(
                settings, foundation.warnings(), retention::finding, inbox::received, engineThread::submit);
        this.http = http(
                gate,
                extraRoutes,
                SessionWiring.check(settings, pool, foundation.warnings(), revocations, clock),
                verifier(revocations, clock));
        this.database = database(foundation);
        this.hooks = new HttpHooks(Wiring.hooks(settings));
        this.hookRunner = new HookRunner(
                hooks::ask, settings.channels().hookTimeout(), RandomGenerator.getDefault(), engineThread::submit);
        this.effects = effects(gate);
        Engine engine = new Engine(
                new Engine.Ports(
                        effects,
                        http.shards(),
                        new EngineCounts(metrics),
                        planner(settings),
                        foundation.catalog(),
                        SessionWiring.rules(settings, revocations)),
                Wiring.engine(settings));
        reader.useCatalog(foundation.catalog());
        engineThread.start(engine, inbox, http.shards()::hasRoom);
    }

    private static ScheduledExecutorService timer(String name) {
        return Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name(name).daemon().factory());
    }

    private PostgresDatabase database(Foundation foundation) {
        return new PostgresDatabase(
                foundation.loader(),
                settings.rights().reloadTimeout(),
                new RightsPoll(pool, settings.replication().publication(), QUERY_TIMEOUT),
                new CallerQueries(pool, QUERY_TIMEOUT),
                new ProbeQueries(pool, settings.rights().probeTimeout()),
                new LogPush(
                        pool,
                        foundation.catalog().dictionary().serverMajor(),
                        settings.rights().probeTimeout()),
                metrics);
    }

    private WalReader reader(Gate gate) {
        return new WalReader(
                Wiring.source(settings),
                spill,
                new TransactionAssembler.Bounds(
                        settings.replication().transactionMemory().bytes(),
                        Wiring.SPILL_CHUNK_BYTES,
                        Wiring.messagePrefixes(settings)),
                settings.replication().images() == Settings.Replication.Images.ALL
                        ? TransactionImages.ALL
                        : TransactionImages.NET,
                inbox,
                ReaderClock.system(),
                new ReaderReports(metrics, pool, gate::log));
    }

    private EffectRunner effects(Gate gate) {
        return new EffectRunner(
                new EffectRunner.Sources(
                        database, Wiring.snapshots(settings, pool, reader::server, metrics, gate::log)),
                new EffectRunner.Limits(
                        Wiring.callerConnections(settings), settings.snapshots().concurrentMax()),
                new EffectRunner.Targets(
                        inbox,
                        engineThread::submit,
                        gate::log,
                        reader::useCatalog,
                        diagnostics::counted,
                        answered -> {
                            gate.answered(answered.requestId());
                            http.answered(answered.requestId(), answered.answer());
                        },
                        hookRunner));
    }

    private TokenVerifier verifier(Revocations revocations, InstantSource clock) {
        return new TokenVerifier(Wiring.tokens(settings), keys, revocations, clock);
    }

    private HttpServer http(Gate gate, ExtraRoutes extraRoutes, SessionCheck sessions, TokenVerifier verifier) {
        return new HttpServer(
                Wiring.http(settings),
                new HttpServer.Collaborators(
                        verifier,
                        gate,
                        this::readiness,
                        metrics,
                        requestLog,
                        extraRoutes,
                        settings.operation().diagnostics().isOn() ? diagnostics : DiagnosticsReport.HIDDEN,
                        blocking,
                        RandomGenerator.getDefault(),
                        InstantSource.system(),
                        sessions),
                Runtime.getRuntime().availableProcessors(),
                Thread.ofPlatform().name("stream-", 0).factory());
    }

    private static sluice.core.dispatch.RulePlanner planner(Settings settings) {
        RlsResolver resolver = new RlsResolver(
                settings.rights().tierC() == Settings.Rights.TierC.ALLOW
                        ? ProbePermission.ALLOW
                        : ProbePermission.DENY);
        return (catalog, relation, role, terms) -> resolver.plan(catalog, relation, role, PinnedColumns.of(terms));
    }

    /// Checks, wires and listens.
    ///
    /// @param extraRoutes routes beside the protocol's own
    /// @throws StartException naming every setting that cannot be used, or the SQL to run
    public static SluiceServer start(Settings settings, ExtraRoutes extraRoutes) throws StartException {
        Metrics metrics = Metrics.withJvm();
        JwksCache keys;
        try {
            keys = JwksCache.load(
                    new HttpJwksSource(settings.tokens().jwks(), QUERY_TIMEOUT),
                    Wiring.algorithm(settings),
                    settings.tokens().jwksRefresh(),
                    System::nanoTime);
        } catch (JwksException e) {
            throw new StartException("SLUICE_JWKS_URL: " + e.getMessage(), e);
        }
        Pool pool = Wiring.pool(settings);
        SluiceServer server = null;
        try {
            List<Finding> warnings = validate(settings, pool, metrics);
            CatalogLoader loader = CatalogLoader.start(
                    pool,
                    settings.replication().publication(),
                    settings.tokens().allowedRoles(),
                    QUERY_TIMEOUT);
            CatalogImage catalog = loader.load(new CatalogScope.Everything(), QUERY_TIMEOUT);
            server = new SluiceServer(
                    settings, new Foundation(metrics, keys, pool, warnings, loader, catalog), extraRoutes);
            server.begin();
            return server;
        } catch (QueryException e) {
            throw new StartException("SLUICE_DB_AUTHZ_URL: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new StartException("SLUICE_LISTEN_ADDR: " + e.getMessage(), e);
        } finally {
            if (server == null) {
                pool.close();
            }
        }
    }

    /// Whether the replication URL can be used, and leads to the database that was validated.
    private static void validateReplication(Settings settings, StartupValidation.ServerIdentity pool)
            throws StartException {
        try {
            String postponed = ReplicationCheck.run(
                    settings.database().replication(),
                    new PoolServer(pool.systemIdentifier(), pool.timeline(), pool.database(), PoolServer.Role.PRIMARY));
            if (postponed != null) {
                LOG.atWarn().addKeyValue("reason", postponed).log("the replication URL cannot be checked yet");
            }
        } catch (ReplicationException e) {
            throw new StartException(String.valueOf(e.getMessage()), e);
        }
    }

    /// @return its warnings
    private static List<Finding> validate(Settings settings, Pool pool, Metrics metrics) throws StartException {
        StartupValidation.Report report =
                new StartupValidation(pool, Wiring.expectation(settings), QUERY_TIMEOUT).run();
        if (!report.refusals().isEmpty()) {
            StringBuilder text = new StringBuilder("the database is not ready:");
            for (Finding refusal : report.refusals()) {
                text.append(System.lineSeparator()).append(refusal.text());
            }
            throw new StartException(text.toString());
        }
        List<Finding> warnings = new ArrayList<>(report.warnings());
        warnings.addAll(SettingsJudgement.of(settings));
        for (Finding warning : warnings) {
            LOG.atWarn()
                    .addKeyValue("code", warning.code())
                    .addKeyValue("subject", warning.subject())
                    .addKeyValue("reason", warning.reason())
                    .addKeyValue("remedy", warning.remedy())
                    .log("configuration warning");
        }
        metrics.configWarnings(warnings.stream().map(Finding::code).distinct().toList());
        StartupValidation.ServerIdentity server = report.server();
        if (server != null) {
            validateReplication(settings, server);
        }
        return warnings;
    }

    private void begin() throws IOException {
        try {
            http.start();
        } catch (IOException e) {
            close();
            throw e;
        }
        readerThread = Thread.ofPlatform().name("wal-reader").start(reader);
        var _ = timer.scheduleWithFixedDelay(this::watch, 0, WATCH.toMillis(), TimeUnit.MILLISECONDS);
        var _ = loadTimer.scheduleWithFixedDelay(this::watchLoad, 0, WATCH.toMillis(), TimeUnit.MILLISECONDS);
        LOG.atInfo()
                .addKeyValue("port", http.port())
                .addKeyValue("slot", settings.replication().slot().text())
                .log("listening");
    }

    /// One look at everything that changes by itself; the timer's thread.
    private void watch() {
        try {
            SlotStatus status = null;
            watches++;
            if (replication.isStarting(reader) || watches % WATCHES_A_STATUS == 1) {
                status = SlotStatus.read(pool, settings.replication().slot(), QUERY_TIMEOUT);
                report(status);
            }
            replication.watch(reader, engineThread, inbox, status);
            slotCreation.check();
            metrics.position(Metrics.Position.CONFIRMED, inbox.confirmable());
            metrics.position(Metrics.Position.RECEIVED, inbox.received());
            metrics.streams(http.streams());
            metrics.keptCommits(spill.keptBytes());
            blocking.execute(keys::refreshIfDue);
            if (watches % warningsEvery == 0) {
                blocking.execute(this::countWarnings);
            }
        } catch (RuntimeException e) {
            // a look that failed is made again; what it would have shown is shown late
            LOG.atDebug().addKeyValue("error", e.getClass().getSimpleName()).log("a look at the slot failed");
            replication.watch(reader, engineThread, inbox, null);
        }
    }

    private @Nullable OldestTransaction oldestTransaction() {
        try {
            return OldestTransaction.read(pool, QUERY_TIMEOUT);
        } catch (QueryException e) {
            // the slot is told of without it
            LOG.atDebug().addKeyValue("error", e.getMessage()).log("the oldest transaction is not known");
            return null;
        }
    }

    private void countWarnings() {
        try {
            metrics.configWarnings(diagnostics.codes());
        } catch (RequestException e) {
            // the engine is busy: what was true last stays
            LOG.atDebug().addKeyValue("error", e.getMessage()).log("the findings could not be counted");
        }
    }

    /// One look at what clients are told of by themselves; a timer's thread, which nothing that may wait runs on.
    private void watchLoad() {
        Duration lag = replication.lag(reader.unheard());
        metrics.readerLagSeconds(lag.toNanos() / 1e9);
        replication.watchLag(lag, engineThread::submit, settings.operation().lagDegraded());
        memory.look(http.streams());
    }

    private void report(@Nullable SlotStatus status) {
        if (status == null) {
            return;
        }
        diagnostics.slot(status);
        retention.look(status);
        metrics.slotRetainedBytes(status.retainedBytes());
        metrics.walLagBytes(status.lagBytes());
        Long safe = status.safeBytes();
        if (safe == null) {
            metrics.slotSafeWalUnlimited();
        } else {
            metrics.slotSafeWalBytes(safe);
        }
    }

    private Readiness readiness() {
        boolean serving = replication.isServing() && reader.isHeard();
        Duration lag = replication.lag(reader.unheard());
        Duration readyMaxLag = settings.operation().readyMaxLag();
        boolean tooLate = readyMaxLag != null && lag.compareTo(readyMaxLag) >= 0;
        return new Readiness(
                serving && !tooLate ? Readiness.Verdict.READY : Readiness.Verdict.NOT_READY,
                Readiness.Catalog.LOADED,
                serving ? Readiness.Reader.REPLICATING : Readiness.Reader.WAITING,
                inbox.confirmable(),
                lag.toNanos() / 1e9,
                replication.isLate() ? Readiness.Lag.DEGRADED : Readiness.Lag.NORMAL);
    }

    /// The port listened on.
    public int port() {
        return http.port();
    }

    /// Whether streams may open.
    public boolean isServing() {
        return replication.isServing();
    }

    /// How many rights polls were answered since the start.
    public long rightsPolls() {
        return database.rightsPolls();
    }

    /// Bytes of the log that wait for the engine.
    long waitingBytes() {
        return inbox.weightBytes();
    }

    /// Completed with the reason when the server can no longer serve; it has to be closed then.
    public CompletableFuture<String> ended() {
        return replication.ended();
    }

    /// Ends every stream with a `server_shutdown` the client can come back from, lets requests in flight finish
    /// within the grace, and lets go of the slot. Safe to call twice.
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        if (replication.ended().isDone()) {
            requestLog.replicationStopped();
        }
        timer.shutdownNow();
        loadTimer.shutdownNow();
        try {
            http.drain();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        reader.stop();
        try {
            readerThread.join(Duration.ofSeconds(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        engineThread.stop();
        effects.close();
        hookRunner.close();
        hooks.close();
        http.close();
        blocking.shutdownNow();
        pool.close();
        LOG.atInfo().log("stopped");
    }
}
