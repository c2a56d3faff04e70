package sluice.server.http;

/// Something with a deadline, looked at by its loop's sweep instead of by a timer of its own. Loop thread only.
interface Swept {
    /// Ends what is overdue.
    void sweep(long nowNanos);

    /// The server is stopping: leave at once when nothing is in progress, else when that is done.
    void leave();
}
