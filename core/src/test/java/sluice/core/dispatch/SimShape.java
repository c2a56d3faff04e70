package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.SimDatabase.Commit;
import sluice.core.dispatch.SimDatabase.Rights;
import sluice.core.dispatch.SimDatabase.Row;
import sluice.core.dispatch.SimDatabase.State;
import sluice.core.dispatch.SimDatabase.Table;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.ShapeRequest.Initial;
import sluice.core.shape.ShapeRequest.Transitions;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.TransactionSnapshot;

/// A subscription to a table of the simulated database: what it holds, and what it should have been given.
final class SimShape extends SimSubscription {
    enum Filter {
        NONE(null),
        OWNER_ALICE("owner=eq.alice"),
        KIND_X("kind=eq.x"),
        LOW("id=lt.3");

        final @Nullable String text;

        Filter(@Nullable String text) {
            this.text = text;
        }

        boolean admits(Row row) {
            return switch (this) {
                case NONE -> true;
                case OWNER_ALICE -> "alice".equals(row.owner());
                case KIND_X -> "x".equals(row.kind());
                case LOW -> row.id() < 3;
            };
        }
    }

    record Wish(Table table, Filter filter, Transitions transitions, Initial initial, boolean truncates) {}

    final Wish wish;
    private final Map<Integer, Row> held = new TreeMap<>();
    private final Set<String> got = new LinkedHashSet<>();

    SimShape(String label, Wish wish) {
        super(label, wish.initial());
        this.wish = wish;
    }

    static SimShape any(Random random, String label) {
        return new SimShape(
                label,
                new Wish(
                        pick(random, Table.values()),
                        pick(random, Filter.values()),
                        random.nextBoolean() ? Transitions.REPORTED : Transitions.NOT_REPORTED,
                        random.nextBoolean() ? Initial.SNAPSHOT : Initial.NONE,
                        random.nextBoolean()));
    }

    private static <T> T pick(Random random, T[] values) {
        return values[random.nextInt(values.length)];
    }

    @Override
    SubscriptionRequest request(@Nullable ResumePosition resume) {
        return new SubscriptionRequest(
                label,
                new ShapeRequest(
                        "public",
                        wish.table().relation(),
                        wish.filter().text,
                        null,
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
        Row row = java.util.Objects.requireNonNull(row(record));
        held.put(row.id(), row);
        got.add("row " + row.version());
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

    static @Nullable Row row(@Nullable JsonNode image) {
        return image == null
                ? null
                : new Row(
                        image.get("id").asInt(),
                        text(image, "owner"),
                        text(image, "kind"),
                        image.path("version").asInt());
    }

    private static @Nullable String text(JsonNode image, String column) {
        JsonNode value = image.get(column);
        return value == null || value.isNull() ? null : value.asText();
    }

    // ---- what is owed

    /// Everything has been given: what was owed must be there, or have been told of.
    void settle(List<Commit> commits) {
        List<String> lacking = new ArrayList<>();
        for (int i = 0; i < commits.size(); i++) {
            if (isOwed(commits.get(i))) {
                List<String> ofCommit = new ArrayList<>();
                owed(commits, i, ofCommit);
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
        converges(commits.isEmpty() ? null : commits.getLast().after);
        got.clear();
        if (!commits.isEmpty()) {
            owedFrom = commits.getLast().end();
            seen = null;
        }
    }

    private boolean isOwed(Commit commit) {
        TransactionSnapshot snapshot = seen;
        return !commit.lsn.isBefore(owedFrom) && (snapshot == null || !snapshot.sees(commit.xid));
    }

    private void owed(List<Commit> commits, int index, List<String> owed) {
        Commit commit = commits.get(index);
        Map<Integer, Row> before = commit.before.of(wish.table());
        Map<Integer, Row> after = commit.after.of(wish.table());
        boolean appears = false;
        for (Row row : after.values()) {
            Row was = before.get(row.id());
            appears |= was == null;
            if ((was == null || was.version() != row.version()) && isAlwaysShown(row, commits, index)) {
                owed.add("row " + row.version());
            }
        }
        if (commit.truncated.contains(wish.table())) {
            return;
        }
        boolean reported = wish.transitions() == Transitions.REPORTED;
        for (Row was : before.values()) {
            Row row = after.get(was.id());
            boolean gone = row == null && (reported || !appears);
            boolean left =
                    row != null && row.version() != was.version() && reported && !isEverShown(row, commits, index);
            if ((gone || left) && isOldDecided(commits, index, left) && isAlwaysShown(was, commits, index)) {
                owed.add("gone " + commit.lsn + " " + was.id());
            }
        }
    }

    /// Whether the log says enough of old rows.
    private boolean isOldDecided(List<Commit> commits, int index, boolean left) {
        for (Rights rights : rights(commits, index)) {
            boolean decided = wish.table().logsOldRows()
                    ? rights.policy() != SimPolicy.MEMBER
                    : rights.policy() == SimPolicy.EVERYTHING
                            && !left
                            && (wish.filter() == Filter.NONE || wish.filter() == Filter.LOW);
            if (!decided && !bypasses()) {
                return false;
            }
        }
        return wish.table().logsOldRows() || (!left && (wish.filter() == Filter.NONE || wish.filter() == Filter.LOW));
    }

    private boolean bypasses() {
        return callers.stream().allMatch(Caller::bypasses);
    }

    private List<Rights> rights(List<Commit> commits, int from) {
        List<Rights> all = new ArrayList<>();
        all.add(commits.get(from).before.rightsOf(wish.table()));
        for (int i = from; i < commits.size(); i++) {
            Rights rights = commits.get(i).after.rightsOf(wish.table());
            if (all.getLast().serial() != rights.serial()) {
                all.add(rights);
            }
        }
        return all;
    }

    /// Under all rights from the commit on, to whoever the stream was of.
    private boolean isAlwaysShown(Row row, List<Commit> commits, int index) {
        if (!wish.filter().admits(row)) {
            return false;
        }
        for (Rights rights : rights(commits, index)) {
            for (Caller caller : callers) {
                if (rights.policy() == SimPolicy.MEMBER && !caller.bypasses()) {
                    if (!isSteadyMember(caller, row, commits, index)) {
                        return false;
                    }
                } else if (!rights.policy()
                        .shows(caller, row, commits.get(index).after.members())) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean isEverShown(Row row, List<Commit> commits, int index) {
        if (!wish.filter().admits(row)) {
            return false;
        }
        for (Rights rights : rights(commits, index)) {
            for (Caller caller : callers) {
                if (rights.policy() == SimPolicy.MEMBER
                        || rights.policy()
                                .shows(caller, row, commits.get(index).after.members())) {
                    return true;
                }
            }
        }
        return false;
    }

    /// PostgreSQL is asked about the row as it is by then, so only a row that nothing happened to is owed.
    private boolean isSteadyMember(Caller caller, Row row, List<Commit> commits, int index) {
        Row now = commits.getLast().after.of(wish.table()).get(row.id());
        if (now == null || now.version() != row.version()) {
            return false;
        }
        if (!SimPolicy.MEMBER.shows(caller, row, commits.get(index).before.members())) {
            return false;
        }
        for (int i = index; i < commits.size(); i++) {
            if (!SimPolicy.MEMBER.shows(caller, row, commits.get(i).after.members())) {
                return false;
            }
        }
        return true;
    }

    private void converges(@Nullable State state) {
        if (state == null || !whole || moved || callers.size() != 1) {
            return;
        }
        Rights rights = state.rightsOf(wish.table());
        Caller caller = callers.iterator().next();
        if (rights.serial() != rightsAtStart || (rights.policy() == SimPolicy.MEMBER && !caller.bypasses())) {
            return;
        }
        boolean leavesTold = wish.table().logsOldRows()
                ? wish.transitions() == Transitions.REPORTED
                : wish.filter() == Filter.NONE && (rights.policy() == SimPolicy.EVERYTHING || caller.bypasses());
        List<String> wrong = new ArrayList<>();
        Map<Integer, Row> rows = state.of(wish.table());
        for (int id = 0; id < SimDatabase.KEYS; id++) {
            Row row = rows.get(id);
            boolean shown =
                    row != null && wish.filter().admits(row) && rights.policy().shows(caller, row, state.members());
            Row has = held.get(id);
            boolean right = shown
                    ? has != null
                            && has.version()
                                    == java.util.Objects.requireNonNull(row).version()
                    : has == null || !leavesTold;
            if (!right) {
                wrong.add(id + ": " + has + " for " + row);
            }
        }
        if (wrong.size() > withheldTold + untold) {
            throw new AssertionError("CONVERGES: " + label + " " + wish + " holds " + wrong);
        }
    }
}
