package sluice.core.dispatch;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.dispatch.SimDatabase.Commit;
import sluice.core.dispatch.SimDatabase.Table;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.event.FrameEncoder;
import sluice.core.event.SubscriptionResult;
import sluice.core.resume.ResumeBuffer;
import sluice.core.session.Identity;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.CloseReason;
import sluice.core.stream.RateBucket;
import sluice.core.stream.StreamState.Framing;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;

/// One seed: an engine between a simulated database and simulated clients, with a random order of everything.
final class SimWorld implements SimSink.Host {
    static final int QUEUE = 8;

    /// A question on its way to SQL, or its answer on the way back.
    private static final class Question {
        final Effect effect;

        @Nullable
        Input answer;

        Question(Effect effect) {
            this.effect = effect;
        }
    }

    private final Random random;
    final SimDatabase database;
    private final SimServer server;
    private final SimJudge judge;
    final SimSink sink;
    private final Engine engine;
    private final List<Question> questions = new ArrayList<>();
    private final SimLog log;
    private @Nullable Commit inHand;
    private @Nullable Commit parked;
    private Lsn confirmed = Lsn.ZERO;
    private Lsn mayConfirm = new Lsn(0x1000);
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private int names;
    private long withheld;
    final long bufferBytes;
    private boolean calm;

    SimWorld(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        database = new SimDatabase(random);
        server = new SimServer(database, random);
        judge = new SimJudge(database);
        sink = new SimSink(judge, () -> this);
        log = new SimLog(database, random);
        bufferBytes = switch (random.nextInt(3)) {
            case 0 -> 6_000;
            case 1 -> 30_000;
            default -> 1_000_000;
        };
        var catalog = server.catalog(new CatalogScope.Everything());
        log.use(catalog);
        engine = new Engine(
                new Engine.Ports(
                        this::effect,
                        sink,
                        metrics(),
                        (image, relation, role, terms) -> SimServer.plan(relation, role),
                        catalog),
                settings());
        step(new Input.Replicating(new Lsn(0x1000), "here"));
    }

    private EngineSettings settings() {
        return new EngineSettings(
                Duration.ofSeconds(20),
                100,
                20,
                200,
                1_000_000,
                QUEUE,
                random.nextBoolean() ? 1_000_000 : 4_000,
                Duration.ofSeconds(2),
                Duration.ofSeconds(5),
                Duration.ofSeconds(1),
                Duration.ofSeconds(3600),
                Duration.ofSeconds(10),
                World.LEASE,
                1000,
                1000,
                EngineSettings.IdentityPolicy.WARN,
                new EngineSettings.CrossChecking(0, 0),
                new EngineSettings.Rates(new RateBucket.Limit(1000, Duration.ofSeconds(1))),
                new EngineSettings.Feeding(
                        new ResumeBuffer.Bounds(Duration.ofSeconds(5), bufferBytes), EngineSettings.Snapshots.SERVED),
                ChannelWorld.SETTINGS,
                EngineSettings.DegradedDeletes.WITHHOLD);
    }

    private EngineMetrics metrics() {
        return (EngineMetrics) Proxy.newProxyInstance(
                EngineMetrics.class.getClassLoader(), new Class<?>[] {EngineMetrics.class}, (_, method, arguments) -> {
                    switch (method.getName()) {
                        case "change" -> dispatching(Table.of(((Relation) arguments[0]).oid()));
                        case "withheld" -> withheld++;
                        case "buffered" -> {
                            if ((long) arguments[0] > bufferBytes) {
                                throw new AssertionError("BOUNDED: the buffer holds " + arguments[0]);
                            }
                        }
                        default -> {}
                    }
                    return null;
                });
    }

    private void dispatching(Table table) {
        Commit commit = parked != null ? parked : inHand;
        if (commit != null) {
            commit.dispatched = true;
            judge.dispatched(table, commit);
        }
    }

    private void effect(Effect effect) {
        sink.note("  " + effect.getClass().getSimpleName());
        switch (effect) {
            case Effect.Confirm(var lsn) -> {
                if (lsn.isAfter(mayConfirm)) {
                    throw new AssertionError("ACK_IS_SAFE: " + lsn + " is confirmed, dispatched is " + mayConfirm);
                }
                confirmed = confirmed.max(lsn);
            }
            case Effect.UseCatalog(var catalog) -> log.use(catalog);
            case Effect.Answered(var id, var answer) -> answered(id, answer);
            case Effect.DropSpool _, Effect.Log _, Effect.Counted _, Effect.AskHook _ -> {}
            case Effect.LoadCatalog _,
                    Effect.PollRights _,
                    Effect.AskFolds _,
                    Effect.Probe _,
                    Effect.CrossCheck _,
                    Effect.LeaseCheck _,
                    Effect.ReadSnapshot _,
                    Effect.TakeRows _ -> questions.add(new Question(effect));
        }
    }

    // ---- what SimSink asks

    @Override
    public Lsn position() {
        return engine.position();
    }

    @Override
    public SimStream.Start start(SimStream stream, SimShape shape) {
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

    // ---- steps

    private void step(Input input) {
        sink.note(input);
        engine.step(input, now);
        if (parked != null && engine.acceptsWal()) {
            parked.dispatched = true;
            parked = null;
        }
    }

    /// One thing happens.
    void turn() {
        switch (random.nextInt(24)) {
            case 0, 1, 2 -> database.write(now, 1 + random.nextInt(random.nextInt(8) == 0 ? 14 : 3));
            case 3 -> {
                if (random.nextInt(5) == 0) {
                    database.moveRights(now, pick(Table.values()));
                } else {
                    database.moveMembers(now);
                }
            }
            case 4 -> {
                List<Commit> hidden = database.hidden();
                if (!hidden.isEmpty()) {
                    hidden.get(random.nextInt(hidden.size())).shown = true;
                }
            }
            case 5, 6, 7, 8, 9 -> deliver();
            case 10, 11, 12, 13 -> ask();
            case 14, 15 -> pass(Duration.ofMillis(10 + random.nextInt(random.nextInt(10) == 0 ? 4000 : 200)));
            case 16, 17 -> reading();
            case 18, 19 -> client();
            case 20, 21, 22 -> engine.proceed(now);
            default -> {
                if (random.nextInt(20) == 0) {
                    interrupt();
                } else if (random.nextInt(15) == 0) {
                    failOver();
                }
            }
        }
    }

    private void pass(Duration time) {
        now = now.plus(time);
        step(new Input.Tick());
    }

    /// The next event of the log, if there is one and the engine takes it.
    private boolean deliver() {
        if (!engine.acceptsWal()) {
            return false;
        }
        SimLog.Logged next = log.next();
        if (next == null) {
            if (random.nextInt(3) == 0 || calm) {
                mayConfirm = database.insertLsn();
                step(new Input.Wal(new WalEvent.Idle(database.insertLsn())));
            }
            return false;
        }
        inHand = next.commit();
        boolean ends = next.endsCommit();
        if (ends) {
            mayConfirm = next.commit().end();
        }
        step(new Input.Wal(next.event()));
        if (engine.acceptsWal()) {
            next.commit().dispatched = true;
        } else {
            parked = next.commit();
            if (confirmed.isAfter(next.commit().lsn)) {
                throw new AssertionError("ACK_IS_SAFE: a parked commit is confirmed");
            }
        }
        inHand = ends ? null : next.commit();
        return true;
    }

    /// A question reaches SQL, or its answer the engine; or neither ever.
    private void ask() {
        if (questions.isEmpty()) {
            return;
        }
        Question question = questions.get(random.nextInt(Math.min(questions.size(), 6)));
        if (random.nextInt(60) == 0
                && !calm
                && !(question.effect instanceof Effect.ReadSnapshot)
                && !(question.effect instanceof Effect.TakeRows)) {
            questions.remove(question);
            return;
        }
        Input answer = question.answer;
        if (answer == null) {
            question.answer = server.answer(question.effect);
            if (random.nextBoolean()) {
                return;
            }
            answer = question.answer;
        }
        questions.remove(question);
        reached(answer, question.effect);
        step(answer);
    }

    /// Clients know by `snapshot_end` which snapshot their rows are of, in the simulation.
    private void reached(Input answer, Effect effect) {
        if (answer instanceof Input.SnapshotRows(var id, var rows)
                && rows.isEmpty()
                && effect instanceof Effect.TakeRows take) {
            SimServer.Spool spool = (SimServer.Spool) take.spool();
            sink.snapshotEnds(spool.stamp.snapshot());
        }
    }

    private void interrupt() {
        if (inHand == null && log.isBetweenCommits()) {
            log.reconnect();
            step(new Input.Interrupted());
        }
    }

    private void failOver() {
        if (inHand != null || !log.isBetweenCommits() || !engine.acceptsWal()) {
            return;
        }
        int lost = Math.min(random.nextInt(3), database.commits.size());
        boolean known = database.commits.subList(database.commits.size() - lost, database.commits.size()).stream()
                .anyMatch(commit -> commit.dispatched);
        Lsn at = database.failOver(lost);
        log.failOver();
        questions.removeIf(question -> question.effect instanceof Effect.PollRights);
        mayConfirm = mayConfirm.min(at);
        confirmed = confirmed.min(at);
        judge.failedOver();
        if (known) {
            judge.historyLost();
        }
        sink.streams.values().forEach(stream -> stream.timelineLeft(at, engine.position()));
        step(new Input.Interrupted());
        step(new Input.Wal(new WalEvent.TimelineLeft(at)));
    }

    // ---- clients

    private void reading() {
        List<SimStream> alive = alive();
        if (!alive.isEmpty()) {
            SimStream stream = alive.get(random.nextInt(alive.size()));
            if (random.nextInt(12) == 0) {
                stream.reads = !stream.reads;
            }
            if (stream.reads) {
                read(stream, 1 + random.nextInt(12));
            }
        }
    }

    private void read(SimStream stream, int most) {
        stream.read(most);
        if (stream.wantsDrain && stream.isDrained() && stream.isAlive()) {
            stream.wantsDrain = false;
            step(new Input.Drained(stream));
        }
    }

    private List<SimStream> alive() {
        return sink.streams.values().stream().filter(SimStream::isAlive).toList();
    }

    private void client() {
        List<SimStream> alive = alive();
        SimStream some = alive.isEmpty() ? null : alive.get(random.nextInt(alive.size()));
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> {
                if (alive.size() < 4) {
                    open();
                }
            }
            case 3 -> {
                if (some != null) {
                    hangUp(some);
                }
            }
            case 4, 5 -> {
                if (some != null && some.shapes.size() < 4) {
                    subscribe(some);
                }
            }
            case 6 -> {
                if (some != null && random.nextInt(2) == 0) {
                    token(some);
                }
            }
            case 7 -> {
                if (some != null && !some.shapes.isEmpty() && random.nextInt(2) == 0) {
                    unsubscribe(some);
                }
            }
            case 8 -> {
                List<SimStream> closed = sink.streams.values().stream()
                        .filter(stream -> stream.closed)
                        .toList();
                if (!closed.isEmpty()) {
                    SimStream stream = closed.get(random.nextInt(closed.size()));
                    stream.read(random.nextInt(20));
                    hangUp(stream);
                }
            }
            default -> {}
        }
    }

    private Identity identity(Caller caller) {
        return new Identity(
                caller.subject(), caller.role(), caller.claims(), now.plusSeconds(20 + random.nextInt(200)));
    }

    private <T> T pick(T[] values) {
        return values[random.nextInt(values.length)];
    }

    private void open() {
        List<SimShape> shapes = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            shapes.add(SimShape.any(random, "s" + ++names));
        }
        open(Caller.any(random), shapes, List.of());
    }

    private void open(Caller caller, List<SimShape> shapes, List<@Nullable ResumePosition> positions) {
        SimStream stream =
                new SimStream("stream " + ++names, caller, random.nextBoolean() ? Framing.TRANSACTIONS : Framing.NONE);
        List<SubscriptionRequest> requests = new ArrayList<>();
        for (int i = 0; i < shapes.size(); i++) {
            SimShape shape = shapes.get(i);
            ResumePosition resume = i < positions.size() ? positions.get(i) : null;
            stream.shapes.put(shape.label, shape);
            if (resume != null) {
                stream.resuming.put(shape.label, resume);
            }
            requests.add(shape.request(resume));
        }
        if (random.nextBoolean()) {
            requests.add(room(stream).request());
        }
        sink.streams.put(stream.id, stream);
        step(new Input.Open(stream, identity(caller), requests, stream.framing, null));
    }

    private void hangUp(SimStream stream) {
        List<SimShape> back = new ArrayList<>();
        List<@Nullable ResumePosition> positions = new ArrayList<>();
        for (SimShape shape : stream.shapes.values()) {
            Lsn at = shape.position(stream.liveAt());
            if (shape.phase != SimShape.Phase.ENDED) {
                shape.untold += withheld;
                positions.add(
                        at == null
                                ? null
                                : new ResumePosition(
                                        at, random.nextInt(4) == 0 ? null : shape.history, ResumePosition.Scope.SHAPE));
                back.add(shape);
            }
        }
        stream.hungUp = true;
        sink.note("hangs up");
        if (!stream.closed) {
            step(new Input.Closed(stream, CloseReason.CLIENT_CLOSED));
        }
        sink.streams.remove(stream.id);
        if (random.nextInt(4) != 0 && !back.isEmpty()) {
            List<SimShape> shapes = back;
            if (random.nextBoolean()) {
                turns(random.nextInt(20));
            }
            Caller caller = stream.caller;
            if (random.nextInt(6) == 0) {
                // with another token, of the same subject or not
                caller = Caller.any(random);
                for (SimShape shape : shapes) {
                    shape.callers.add(caller);
                    shape.moved();
                }
            }
            open(caller, shapes, positions);
        }
    }

    private void turns(int count) {
        for (int i = 0; i < count; i++) {
            switch (random.nextInt(4)) {
                case 0 -> database.write(now, 1 + random.nextInt(3));
                case 1, 2 -> deliver();
                default -> ask();
            }
        }
    }

    private long requests;
    private final java.util.Map<Long, SimStream> controls = new java.util.LinkedHashMap<>();

    private void control(SimStream stream, Caller caller, ControlRequest request) {
        long id = ++requests;
        controls.put(id, stream);
        step(new Input.Control(id, stream.id, identity(caller), request));
    }

    private SimRoom room(SimStream stream) {
        SimRoom room = SimRoom.any(random, "c" + ++names);
        stream.rooms.put(room.label, room);
        return room;
    }

    private void subscribe(SimStream stream) {
        if (stream.rooms.isEmpty() && random.nextInt(3) == 0) {
            control(
                    stream,
                    stream.caller,
                    new ControlRequest.Subscribe(List.of(room(stream).request())));
            return;
        }
        SimShape shape = SimShape.any(random, "s" + ++names);
        stream.shapes.put(shape.label, shape);
        control(stream, stream.caller, new ControlRequest.Subscribe(List.of(shape.request(null))));
    }

    private void unsubscribe(SimStream stream) {
        List<String> labels = new ArrayList<>(stream.shapes.keySet());
        labels.addAll(stream.rooms.keySet());
        String label = labels.get(random.nextInt(labels.size()));
        stream.leaving.add(label);
        control(stream, stream.caller, new ControlRequest.Unsubscribe(List.of(label)));
    }

    private void token(SimStream stream) {
        Caller next = new Caller(stream.caller.subject(), random.nextBoolean() ? "x" : "y", stream.caller.role());
        stream.next = next;
        stream.callers.add(next);
        stream.shapes.values().forEach(shape -> {
            shape.callers.add(next);
            shape.moved();
        });
        control(stream, next, new ControlRequest.Token());
    }

    private void answered(long id, ControlAnswer answer) {
        SimStream stream = controls.remove(id);
        if (stream == null) {
            throw new AssertionError("a control request is answered twice");
        }
        switch (answer) {
            case ControlAnswer.Subscribed(var results, var walLsn) -> {
                sink.installed(
                        stream, results.stream().map(SubscriptionResult::sub).toList());
                var json = SimStream.json(
                        new String(FrameEncoder.subscribed(results, walLsn), java.nio.charset.StandardCharsets.UTF_8));
                stream.results(json.get("results"));
            }
            case ControlAnswer.Removed _ -> stream.removed();
            case ControlAnswer.TokenTaken _,
                    ControlAnswer.Refused _,
                    ControlAnswer.Delivered _,
                    ControlAnswer.Done _,
                    ControlAnswer.Dropped _ -> {}
        }
    }

    // ---- rest

    /// Everything comes to rest, and everything owed is there.
    void settle() {
        calm = true;
        // the subscriber is told at most every ten seconds of what was withheld; what is stuck has a minute
        for (int i = 0; i < 16 || (i < 60 && isBusy()); i++) {
            database.showAll();
            for (int j = 0; j < 200 && (deliver() || !questions.isEmpty() || more()); j++) {
                for (int k = 0; k < 6; k++) {
                    ask();
                }
            }
            pass(Duration.ofSeconds(1));
        }
        calm = false;
        alive().forEach(stream -> stream.settle(database.commits));
        withheld = 0;
    }

    private boolean isBusy() {
        return !questions.isEmpty()
                || alive().stream()
                        .flatMap(stream -> stream.shapes.values().stream())
                        .anyMatch(shape -> shape.phase != SimShape.Phase.LIVE && shape.phase != SimShape.Phase.ENDED);
    }

    private boolean more() {
        boolean more = engine.proceed(now);
        for (SimStream stream : List.copyOf(sink.streams.values())) {
            stream.reads = true;
            more |= !stream.isDrained();
            read(stream, 100);
        }
        return more;
    }
}
