package sluice.core.dispatch;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.dispatch.SimDatabase.Commit;
import sluice.core.dispatch.SimDatabase.Table;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.snapshot.SnapshotSpool;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

/// One seed: an engine between a simulated database and simulated clients, with a random order of everything.
final class SimWorld implements SimDriver.Outside<SimShape> {
    static final int QUEUE = 8;

    private final Random random;
    final SimDatabase database;
    private final SimServer server;
    private final SimJudge judge;
    private final SimLog log;
    private final SimDriver<SimShape> driver;
    private final SimLine<Commit> line;

    SimWorld(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        database = new SimDatabase(random);
        server = new SimServer(database, random);
        judge = new SimJudge(database);
        log = new SimLog(database, random);
        line = new SimLine<>(log, random, database::insertLsn, commit -> commit.dispatched = true);
        driver = new SimDriver<>(
                this,
                judge,
                random,
                new SimDriver.Beginning(
                        server.catalog(new CatalogScope.Everything()),
                        new Lsn(0x1000),
                        (image, relation, role, terms) -> SimServer.plan(relation, role),
                        new EngineSettings.CrossChecking(0, 0)));
    }

    SimSink<SimShape> sink() {
        return driver.sink;
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
            commit.dispatched = true;
            judge.dispatched(Table.of(relation.oid()), commit);
        }
    }

    @Override
    public void stepped() {
        line.stepped(driver);
    }

    @Override
    public Caller anyCaller() {
        return Caller.any(random);
    }

    @Override
    public Caller refreshed(Caller caller) {
        return new Caller(caller.subject(), random.nextBoolean() ? "x" : "y", caller.role());
    }

    @Override
    public void write() {
        database.write(driver.now, 1 + random.nextInt(3));
    }

    @Override
    public void showAll() {
        database.showAll();
    }

    @Override
    public void settle(SimShape shape) {
        shape.settle(database.commits);
    }

    @Override
    public void settle(SimRoom room) {
        room.settle(database.said());
    }

    private <T> T pick(T[] values) {
        return values[random.nextInt(values.length)];
    }

    @Override
    public SimStream.Start start(SimStream<SimShape> stream, SimShape shape) {
        Lsn from = dispatchedUntil();
        return new SimStream.Start(judge.announced(shape.wish.table()).serial(), from, stream.caller, judge.epoch());
    }

    @Override
    public Lsn dispatchedUntil() {
        Lsn until = new Lsn(0x1000);
        for (Commit commit : database.commits) {
            until = commit.dispatched ? commit.end() : until;
        }
        return until;
    }

    /// One thing happens.
    void turn() {
        switch (random.nextInt(24)) {
            case 0, 1, 2 -> database.write(driver.now, 1 + random.nextInt(random.nextInt(8) == 0 ? 14 : 3));
            case 3 -> {
                if (random.nextInt(5) == 0) {
                    database.moveRights(driver.now, pick(Table.values()));
                } else {
                    database.moveMembers(driver.now);
                }
            }
            case 4 -> {
                List<Commit> hidden = database.hidden();
                if (!hidden.isEmpty()) {
                    hidden.get(random.nextInt(hidden.size())).shown = true;
                }
            }
            case 5, 6, 7, 8, 9 -> deliver();
            case 10, 11, 12, 13 -> driver.ask();
            case 14, 15 -> driver.pass(Duration.ofMillis(10 + random.nextInt(random.nextInt(10) == 0 ? 4000 : 200)));
            case 16, 17 -> driver.reading();
            case 18, 19 -> driver.client();
            case 20, 21, 22 -> driver.engine().proceed(driver.now);
            default -> {
                if (random.nextInt(20) == 0) {
                    line.interrupt(driver);
                } else if (random.nextInt(15) == 0) {
                    failOver();
                }
            }
        }
    }

    /// Everything comes to rest, and everything owed is there.
    void settle() {
        driver.settle();
    }

    @Override
    public boolean deliver() {
        return line.deliver(driver);
    }

    private void failOver() {
        if (!line.isFree() || !driver.engine().acceptsWal()) {
            return;
        }
        int lost = Math.min(random.nextInt(3), database.commits.size());
        boolean known = database.commits.subList(database.commits.size() - lost, database.commits.size()).stream()
                .anyMatch(commit -> commit.dispatched);
        Lsn at = database.failOver(lost);
        log.failOver();
        driver.questions.removeIf(question -> question.effect instanceof Effect.PollRights);
        driver.mayConfirm = driver.mayConfirm.min(at);
        driver.confirmed = driver.confirmed.min(at);
        judge.failedOver();
        if (known) {
            judge.historyLost();
        }
        driver.sink.streams.values().forEach(stream -> stream.timelineLeft(at, driver.position()));
        driver.step(new Input.Interrupted());
        driver.step(new Input.Wal(new WalEvent.TimelineLeft(at)));
    }

    @Override
    public SimShape wish(String label) {
        return SimShape.any(random, label);
    }
}
