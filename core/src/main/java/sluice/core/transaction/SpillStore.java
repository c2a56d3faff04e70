package sluice.core.transaction;

/// Where a commit goes that does not fit in memory. Called on the reader's thread only; sequential access.
///
/// A store is bounded. What does not fit is a {@link SpillException}: the process stops with the slot unconfirmed,
/// which loses nothing.
public interface SpillStore {
    /// Starts a run.
    Writer create();

    /// A run being written.
    interface Writer {
        /// @throws SpillException when the disk or the store's bound is full
        void write(byte[] bytes, int offset, int length);

        /// The run, complete. The writer is not used again.
        Run finish();
    }

    /// A complete run.
    interface Run {
        Reader open();

        /// Gives its space back. Readers of it are closed first.
        void delete();
    }

    /// Reads a run once, from its start.
    interface Reader {
        /// Fills up to `length` bytes, at least one.
        ///
        /// @return how many, or -1 at the end
        int read(byte[] target, int offset, int length);

        void close();
    }
}
