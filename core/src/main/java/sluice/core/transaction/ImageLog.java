package sluice.core.transaction;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// Every image of one transaction in the order of the log; what does not fit in memory is on disk.
///
/// Life: images are added, then each is taken once with {@link #next}; {@link #close} gives disk space back. One
/// thread.
final class ImageLog {
    /// A change with its place in the log.
    record Logged(long sequence, Change change) {
        static final Comparator<Logged> BY_SEQUENCE = Comparator.comparingLong(Logged::sequence);
    }

    private final SpillHeap<Logged> images;
    private long sequence;

    ImageLog(SpillStore store, long bytesMax) {
        images = new SpillHeap<>(Logged.BY_SEQUENCE, new SpillCodecs().logged, store, bytesMax);
    }

    void add(Change change) {
        images.add(new Logged(sequence++, change));
    }

    boolean hasSpilled() {
        return images.hasSpilled();
    }

    @Nullable
    Change next() {
        Logged next = images.poll();
        return next == null ? null : next.change();
    }

    void close() {
        images.reset();
    }
}
