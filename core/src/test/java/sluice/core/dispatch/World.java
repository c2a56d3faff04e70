package sluice.core.dispatch;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Meaning;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Role;
import sluice.core.catalog.ServerOperators;
import sluice.core.catalog.Stamp;
import sluice.core.datum.ValueTypes;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Expression;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.resume.ResumeBuffer;
import sluice.core.session.Identity;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.CloseReason;
import sluice.core.stream.RateBucket;
import sluice.core.stream.StreamState;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptCommit;
import sluice.core.transaction.KeptCommits;
import sluice.core.transaction.LogicalMessage;
import sluice.core.transaction.MemorySpillStore;
import sluice.core.transaction.Transaction;
import sluice.core.transaction.WalEvent;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.value.Truth;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;
import sluice.core.wal.Xid;

/// An engine with everything around it replaced by plain data: one table `public.notes(id, owner, body)` whose rule
/// is chosen by the test, streams that record what they were sent, and questions that wait until the test answers
/// them.
///
/// Time stands still unless {@link #pass} moves it. Transactions get ascending xids and LSNs; the world's own
/// snapshot sees every transaction committed so far.
final class World {
    static final int NOTES = 16_400;
    static final Duration LEASE = Duration.ofSeconds(60);

    static final RelationDefinition NOTES_DEFINITION = NotesTable.definition('d');

    static final Relation.Feed FEED = new Relation.Feed("entry 1", "file 1", versions("1"));

    static Map<Integer, String> versions(String ofBody) {
        Map<Integer, String> versions = new LinkedHashMap<>();
        versions.put(1, "1");
        versions.put(3, ofBody);
        return versions;
    }

    private final Deque<Effect> effects = new ArrayDeque<>();
    private final Recorder recorder = new Recorder();
    final Counts counts = new Counts();
    final Engine engine;
    private final List<Relation> others;

    /// What the filters of shapes fix, in the order in which rules were made for them.
    final List<Object> plannedFor = new ArrayList<>();

    private CatalogImage catalog;
    private Relation notes;
    RulePlan plan = granted(everything());
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private int functions;
    private List<Change> images = List.of();
    private int xid = 1000;
    private long lsn = 0x1000;

    World() {
        this(settings(new EngineSettings.CrossChecking(2, 4)));
    }

    World(EngineSettings settings) {
        this(settings, null);
    }

    /// @param sessions what ends sessions, in tables of its own beside the notes
    World(EngineSettings settings, @Nullable SessionRules sessions, Relation... others) {
        this.others = List.of(others);
        notes = NotesTable.notes("v1", "r1", List.of(1, 2, 3));
        catalog = image(List.of(notes));
        engine = new Engine(
                new Engine.Ports(
                        effects::add,
                        recorder,
                        counts,
                        (image, relation, role, terms) -> planned(terms),
                        catalog,
                        sessions),
                settings);
        step(new Input.Replicating(new Lsn(lsn), "here"));
    }

    private RulePlan planned(Object terms) {
        plannedFor.add(terms);
        return plan;
    }

    static EngineSettings settings(EngineSettings.CrossChecking checking) {
        return settings(checking, new ResumeBuffer.Bounds(Duration.ofSeconds(30), 1_000_000));
    }

    static EngineSettings buffered(ResumeBuffer.Bounds buffer) {
        return settings(new EngineSettings.CrossChecking(2, 4), buffer);
    }

    /// Deletes that cannot be decided are sent with their key.
    static EngineSettings degradedDeletes() {
        return settings(
                new EngineSettings.CrossChecking(2, 4),
                new ResumeBuffer.Bounds(Duration.ofSeconds(30), 1_000_000),
                EngineSettings.DegradedDeletes.DELIVER);
    }

    private static EngineSettings settings(EngineSettings.CrossChecking checking, ResumeBuffer.Bounds buffer) {
        return settings(checking, buffer, EngineSettings.DegradedDeletes.WITHHOLD);
    }

    private static EngineSettings settings(
            EngineSettings.CrossChecking checking,
            ResumeBuffer.Bounds buffer,
            EngineSettings.DegradedDeletes degradedDeletes) {
        return new EngineSettings(
                Duration.ofSeconds(20),
                100,
                20,
                200,
                1_000_000,
                8,
                1_000_000,
                Duration.ofSeconds(2),
                Duration.ofSeconds(5),
                Duration.ofSeconds(3600),
                Duration.ofSeconds(3600),
                Duration.ofSeconds(10),
                LEASE,
                1000,
                1000,
                EngineSettings.IdentityPolicy.WARN,
                checking,
                new EngineSettings.Rates(new RateBucket.Limit(100, Duration.ofSeconds(1))),
                new EngineSettings.Feeding(buffer, EngineSettings.Snapshots.SERVED),
                ChannelWorld.SETTINGS,
                degradedDeletes);
    }

    static Rule everything() {
        return new Rule(new Rule.Decision.Everything(), "no row-level security", List.of());
    }

    /// Rows whose `owner` is this text, in process.
    static Rule ownedBy(String owner) {
        byte[] expected = owner.getBytes(StandardCharsets.UTF_8);
        return new Rule(
                new Rule.Decision.Compiled(row -> switch (row.kind(2)) {
                    case TEXT -> Truth.of(row.tuple().holds(row.mapping().position(2), expected));
                    case NULL -> Truth.NULL;
                    case UNCHANGED, NOT_SENT -> Truth.UNDECIDABLE;
                }),
                "own column",
                List.of(2),
                Rule.Lasting.UNTIL_THE_ROW_CHANGES,
                null,
                null,
                new Meaning.Evaluated(List.of(new Expression.Constant(ValueTypes.TEXT, owner))));
    }

    /// PostgreSQL decides, and nothing of the row matters.
    static Rule probedOfTheCaller() {
        return new Rule(new Rule.Decision.Probed("is_admin()"), "reads another table", List.of());
    }

    static Rule probed() {
        return new Rule(new Rule.Decision.Probed("is_member(id)"), "reads another table", List.of(1));
    }

    static RulePlan granted(Rule rule, Fold... folds) {
        return new RulePlan() {
            @Override
            public List<Fold> folds() {
                return List.of(folds);
            }

            @Override
            public Verdict complete(List<FoldAnswer> answers) {
                return new Verdict.Granted(rule);
            }
        };
    }

    static RulePlan refused() {
        return new RulePlan() {
            @Override
            public List<Fold> folds() {
                return List.of();
            }

            @Override
            public Verdict complete(List<FoldAnswer> answers) {
                return new Verdict.Refused(ErrorCode.SHAPE_NOT_AUTHORIZED, "no policy lets the role read");
            }
        };
    }

    // ---- streams

    Received open(String streamId, SubscriptionRequest... requests) {
        return open(streamId, now.plusSeconds(3600), requests);
    }

    Received open(String streamId, Instant expiresAt, SubscriptionRequest... requests) {
        return open(streamId, new Identity(streamId, "authenticated", "{}", expiresAt), requests);
    }

    Received open(String streamId, Identity caller, SubscriptionRequest... requests) {
        Handle handle = new Handle(streamId);
        Received received = recorder.client(handle);
        step(new Input.Open(handle, caller, List.of(requests)));
        return received;
    }

    /// A stream that is told where transactions end.
    Received openFramed(String streamId, SubscriptionRequest... requests) {
        Handle handle = new Handle(streamId);
        Received received = recorder.client(handle);
        step(new Input.Open(
                handle,
                new Identity(streamId, "authenticated", "{}", now.plusSeconds(3600)),
                List.of(requests),
                StreamState.Framing.TRANSACTIONS,
                null));
        return received;
    }

    /// A stream whose client takes nothing, its first frame included.
    /// A request of the stream's own caller.
    void subscribe(String streamId, SubscriptionRequest... requests) {
        Identity caller = new Identity(streamId, "authenticated", "{}", now.plusSeconds(3600));
        step(new Input.Control(1_000, streamId, caller, new ControlRequest.Subscribe(List.of(requests))));
    }

    Received openUnread(String streamId, SubscriptionRequest... requests) {
        Handle handle = new Handle(streamId);
        handle.reads = false;
        Received received = recorder.client(handle);
        step(new Input.Open(
                handle, new Identity(streamId, "authenticated", "{}", now.plusSeconds(3600)), List.of(requests)));
        return received;
    }

    void hangUp(Received received) {
        step(new Input.Closed(received.handle, CloseReason.CLIENT_CLOSED));
    }

    static SubscriptionRequest notesShape(String label, String... ops) {
        return notesShape(label, ShapeRequest.Transitions.NOT_REPORTED, ops);
    }

    static SubscriptionRequest notesShape(String label, ShapeRequest.Transitions transitions, String... ops) {
        return new SubscriptionRequest(
                label,
                new ShapeRequest(
                        "public", "notes", null, null, ops.length == 0 ? null : List.of(ops), transitions, List.of()),
                null);
    }

    static SubscriptionRequest filtered(String label, String filter) {
        return filtered(label, filter, ShapeRequest.Transitions.NOT_REPORTED);
    }

    static SubscriptionRequest filtered(String label, String filter, ShapeRequest.Transitions transitions) {
        return new SubscriptionRequest(
                label, new ShapeRequest("public", "notes", filter, null, null, transitions, List.of()), null);
    }

    // ---- the log

    /// The next commit. Tables are announced when `announced` names them.
    Commit commit(Change... changes) {
        return commit(List.of(), changes);
    }

    Commit commit(List<RelationDefinition> announced, Change... changes) {
        return commit(announced, List.of(), changes);
    }

    Commit commit(List<RelationDefinition> announced, List<LogicalMessage> messages, Change... changes) {
        xid++;
        lsn += 0x100;
        Commit commit = new Commit(new Transaction(
                new Xid(xid),
                new Lsn(lsn),
                new Lsn(lsn + 0x80),
                now,
                announced,
                List.of(changes),
                List.of(),
                messages,
                100));
        step(new Input.Wal(new WalEvent.Committed(commit.transaction)));
        return commit;
    }

    void idle() {
        lsn += 0x100;
        step(new Input.Wal(new WalEvent.Idle(new Lsn(lsn))));
    }

    /// PostgreSQL is failed over to a server that lacks the latest so many commits.
    ///
    /// @return where its history leaves the one before
    Lsn failOver(int commitsLost) {
        xid -= commitsLost;
        lsn -= 0x100L * commitsLost;
        step(new Input.Wal(new WalEvent.TimelineLeft(new Lsn(lsn + 0x80))));
        return new Lsn(lsn + 0x80);
    }

    record Commit(Transaction transaction) {}

    static Change insert(String id, @Nullable String owner, @Nullable String body) {
        return new Change.Insert(NOTES_DEFINITION, tuple(id, owner, body));
    }

    static Change update(@Nullable Tuple old, Tuple row) {
        return new Change.Update(NOTES_DEFINITION, old, row);
    }

    static Change delete(Tuple old) {
        return new Change.Delete(NOTES_DEFINITION, old);
    }

    /// A whole row; null is SQL NULL.
    static Tuple tuple(@Nullable String... values) {
        StringBuilder bytes = new StringBuilder();
        Tuple.Kind[] kinds = new Tuple.Kind[values.length];
        int[] offsets = new int[values.length];
        int[] lengths = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            String value = values[i];
            if (value == null) {
                kinds[i] = Tuple.Kind.NULL;
            } else if (value.equals(UNCHANGED)) {
                kinds[i] = Tuple.Kind.UNCHANGED;
            } else if (value.equals(NOT_SENT)) {
                kinds[i] = Tuple.Kind.NOT_SENT;
            } else {
                kinds[i] = Tuple.Kind.TEXT;
                offsets[i] = bytes.length();
                lengths[i] = value.length();
                bytes.append(value);
            }
        }
        return new Tuple(bytes.toString().getBytes(StandardCharsets.US_ASCII), kinds, offsets, lengths);
    }

    static final String UNCHANGED = "\u0001unchanged";
    static final String NOT_SENT = "\u0001not sent";

    // ---- PostgreSQL

    /// A snapshot that sees every commit so far.
    Stamp stamp() {
        return new Stamp(new TransactionSnapshot(xid + 1, xid + 1, List.of()), new Lsn(lsn + 0x80));
    }

    /// A snapshot in which the latest commit is not yet visible.
    Stamp stampBeforeLatest() {
        return new Stamp(new TransactionSnapshot(xid, xid + 1, List.of((long) xid)), new Lsn(lsn + 0x80));
    }

    /// A snapshot that sees every commit so far but the one before the latest.
    Stamp stampWithoutTheOneBefore() {
        return new Stamp(new TransactionSnapshot(xid - 1, xid + 1, List.of((long) xid - 1)), new Lsn(lsn + 0x80));
    }

    /// A snapshot taken after something the stream has not brought yet.
    Stamp stampAhead() {
        return new Stamp(new TransactionSnapshot(xid + 1, xid + 1, List.of()), new Lsn(lsn + 0x180));
    }

    /// The rights of the table move; nobody has been told yet.
    void moveRights(String fingerprint, List<Integer> granted) {
        notes = NotesTable.notes("v1", fingerprint, granted);
    }

    /// A function of the application's appears.
    void moveFunctions() {
        functions++;
    }

    void rename(String name) {
        notes = notes(name, notes.feed(), notes.identity(), notes.fingerprint());
    }

    /// The table is the same, and so are its rights; how its rows reach the stream moves.
    void feed(Relation.Feed feed, ReplicaIdentity identity, String fingerprint) {
        notes = notes(notes.name(), feed, identity, fingerprint);
    }

    private Relation notes(String name, Relation.Feed feed, ReplicaIdentity identity, String fingerprint) {
        return new Relation(
                notes.oid(),
                notes.schema(),
                name,
                notes.kind(),
                notes.ownerOid(),
                notes.rowSecurity(),
                identity,
                notes.columns(),
                notes.indexes(),
                notes.policies(),
                notes.grantsByRole(),
                notes.published(),
                fingerprint,
                notes.rightsFingerprint(),
                feed);
    }

    /// A commit too large for memory, in one piece a change, with something happening after the first.
    <T> T spilled(Supplier<T> between, Change... changes) {
        return spilled(between, List.of(), changes);
    }

    void spilled(List<LogicalMessage> messages, Change... changes) {
        spilled(() -> "", messages, changes);
    }

    /// One that is kept.
    void kept(MemorySpillStore store, Change... changes) {
        keptWithImages(store, List.of(), changes);
    }

    /// One that is kept, with something happening after its first piece.
    <T> T kept(MemorySpillStore store, Supplier<T> between, List<LogicalMessage> messages, Change... changes) {
        return spilled(between, messages, KeptCommits.of(store, List.of(), List.of(changes)), changes);
    }

    /// One that is kept, with every image of it.
    void keptWithImages(MemorySpillStore store, List<Change> images, Change... changes) {
        this.images = images;
        spilled(() -> "", List.of(), KeptCommits.of(store, images, List.of(changes)), changes);
        this.images = List.of();
    }

    private <T> T spilled(Supplier<T> between, List<LogicalMessage> messages, Change... changes) {
        return spilled(between, messages, null, changes);
    }

    private <T> T spilled(
            Supplier<T> between, List<LogicalMessage> messages, @Nullable KeptCommit kept, Change... changes) {
        xid++;
        lsn += 0x100;
        step(new Input.Wal(new WalEvent.SpilledBegin(new Xid(xid), new Lsn(lsn), new Lsn(lsn + 0x80), now, List.of())));
        for (Change image : images) {
            step(new Input.Wal(new WalEvent.SpilledImages(List.of(image), 100)));
        }
        T result = null;
        for (Change change : changes) {
            step(new Input.Wal(new WalEvent.SpilledChunk(List.of(change), 100)));
            result = result == null ? between.get() : result;
        }
        step(new Input.Wal(new WalEvent.SpilledEnd(messages, kept)));
        return Objects.requireNonNull(result);
    }

    CatalogImage imageAt(Stamp stamp) {
        return image(List.of(notes), stamp);
    }

    CatalogImage emptyImage() {
        return image(List.of(), stamp());
    }

    /// The oldest effect of this kind that has not been taken, and everything before it forgotten.
    <T extends Effect> T take(Class<T> kind) {
        while (!effects.isEmpty()) {
            Effect effect = effects.poll();
            if (kind.isInstance(effect)) {
                return kind.cast(effect);
            }
        }
        throw new AssertionError("the engine asked for no " + kind.getSimpleName());
    }

    <T extends Effect> boolean asked(Class<T> kind) {
        return effects.stream().anyMatch(kind::isInstance);
    }

    void forgetEffects() {
        effects.clear();
    }

    void step(Input input) {
        engine.step(input, now);
        settle();
    }

    /// Lets the engine finish what it can do at once, and tells it of the queues that have drained.
    private void settle() {
        boolean told = true;
        for (int rounds = 0; told; rounds++) {
            if (rounds > 10_000) {
                throw new AssertionError("the engine asks without end to be told that a queue is empty");
            }
            while (engine.proceed(now)) {
                // more rounds
            }
            told = false;
            for (Received received : recorder.all()) {
                Handle handle = received.handle;
                if (handle.waitsForDrain && handle.isDrained()) {
                    handle.waitsForDrain = false;
                    engine.step(new Input.Drained(handle), now);
                    told = true;
                }
            }
        }
    }

    /// The client reads everything it was sent, and goes on doing so until {@link #stopReading}.
    void read(Received received) {
        received.handle.reads = true;
        received.handle.take();
        settle();
    }

    /// The client takes nothing more until {@link #read}.
    void stopReading(Received received) {
        received.handle.reads = false;
    }

    void pass(Duration time) {
        now = now.plus(time);
        step(new Input.Tick());
    }

    /// Time passes, and nothing has looked at the clock yet.
    void passUnnoticed(Duration time) {
        now = now.plus(time);
    }

    Instant now() {
        return now;
    }

    private CatalogImage image(List<Relation> relations) {
        return image(relations, stamp());
    }

    private CatalogImage image(List<Relation> relations, Stamp stamp) {
        Map<Integer, PgType> types = new LinkedHashMap<>();
        types.put(Oid.INT4, new PgType.Base(Oid.INT4, "int4"));
        types.put(Oid.TEXT, new PgType.Base(Oid.TEXT, "text"));
        types.put(Oid.UUID, new PgType.Base(Oid.UUID, "uuid"));
        types.put(Oid.TIMESTAMPTZ, new PgType.Base(Oid.TIMESTAMPTZ, "timestamptz"));
        Map<String, Role> roles = new LinkedHashMap<>();
        roles.put("authenticated", new Role(20, "authenticated", Role.Bypass.NONE, List.of(20)));
        roles.put("service", new Role(21, "service", Role.Bypass.BYPASS_RLS, List.of(21)));
        Map<Integer, Collation> collations = new LinkedHashMap<>();
        collations.put(
                Collation.DEFAULT_OID,
                new Collation(
                        Collation.DEFAULT_OID, "default", "libc", "C.UTF-8", Collation.Determinism.DETERMINISTIC));
        List<Relation> all = new ArrayList<>(relations);
        all.addAll(others);
        return new CatalogImage(
                stamp,
                all,
                new CatalogImage.Dictionary(
                        18, types, roles, NotesTable.functions(functions), ServerOperators.operators(), collations));
    }
}
