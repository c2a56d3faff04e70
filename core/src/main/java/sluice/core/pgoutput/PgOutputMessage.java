package sluice.core.pgoutput;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// Every message pgoutput sends with streaming and two-phase off, protocols 1 to 4.
public sealed interface PgOutputMessage {
    /// @param finalLsn the commit LSN of the transaction
    record Begin(Lsn finalLsn, Instant commitTime, Xid xid) implements PgOutputMessage {}

    /// @param endLsn where the next transaction may begin: what is confirmed once this one is dispatched
    record Commit(Lsn commitLsn, Lsn endLsn, Instant commitTime) implements PgOutputMessage {}

    record Origin(Lsn lsn, String name) implements PgOutputMessage {}

    record Relation(RelationDefinition definition) implements PgOutputMessage {}

    record Type(int oid, String schema, String name) implements PgOutputMessage {}

    record Insert(RelationDefinition relation, Tuple row) implements PgOutputMessage {}

    /// @param old null when the log carries none because the identity did not change; columns it leaves out are
    ///     NOT_SENT
    record Update(RelationDefinition relation, @Nullable Tuple old, Tuple row) implements PgOutputMessage {}

    record Delete(RelationDefinition relation, Tuple old) implements PgOutputMessage {}

    record Truncate(List<RelationDefinition> relations) implements PgOutputMessage {
        public Truncate {
            relations = List.copyOf(relations);
        }
    }

    /// `pg_logical_emit_message`.
    ///
    /// @param transactional outside a transaction the message stands on its own
    record Message(boolean transactional, Lsn lsn, String prefix, byte[] content) implements PgOutputMessage {}
}
