package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.RecordedHistory.Commit;
import sluice.core.dispatch.RecordedHistory.Version;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.ShapeRequest.Initial;
import sluice.core.shape.ShapeRequest.Transitions;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.TransactionSnapshot;
import sluice.testkit.recorded.Recording;

/// A subscription to a table of a recorded database: what it holds, and what it should have been given by what
/// PostgreSQL showed its caller.
final class RecordedShape extends SimSubscription {
    /// @param filter the place of one of the table's, or -1
    /// @param columns null for all that there are
    record Wish(
            Recording.Table table,
            int filter,
            @Nullable List<String> columns,
            Transitions transitions,
            Initial initial,
            boolean truncates) {
        String name() {
            return table.name();
        }

        boolean reports() {
            return transitions == Transitions.REPORTED;
        }
    }

    final Wish wish;
    private final Supplier<RecordedHistory> server;
    private final Map<Integer, Held> held = new TreeMap<>();
    private final Set<String> got = new LinkedHashSet<>();
    private Lsn grantedAt = Lsn.ZERO;
    /// The commit that is replayed whole to who resumes at it.
    private @Nullable Lsn repeated;

    /// A row as it was given.
    ///
    /// @param moment when its columns were called so; -1 for a row of a snapshot that has not ended
    private record Held(JsonNode record, int moment) {}

    /// @param server that is the primary by now
    RecordedShape(String label, Wish wish, Supplier<RecordedHistory> server) {
        super(label, wish.initial());
        this.wish = wish;
        this.server = server;
    }

    private RecordedHistory recorded() {
        return server.get();
    }

    @Override
    SubscriptionRequest request(@Nullable ResumePosition resume) {
        return new SubscriptionRequest(
                label,
                new ShapeRequest(
                        "public",
                        wish.name(),
                        wish.filter() < 0 ? null : wish.table().filters().get(wish.filter()),
                        wish.columns(),
                        wish.truncates() ? List.of("*", "TRUNCATE") : null,
                        wish.transitions(),
                        wish.initial(),
                        resume,
                        List.of()),
                null);
    }

    @Override
    void forget() {
        held.clear();
        got.clear();
    }

    @Override
    void holds(@Nullable Lsn commit, JsonNode record) {
        int id = record.get("id").asInt();
        Commit at = commit == null ? null : recorded().at(commit);
        held.put(id, new Held(record, at == null ? -1 : at.moment()));
        if (commit != null && !got.add("row " + commit + " " + id) && !commit.equals(repeated)) {
            throw new AssertionError("COMMIT_ORDER: " + label + " is given " + record + " of " + commit + " twice");
        }
    }

    @Override
    void granted(int rightsSerial, Lsn from, boolean live) {
        super.granted(rightsSerial, from, live);
        grantedAt = from;
    }

    @Override
    void snapshotEnded(TransactionSnapshot snapshot) {
        super.snapshotEnded(snapshot);
        int moment = recorded().moment(snapshot);
        held.replaceAll((_, row) -> row.moment() < 0 ? new Held(row.record(), moment) : row);
    }

    @Override
    void resumed() {
        super.resumed();
        repeated = last();
    }

    @Override
    void lost(Lsn lsn, JsonNode old) {
        int id = old.get("id").asInt();
        held.remove(id);
        got.add("gone " + lsn + " " + id);
    }

    @Override
    void emptied() {
        held.clear();
    }

    // ---- what is owed

    /// Everything up to the moment has been given: what was owed must be there, or have been told of.
    void settle(int moment) {
        List<String> lacking = new ArrayList<>();
        for (int i = 1; i <= moment; i++) {
            if (isOwed(recorded().commit(i))) {
                List<String> ofCommit = new ArrayList<>();
                owed(i, moment, ofCommit);
                ofCommit.removeIf(got::contains);
                lacking.addAll(ofCommit);
                // a row that gets another key is one change, whose old key goes
                long rows =
                        ofCommit.stream().filter(each -> each.startsWith("row")).count();
                missing += Math.max(rows, ofCommit.size() - rows);
            }
        }
        if (missing > withheldTold + untold) {
            throw new AssertionError("NO_SILENT_GAP: " + label + " " + wish + " lacks " + lacking + " of " + missing
                    + ", was told of " + withheldTold + " and may not have been of " + untold);
        }
        converges(moment);
        got.clear();
        owedFrom = recorded().commit(moment).end();
        seen = null;
    }

    private boolean isOwed(Commit commit) {
        TransactionSnapshot snapshot = seen;
        return commit.isInLog()
                && !commit.lsn().isBefore(owedFrom)
                && (snapshot == null || !snapshot.sees(commit.xid()));
    }

    private void owed(int at, int now, List<String> owed) {
        Commit commit = recorded().commit(at);
        Map<Integer, Version> before = recorded().rows(at - 1, wish.name());
        Map<Integer, Version> after = recorded().rows(at, wish.name());
        boolean appears = false;
        for (Version version : after.values()) {
            Version was = before.get(version.row().id());
            appears |= was == null;
            if (version.differs(was) && isAlwaysShown(version, at, at, now)) {
                owed.add("row " + commit.lsn() + " " + version.row().id());
            }
        }
        if (commit.emptied().contains(wish.name()) || !recorded().logsOldRows(wish.name())) {
            return;
        }
        for (Version was : before.values()) {
            Version version = after.get(was.row().id());
            boolean gone = version == null && (wish.reports() || !appears);
            boolean left = version != null && version.differs(was) && wish.reports() && !isShown(version, at);
            if ((gone || left)
                    && callers.stream().allMatch(caller -> recorded().isDecidedInProcess(at - 1, wish.name(), caller))
                    && isAlwaysShown(was, at - 1, at, now)) {
                owed.add("gone " + commit.lsn() + " " + was.row().id());
            }
        }
    }

    /// To whoever the stream was of, by the rights that hold since. Where PostgreSQL is asked about rows, only one
    /// that nothing happened to since is owed.
    private boolean isAlwaysShown(Version version, int moment, int commit, int now) {
        int id = version.row().id();
        if (!version.isAdmitted(wish.filter())
                || recorded().rightsSerial(commit - 1, wish.name())
                        != recorded().rightsSerial(now, wish.name())) {
            return false;
        }
        for (Caller caller : callers) {
            boolean inProcess = recorded().isDecidedInProcess(moment, wish.name(), caller);
            for (int i = moment; i <= (inProcess ? moment : now); i++) {
                if (version.differs(recorded().rows(i, wish.name()).get(id))
                        || !recorded().sees(caller, i, wish.name(), id)) {
                    return false;
                }
            }
        }
        return true;
    }

    /// To any of them.
    private boolean isShown(Version version, int moment) {
        return version.isAdmitted(wish.filter())
                && callers.stream()
                        .anyMatch(caller -> recorded()
                                .sees(caller, moment, wish.name(), version.row().id()));
    }

    private void converges(int now) {
        if (!whole || moved || callers.size() != 1 || isFilterMoved(now)) {
            return;
        }
        Caller caller = callers.iterator().next();
        if (recorded().rightsSerial(now, wish.name()) != rightsAtStart
                || !recorded().isDecidedInProcess(now, wish.name(), caller)) {
            return;
        }
        boolean leavesTold = recorded().logsOldRows(wish.name()) && wish.reports();
        Map<Integer, Version> rows = recorded().rows(now, wish.name());
        Set<Integer> ids = new TreeSet<>(held.keySet());
        ids.addAll(rows.keySet());
        Map<Integer, String> wrong = new LinkedHashMap<>();
        for (int id : ids) {
            Version version = rows.get(id);
            Held has = held.get(id);
            boolean right;
            if (version != null && isShown(version, now)) {
                right = has != null && matches(version, has, now);
            } else {
                right = has == null || !leavesTold;
            }
            if (!right) {
                wrong.put(
                        id,
                        has + " for "
                                + (version == null
                                        ? "nothing"
                                        : Objects.toString(version.row().json())));
            }
        }
        if (wrong.size() > withheldTold + untold) {
            throw new AssertionError("CONVERGES: " + label + " " + wish + " of " + caller + " holds " + wrong);
        }
    }

    /// Whether values are still those of their columns. Of a column that was altered no row in the log tells.
    private boolean matches(Version version, Held has, int now) {
        for (Map.Entry<String, JsonNode> value : has.record().properties()) {
            String name = has.moment() < 0
                    ? value.getKey()
                    : recorded().renamed(wish.name(), value.getKey(), has.moment(), now);
            if (name != null && !value.getValue().equals(version.json().get(name))) {
                return false;
            }
        }
        return true;
    }

    /// Whether another column has the name of the filter's by now: a shape learns of it with the
    /// table's next change.
    private boolean isFilterMoved(int now) {
        int since = recorded().moment(grantedAt);
        for (String column : List.of("owner", "kind")) {
            for (int i = since; i <= now; i++) {
                if (wish.filter() >= 0 && !column.equals(recorded().renamed(wish.name(), column, i, now))) {
                    return true;
                }
            }
        }
        return false;
    }
}
