package sluice.core.transaction;

import java.util.List;
import java.util.Objects;

/// Spilled commits that are kept, in pieces of one change.
public final class KeptCommits {
    private KeptCommits() {}

    /// @param images every image, where those are kept
    public static KeptCommit of(MemorySpillStore store, List<Change> images, List<Change> changes) {
        KeptCommit.Writer writer = new KeptCommit.Writer(Objects.requireNonNull(store.keep()), 1);
        if (!images.isEmpty()) {
            writer.addImages(images);
        }
        writer.add(changes);
        return Objects.requireNonNull(writer.finish());
    }
}
