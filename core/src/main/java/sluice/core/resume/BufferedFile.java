package sluice.core.resume;

import java.util.ArrayList;
import java.util.List;
import sluice.core.transaction.KeptCommit;

/// A spilled commit in the buffer, and how many still need it: its parts while they are kept, and whoever is in the
/// middle of it. Owned by the engine's thread.
public final class BufferedFile {
    private final KeptCommit kept;
    private final List<BufferedPart> parts = new ArrayList<>(1);
    private int users;

    BufferedFile(KeptCommit kept) {
        this.kept = kept;
    }

    public KeptCommit kept() {
        return kept;
    }

    /// Its parts that the buffer keeps.
    List<BufferedPart> parts() {
        return parts;
    }

    /// Somebody more needs it.
    public void retain() {
        users++;
    }

    /// @return whether nobody does any more
    boolean release() {
        users--;
        return users == 0;
    }
}
