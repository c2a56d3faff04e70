package sluice.core.transaction;

import java.time.Instant;
import java.util.List;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// One whole commit, ready to dispatch.
///
/// @param endLsn what may be confirmed once this commit is dispatched
/// @param announced definitions this commit's Relation messages brought, in order: the moment the catalog of these
///     tables may have moved
/// @param changes net images in the order they are delivered: truncates, deletes, then inserts and updates in the
///     order of the log
/// @param everyImage each image in the order of the log, only filled when `SLUICE_TRANSACTION_IMAGES=all`
/// @param messages transactional messages, delivered after the rows
/// @param weightBytes memory the commit holds, for bounds
public record Transaction(
        Xid xid,
        Lsn commitLsn,
        Lsn endLsn,
        Instant commitTime,
        List<RelationDefinition> announced,
        List<Change> changes,
        List<Change> everyImage,
        List<LogicalMessage> messages,
        long weightBytes) {}
