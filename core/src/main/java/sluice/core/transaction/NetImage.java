package sluice.core.transaction;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// What a commit did to one key, with its place in the order of delivery.
///
/// @param sequence of the last message that had part in it
/// @param before null when no row held the key before, or nothing was carried of it
/// @param after null when no row holds the key after
record NetImage(
        int epoch,
        Kind kind,
        long sequence,
        @Nullable Image before,
        @Nullable Image after) {
    /// Deletes are delivered before all others.
    enum Kind {
        DELETE,
        INSERT,
        UPDATE
    }

    static final Comparator<NetImage> BY_DELIVERY = (a, b) -> {
        int order = Boolean.compare(b.kind == Kind.DELETE, a.kind == Kind.DELETE);
        return order != 0 ? order : Long.compare(a.sequence, b.sequence);
    };

    Change toChange() {
        return switch (kind) {
            case INSERT ->
                new Change.Insert(known(after).relation(), known(after).tuple());
            case DELETE ->
                new Change.Delete(known(before).relation(), known(before).tuple());
            case UPDATE -> {
                Image row = known(after);
                Image old = before == null ? null : before.under(row.relation());
                yield new Change.Update(row.relation(), old == null ? null : old.tuple(), row.tuple());
            }
        };
    }

    private Image known(@Nullable Image image) {
        if (image == null) {
            throw new IllegalStateException("a " + kind + " without its image at sequence " + sequence);
        }
        return image;
    }
}
