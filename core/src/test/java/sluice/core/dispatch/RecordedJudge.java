package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.dispatch.RecordedHistory.Commit;
import sluice.core.dispatch.RecordedHistory.Version;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.wal.Lsn;
import sluice.core.wal.ResumePosition;
import sluice.core.wal.TransactionSnapshot;
import sluice.testkit.recorded.Recording;

/// NEVER_LEAK by PostgreSQL's own word: a row of a commit has to be one that the commit left (or found, for old
/// values), in columns and rows that PostgreSQL let the caller select after it (before it), and by the rights that
/// the log has announced since.
final class RecordedJudge implements SimSink.Judge<RecordedShape> {
    private final IntSupplier written;
    private final Map<String, Integer> announced = new LinkedHashMap<>();
    private RecordedHistory history;
    private int epoch;

    /// @param written the moment up to which there is a log
    RecordedJudge(RecordedHistory history, IntSupplier written) {
        this.history = history;
        this.written = written;
        for (Recording.Table table : history.tables()) {
            announced.put(table.name(), 0);
        }
    }

    /// A commit that changed the table is being dispatched.
    void dispatched(String table, Commit commit) {
        announced.put(table, commit.moment());
    }

    /// Another server goes on, behind the moment. What was announced by commits that are gone was never announced.
    void failedOver(RecordedHistory next, int after) {
        if (announced.values().stream().anyMatch(moment -> moment > after)) {
            historyLost();
        }
        for (Map.Entry<String, Integer> table : announced.entrySet()) {
            int moment = Math.min(table.getValue(), after);
            while (moment > 0 && !next.commit(moment).changed().contains(table.getKey())) {
                moment--;
            }
            table.setValue(moment);
        }
        history = next;
    }

    /// Commits that were dispatched are not part of the history that goes on.
    private void historyLost() {
        epoch++;
    }

    int epoch() {
        return epoch;
    }

    /// The moment of the last commit that changed the table, and so told of its rights.
    int announced(String table) {
        return Objects.requireNonNull(announced.get(table));
    }

    @Override
    public void resumed(SimStream<RecordedShape> stream, String label) {
        RecordedShape shape = Objects.requireNonNull(stream.shapes.get(label));
        ResumePosition position = Objects.requireNonNull(stream.resuming.get(label));
        String table = shape.wish.name();
        if (Objects.requireNonNull(shape.told).epoch() != epoch) {
            throw new AssertionError("RESUME: " + label + " resumes at " + position + " of a history that was lost");
        }
        int now = history.rightsSerial(announced(table), table);
        for (int i = 1; i <= announced(table); i++) {
            Commit commit = history.commit(i);
            if (commit.isInLog()
                    && !commit.lsn().isBefore(Objects.requireNonNull(position.lsn()))
                    && history.rightsSerial(i - 1, table) != now) {
                throw new AssertionError("RESUME: " + label + " resumes at " + position + " from before rights " + now);
            }
        }
    }

    @Override
    public void given(SimStream<RecordedShape> stream, RecordedShape shape, JsonNode event, Lsn position) {
        if (!event.get("table").asText().equals(shape.wish.name())) {
            throw new AssertionError("NEVER_LEAK: " + shape.label + " is of another table than " + event);
        }
        if (event.get("op").asText().equals("TRUNCATE")) {
            return;
        }
        if (event.has("snapshot")) {
            ofSnapshot(stream.caller, shape, event);
            return;
        }
        Commit commit = history.at(Lsn.parse(event.get("commit_lsn").asText()));
        if (commit == null || commit.moment() > written.getAsInt()) {
            throw new AssertionError("NEVER_LEAK: no such commit: " + event);
        }
        TransactionSnapshot seen = stream.snapshots.get(shape.label);
        if (seen != null && seen.sees(commit.xid())) {
            throw new AssertionError("COMMIT_ORDER: the snapshot had the commit already: " + event);
        }
        boolean leaves = event.path("transition").asText().equals("leave");
        int moment = commit.moment();
        check(stream.caller, shape, event, new Image(event.get("record"), moment, moment, !leaves));
        check(stream.caller, shape, event, new Image(event.get("old"), moment - 1, moment, true));
    }

    /// @param moment when the row was so
    /// @param commit the moment of the commit it is told with
    private record Image(@Nullable JsonNode values, int moment, int commit, boolean filtered) {}

    private static final int NEVER = -1;

    private void check(Caller caller, RecordedShape shape, JsonNode event, Image image) {
        JsonNode values = image.values();
        if (values == null) {
            return;
        }
        String table = shape.wish.name();
        int id = values.get("id").asInt();
        Version version = history.rows(image.moment(), table).get(id);
        int named = version == null ? NEVER : named(table, version, values, image);
        if (version == null || named == NEVER) {
            throw new AssertionError("NEVER_LEAK: " + event + " shows no row of moment " + image.moment());
        }
        if (image.filtered() && !version.isAdmitted(shape.wish.filter())) {
            throw new AssertionError("NEVER_LEAK: " + shape.wish + " does not admit " + event);
        }
        boolean shown = history.isDecidedInProcess(image.moment(), table, caller)
                ? history.sees(caller, image.moment(), table, id)
                : isEverShown(caller, table, version, image.moment());
        if (!shown) {
            throw new AssertionError("NEVER_LEAK: PostgreSQL does not show " + caller + " " + event);
        }
        int since = Math.max(image.commit(), announced(table));
        for (int moment : new int[] {image.commit(), since}) {
            if (!covers(caller, table, named, moment, values)) {
                throw new AssertionError(
                        "NEVER_LEAK: " + caller + " may not read all columns of " + event + " at moment " + moment);
            }
        }
        if (isThroughout(table, version, image.moment(), since)
                && history.isDecidedInProcess(since, table, caller)
                && !history.sees(caller, since, table, id)) {
            throw new AssertionError("NEVER_LEAK: by now PostgreSQL does not show " + caller + " " + event);
        }
    }

    /// When columns were called so that each value of the image is its column's: after the commit, or, of a row
    /// that the commit wrote and then altered the table, before it.
    private int named(String table, Version version, JsonNode values, Image image) {
        for (int named = image.commit(); named >= Math.max(0, image.commit() - 1); named--) {
            if (isSame(table, version, values, named, image.moment())) {
                return named;
            }
        }
        return NEVER;
    }

    private boolean isSame(String table, Version version, JsonNode values, int named, int moment) {
        for (Map.Entry<String, JsonNode> value : values.properties()) {
            Column column = history.relation(named, table).column(value.getKey());
            String then = history.renamed(table, value.getKey(), named, moment);
            boolean isAdded = column != null && then == null && named > moment;
            if (!isAdded
                    && (then == null || !value.getValue().equals(version.json().get(then)))) {
                return false;
            }
        }
        return true;
    }

    /// Whether the caller may read these columns at a moment, whatever they are called by then.
    ///
    /// @param named when they were called as the values are
    private boolean covers(Caller caller, String table, int named, int moment, JsonNode values) {
        for (Map.Entry<String, JsonNode> value : values.properties()) {
            String name = history.renamed(table, value.getKey(), named, moment);
            if (name == null || !history.view(moment, table, caller).columns().contains(name)) {
                return false;
            }
        }
        return true;
    }

    private boolean isThroughout(String table, Version version, int from, int until) {
        for (int i = from; i <= until; i++) {
            if (version.differs(history.rows(i, table).get(version.row().id()))) {
                return false;
            }
        }
        return true;
    }

    /// PostgreSQL was asked some time after the commit, when the row was still this one.
    private boolean isEverShown(Caller caller, String table, Version version, int from) {
        int id = version.row().id();
        for (int i = from; i <= written.getAsInt() && isThroughout(table, version, i, i); i++) {
            if (history.sees(caller, i, table, id)) {
                return true;
            }
        }
        return false;
    }

    private void ofSnapshot(Caller caller, RecordedShape shape, JsonNode event) {
        String table = shape.wish.name();
        JsonNode values = event.get("record");
        int id = values.get("id").asInt();
        for (int i = written.getAsInt(); i >= 0; i--) {
            Version version = history.rows(i, table).get(id);
            if (version != null
                    && isSame(table, version, values, i, i)
                    && version.isAdmitted(shape.wish.filter())
                    && history.sees(caller, i, table, id)
                    && covers(caller, table, i, i, values)) {
                return;
            }
        }
        throw new AssertionError("NEVER_LEAK: PostgreSQL never showed " + caller + " " + event);
    }
}
