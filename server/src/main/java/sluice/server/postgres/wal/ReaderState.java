package sluice.server.postgres.wal;

/// What the reader is doing; only while it streams may new streams be opened.
public enum ReaderState {
    /// Another process reads the slot; this one waits for the lock.
    STANDBY,
    /// The slot is being created, which waits for transactions that were open.
    CREATING_SLOT,
    STREAMING,
    /// The connection is lost or not made yet; tried again with growing pauses.
    RECONNECTING,
    /// For good: stopped, or failed for a reason that trying again cannot cure.
    STOPPED
}
