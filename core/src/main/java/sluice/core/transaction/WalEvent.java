package sluice.core.transaction;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// What the reader hands the engine, in the order of the log.
public sealed interface WalEvent {
    /// Memory the event holds while it waits, for the inbox's byte bound.
    long weightBytes();

    /// A commit that fits in memory.
    record Committed(Transaction transaction) implements WalEvent {
        @Override
        public long weightBytes() {
            return transaction.weightBytes();
        }
    }

    /// The head of a commit too large for memory. Its images, if all are kept, chunks of its net images, and its
    /// end follow; nothing comes between.
    record SpilledBegin(Xid xid, Lsn commitLsn, Lsn endLsn, Instant commitTime, List<RelationDefinition> announced)
            implements WalEvent {
        @Override
        public long weightBytes() {
            return 512;
        }
    }

    /// A bounded piece of every image of the spilled commit, in the order of the log, for roles that bypass
    /// row-level security. Such pieces come before the first chunk, and only when every image is kept; the
    /// chunks are for everybody else then.
    record SpilledImages(List<Change> changes, long weightBytes) implements WalEvent {}

    /// A bounded piece of the spilled commit, in delivery order.
    record SpilledChunk(List<Change> changes, long weightBytes) implements WalEvent {}

    /// @param kept its changes, for those who could not take them; null when they are not kept
    record SpilledEnd(
            List<LogicalMessage> messages, @Nullable KeptCommit kept) implements WalEvent {
        /// Of a commit that is not kept.
        public SpilledEnd(List<LogicalMessage> messages) {
            this(messages, null);
        }

        @Override
        public long weightBytes() {
            return 512;
        }
    }

    /// A message emitted outside any transaction.
    record LoneMessage(Lsn lsn, LogicalMessage message) implements WalEvent {
        @Override
        public long weightBytes() {
            return 256L + message.content().length;
        }
    }

    /// Another timeline is followed from here on. What follows may lie before what came last: commits of the
    /// timeline that was left, made after this position, never happened in the history that goes on.
    record TimelineLeft(Lsn at) implements WalEvent {
        @Override
        public long weightBytes() {
            return 64;
        }
    }

    /// Nothing is pending up to this position: a keepalive between transactions.
    record Idle(Lsn walEnd) implements WalEvent {
        @Override
        public long weightBytes() {
            return 64;
        }
    }
}
