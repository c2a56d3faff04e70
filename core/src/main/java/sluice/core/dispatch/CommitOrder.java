package sluice.core.dispatch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;
import sluice.core.wal.Xid;

/// When transactions committed of which the log brings nothing: those that moved rights.
///
/// The catalog says which transaction wrote a right last, not where that lies in the log, and the ids of
/// transactions say nothing of their order. Two things do: the log brought the transaction, or an SQL answer shows
/// it. An answer's `insertLsn` was read after its snapshot, so what the answer shows was committed before every
/// commit that lies past it.
///
/// Bounded: {@value #STAMPS_MAX} answers that the stream has not passed, and the last one it has. Further ones are
/// not kept; less can be proven then, and more is withheld. Owned by the engine's thread.
final class CommitOrder {
    /// A quarter of an hour of rights polls.
    private static final int STAMPS_MAX = 1_024;

    /// From where on rights are known.
    ///
    /// @param lsn commits at or past it were made under them
    /// @param writers where the log brings them, so were those from the last of them on; may be empty
    record RightsKnown(Lsn lsn, List<Xid> writers) {}

    private final UnseenCommits unseen;
    private final ArrayDeque<Stamp> answers = new ArrayDeque<>();
    private @Nullable Xid parked;

    CommitOrder(UnseenCommits unseen) {
        this.unseen = unseen;
    }

    UnseenCommits unseen() {
        return unseen;
    }

    /// This commit is the next to be dispatched; null when none is known.
    void next(@Nullable Xid xid) {
        parked = xid;
    }

    /// Another server answers from now on.
    void restart() {
        answers.clear();
        parked = null;
    }

    /// An answer came.
    ///
    /// @param position everything before it has been dispatched
    void shown(Stamp answer, Lsn position) {
        unseen.shown(answer.snapshot());
        Stamp newest = answers.peekLast();
        if (answers.size() <= STAMPS_MAX
                && (newest == null || answer.insertLsn().isAfter(newest.insertLsn()))) {
            answers.addLast(answer);
        }
        passed(position);
    }

    /// Of the answers the stream has passed the last one shows the most.
    private void passed(Lsn position) {
        Stamp first = answers.pollFirst();
        Stamp second = answers.peekFirst();
        while (first != null && second != null && !second.insertLsn().isAfter(position)) {
            first = answers.pollFirst();
            second = answers.peekFirst();
        }
        if (first != null) {
            answers.addFirst(first);
        }
    }

    /// From which position on commits were made under the rights of the later reading, as far as its versions tell.
    ///
    /// Of a right that is gone no version tells when it went: only commits past the reading are known to be later.
    ///
    /// @param later what `reading` says
    RightsKnown rightsKnownFrom(Relation earlier, Relation later, Stamp reading) {
        List<Xid> writers = new ArrayList<>();
        for (Map.Entry<String, Xid> right : later.rightVersions().entrySet()) {
            if (!right.getValue().equals(earlier.rightVersions().get(right.getKey()))) {
                writers.add(right.getValue());
            }
        }
        boolean gone = !later.rightVersions()
                .keySet()
                .containsAll(earlier.rightVersions().keySet());
        return gone ? new RightsKnown(reading.insertLsn(), List.of()) : behind(writers, reading);
    }

    /// From which position on commits were made after each of these columns was written last, as the later reading
    /// has them.
    Lsn columnsKnownFrom(List<Integer> attnums, Relation later, Stamp reading) {
        List<Xid> writers = new ArrayList<>();
        for (int attnum : attnums) {
            String version = later.feed().columnVersions().get(attnum);
            if (version == null) {
                return reading.insertLsn();
            }
            writers.add(new Xid(Integer.parseUnsignedInt(version)));
        }
        return behind(writers, reading).lsn();
    }

    /// Where all of these transactions lie behind: every commit at or past it was made after each
    /// of them, or is it.
    ///
    /// @param shownBy an answer that shows them all
    /// @return 0 when that is so of every commit still to be dispatched
    private RightsKnown behind(List<Xid> transactions, Stamp shownBy) {
        List<Xid> sought = new ArrayList<>();
        for (Xid xid : transactions) {
            if (!xid.equals(parked) && !unseen.wasDispatched(xid)) {
                sought.add(xid);
            }
        }
        if (sought.isEmpty()) {
            return new RightsKnown(Lsn.ZERO, List.of());
        }
        for (Stamp answer : answers) {
            if (showsAll(answer, sought)) {
                return new RightsKnown(answer.insertLsn().min(shownBy.insertLsn()), sought);
            }
        }
        return new RightsKnown(shownBy.insertLsn(), sought);
    }

    private static boolean showsAll(Stamp answer, List<Xid> transactions) {
        for (Xid xid : transactions) {
            if (!shows(answer.snapshot(), xid)) {
                return false;
            }
        }
        return true;
    }

    /// A snapshot does not list sub-transactions, so one in progress looks like one that is over. Its id is above
    /// that of the transaction it belongs to, which is listed.
    private static boolean shows(TransactionSnapshot snapshot, Xid xid) {
        if (!snapshot.sees(xid)) {
            return false;
        }
        for (long running : snapshot.inProgress()) {
            // ids wrap, so they are compared by their distance
            if ((int) running - xid.bits() < 0) {
                return false;
            }
        }
        return true;
    }
}
