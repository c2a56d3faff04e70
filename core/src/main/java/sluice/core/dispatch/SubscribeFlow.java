package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Role;
import sluice.core.channel.HookKey;
import sluice.core.diagnostics.IdentityRemedy;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.shape.ChannelRequest;
import sluice.core.shape.Filter;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.ChannelSubscription;
import sluice.core.stream.StreamState;

/// The subscriptions of one request on their way to being installed. Owned by the engine's thread.
///
/// Life: {@link #begin} checks each entry against the catalog; PostgreSQL types the filters' literals; the rules are
/// composed; PostgreSQL evaluates what depends on the caller; then its end is told, in the same step in which all
/// granted entries are to be installed. An entry that is refused on the way leaves the others alone. If the catalog
/// moved in between, everything is begun again.
///
/// Limits, labels and channels count what is granted. An entry that earlier ones of its request leave no room for
/// waits until these are decided, and has another turn where one of them was refused, a few times.
final class SubscribeFlow {
    private static final int RESTARTS_MAX = 5;

    /// However often it begins again, so that the request is answered in bounded time.
    static final int FURTHER_TURNS_MAX = 4;

    /// What the flow needs of the engine.
    interface Engine {
        CatalogImage catalog();

        /// Moves whenever rights or definitions did.
        long catalogVersion();

        @Nullable
        TableState table(int relationOid);

        Questions questions();

        SessionWatch sessions();

        RulePlanner planner();

        EngineSettings settings();

        EngineMetrics metrics();

        ChannelDesk channels();

        Instant now();
    }

    /// One entry of the request.
    static final class Entry {
        private final SubscriptionRequest request;
        private @Nullable RequestException refusal;
        private ShapeReader.@Nullable Draft draft;
        private @Nullable Filter filter;
        private @Nullable RulePlan plan;
        private @Nullable Rule rule;
        private @Nullable String rightsDigest;
        private @Nullable HookKey hook;
        private Instant joinedUntil = Instant.MAX;
        private boolean crowdedOut;

        Entry(SubscriptionRequest request) {
            this.request = request;
        }

        SubscriptionRequest request() {
            return request;
        }

        @Nullable
        RequestException refusal() {
            return refusal;
        }

        void refuse(RequestException exception) {
            refusal = exception;
        }

        /// Refused for other entries of the request, which may be refused themselves.
        private void crowdOut(RequestException exception) {
            refusal = exception;
            crowdedOut = true;
        }

        private void anotherTurn() {
            refusal = null;
            crowdedOut = false;
        }

        private boolean isGrantedShape() {
            return refusal == null && request.channel() == null;
        }

        /// The verdict a join lives on, null when it needs none.
        @Nullable
        HookKey hook() {
            return hook;
        }

        /// When that verdict has run out.
        Instant joinedUntil() {
            return joinedUntil;
        }

        ShapeReader.Draft draft() {
            return present(draft);
        }

        Filter filter() {
            return present(filter);
        }

        /// Of what the entry's rows depend on besides the rows.
        String rightsDigest() {
            return present(rightsDigest);
        }

        Rule rule() {
            return present(rule);
        }

        private static <T> T present(@Nullable T value) {
            if (value == null) {
                throw new IllegalStateException("the entry is not resolved");
            }
            return value;
        }
    }

    /// One request of a client.
    ///
    /// @param requestId which hooks are told, null when nobody is to be told
    record Asked(
            List<SubscriptionRequest> requests, @Nullable String requestId) {}

    private final Engine engine;
    private final StreamState stream;
    private final List<SubscriptionRequest> requests;
    private final Consumer<SubscribeFlow> resolved;
    private final Joining joining;
    private Identity caller;
    private List<Entry> entries = List.of();
    private List<Integer> staleTables = List.of();
    private long catalogVersion;
    private boolean abandoned;
    private boolean shapesDecided;
    private boolean staleTablesUnavailable;
    private int restarts;

    /// The entries that are being decided.
    private List<Entry> turn = List.of();

    /// How many entries in all were let through to be asked about and had not been refused by then.
    private int admitted;
    private int furtherTurns;
    private final Instant startedAt;

    /// @param stream being opened, or open
    /// @param asked what the client asked for
    /// @param resolved told when every entry is granted or refused
    SubscribeFlow(Engine engine, StreamState stream, Asked asked, Consumer<SubscribeFlow> resolved) {
        this.engine = engine;
        this.stream = stream;
        this.requests = asked.requests();
        this.joining = new Joining(engine.channels(), asked.requestId(), this::finish);
        this.resolved = resolved;
        this.caller = stream.identity();
        this.startedAt = engine.now();
    }

    StreamState stream() {
        return stream;
    }

    List<SubscriptionRequest> requests() {
        return requests;
    }

    /// When the request came in.
    Instant startedAt() {
        return startedAt;
    }

    List<Entry> entries() {
        return entries;
    }

    /// Requested tables whose catalog has to be read again before anybody subscribes to them.
    List<Integer> findStaleTables(Iterable<TableState> tables) {
        List<Integer> stale = new ArrayList<>(0);
        for (TableState table : tables) {
            if (table.isStale() && isRequested(table)) {
                stale.add(table.relation().oid());
            }
        }
        staleTables = stale;
        return stale;
    }

    List<Integer> staleTables() {
        return staleTables;
    }

    private boolean isRequested(TableState table) {
        for (SubscriptionRequest request : requests) {
            ShapeRequest shape = request.shape();
            if (shape != null
                    && shape.schema().equals(table.relation().schema())
                    && shape.table().equals(table.relation().name())) {
                return true;
            }
        }
        return false;
    }

    /// Whether rights, definitions or the caller moved since the flow was begun.
    boolean isOutdated() {
        return catalogVersion != engine.catalogVersion() || !caller.equals(stream.identity());
    }

    /// Whether a table was announced after its granted entry was composed.
    boolean grantsOnStaleTable() {
        for (Entry entry : entries) {
            if (entry.isGrantedShape()) {
                TableState table = engine.table(entry.draft().relation().oid());
                if (table != null && table.isStale()) {
                    return true;
                }
            }
        }
        return false;
    }

    /// Whether the flow was given up: every entry is refused.
    boolean isAbandoned() {
        return abandoned;
    }

    /// Counts one more beginning, as long as there are not too many.
    boolean mayRestart() {
        return ++restarts <= RESTARTS_MAX;
    }

    /// Rights do not stand still long enough: every entry is refused, and may be asked for again.
    void abandon() {
        unavailable();
    }

    /// The stale tables could not be read again in time: their entries are refused, the others go on.
    void beginWithoutStaleTables() {
        staleTablesUnavailable = true;
        begin();
    }

    void begin() {
        catalogVersion = engine.catalogVersion();
        caller = stream.identity();
        List<Entry> fresh = new ArrayList<>();
        for (SubscriptionRequest request : requests) {
            fresh.add(new Entry(request));
        }
        entries = fresh;
        joining.begin(caller);
        take(fresh, new Accepted());
    }

    private void take(List<Entry> next, Accepted accepted) {
        turn = next;
        admitted = accepted.labels.size();
        shapesDecided = false;
        for (Entry entry : next) {
            try {
                ChannelRequest channel = entry.request().channel();
                boolean room = channel == null ? shape(entry, accepted) : channel(entry, channel, accepted);
                admitted += room ? 1 : 0;
            } catch (RequestException refused) {
                entry.refuse(refused);
            }
        }
        askLiterals();
    }

    /// Those that were crowded out by entries that are refused by now are looked at again.
    ///
    /// @return whether there are any
    private boolean takeAnotherTurn() {
        List<Entry> waiting = new ArrayList<>(0);
        Accepted accepted = new Accepted();
        for (Entry entry : entries) {
            if (entry.crowdedOut) {
                waiting.add(entry);
            } else if (entry.refusal() == null) {
                accepted.add(entry.request());
            }
        }
        if (waiting.isEmpty() || accepted.labels.size() == admitted || furtherTurns == FURTHER_TURNS_MAX) {
            return false;
        }
        furtherTurns++;
        waiting.forEach(Entry::anotherTurn);
        take(waiting, accepted);
        return true;
    }

    /// What was not refused yet, or not at all.
    private static final class Accepted {
        private final Set<String> labels = new LinkedHashSet<>();
        private final Map<String, String> labelsByChannel = new LinkedHashMap<>();

        int shapes() {
            return labels.size() - labelsByChannel.size();
        }

        void add(SubscriptionRequest request) {
            labels.add(request.label());
            ChannelRequest channel = request.channel();
            if (channel != null) {
                labelsByChannel.put(channel.channel(), request.label());
            }
        }
    }

    /// @return whether the others of the request leave room for it
    /// @throws RequestException when it is refused whatever becomes of them
    private boolean shape(Entry entry, Accepted accepted) {
        // what cannot be read is refused for that
        if (!entry.request().label().isEmpty() && entry.request().shape() != null) {
            StreamLimits.admitShape(engine.settings(), stream, 0, 0);
            if (!isAdmitted(entry, accepted)) {
                return false;
            }
        }
        Role role = engine.catalog().role(caller.role());
        if (role == null) {
            throw new RequestException(ErrorCode.SHAPE_NOT_AUTHORIZED, "role \"" + caller.role() + "\" does not exist");
        }
        entry.draft = ShapeReader.read(engine.catalog(), role, entry.request(), engine.sessions());
        readable(entry.draft());
        return isNamed(entry, accepted);
    }

    /// @return whether the others of the request leave room for it
    /// @throws RequestException when it is refused whatever becomes of them
    private boolean channel(Entry entry, ChannelRequest request, Accepted accepted) {
        if (entry.request().label().isEmpty()) {
            throw new RequestException(ErrorCode.INVALID_SUBSCRIPTION, "\"sub\" is missing");
        }
        StreamLimits.admit(engine.settings(), stream, 0);
        if (!isAdmitted(entry, accepted)) {
            return false;
        }
        HookKey hook = joining.decide(request.channel(), caller);
        ChannelSubscription joined = stream.channel(request.channel());
        if (joined != null) {
            throw StreamLimits.duplicateChannel(request.channel(), joined.label());
        }
        String twice = accepted.labelsByChannel.get(request.channel());
        if (twice != null) {
            entry.crowdOut(StreamLimits.duplicateChannel(request.channel(), twice));
            return false;
        }
        if (!isNamed(entry, accepted)) {
            return false;
        }
        accepted.add(entry.request());
        entry.hook = hook;
        if (hook != null) {
            joining.ask(hook, caller);
        }
        return true;
    }

    private boolean isAdmitted(Entry entry, Accepted accepted) {
        try {
            if (entry.request().channel() == null) {
                StreamLimits.admitShape(engine.settings(), stream, accepted.labels.size(), accepted.shapes());
            } else {
                StreamLimits.admit(engine.settings(), stream, accepted.labels.size());
            }
            return true;
        } catch (RequestException full) {
            entry.crowdOut(full);
            return false;
        }
    }

    private boolean isNamed(Entry entry, Accepted accepted) {
        String label = entry.request().label();
        if (stream.isTaken(label)) {
            throw StreamLimits.duplicate(label);
        }
        boolean added = accepted.labels.add(label);
        if (!added) {
            entry.crowdOut(StreamLimits.duplicate(label));
        }
        return added;
    }

    private void readable(ShapeReader.Draft draft) {
        if (staleTablesUnavailable && staleTables.contains(draft.relation().oid())) {
            throw new RequestException(
                    ErrorCode.CATALOG_UNAVAILABLE,
                    "the rights of table \"" + draft.relation().qualifiedName() + "\" could not be read in time");
        }
        FilterLiterals.check(engine.catalog(), draft);
    }

    private void askLiterals() {
        List<Fold> folds = new ArrayList<>();
        Questions.Memory memory = Questions.Memory.KEPT;
        for (Entry entry : turn) {
            if (entry.isGrantedShape()) {
                folds.addAll(FilterLiterals.folds(engine.catalog(), entry.draft()));
                if (!FilterLiterals.readAlike(engine.catalog(), entry.draft())) {
                    memory = Questions.Memory.NONE;
                }
            }
        }
        ask(folds, memory, this::literalsAnswered);
    }

    private void ask(List<Fold> folds, Questions.Memory memory, Consumer<@Nullable List<FoldAnswer>> then) {
        if (folds.isEmpty()) {
            then.accept(List.of());
        } else {
            engine.questions().ask(caller, folds, memory, engine.now(), then);
        }
    }

    private void literalsAnswered(@Nullable List<FoldAnswer> answers) {
        if (answers == null) {
            unavailable();
            return;
        }
        var next = answers.iterator();
        for (Entry entry : turn) {
            if (entry.isGrantedShape()) {
                try {
                    entry.filter = FilterLiterals.answered(engine.catalog(), entry.draft(), next);
                } catch (RequestException refused) {
                    entry.refuse(refused);
                }
            }
        }
        if (!restarted()) {
            askRules();
        }
    }

    private void askRules() {
        Role role = engine.catalog().role(caller.role());
        List<Fold> folds = new ArrayList<>();
        for (Entry entry : turn) {
            if (entry.isGrantedShape() && role != null) {
                RulePlan plan = engine.planner()
                        .plan(
                                engine.catalog(),
                                entry.draft().relation(),
                                role,
                                entry.filter().conjuncts());
                entry.plan = plan;
                folds.addAll(plan.folds());
            }
        }
        ask(folds, Questions.Memory.KEPT, this::rulesAnswered);
    }

    private void rulesAnswered(@Nullable List<FoldAnswer> answers) {
        if (answers == null) {
            unavailable();
            return;
        }
        int taken = 0;
        for (Entry entry : turn) {
            RulePlan plan = entry.plan;
            if (entry.refusal() != null || plan == null) {
                continue;
            }
            int end = taken + plan.folds().size();
            List<FoldAnswer> own = answers.subList(taken, end);
            entry.rightsDigest = new RightsDigest()
                    .of(caller.role(), entry.draft().relation())
                    .of(plan.folds(), own)
                    .add(
                            entry.request().shape() == null
                                    ? null
                                    : entry.request().shape().filter())
                    .text();
            conclude(entry, plan.complete(own));
            taken = end;
        }
        if (!restarted()) {
            shapesDecided = true;
            finish();
        }
    }

    /// Everything is decided once the shapes are and the last verdict has come.
    private void finish() {
        if (!shapesDecided || joining.isPending() || (!abandoned && restarted())) {
            return;
        }
        boolean sameCaller = caller.equals(stream.identity());
        // what an earlier turn let in is looked at again: later verdicts and tokens may have come meanwhile
        for (Entry entry : entries) {
            HookKey hook = entry.hook();
            if (entry.refusal() == null && hook != null) {
                try {
                    if (!sameCaller) {
                        throw new RequestException(
                                ErrorCode.CHANNEL_HOOK_UNAVAILABLE,
                                "the stream has another token than the endpoint was asked about",
                                1000L);
                    }
                    entry.joinedUntil = joining.admitted(hook).until();
                } catch (RequestException refused) {
                    entry.refuse(refused);
                }
            }
        }
        if (abandoned || !takeAnotherTurn()) {
            resolved.accept(this);
        }
    }

    private void conclude(Entry entry, RulePlan.Verdict verdict) {
        switch (verdict) {
            case RulePlan.Verdict.Granted(var rule) -> {
                entry.rule = rule;
                boolean strict = engine.settings().replicaIdentity() == EngineSettings.IdentityPolicy.STRICT;
                List<String> missing = ShapeReader.outsideIdentity(entry.draft(), rule.readsColumns());
                if (strict && !missing.isEmpty()) {
                    entry.refuse(new RequestException(
                            ErrorCode.REPLICA_IDENTITY_INSUFFICIENT,
                            "the replica identity lacks " + String.join(", ", missing) + "; run "
                                    + IdentityRemedy.sql(entry.draft().relation(), missing)));
                }
            }
            case RulePlan.Verdict.Refused(var code, var message) -> entry.refuse(new RequestException(code, message));
        }
    }

    /// Rights moved while PostgreSQL was asked: what was composed may be wider than what holds now.
    private boolean restarted() {
        if (!isOutdated()) {
            return false;
        }
        if (!mayRestart()) {
            unavailable();
        } else {
            begin();
        }
        return true;
    }

    private void unavailable() {
        abandoned = true;
        boolean sameCaller = caller.equals(stream.identity());
        for (Entry entry : entries) {
            if (entry.isGrantedShape()) {
                entry.refuse(new RequestException(
                        ErrorCode.CATALOG_UNAVAILABLE, "PostgreSQL did not answer about the caller in time"));
            } else if (entry.refusal() == null && !sameCaller) {
                entry.refuse(new RequestException(
                        ErrorCode.CHANNEL_HOOK_UNAVAILABLE, "the stream's token changed too often", 1000L));
            }
        }
        shapesDecided = true;
        finish();
    }
}
