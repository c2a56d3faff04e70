package sluice.core.dispatch;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.event.FrameEncoder;
import sluice.core.event.SubscriptionResult;
import sluice.core.resume.ResumeBuffer;
import sluice.core.session.Identity;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.snapshot.SnapshotSpool;
import sluice.core.stream.CloseReason;
import sluice.core.stream.RateBucket;
import sluice.core.stream.StreamState.Framing;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.TransactionSnapshot;

/// What worlds have in common: an engine, clients that come, read, change their minds and leave, and questions to SQL
/// whose answers come late, in any order, or never.
///
/// @param <S> what a client knows of a subscription
final class SimDriver<S extends SimSubscription> implements SimSink.Host<S> {
    /// What is behind the engine.
    interface Outside<S extends SimSubscription> {
        /// What SQL says now.
        Input answer(Effect question);

        TransactionSnapshot snapshotOf(SnapshotSpool spool);

        /// The catalog the engine goes by from here on.
        void use(CatalogImage catalog);

        /// A change of the table is being dispatched.
        void changes(Relation relation);

        /// The engine has taken a step.
        void stepped();

        SimStream.Start start(SimStream<S> stream, S shape);

        Lsn dispatchedUntil();

        S wish(String label);

        Caller anyCaller();

        /// The same subject with another token.
        Caller refreshed(Caller caller);

        /// Something is committed.
        void write();

        /// The engine gets the next event of the log.
        ///
        /// @return whether there was one and it took it
        boolean deliver();

        /// SQL shows everything that is committed.
        void showAll();

        /// All is at rest: what is owed must be there.
        void settle(S shape);

        void settle(SimRoom room);
    }

    /// A question on its way to SQL, or its answer on the way back.
    static final class Question {
        final Effect effect;

        @Nullable
        Input answer;

        Question(Effect effect) {
            this.effect = effect;
        }
    }

    private final Outside<S> world;
    private final Random random;
    final SimSink<S> sink;
    private final Engine engine;
    final List<Question> questions = new ArrayList<>();
    private final Map<Long, SimStream<S>> controls = new LinkedHashMap<>();
    private final long bufferBytes;
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    Lsn confirmed = Lsn.ZERO;
    Lsn mayConfirm;
    private int names;
    private long requests;
    private long withheld;
    private boolean calm;
    private Instant loadLost = Instant.EPOCH;
    private boolean suspected;

    /// What the engine begins with.
    ///
    /// @param at where the log begins
    record Beginning(CatalogImage catalog, Lsn at, RulePlanner planner, EngineSettings.CrossChecking checking) {}

    SimDriver(Outside<S> world, SimSink.Judge<S> judge, Random random, Beginning beginning) {
        this.world = world;
        this.random = random;
        this.sink = new SimSink<>(judge, () -> this);
        this.mayConfirm = beginning.at();
        this.bufferBytes = switch (random.nextInt(3)) {
            case 0 -> 6_000;
            case 1 -> 30_000;
            default -> 1_000_000;
        };
        world.use(beginning.catalog());
        this.engine = new Engine(
                new Engine.Ports(this::effect, sink, metrics(), beginning.planner(), beginning.catalog()),
                settings(beginning.checking()));
        step(new Input.Replicating(beginning.at(), "here"));
    }

    Engine engine() {
        return engine;
    }

    boolean isCalm() {
        return calm;
    }

    private EngineSettings settings(EngineSettings.CrossChecking checking) {
        return new EngineSettings(
                Duration.ofSeconds(20),
                100,
                20,
                200,
                1_000_000,
                SimWorld.QUEUE,
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
                checking,
                new EngineSettings.Rates(new RateBucket.Limit(1000, Duration.ofSeconds(1))),
                new EngineSettings.Feeding(
                        new ResumeBuffer.Bounds(
                                Duration.ofSeconds(5), bufferBytes, bufferBytes == 30_000 ? 1_000 : Long.MAX_VALUE),
                        EngineSettings.Snapshots.SERVED),
                ChannelWorld.SETTINGS,
                EngineSettings.DegradedDeletes.WITHHOLD);
    }

    private EngineMetrics metrics() {
        return (EngineMetrics) Proxy.newProxyInstance(
                EngineMetrics.class.getClassLoader(), new Class<?>[] {EngineMetrics.class}, (_, method, arguments) -> {
                    switch (method.getName()) {
                        case "change" -> world.changes((Relation) arguments[0]);
                        case "withheld" -> withheld++;
                        case "diverged" -> diverged(arguments[1]);
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

    private void effect(Effect effect) {
        sink.note("  " + effect.getClass().getSimpleName());
        switch (effect) {
            case Effect.Confirm(var lsn) -> {
                if (lsn.isAfter(mayConfirm)) {
                    throw new AssertionError("ACK_IS_SAFE: " + lsn + " is confirmed, dispatched is " + mayConfirm);
                }
                confirmed = confirmed.max(lsn);
            }
            case Effect.UseCatalog(var catalog) -> world.use(catalog);
            case Effect.Answered(var id, var answer) -> answered(id, answer);
            case Effect.DropKept(var kept) -> kept.delete();
            case Effect.DropSpool _, Effect.MoveLog _, Effect.Log _, Effect.Counted _, Effect.AskHook _ -> {}
            case Effect.LoadCatalog _,
                    Effect.PollRights _,
                    Effect.AskFolds _,
                    Effect.Probe _,
                    Effect.CrossCheck _,
                    Effect.LeaseCheck _,
                    Effect.ReadSnapshot _,
                    Effect.TakeRows _,
                    Effect.ReadPiece _,
                    Effect.ReadKeys _ -> questions.add(new Question(effect));
        }
    }

    @Override
    public Lsn position() {
        return engine.position();
    }

    @Override
    public SimStream.Start start(SimStream<S> stream, S shape) {
        return world.start(stream, shape);
    }

    @Override
    public Lsn dispatchedUntil() {
        return world.dispatchedUntil();
    }

    /// A rule that PostgreSQL contradicts is wrong, unless the rights moved. Where the catalog cannot be read that
    /// would say so, the engine believes PostgreSQL: rather a rule too many. The world is at its end then, since
    /// its judge does not know who decides from here on.
    private void diverged(Object kind) {
        boolean read = now.isAfter(loadLost.plusSeconds(60))
                && questions.stream().noneMatch(question -> question.effect instanceof Effect.LoadCatalog);
        if (read) {
            throw new AssertionError("DIVERGED: " + kind);
        }
        suspected = true;
    }

    /// Whether PostgreSQL decides what the judge takes for decided in process.
    boolean isSuspected() {
        return suspected;
    }

    // ---- steps

    void step(Input input) {
        sink.note(input);
        engine.step(input, now);
        world.stepped();
    }

    void pass(Duration time) {
        now = now.plus(time);
        step(new Input.Tick());
    }

    /// A question reaches SQL, or its answer the engine; or neither ever.
    void ask() {
        if (questions.isEmpty()) {
            return;
        }
        Question question = questions.get(random.nextInt(Math.min(questions.size(), 6)));
        if (random.nextInt(60) == 0
                && !calm
                && !(question.effect instanceof Effect.ReadSnapshot)
                && !(question.effect instanceof Effect.TakeRows)
                && !(question.effect instanceof Effect.ReadPiece)
                && !(question.effect instanceof Effect.ReadKeys)) {
            questions.remove(question);
            if (question.effect instanceof Effect.LoadCatalog) {
                loadLost = now;
            }
            return;
        }
        Input answer = question.answer;
        if (answer == null) {
            question.answer = world.answer(question.effect);
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
            sink.snapshotEnds(world.snapshotOf(take.spool()));
        }
    }

    // ---- clients

    void reading() {
        List<SimStream<S>> alive = alive();
        if (!alive.isEmpty()) {
            SimStream<S> stream = alive.get(random.nextInt(alive.size()));
            if (random.nextInt(12) == 0) {
                stream.reads = !stream.reads;
            }
            if (stream.reads) {
                read(stream, 1 + random.nextInt(12));
            }
        }
    }

    private void read(SimStream<S> stream, int most) {
        stream.read(most);
        if (stream.wantsDrain && stream.isDrained() && stream.isAlive()) {
            stream.wantsDrain = false;
            step(new Input.Drained(stream));
        }
    }

    private List<SimStream<S>> alive() {
        return sink.streams.values().stream().filter(SimStream::isAlive).toList();
    }

    void client() {
        List<SimStream<S>> alive = alive();
        SimStream<S> some = alive.isEmpty() ? null : alive.get(random.nextInt(alive.size()));
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
                List<SimStream<S>> closed = sink.streams.values().stream()
                        .filter(stream -> stream.closed)
                        .toList();
                if (!closed.isEmpty()) {
                    SimStream<S> stream = closed.get(random.nextInt(closed.size()));
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

    private void open() {
        List<S> shapes = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            shapes.add(world.wish("s" + ++names));
        }
        open(world.anyCaller(), shapes, List.of());
    }

    private void open(Caller caller, List<S> shapes, List<@Nullable ResumePosition> positions) {
        SimStream<S> stream = new SimStream<>(
                "stream " + ++names, caller, random.nextBoolean() ? Framing.TRANSACTIONS : Framing.NONE);
        List<SubscriptionRequest> requests = new ArrayList<>();
        for (int i = 0; i < shapes.size(); i++) {
            S shape = shapes.get(i);
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

    private void hangUp(SimStream<S> stream) {
        List<S> back = new ArrayList<>();
        List<@Nullable ResumePosition> positions = new ArrayList<>();
        for (S shape : stream.shapes.values()) {
            Lsn at = shape.position(stream.liveAt());
            if (shape.phase != SimSubscription.Phase.ENDED) {
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
            List<S> shapes = back;
            if (random.nextBoolean()) {
                turns(random.nextInt(20));
            }
            Caller caller = stream.caller;
            if (random.nextInt(6) == 0) {
                // with another token, of the same subject or not
                caller = world.anyCaller();
                for (S shape : shapes) {
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
                case 0 -> world.write();
                case 1, 2 -> world.deliver();
                default -> ask();
            }
        }
    }

    private void control(SimStream<S> stream, Caller caller, ControlRequest request) {
        long id = ++requests;
        controls.put(id, stream);
        step(new Input.Control(id, stream.id, identity(caller), request));
    }

    private SimRoom room(SimStream<S> stream) {
        SimRoom room = SimRoom.any(random, "c" + ++names);
        stream.rooms.put(room.label, room);
        return room;
    }

    private void subscribe(SimStream<S> stream) {
        if (stream.rooms.isEmpty() && random.nextInt(3) == 0) {
            control(
                    stream,
                    stream.caller,
                    new ControlRequest.Subscribe(List.of(room(stream).request())));
            return;
        }
        S shape = world.wish("s" + ++names);
        stream.shapes.put(shape.label, shape);
        control(stream, stream.caller, new ControlRequest.Subscribe(List.of(shape.request(null))));
    }

    private void unsubscribe(SimStream<S> stream) {
        List<String> labels = new ArrayList<>(stream.shapes.keySet());
        labels.addAll(stream.rooms.keySet());
        String label = labels.get(random.nextInt(labels.size()));
        stream.leaving.put(requests + 1, label);
        control(stream, stream.caller, new ControlRequest.Unsubscribe(List.of(label)));
    }

    private void token(SimStream<S> stream) {
        Caller next = world.refreshed(stream.caller);
        stream.next = next;
        stream.callers.add(next);
        stream.shapes.values().forEach(shape -> {
            shape.callers.add(next);
            shape.moved();
        });
        control(stream, next, new ControlRequest.Token());
    }

    private void answered(long id, ControlAnswer answer) {
        SimStream<S> stream = controls.remove(id);
        if (stream == null) {
            throw new AssertionError("a control request is answered twice");
        }
        switch (answer) {
            case ControlAnswer.Subscribed(var results, var walLsn) -> {
                sink.installed(
                        stream, results.stream().map(SubscriptionResult::sub).toList());
                var json = SimStream.json(new String(FrameEncoder.subscribed(results, walLsn), StandardCharsets.UTF_8));
                stream.results(json.get("results"));
            }
            case ControlAnswer.Removed _ -> stream.removed(id);
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
            world.showAll();
            for (int j = 0; j < 200 && (world.deliver() || !questions.isEmpty() || more()); j++) {
                for (int k = 0; k < 6; k++) {
                    ask();
                }
            }
            pass(Duration.ofSeconds(1));
        }
        calm = false;
        alive().forEach(this::settle);
        withheld = 0;
    }

    private boolean isBusy() {
        return !questions.isEmpty()
                || alive().stream()
                        .flatMap(stream -> stream.shapes.values().stream())
                        .anyMatch(shape -> shape.phase != SimSubscription.Phase.LIVE
                                && shape.phase != SimSubscription.Phase.ENDED);
    }

    private boolean more() {
        boolean more = engine.proceed(now);
        for (SimStream<S> stream : List.copyOf(sink.streams.values())) {
            stream.reads = true;
            more |= !stream.isDrained();
            read(stream, 100);
        }
        return more;
    }

    private void settle(SimStream<S> stream) {
        for (S shape : stream.shapes.values()) {
            switch (shape.phase) {
                case LIVE -> world.settle(shape);
                case ENDED -> {}
                case ASKED, READING, APART ->
                    throw new AssertionError("STUCK: " + shape.label + " of " + stream.id + " is " + shape.phase
                            + " when all is at rest");
            }
        }
        stream.settle();
        for (SimRoom room : stream.rooms.values()) {
            if (!room.removed) {
                world.settle(room);
            }
        }
    }
}
