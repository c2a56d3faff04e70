package sluice.core.dispatch;

import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.error.WarningCode;
import sluice.core.event.FrameEncoder;
import sluice.core.event.StreamEvent;
import sluice.core.shape.Operation;
import sluice.core.stream.FrameSink;
import sluice.core.stream.Subscription;

/// Counts the changes that could not be decided, and tells their subscribers, each at most once in ten seconds. Owned
/// by the engine's thread.
final class WithheldTeller {
    private final FrameSink sink;
    private final EngineMetrics metrics;
    private final Set<Subscription> toTell = new LinkedHashSet<>();

    WithheldTeller(FrameSink sink, EngineMetrics metrics) {
        this.sink = sink;
        this.metrics = metrics;
    }

    /// @param table null when it is gone
    void withhold(Subscription subscription, Operation operation, @Nullable TableState table) {
        if (table != null) {
            metrics.withheld(table.relation(), operation);
        }
        // deletes outside the replica identity were announced when the shape was granted
        if (operation != Operation.DELETE || !subscription.announcedDeletes()) {
            subscription.countWithheld();
            toTell.add(subscription);
        }
    }

    void tell(Instant at) {
        for (Iterator<Subscription> waiting = toTell.iterator(); waiting.hasNext(); ) {
            Subscription subscription = waiting.next();
            boolean gone = subscription.state() == Subscription.State.ENDED
                    || !subscription.stream().isOpen();
            long untold = gone ? 0 : subscription.tellWithheld(at);
            if (gone || untold > 0) {
                waiting.remove();
            }
            if (untold > 0) {
                Frames.give(
                        sink,
                        subscription.stream(),
                        FrameEncoder.frame(new StreamEvent.Warning(
                                subscription.label(),
                                WarningCode.CHANGES_WITHHELD,
                                untold + " changes could not be decided and were withheld",
                                "rows may be missing or out of date",
                                "read the rows again; see docs/operating.md for the causes")));
            }
        }
    }
}
