package sluice.core.dispatch;

import org.jspecify.annotations.Nullable;
import sluice.core.wal.TransactionSnapshot;
import sluice.core.wal.Xid;

/// The dispatched commits that no SQL snapshot has shown yet.
///
/// The log brings a commit before PostgreSQL shows it, and PostgreSQL may show two commits in another order than the
/// log brings them (one waits for a synchronous standby, the next does not). So an SQL answer that shows a commit
/// may still be older than a commit before it. An answer counts only if its snapshot shows everything that had been
/// dispatched when it was asked for: {@link #window} notes what that is, {@link #shows} tells.
///
/// Snapshots of one server are ordered: what one has shown, every later one shows. Hence what any answer has shown
/// ({@link #shown}) need not be looked for in the answers to later questions.
///
/// Bounded: the newest commits are kept. When more than that are unseen, which commits were forgotten is known only
/// as a range of ids; until a snapshot shows the whole range no answer counts ({@link #isOverrun}). Owned by the
/// engine's thread.
final class UnseenCommits {
    /// The commits of about a second under the heaviest load; the rights poll shows what was
    /// committed once a second.
    static final int KEPT_MAX = 65_536;

    /// What an answer has to show.
    ///
    /// @param from the first commit, by its number in the order of dispatch
    /// @param to one past the last
    record Window(long from, long to) {}

    private final int[] xids;
    private long start;
    private long first;
    private long next;
    private boolean overrun;
    private int lowestForgotten;
    private int highestForgotten;

    /// The last snapshot that was found to show all commits before `checkedTo`: one catalog
    /// answers for many commits.
    private @Nullable TransactionSnapshot checked;

    private long checkedTo;

    UnseenCommits() {
        this(KEPT_MAX);
    }

    /// @param keptMax a power of two
    UnseenCommits(int keptMax) {
        xids = new int[keptMax];
    }

    private int xid(long number) {
        return xids[(int) (number & (xids.length - 1))];
    }

    /// A commit is being dispatched.
    void dispatched(Xid xid) {
        if (next - first == xids.length) {
            forgetFirst();
        }
        xids[(int) (next & (xids.length - 1))] = xid.bits();
        next++;
    }

    private void forgetFirst() {
        int forgotten = xid(first);
        first++;
        // ids wrap, so they are compared by their distance
        lowestForgotten = overrun && lowestForgotten - forgotten < 0 ? lowestForgotten : forgotten;
        highestForgotten = overrun && highestForgotten - forgotten > 0 ? highestForgotten : forgotten;
        overrun = true;
    }

    /// Another server answers from now on: it shows what it has of these commits, and lacks the others for good.
    void restart() {
        start = next;
        first = next;
        overrun = false;
        checked = null;
    }

    /// Whether the log brought this transaction, as one of the last commits: those kept, seen or not.
    boolean wasDispatched(Xid xid) {
        for (long number = Math.max(start, next - xids.length); number < next; number++) {
            if (xid(number) == xid.bits()) {
                return true;
            }
        }
        return false;
    }

    /// How many commits have been dispatched: names the moment after the latest of them.
    long count() {
        return next;
    }

    /// What the answer to a question asked now has to show, of the first `to` commits: those that no answer has
    /// shown.
    Window window(long to) {
        // while commits are forgotten nothing can be asked for
        return new Window(overrun ? first - xids.length - 1 : first, to);
    }

    /// The number of the oldest commit that a question asked now may not see in its answer.
    long oldest() {
        return overrun ? 0 : first;
    }

    /// Whether commits were forgotten that no snapshot has shown since: no answer counts.
    boolean isOverrun() {
        return overrun;
    }

    /// Whether the answer counts for everything that was dispatched when it was asked for.
    boolean shows(TransactionSnapshot snapshot, Window window) {
        if (overrun || next - window.from() > xids.length) {
            return false;
        }
        return showsAll(snapshot, window.from(), window.to());
    }

    /// Whether a snapshot, whenever it was asked for, shows the first `to` commits, as far as they are kept.
    boolean showsFirst(TransactionSnapshot snapshot, long to) {
        long from = Math.max(start, next - xids.length);
        if (snapshot.equals(checked)) {
            from = Math.max(from, Math.min(checkedTo, to));
        }
        if (overrun || !showsAll(snapshot, from, to)) {
            return false;
        }
        checked = snapshot;
        checkedTo = to;
        return true;
    }

    private boolean showsAll(TransactionSnapshot snapshot, long from, long to) {
        for (long number = from; number < to; number++) {
            if (!snapshot.sees(new Xid(xid(number)))) {
                return false;
            }
        }
        return true;
    }

    /// An answer came with this snapshot: what it shows, later ones show too.
    void shown(TransactionSnapshot snapshot) {
        if (overrun && showsForgotten(snapshot)) {
            overrun = false;
        }
        while (first < next && snapshot.sees(new Xid(xid(first)))) {
            first++;
        }
    }

    /// Whether no transaction of the forgotten range was in progress.
    private boolean showsForgotten(TransactionSnapshot snapshot) {
        int xmax = (int) snapshot.xmax();
        if (highestForgotten - xmax >= 0) {
            return false;
        }
        for (long running : snapshot.inProgress()) {
            int id = (int) running;
            if (id - lowestForgotten >= 0 && highestForgotten - id >= 0) {
                return false;
            }
        }
        return true;
    }
}
