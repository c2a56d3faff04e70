package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.SimDatabase.Commit;
import sluice.core.dispatch.SimDatabase.Rights;
import sluice.core.dispatch.SimDatabase.Row;
import sluice.core.dispatch.SimDatabase.State;
import sluice.core.dispatch.SimDatabase.Table;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.TransactionSnapshot;

/// NEVER_LEAK, told of each row at the moment the engine gives it away.
///
/// A row of a commit has to be the one the commit left (or found, for old values), visible to the stream's caller
/// under the rights of that commit and under those the log has announced by now. A row of a snapshot has to be
/// visible under the rights announced by now, or under those at the engine's position: what no Relation message
/// told of acts within one rights poll.
final class SimJudge implements SimSink.Judge<SimShape> {
    private static final List<String> COLUMNS = List.of("id", "owner", "kind", "version");

    private final SimDatabase database;
    private final Map<Table, Rights> initial = new EnumMap<>(Table.class);
    private int epoch;
    private final Map<Table, Rights> announced = new EnumMap<>(Table.class);

    SimJudge(SimDatabase database) {
        this.database = database;
        for (Table table : Table.values()) {
            initial.put(table, database.latest().rightsOf(table));
        }
        announced.putAll(initial);
    }

    /// A commit that changed the table is being dispatched.
    void dispatched(Table table, Commit commit) {
        announced.put(table, commit.after.rightsOf(table));
    }

    /// What was announced by commits that are gone was never announced.
    void failedOver() {
        announced.putAll(initial);
        for (Commit commit : database.commits) {
            for (Table table : Table.values()) {
                if (commit.dispatched && commit.touches(table)) {
                    dispatched(table, commit);
                }
            }
        }
    }

    /// Commits that were dispatched are not part of the history that goes on.
    void historyLost() {
        epoch++;
    }

    int epoch() {
        return epoch;
    }

    /// `resumed: true` says that nothing was missed: then the rights are the same as at the
    /// position, the caller sees the same by them, and the position is of this history.
    @Override
    public void resumed(SimStream<SimShape> stream, String label) {
        SimShape shape = java.util.Objects.requireNonNull(stream.shapes.get(label));
        ResumePosition position = java.util.Objects.requireNonNull(stream.resuming.get(label));
        SimSubscription.Told told = java.util.Objects.requireNonNull(shape.told);
        Rights now = announced(shape.wish.table());
        if (told.epoch() != epoch) {
            throw new AssertionError("RESUME: " + label + " resumes at " + position + " of a history that was lost");
        }
        boolean another = now.policy() == SimPolicy.KIND_OF_CLAIM
                ? !told.caller().org().equals(stream.caller.org())
                : !told.caller().subject().equals(stream.caller.subject());
        if (position.history() != null
                && another
                && now.policy() != SimPolicy.EVERYTHING
                && !stream.caller.bypasses()
                && now.policy() != SimPolicy.MEMBER) {
            throw new AssertionError("RESUME: " + label + " resumes for " + stream.caller + " after " + told.caller());
        }
        for (Commit commit : database.commits) {
            Rights rights = commit.before.rightsOf(shape.wish.table());
            boolean same = rights.policy() == now.policy() && rights.granted().equals(now.granted());
            if (!commit.lsn.isBefore(java.util.Objects.requireNonNull(position.lsn()))
                    && rights.serial() < now.serial()
                    && !same) {
                throw new AssertionError("RESUME: " + label + " resumes at " + position + " from before " + now);
            }
        }
    }

    /// The rights of the table as the last commit that changed it was made under.
    Rights announced(Table table) {
        return java.util.Objects.requireNonNull(announced.get(table));
    }

    @Override
    public void given(SimStream<SimShape> stream, SimShape shape, JsonNode event, Lsn position) {
        Table table = Table.of(event.get("table").asText());
        if (table != shape.wish.table()) {
            throw new AssertionError("NEVER_LEAK: " + shape.label + " is of another table than " + event);
        }
        if (event.has("snapshot")) {
            ofSnapshot(stream.caller, shape, event, position);
            return;
        }
        if (event.get("op").asText().equals("TRUNCATE")) {
            return;
        }
        Commit commit = database.at(Lsn.parse(event.get("commit_lsn").asText()));
        if (commit == null) {
            throw new AssertionError("NEVER_LEAK: no such commit: " + event);
        }
        TransactionSnapshot seen = stream.snapshots.get(shape.label);
        if (seen != null && seen.sees(commit.xid)) {
            throw new AssertionError("COMMIT_ORDER: the snapshot had the commit already: " + event);
        }
        JsonNode row = event.get("record");
        if (row != null) {
            boolean filtered = !event.path("transition").asText().equals("leave");
            shown(stream.caller, shape, event, commit, commit.after, row, filtered);
        }
        JsonNode old = event.get("old");
        if (old != null) {
            shown(stream.caller, shape, event, commit, commit.before, old, true);
        }
    }

    private void shown(
            Caller caller,
            SimShape shape,
            JsonNode event,
            Commit commit,
            State state,
            JsonNode image,
            boolean filtered) {
        Table table = shape.wish.table();
        Row row = state.of(table).get(image.get("id").asInt());
        if (row == null || !matches(image, row)) {
            throw new AssertionError("NEVER_LEAK: " + event + " shows no state of " + commit.lsn + ": " + row);
        }
        if (filtered && !shape.wish.filter().admits(row)) {
            throw new AssertionError("NEVER_LEAK: " + shape.wish + " does not admit " + event);
        }
        for (Rights rights : List.of(commit.after.rightsOf(table), announced(table))) {
            if (!covers(rights, image) || !shows(caller, rights, row, table, commit)) {
                throw new AssertionError("NEVER_LEAK: " + caller + " does not see " + event + " of xid " + commit.xid
                        + " under " + rights);
            }
        }
    }

    private static boolean matches(JsonNode image, Row row) {
        Row sent = java.util.Objects.requireNonNull(SimShape.row(image));
        return (!image.has("version") || sent.version() == row.version())
                && (!image.has("owner") || java.util.Objects.equals(sent.owner(), row.owner()))
                && (!image.has("kind") || java.util.Objects.equals(sent.kind(), row.kind()));
    }

    private static boolean covers(Rights rights, JsonNode image) {
        for (Iterator<String> names = image.fieldNames(); names.hasNext(); ) {
            if (!rights.granted().contains(COLUMNS.indexOf(names.next()) + 1)) {
                return false;
            }
        }
        return true;
    }

    private boolean shows(Caller caller, Rights rights, Row row, Table table, @Nullable Commit commit) {
        if (rights.policy() != SimPolicy.MEMBER || caller.bypasses() || commit == null) {
            return rights.policy().shows(caller, row, database.latest().members());
        }
        // PostgreSQL was asked some time after the commit, when the row was still this one
        for (int i = database.commits.indexOf(commit); i < database.commits.size(); i++) {
            State state = database.commits.get(i).after;
            Row then = state.of(table).get(row.id());
            if (then == null || then.version() != row.version()) {
                return false;
            }
            if (rights.policy().shows(caller, row, state.members())) {
                return true;
            }
        }
        return false;
    }

    private void ofSnapshot(Caller caller, SimShape shape, JsonNode event, Lsn position) {
        Table table = shape.wish.table();
        JsonNode image = event.get("record");
        Row row = database.version(image.get("version").asInt());
        if (!matches(image, row)) {
            throw new AssertionError("NEVER_LEAK: " + event + " was never a row: " + row);
        }
        Rights reached = announced(table);
        for (Commit commit : database.commits) {
            if (!commit.lsn.isAfter(position)) {
                reached = commit.after.rightsOf(table);
            }
        }
        // what a commit that nobody sees yet took away PostgreSQL shows still, and no row of the table announced it
        Rights bySql = database.shown().rightsOf(table);
        for (Rights rights :
                List.of(announced(table), reached, database.latest().rightsOf(table), bySql)) {
            boolean member = rights.policy() == SimPolicy.MEMBER && !caller.bypasses();
            if (covers(rights, image) && (member || rights.policy().shows(caller, row, java.util.Set.of()))) {
                return;
            }
        }
        throw new AssertionError(
                "NEVER_LEAK: " + caller + " does not see " + event + " under " + announced(table) + " nor " + reached);
    }
}
