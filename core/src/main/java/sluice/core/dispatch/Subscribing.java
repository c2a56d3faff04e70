package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.stream.StreamState;

/// Subscriptions asked for and not yet installed, whether their stream is being opened or is open.
///
/// A flow waits for the catalog of tables announced since, read again until it shows what announced them, then for
/// PostgreSQL's answers about the caller; when rights, definitions or the caller moved meanwhile it begins anew, a few
/// times. At its end, reached at once or in a later step, it is handed over in the step in which it is to be
/// installed. As many flows as requests being answered, each waiting for a bounded time. Owned by the engine's thread.
final class Subscribing {
    /// What flows need of the engine.
    interface Host extends SubscribeFlow.Engine {
        Iterable<TableState> tables();

        /// Takes over an answer about these tables.
        void take(CatalogImage answer, List<Integer> asked);
    }

    private final Host host;
    private final EffectSink effects;
    private final LongSupplier requestIds;
    private final Set<SubscribeFlow> flows = new LinkedHashSet<>();
    private final Map<Long, Waiting> waitingForTables = new LinkedHashMap<>();
    private final List<Waiting> toAskAgain = new ArrayList<>();

    /// @param deadline of every reading of its tables together
    private record Waiting(SubscribeFlow flow, Instant deadline) {}

    /// @param requestIds gives a new id for each catalog that is asked for
    Subscribing(Host host, EffectSink effects, LongSupplier requestIds) {
        this.host = host;
        this.effects = effects;
        this.requestIds = requestIds;
    }

    /// A flow that is still to be begun.
    ///
    /// @param done told once every entry is granted or refused, unless the flow is dropped before
    SubscribeFlow flow(StreamState stream, SubscribeFlow.Asked asked, Consumer<SubscribeFlow> done) {
        return new SubscribeFlow(host, stream, asked, resolved -> resolved(resolved, done));
    }

    /// Begins a flow, which may be over before this returns.
    void begin(SubscribeFlow flow) {
        flows.add(flow);
        prepare(flow);
    }

    /// Nobody waits for this flow any more.
    void drop(SubscribeFlow flow) {
        flows.remove(flow);
    }

    /// Begins a flow on tables whose catalog is as new as what announced them.
    private void prepare(SubscribeFlow flow) {
        prepare(new Waiting(flow, host.now().plus(host.settings().reloadTimeout())));
    }

    private void prepare(Waiting waiting) {
        List<Integer> stale = waiting.flow().findStaleTables(host.tables());
        if (stale.isEmpty()) {
            waiting.flow().begin();
        } else {
            long id = requestIds.getAsLong();
            waitingForTables.put(id, waiting);
            effects.emit(new Effect.LoadCatalog(id, new CatalogScope.Tables(stale)));
        }
    }

    private void resolved(SubscribeFlow flow, Consumer<SubscribeFlow> done) {
        if (!flows.contains(flow)) {
            return;
        }
        boolean moved = flow.isOutdated() || flow.grantsOnStaleTable();
        if (moved && !flow.isAbandoned()) {
            if (flow.mayRestart()) {
                prepare(flow);
            } else {
                flow.abandon();
            }
            return;
        }
        flows.remove(flow);
        done.accept(flow);
    }

    /// An answer from PostgreSQL.
    ///
    /// @param image null when there is none
    ///
    /// @return whether a flow waited for it
    boolean catalogAnswered(long requestId, @Nullable CatalogImage image) {
        Waiting waiting = waitingForTables.remove(requestId);
        if (waiting == null) {
            return false;
        }
        SubscribeFlow flow = waiting.flow();
        if (image != null) {
            host.take(image, flow.staleTables());
        }
        if (image == null) {
            flow.beginWithoutStaleTables();
        } else if (flow.findStaleTables(host.tables()).isEmpty()) {
            flow.begin();
        } else {
            // the log is ahead of what queries show, or announced the table once more
            toAskAgain.add(waiting);
        }
        return true;
    }

    void tick(Instant now) {
        for (Map.Entry<Long, Waiting> waiting : List.copyOf(waitingForTables.entrySet())) {
            if (now.isAfter(waiting.getValue().deadline())) {
                catalogAnswered(waiting.getKey(), null);
            }
        }
        List<Waiting> again = List.copyOf(toAskAgain);
        toAskAgain.clear();
        for (Waiting waiting : again) {
            if (now.isAfter(waiting.deadline())) {
                waiting.flow().beginWithoutStaleTables();
            } else if (flows.contains(waiting.flow())) {
                prepare(waiting);
            }
        }
    }

    /// Another server answers from now on: no catalog that was asked for will come.
    void abandonCatalogs() {
        List.copyOf(waitingForTables.keySet()).forEach(id -> catalogAnswered(id, null));
        List<Waiting> again = List.copyOf(toAskAgain);
        toAskAgain.clear();
        again.forEach(waiting -> waiting.flow().beginWithoutStaleTables());
    }
}
