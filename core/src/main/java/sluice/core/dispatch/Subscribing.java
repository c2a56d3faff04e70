package sluice.core.dispatch;

import java.time.Instant;
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
/// A flow waits for the catalog of tables announced since, then for PostgreSQL's answers about the caller; when
/// rights, definitions or the caller moved meanwhile it begins anew, a few times. At its end, reached at once or in a
/// later step, it is handed over in the step in which it is to be installed. As many flows as requests being
/// answered, each waiting for a bounded time. Owned by the engine's thread.
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
    private final Map<Long, SubscribeFlow> waitingForTables = new LinkedHashMap<>();
    private final Map<Long, Instant> tableDeadlines = new LinkedHashMap<>();

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
        List<Integer> stale = flow.findStaleTables(host.tables());
        if (stale.isEmpty()) {
            flow.begin();
        } else {
            long id = requestIds.getAsLong();
            waitingForTables.put(id, flow);
            tableDeadlines.put(id, host.now().plus(host.settings().reloadTimeout()));
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
        SubscribeFlow waiting = waitingForTables.remove(requestId);
        if (waiting == null) {
            return false;
        }
        tableDeadlines.remove(requestId);
        if (image != null) {
            host.take(image, waiting.staleTables());
        }
        if (image == null || !waiting.findStaleTables(host.tables()).isEmpty()) {
            waiting.beginWithoutStaleTables();
        } else {
            waiting.begin();
        }
        return true;
    }

    void tick(Instant now) {
        for (Map.Entry<Long, Instant> deadline : List.copyOf(tableDeadlines.entrySet())) {
            if (now.isAfter(deadline.getValue())) {
                catalogAnswered(deadline.getKey(), null);
            }
        }
    }

    /// Another server answers from now on: no catalog that was asked for will come.
    void abandonCatalogs() {
        List.copyOf(waitingForTables.keySet()).forEach(id -> catalogAnswered(id, null));
    }
}
