package sluice.core.transaction;

import java.util.List;
import java.util.Objects;

/// Spilled commits that are kept, in pieces of one change.
public final class KeptCommits {
    private KeptCommits() {}

    public static KeptCommit of(MemorySpillStore store, List<Change> changes) {
        KeptCommit.Writer writer = new KeptCommit.Writer(Objects.requireNonNull(store.keep()), 1);
        writer.add(changes);
        return Objects.requireNonNull(writer.finish());
    }
}
