package sluice.core.dispatch;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import sluice.core.authorization.PinnedColumns;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.dispatch.RecordedHistory.Commit;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.shape.ShapeRequest.Initial;
import sluice.core.shape.ShapeRequest.Transitions;
import sluice.core.snapshot.SnapshotSpool;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;
import sluice.testkit.recorded.Recording;

/// One seed: what a real database did, at another pace, with other clients and other faults each time.
///
/// SQL shows commits in their order, sooner or later than the log: both at once are a moment of the recording each.
final class RecordedWorld implements SimDriver.Outside<RecordedShape> {
    private final Random random;
    private RecordedHistory history;
    private final RecordedServer server;
    private final RecordedJudge judge;
    private final RecordedLog log;
    private final SimDriver<RecordedShape> driver;
    private final SimLine<Commit> line;
    private final boolean failsOver;
    private int written;
    private int shown;
    private int dispatched;

    RecordedWorld(RecordedHistory history, long seed) {
        this.history = history;
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        failsOver = random.nextBoolean();
        server = new RecordedServer(history, () -> shown, random);
        judge = new RecordedJudge(history, () -> written);
        log = new RecordedLog(history, () -> written, random);
        line = new SimLine<>(log, random, () -> this.history.insertLsn(written), this::dispatched);
        driver = new SimDriver<>(
                this,
                judge,
                random,
                new SimDriver.Beginning(
                        history.catalog(0, new CatalogScope.Everything()),
                        history.insertLsn(0),
                        (image, relation, role, terms) -> history.plan(image, relation, role, PinnedColumns.of(terms)),
                        new EngineSettings.CrossChecking(20, 5)));
    }

    SimSink<RecordedShape> sink() {
        return driver.sink;
    }

    /// Whether nothing is left to be written, or to be judged.
    boolean isOver() {
        return (written == history.last() && (!failsOver || history.fork() == null)) || driver.isSuspected();
    }

    // ---- what the driver asks

    @Override
    public Input answer(Effect question) {
        return server.answer(question);
    }

    @Override
    public TransactionSnapshot snapshotOf(SnapshotSpool spool) {
        return ((SimServer.Spool) spool).stamp.snapshot();
    }

    @Override
    public void use(CatalogImage catalog) {
        log.use(catalog);
    }

    @Override
    public void changes(Relation relation) {
        Commit commit = line.current();
        if (commit != null) {
            dispatched(commit);
            judge.dispatched(relation.name(), commit);
        }
    }

    @Override
    public void stepped() {
        line.stepped(driver);
    }

    private void dispatched(Commit commit) {
        dispatched = Math.max(dispatched, commit.moment());
    }

    @Override
    public SimStream.Start start(SimStream<RecordedShape> stream, RecordedShape shape) {
        String table = shape.wish.name();
        return new SimStream.Start(
                history.rightsSerial(judge.announced(table), table), dispatchedUntil(), stream.caller, judge.epoch());
    }

    @Override
    public Lsn dispatchedUntil() {
        return dispatched == 0
                ? history.insertLsn(0)
                : history.commit(dispatched).end();
    }

    @Override
    public RecordedShape wish(String label) {
        Recording.Table table =
                history.tables().get(random.nextInt(history.tables().size()));
        return new RecordedShape(
                label,
                new RecordedShape.Wish(
                        table,
                        random.nextInt(table.filters().size() + 2) - 2 < 0
                                ? -1
                                : random.nextInt(table.filters().size()),
                        random.nextBoolean() ? List.of("id") : null,
                        random.nextBoolean() ? Transitions.REPORTED : Transitions.NOT_REPORTED,
                        random.nextBoolean() ? Initial.SNAPSHOT : Initial.NONE,
                        random.nextBoolean()),
                () -> history);
    }

    @Override
    public Caller anyCaller() {
        List<Caller> callers = history.callers();
        return callers.get(random.nextInt(callers.size()));
    }

    @Override
    public Caller refreshed(Caller caller) {
        return new Caller(caller.subject(), random.nextBoolean() ? "x" : "y", caller.role());
    }

    @Override
    public void write() {
        written = Math.min(history.last(), written + 1 + random.nextInt(2));
        if (random.nextInt(3) == 0) {
            shown = written;
        }
    }

    @Override
    public void showAll() {
        shown = written;
    }

    @Override
    public void settle(RecordedShape shape) {
        if (!driver.isSuspected()) {
            shape.settle(written);
        }
    }

    @Override
    public void settle(SimRoom room) {
        List<SimRoom.Said> said = new ArrayList<>();
        for (int i = 0; i <= written; i++) {
            said.addAll(history.commit(i).said());
        }
        room.settle(said);
    }

    // ---- steps

    /// One thing happens.
    void turn() {
        switch (random.nextInt(24)) {
            case 0, 1, 2, 3 -> write();
            case 4 -> shown += random.nextInt(written - shown + 1);
            case 5, 6, 7, 8, 9 -> deliver();
            case 10, 11, 12, 13 -> driver.ask();
            case 14, 15 -> driver.pass(Duration.ofMillis(10 + random.nextInt(random.nextInt(10) == 0 ? 4000 : 200)));
            case 16, 17 -> driver.reading();
            case 18, 19 -> driver.client();
            case 20, 21, 22 -> driver.engine().proceed(driver.now);
            default -> {
                if (random.nextInt(3) == 0) {
                    line.interrupt(driver);
                } else if (random.nextInt(4) == 0) {
                    failOver();
                }
            }
        }
    }

    /// Everything comes to rest, and everything owed is there.
    void settle() {
        if (!driver.isSuspected()) {
            driver.settle();
        }
    }

    @Override
    public boolean deliver() {
        return line.deliver(driver);
    }

    /// The standby takes over, once the primary has done all that the standby has.
    private void failOver() {
        RecordedHistory.Fork fork = history.fork();
        if (fork == null
                || !failsOver
                || written < fork.after()
                || !line.isFree()
                || !driver.engine().acceptsWal()) {
            return;
        }
        int after = fork.after();
        history = fork.history();
        // the first moment of the standby is that of its promotion, which is no commit
        written = after + 1;
        shown = written;
        dispatched = Math.min(dispatched, after);
        judge.failedOver(history, after);
        server.failedOver(history);
        log.failedOver(history, after, fork.leftAt());
        driver.questions.removeIf(question -> question.effect instanceof Effect.PollRights);
        driver.mayConfirm = driver.mayConfirm.min(fork.leftAt());
        driver.confirmed = driver.confirmed.min(fork.leftAt());
        driver.sink.streams.values().forEach(stream -> stream.timelineLeft(fork.leftAt(), driver.position()));
        driver.step(new Input.Interrupted());
        driver.step(new Input.Wal(new WalEvent.TimelineLeft(fork.leftAt())));
    }
}
