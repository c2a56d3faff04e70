package sluice.core.dispatch;

import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.error.WarningCode;
import sluice.core.event.FrameEncoder;
import sluice.core.event.StreamEvent;
import sluice.core.resume.UntoldChanges;
import sluice.core.shape.Operation;
import sluice.core.stream.FrameSink;
import sluice.core.stream.Subscription;
import sluice.core.wal.Lsn;

/// Counts the changes that could not be decided, and tells their subscribers, each at most once in ten seconds and
/// before it goes live. Who leaves before he was told is not resumed from where he was ({@link UntoldChanges}). Owned
/// by the engine's thread.
final class WithheldTeller {
    private final FrameSink sink;
    private final EngineMetrics metrics;
    private final UntoldChanges untold = new UntoldChanges();
    private final Set<Subscription> toTell = new LinkedHashSet<>();

    WithheldTeller(FrameSink sink, EngineMetrics metrics) {
        this.sink = sink;
        this.metrics = metrics;
    }

    UntoldChanges untold() {
        return untold;
    }

    /// @param commit of the change, or one before it
    /// @param table null when it is gone
    void withhold(Subscription subscription, Operation operation, Lsn commit, @Nullable TableState table) {
        if (table != null) {
            metrics.withheld(table.relation(), operation);
        }
        // deletes outside the replica identity were announced when the shape was granted
        if (operation != Operation.DELETE || !subscription.announcedDeletes()) {
            subscription.countWithheld();
            noteUntold(subscription, commit);
            toTell.add(subscription);
        }
    }

    private void noteUntold(Subscription subscription, Lsn commit) {
        Lsn from = subscription.untoldFrom();
        if (from == null) {
            untold.began(subscription.relationOid(), subscription.history(), commit);
        } else if (commit.isBefore(from)) {
            untold.extend(subscription.relationOid(), subscription.history(), commit);
        } else {
            return;
        }
        subscription.untoldFrom(commit);
    }

    private void noteTold(Subscription subscription, Lsn given) {
        Lsn from = subscription.untoldFrom();
        if (from != null) {
            untold.told(subscription.relationOid(), subscription.history(), from, given);
            subscription.untoldFrom(null);
        }
    }

    /// @param given nobody was given a later position
    void tell(Instant at, Lsn given) {
        for (Iterator<Subscription> waiting = toTell.iterator(); waiting.hasNext(); ) {
            Subscription subscription = waiting.next();
            boolean gone = subscription.state() == Subscription.State.ENDED
                    || !subscription.stream().isOpen();
            long changes = gone ? 0 : subscription.tellWithheld(at);
            if (gone || changes > 0) {
                waiting.remove();
                noteTold(subscription, given);
            }
            if (changes > 0) {
                tell(subscription, changes);
            }
        }
    }

    /// Tells one subscription, however lately it was told.
    ///
    /// @param given nobody was given a later position
    void tellAtOnce(Subscription subscription, Instant at, Lsn given) {
        if (toTell.remove(subscription)) {
            noteTold(subscription, given);
            tell(subscription, subscription.tellWithheldAtOnce(at));
        }
    }

    private void tell(Subscription subscription, long changes) {
        Frames.give(
                sink,
                subscription.stream(),
                FrameEncoder.frame(new StreamEvent.Warning(
                        subscription.label(),
                        WarningCode.CHANGES_WITHHELD,
                        changes + " changes could not be decided and were withheld",
                        "rows may be missing or out of date",
                        "read the rows again; see docs/operating.md for the causes")));
    }
}
