package sluice.core.resume;

import java.time.Instant;

/// One thing the buffer keeps of a commit. Its place in the buffer is the buffer's own to say.
public abstract sealed class BufferedEntry permits BufferedPart, BufferedBroadcast {
    private final BufferedCommit commit;
    private final Instant keptAt;
    private long weightBytes;
    private boolean inBuffer = true;

    BufferedEntry(BufferedCommit commit, Instant keptAt) {
        this.commit = commit;
        this.keptAt = keptAt;
    }

    public final BufferedCommit commit() {
        return commit;
    }

    final Instant keptAt() {
        return keptAt;
    }

    final long weightBytes() {
        return weightBytes;
    }

    final void weigh(long bytes) {
        weightBytes = bytes;
    }

    final boolean isInBuffer() {
        return inBuffer;
    }

    final void evicted() {
        inBuffer = false;
    }
}
