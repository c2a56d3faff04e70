package sluice.server.runtime;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.dispatch.Effect;
import sluice.core.dispatch.EffectSink;
import sluice.core.dispatch.Input;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.dispatch.Notice;
import sluice.core.snapshot.SnapshotOutcome;

/// Carries out the engine's effects: questions on virtual threads, everything else at once.
///
/// Each kind of question has its own gate, so that probes cannot keep a catalog reload waiting. What waits at a
/// gate is bounded by the engine, which bounds what it asks. Every question is answered, with a failure when it
/// fails, for want of memory too.
public final class EffectRunner implements EffectSink {
    /// SQLSTATE of an answer that failed outside PostgreSQL.
    private static final String CONNECTION_FAILURE = "08006";

    /// Nobody waits for these, so they leave the connections to questions somebody waits for.
    private static final int CHECKS_AT_ONCE = 2;

    private static final SnapshotOutcome UNREAD =
            new SnapshotOutcome.Failed("internal", "rows could not be read; ask again");

    private final ExecutorService executor = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("question-", 0).factory());
    private final Semaphore tablesGate = new Semaphore(1);
    private final Semaphore everythingGate = new Semaphore(1);
    private final Semaphore rightsGate = new Semaphore(1);
    private final Semaphore checkGate = new Semaphore(CHECKS_AT_ONCE);
    private final Semaphore moveGate = new Semaphore(1);
    private final Semaphore callerGate;
    private final Semaphore snapshotGate;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final Database database;
    private final Snapshots snapshots;
    private final WalInbox inbox;
    private final Consumer<Input> engine;
    private final Consumer<Notice> log;
    private final Consumer<CatalogImage> keys;
    private final Consumer<Effect.Counted> census;
    private final Consumer<Effect.Answered> answers;
    private final Consumer<Effect.AskHook> hooks;

    /// What the runner hands things to.
    ///
    /// @param engine takes answers, from any thread
    /// @param log takes the engine's notices
    /// @param keys takes each catalog the engine goes by
    /// @param census takes what the engine counted
    /// @param answers takes what came of clients' requests
    /// @param hooks asks hooks
    public record Targets(
            WalInbox inbox,
            Consumer<Input> engine,
            Consumer<Notice> log,
            Consumer<CatalogImage> keys,
            Consumer<Effect.Counted> census,
            Consumer<Effect.Answered> answers,
            Consumer<Effect.AskHook> hooks) {}

    /// Who answers what is asked.
    public record Sources(Database database, Snapshots snapshots) {}

    /// @param callerQueriesMax questions about callers and rows that are put at once
    /// @param snapshotsMax snapshots that are read at once
    public record Limits(int callerQueriesMax, int snapshotsMax) {}

    public EffectRunner(Sources sources, Limits limits, Targets targets) {
        this.database = sources.database();
        this.snapshots = sources.snapshots();
        this.callerGate = new Semaphore(limits.callerQueriesMax());
        this.snapshotGate = new Semaphore(limits.snapshotsMax());
        this.inbox = targets.inbox();
        this.engine = targets.engine();
        this.log = targets.log();
        this.keys = targets.keys();
        this.census = targets.census();
        this.answers = targets.answers();
        this.hooks = targets.hooks();
    }

    @Override
    public void emit(Effect effect) {
        switch (effect) {
            case Effect.Confirm(var lsn) -> inbox.confirm(lsn);
            case Effect.Log(var notice) -> log.accept(notice);
            case Effect.UseCatalog(var catalog) -> keys.accept(catalog);
            case Effect.Counted counted -> census.accept(counted);
            case Effect.Answered answered -> answers.accept(answered);
            case Effect.AskHook asked -> hooks.accept(asked);
            case Effect.LoadCatalog(var id, var scope) ->
                ask(
                        scope instanceof CatalogScope.Everything ? everythingGate : tablesGate,
                        () -> new Input.CatalogAnswer(id, database.load(scope)),
                        () -> new Input.CatalogAnswer(id, null),
                        "catalog reload failed");
            case Effect.PollRights() ->
                ask(rightsGate, database::pollRights, () -> new Input.RightsAnswer(null), "rights poll failed");
            case Effect.AskFolds(var id, var caller, var folds) ->
                ask(
                        callerGate,
                        () -> new Input.FoldsAnswer(id, database.fold(caller, folds)),
                        () -> new Input.FoldsAnswer(id, null),
                        "question about a caller failed");
            case Effect.Probe probe ->
                ask(
                        callerGate,
                        () -> new Input.ProbeAnswer(probe.probeId(), database.probe(probe)),
                        () -> new Input.ProbeAnswer(probe.probeId(), new ProbeOutcome.Failed(CONNECTION_FAILURE)),
                        "probe failed");
            case Effect.CrossCheck(var probe) ->
                ask(
                        checkGate,
                        () -> new Input.CrossCheckAnswer(probe.probeId(), database.probe(probe)),
                        () -> new Input.CrossCheckAnswer(probe.probeId(), new ProbeOutcome.Failed(CONNECTION_FAILURE)),
                        "cross-check failed");
            case Effect.LeaseCheck(var probe) ->
                ask(
                        callerGate,
                        () -> new Input.LeaseAnswer(probe.probeId(), database.probe(probe)),
                        () -> new Input.LeaseAnswer(probe.probeId(), new ProbeOutcome.Failed(CONNECTION_FAILURE)),
                        "question about a lease failed");
            case Effect.ReadSnapshot request ->
                ask(
                        snapshotGate,
                        () -> new Input.SnapshotRead(request.joinId(), snapshots.read(request)),
                        () -> new Input.SnapshotRead(request.joinId(), UNREAD),
                        "snapshot failed");
            case Effect.TakeRows take -> execute(() -> engine.accept(taken(take)));
            case Effect.DropSpool(var spool) -> execute(() -> snapshots.drop(spool));
            case Effect.ReadPiece read -> execute(() -> engine.accept(read(read)));
            case Effect.ReadKeys read -> execute(() -> engine.accept(read(read)));
            case Effect.DropKept(var kept) -> execute(kept::delete);
            case Effect.MoveLog() -> moveLog();
        }
    }

    /// Ends what is under way; its answers are dropped, and its failures are no news.
    public void close() {
        closing.set(true);
        executor.shutdownNow();
    }

    private Input taken(Effect.TakeRows take) {
        try {
            return new Input.SnapshotRows(take.joinId(), snapshots.take(take.spool(), take.rowsMax(), take.bytesMax()));
        } catch (RuntimeException | Error e) {
            return new Input.SnapshotRead(take.joinId(), new SnapshotOutcome.Failed("spool_failed", reason(e)));
        }
    }

    private Input read(Effect.ReadPiece piece) {
        try {
            return new Input.PieceRead(piece.readId(), piece.kept().read(piece.piece()));
        } catch (RuntimeException | Error e) {
            unread(e);
            return new Input.PieceRead(piece.readId(), null);
        }
    }

    private Input read(Effect.ReadKeys keys) {
        try {
            return new Input.KeysRead(keys.readId(), keys.kept().keys(keys.relation(), keys.most()));
        } catch (RuntimeException | Error e) {
            unread(e);
            return new Input.KeysRead(keys.readId(), null);
        }
    }

    private void unread(Throwable e) {
        tell("reading a kept commit failed", e);
    }

    /// What cannot even be told, for want of memory, is not: whoever asked is answered all the same.
    private void tell(String what, Throwable failure) {
        try {
            if (!closing.get()) {
                log.accept(new Notice(Notice.Level.WARN, what, List.of("reason", reason(failure))));
            }
        } catch (RuntimeException | Error _) {
            return;
        }
    }

    /// One at a time: who waits for the log is served by the one that is under way, or asks again.
    private void moveLog() {
        if (moveGate.tryAcquire()) {
            execute(() -> {
                try {
                    database.moveLog();
                } catch (RuntimeException e) {
                    tell("the log could not be moved", e);
                } finally {
                    moveGate.release();
                }
            });
        }
    }

    /// Without a gate: the disk answers, not the database.
    private void execute(Runnable work) {
        try {
            executor.execute(work);
        } catch (RejectedExecutionException stopping) {
            // what is left in the spools goes with the process
            return;
        }
    }

    private void ask(Semaphore gate, Supplier<Input> question, Supplier<Input> failure, String what) {
        try {
            executor.execute(() -> {
                try {
                    gate.acquire();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
                Input answer;
                try {
                    answer = question.get();
                } catch (RuntimeException | Error e) {
                    tell(what, e);
                    answer = failure.get();
                } finally {
                    gate.release();
                }
                engine.accept(answer);
            });
        } catch (RejectedExecutionException stopping) {
            engine.accept(failure.get());
        }
    }

    /// The adapter's own message, which names the question and the state; a cause's may repeat a value. Of what the
    /// JVM throws, the kind.
    private static String reason(Throwable failure) {
        return failure instanceof RuntimeException
                ? String.valueOf(failure.getMessage())
                : failure.getClass().getSimpleName();
    }
}
