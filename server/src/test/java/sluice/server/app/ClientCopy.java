package sluice.server.app;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// What a client knows of one subscription whose rows have an `id`, built from its events alone.
///
/// Exact, it takes no event that does not fit what it knows: a row that is there already does not come, one that is
/// not there neither changes nor goes. So nothing is missed and nothing comes twice, at any moment. Tolerant, it
/// replaces rows by their key, as clients do.
final class ClientCopy {
    enum Strictness {
        EXACT,
        TOLERANT
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String label;
    private final Strictness strictness;
    private final Map<Integer, JsonNode> rowsById = new TreeMap<>();
    private boolean readsSnapshot;
    private long snapshotRows;
    private Lsn position = Lsn.ZERO;
    private Lsn repeatedUntil = Lsn.ZERO;
    private String history = "";
    private @Nullable String lastId;
    private boolean toldOfWithheld;
    private boolean live;

    private ClientCopy(String label, Strictness strictness, boolean readsSnapshot) {
        this.label = label;
        this.strictness = strictness;
        this.readsSnapshot = readsSnapshot;
    }

    /// Of a subscription that asked for a snapshot.
    static ClientCopy fromSnapshot(String label, Strictness strictness) {
        return new ClientCopy(label, strictness, true);
    }

    /// Of a subscription that begins with what is committed after it.
    static ClientCopy fromNothing(String label, Strictness strictness) {
        return new ClientCopy(label, strictness, false);
    }

    Map<Integer, JsonNode> rows() {
        return rowsById;
    }

    /// Where it would resume: at the last commit it saw a change of, or where it went live.
    Lsn position() {
        return position;
    }

    /// As a subscription's own `resume`.
    String resume() {
        return "{\"lsn\":\"" + position + "\",\"history\":\"" + history + "\"}";
    }

    /// Whether it was told that rows may be missing or out of date.
    boolean wasToldOfWithheld() {
        return toldOfWithheld;
    }

    /// Takes all there is of a stream that ended.
    void untilEnd(SseClient client) {
        int taken = client.received().size();
        client.awaitEnd();
        client.received().stream().skip(taken).forEach(this::take);
    }

    /// Goes on with another stream, which sends the commit at the position again, and nothing before it.
    void goOn(SseClient client) {
        goOn(client.next());
    }

    /// @param ready of the other stream
    void goOn(SseEvent ready) {
        lastId = null;
        repeatedUntil = position;
        take(ready);
    }

    /// Whether there is a position to resume from.
    boolean isLive() {
        return live;
    }

    /// Takes events until the row is there in this version.
    void until(SseClient client, int id, long version) {
        JsonNode row = rowsById.get(id);
        while (row == null || row.get("version").asLong() != version) {
            take(client.next());
            row = rowsById.get(id);
        }
    }

    /// Takes events until the rows of the snapshot are there.
    void untilSnapshotEnd(SseClient client) {
        while (readsSnapshot) {
            take(client.next());
        }
    }

    /// Takes events until it has a position to resume from, whatever is written.
    void untilLive(SseClient client) {
        while (!live) {
            take(client.next());
        }
    }

    void take(SseEvent event) {
        switch (event.event()) {
            case "change" -> {
                if (event.json().get("sub").asText().equals(label)) {
                    change(event);
                }
            }
            case "snapshot_end" -> {
                check(readsSnapshot, "a second snapshot_end", event);
                check(event.json().get("rows").asLong() == snapshotRows, "another number of rows", event);
                readsSnapshot = false;
            }
            case "error" -> throw new AssertionError("ended: " + event.data());
            case "warning" -> {
                boolean withheld = event.data().contains("changes_withheld");
                check(strictness == Strictness.TOLERANT || !withheld, "changes were withheld", event);
                toldOfWithheld |= withheld;
            }
            case "live" -> {
                position = position.max(Lsn.parse(event.json().get("wal_lsn").asText()));
                live = true;
            }
            case "ready" -> ready(event.json());
            case "delay" -> {}
            default -> throw new AssertionError("unknown: " + event.data());
        }
    }

    private void ready(JsonNode ready) {
        for (JsonNode result : ready.get("subscriptions")) {
            if (result.get("sub").asText().equals(label)) {
                history = result.get("history").asText();
                if (!readsSnapshot && !result.has("resumed")) {
                    position = Lsn.parse(ready.get("wal_lsn").asText());
                }
            }
        }
    }

    private void change(SseEvent event) {
        JsonNode data = event.json();
        if (data.has("snapshot")) {
            check(readsSnapshot, "a row after snapshot_end", event);
            check(event.id() == null, "a row of a snapshot with an id", event);
            put(data.get("record"), event);
            snapshotRows++;
            return;
        }
        check(!readsSnapshot, "a change before snapshot_end", event);
        check(!String.valueOf(event.id()).equals(lastId), "an id twice in a row", event);
        lastId = event.id();
        Lsn commit = Lsn.parse(data.get("commit_lsn").asText());
        check(!commit.isBefore(position), "a commit before the last", event);
        position = commit;
        switch (data.get("op").asText()) {
            case "INSERT" -> put(data.get("record"), event);
            case "UPDATE" -> {
                JsonNode old = data.get("old");
                remove(old == null ? data.get("record") : old, event);
                put(data.get("record"), event);
            }
            case "DELETE" -> remove(data.get("old"), event);
            case "TRUNCATE" -> rowsById.clear();
            default -> throw new AssertionError("unknown: " + event.data());
        }
    }

    private void put(JsonNode row, SseEvent event) {
        JsonNode before = rowsById.put(row.get("id").asInt(), row);
        check(isTolerant() || before == null, "a row that was there", event);
    }

    private void remove(JsonNode row, SseEvent event) {
        JsonNode before = rowsById.remove(row.get("id").asInt());
        check(isTolerant() || before != null, "of a row that was not there", event);
    }

    private boolean isTolerant() {
        return strictness == Strictness.TOLERANT || position.equals(repeatedUntil);
    }

    private static void check(boolean holds, String problem, SseEvent event) {
        if (!holds) {
            throw new AssertionError(problem + ": " + event.id() + " " + event.data());
        }
    }

    /// The rows of a table, by id, as PostgreSQL shows them to the role.
    static Map<Integer, JsonNode> selected(
            PostgresDatabase database, String role, String subject, String table, String condition) {
        Map<Integer, JsonNode> rows = new TreeMap<>();
        database.asRole(role, "{\"sub\":\"" + subject + "\",\"role\":\"" + role + "\"}")
                .rows("SELECT to_jsonb(t)::text FROM " + table + " t WHERE " + condition)
                .forEach(row -> {
                    ObjectNode record = read(String.valueOf(row.getFirst()));
                    rows.put(record.get("id").asInt(), record);
                });
        return rows;
    }

    private static ObjectNode read(String json) {
        try {
            return (ObjectNode) JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }
}
