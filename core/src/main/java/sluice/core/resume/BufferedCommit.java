package sluice.core.resume;

import java.time.Instant;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// A commit that was dispatched.
///
/// @param number its place in the order of dispatch, counted since the process started
/// @param lsn the commit LSN
/// @param time when PostgreSQL committed it
public record BufferedCommit(long number, Xid xid, Lsn lsn, Instant time) {}
