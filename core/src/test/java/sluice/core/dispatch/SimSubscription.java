package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.shape.ShapeRequest.Initial;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.TransactionSnapshot;

/// One subscription as its client knows it, over as many streams as it is resumed on: where it is, whom it was of,
/// and what it was told. What it holds and what it is owed is of the world it lives in.
abstract class SimSubscription {
    enum Phase {
        ASKED,
        /// Rows of the snapshot are on their way.
        READING,
        /// Commits are on their way that the stream had before.
        APART,
        LIVE,
        ENDED
    }

    final String label;
    final Initial initial;
    Phase phase = Phase.ASKED;
    /// The client gave it up, and looks at nothing more of it.
    boolean removed;

    @Nullable
    String history;

    /// Whom the client was told its history for, and how many histories were lost by then.
    record Told(Caller caller, int epoch) {}

    @Nullable
    Told told;

    final Set<Caller> callers = new LinkedHashSet<>();
    /// Whether it began with the rows there were.
    boolean whole;

    @Nullable
    TransactionSnapshot seen;

    /// Of commits at or past it everything is owed.
    Lsn owedFrom = Lsn.ZERO;

    private @Nullable Lsn last;
    int rightsAtStart;
    boolean moved;
    private long seq;
    long withheldTold;
    /// What was owed and did not come.
    long missing;
    /// What was withheld when a stream ended whose client may not have been told.
    long untold;

    SimSubscription(String label, Initial initial) {
        this.label = label;
        this.initial = initial;
    }

    /// As it is asked for.
    abstract SubscriptionRequest request(@Nullable ResumePosition resume);

    /// Nothing is held any more, and nothing was received.
    abstract void forget();

    /// A row came, as it is now.
    ///
    /// @param commit null for a row of a snapshot
    abstract void holds(@Nullable Lsn commit, JsonNode record);

    /// A row is not there any more, or not as it was.
    abstract void lost(Lsn lsn, JsonNode old);

    /// All rows are gone.
    abstract void emptied();

    /// The subscription was granted, and nothing it knew before is worth anything.
    ///
    /// @param live whether it begins with the next commit
    void granted(int rightsSerial, Lsn from, boolean live) {
        forget();
        callers.clear();
        seen = null;
        whole = false;
        moved = false;
        last = null;
        missing = 0;
        withheldTold = 0;
        untold = 0;
        owedFrom = from;
        seq = 0;
        rightsAtStart = rightsSerial;
        phase = live ? Phase.LIVE : Phase.READING;
    }

    /// Nothing was missed: what was owed before still is.
    void resumed() {
        seq = 0;
        phase = Phase.APART;
    }

    /// The history moved under it, or its caller's claims.
    void moved() {
        moved = true;
    }

    /// The commit of the last change that was received.
    @Nullable
    Lsn last() {
        return last;
    }

    /// Where the client may say it was.
    ///
    /// @param streamAt what the stream's live subscriptions were given last
    @Nullable
    Lsn position(Lsn streamAt) {
        return switch (phase) {
            case ASKED, READING, ENDED -> null;
            case APART -> last;
            case LIVE -> last == null || streamAt.isAfter(last) ? streamAt : last;
        };
    }

    void snapshotEnded(TransactionSnapshot snapshot) {
        seen = snapshot;
        whole = true;
        phase = Phase.APART;
        owedFrom = Lsn.ZERO;
    }

    void change(long number, JsonNode event) {
        if (number != seq + 1) {
            throw new AssertionError("COMMIT_ORDER: " + label + " has seq " + number + " after " + seq);
        }
        seq = number;
        JsonNode row = event.get("record");
        JsonNode old = event.get("old");
        if (event.has("snapshot")) {
            if (phase != Phase.READING) {
                throw new AssertionError("COMMIT_ORDER: a row of a snapshot after its end: " + event);
            }
            holds(null, row);
            return;
        }
        Lsn lsn = Lsn.parse(event.get("commit_lsn").asText());
        if (phase == Phase.READING) {
            throw new AssertionError("COMMIT_ORDER: a commit before the snapshot's end: " + event);
        }
        if (last != null && lsn.isBefore(last)) {
            throw new AssertionError("COMMIT_ORDER: " + label + " is given " + lsn + " after " + last);
        }
        last = lsn;
        if (event.get("op").asText().equals("TRUNCATE")) {
            emptied();
            return;
        }
        if (old != null) {
            lost(lsn, old);
        }
        if (row != null && !event.path("transition").asText().equals("leave")) {
            holds(lsn, row);
        }
    }
}
