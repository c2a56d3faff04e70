package sluice.core.dispatch;

import java.util.List;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// What the event that begins a commit says of it. Another event is a mistake of the caller's.
final class CommitStart {
    private CommitStart() {}

    static Xid xid(WalEvent event) {
        return switch (event) {
            case WalEvent.Committed(var transaction) -> transaction.xid();
            case WalEvent.SpilledBegin begin -> begin.xid();
            case WalEvent.SpilledImages _, WalEvent.SpilledChunk _, WalEvent.SpilledEnd _ -> throw noStart(event);
            case WalEvent.LoneMessage _, WalEvent.TimelineLeft _, WalEvent.Idle _ -> throw noStart(event);
        };
    }

    static Lsn commitLsn(WalEvent event) {
        return switch (event) {
            case WalEvent.Committed(var transaction) -> transaction.commitLsn();
            case WalEvent.SpilledBegin begin -> begin.commitLsn();
            case WalEvent.SpilledImages _, WalEvent.SpilledChunk _, WalEvent.SpilledEnd _ -> throw noStart(event);
            case WalEvent.LoneMessage _, WalEvent.TimelineLeft _, WalEvent.Idle _ -> throw noStart(event);
        };
    }

    /// The tables whose definition the log sent again before the commit's first change of them.
    static List<RelationDefinition> announced(WalEvent event) {
        return switch (event) {
            case WalEvent.Committed(var transaction) -> transaction.announced();
            case WalEvent.SpilledBegin begin -> begin.announced();
            case WalEvent.SpilledImages _, WalEvent.SpilledChunk _, WalEvent.SpilledEnd _ -> throw noStart(event);
            case WalEvent.LoneMessage _, WalEvent.TimelineLeft _, WalEvent.Idle _ -> throw noStart(event);
        };
    }

    private static IllegalStateException noStart(WalEvent event) {
        return new IllegalStateException("not the start of a commit: " + event.getClass());
    }
}
