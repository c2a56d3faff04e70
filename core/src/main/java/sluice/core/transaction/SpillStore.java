package sluice.core.transaction;

import org.jspecify.annotations.Nullable;

/// Where a commit goes that does not fit in memory. Called on the reader's thread only; sequential access.
///
/// A store is bounded. What does not fit is a {@link SpillException}: the process stops with the slot unconfirmed,
/// which loses nothing.
public interface SpillStore {
    /// Starts a run.
    Writer create();

    /// Starts to keep a commit beyond its dispatch. Never takes room that runs may need.
    ///
    /// @return null when nothing is kept
    default @Nullable Keeping keep() {
        return null;
    }

    /// A commit being written to be kept.
    interface Keeping {
        /// @return false when there is no room for it
        boolean write(byte[] bytes, int offset, int length);

        /// Complete. Not used again.
        Kept finish();

        /// Gives up what was written. Not used again.
        void abandon();
    }

    /// A commit that is kept. Read and deleted on any thread.
    interface Kept {
        /// @throws SpillException when it cannot be read, or is deleted
        byte[] read(long position, int length);

        /// Gives its space back. Safe to say twice.
        void delete();
    }

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
