package sluice.core.dispatch;

import org.jspecify.annotations.Nullable;
import sluice.core.event.Delivery;

/// What becomes of a change that PostgreSQL is asked about, by its answer.
///
/// @param shown the form in which a yes is sent; null when the subscription did not ask for that
/// @param hidden what a no means
record ProbedForm(@Nullable Delivery shown, Hidden hidden) {
    /// A no about the new row is also an answer about a row that was there before.
    enum Hidden {
        /// The row is none of the subscription's, and was none.
        NOTHING,
        /// The old row was shown, and leaves.
        LEAVES,
        /// Nobody can say whether the old row was shown: if it was, it leaves.
        MAY_HAVE_LEFT
    }

    /// A no is no news.
    static ProbedForm of(Delivery shown) {
        return new ProbedForm(shown, Hidden.NOTHING);
    }
}
