package sluice.server.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import sluice.core.error.WarningCode;

/// One person of the check: what the stream said, and what PostgreSQL showed the same person.
///
/// Every row image on the stream must be one that a SELECT as this person has returned after some commit, and the
/// rows that the events add up to must be those that the SELECT returns. For one thread.
final class Witness implements AutoCloseable {
    private static final String FIRST_TABLE = "notes";

    /// Subscribed once the stream is open.
    private static final String SECOND_TABLE = "posts";

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Person person;
    private final EventStream stream;
    private final List<String> problems = new ArrayList<>();

    /// What the stream's events add up to since the phase began, by table and id.
    private final Map<String, JsonNode> built = new TreeMap<>();

    private final Map<String, Integer> operations = new TreeMap<>();

    /// Every row image that a SELECT returned, and the key of every row.
    private final Set<JsonNode> images = new HashSet<>();

    private final Set<String> keys = new HashSet<>();

    /// What the latest SELECT returned, by table and id.
    private Map<String, JsonNode> selected = Map.of();

    /// What the stream said of changes it withheld, since the phase began.
    private final List<String> withheld = new ArrayList<>();

    private Duration longestDelay = Duration.ZERO;
    private int changes;
    private int rereads;
    private String tiers = "";
    private String streamId = "";
    private final HttpClient client;
    private final DemoFacts facts;

    private Witness(Person person, EventStream stream, HttpClient client, DemoFacts facts) {
        this.person = person;
        this.stream = stream;
        this.client = client;
        this.facts = facts;
    }

    /// Opens the person's stream of one table, waits for its `ready`, and subscribes to the other.
    static Witness open(Person person, HttpClient client, DemoFacts facts) throws DemoException, InterruptedException {
        URI url = URI.create(facts.baseUrl() + DemoOptions.PREFIX + "/stream");
        EventStream stream = EventStream.open(client, url, facts.tokens().of(person), subscriptions());
        Witness witness = new Witness(person, stream, client, facts);
        witness.awaitReady();
        witness.subscribe();
        return witness;
    }

    private void subscribe() throws DemoException, InterruptedException {
        JsonNode result = requests().subscribe(SECOND_TABLE, StreamRequests.Initial.NONE);
        tiers += ", " + tier(result) + " from a request of its own";
    }

    /// The stream goes on under a token signed anew.
    void renew(String token) throws DemoException, InterruptedException {
        int revoked = requests().renew(token);
        if (revoked != 0) {
            problem("lost " + revoked + " subscriptions by a new token of the same person");
        }
    }

    private StreamRequests requests() {
        return new StreamRequests(
                client, facts.baseUrl(), streamId, facts.tokens().of(person));
    }

    private String tier(JsonNode result) throws DemoException {
        if (!result.path("ok").asBoolean()) {
            throw new DemoException(person.label() + "'s subscription was refused: " + result, "");
        }
        return result.path("sub").asText() + " in tier " + result.path("tier").asText("?");
    }

    private static String subscriptions() {
        ObjectNode request = JSON.createObjectNode();
        ArrayNode subscriptions = request.putArray("subscriptions");
        subscriptions.addObject().put("sub", FIRST_TABLE).putObject("shape").put("table", FIRST_TABLE);
        return request.toString();
    }

    private void awaitReady() throws DemoException, InterruptedException {
        EventStream.Event first = stream.next(Duration.ofSeconds(15));
        if (first == null || !first.name().equals("ready")) {
            String seen = first == null ? "nothing came" : first.name() + " " + first.data();
            throw new DemoException(person.label() + "'s stream was not opened: " + seen, "");
        }
        List<String> found = new ArrayList<>();
        for (JsonNode subscription : first.data().path("subscriptions")) {
            found.add(tier(subscription));
        }
        streamId = first.data().path("stream_id").asText();
        tiers = String.join(", ", found);
    }

    Person person() {
        return person;
    }

    /// As `ready` and the answer to `/subscribe` gave them.
    String tiers() {
        return tiers;
    }

    List<String> problems() {
        return problems;
    }

    Duration longestDelay() {
        return longestDelay;
    }

    /// All changes so far.
    int changes() {
        return changes;
    }

    /// Changes of the current phase by kind, such as `3 INSERT, 1 UPDATE`.
    String operations() {
        List<String> parts = new ArrayList<>();
        operations.forEach((operation, count) -> parts.add(count + " " + operation));
        return parts.isEmpty() ? "nothing" : String.join(", ", parts);
    }

    int rows() {
        return built.size();
    }

    /// How often, since the phase began, the stream said that other rules decide now.
    int rereads() {
        return rereads;
    }

    void beginPhase() {
        built.clear();
        operations.clear();
        withheld.clear();
        rereads = 0;
        selected = Map.of();
    }

    /// Takes what a SELECT as this person returned after a commit.
    ///
    /// @param rows objects of `table`, `row` and `now`: whether the row was made in this phase
    void saw(JsonNode rows) {
        Map<String, JsonNode> now = new HashMap<>();
        for (JsonNode entry : rows) {
            String key = key(entry.path("table").asText(), entry.path("row"));
            if (entry.path("now").asBoolean()) {
                now.put(key, entry.path("row"));
            }
            keys.add(key);
            images.add(entry.path("row"));
        }
        selected = now;
    }

    /// Reads the stream until it has given all that the latest SELECT returned.
    ///
    /// @return whether it did in time
    boolean catchUp(Duration patience) throws InterruptedException {
        return readUntil(() -> built.equals(selected), patience);
    }

    /// Reads whatever still comes, for this long.
    void drain(Duration time) throws InterruptedException {
        readUntil(() -> false, time);
    }

    private boolean readUntil(BooleanSupplier done, Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!done.getAsBoolean()) {
            long left = deadline - System.nanoTime();
            EventStream.Event event = left <= 0 ? null : stream.next(Duration.ofNanos(left));
            if (event == null) {
                return false;
            }
            take(event);
            if (event.name().equals(EventStream.Event.CLOSED)) {
                return false;
            }
        }
        return true;
    }

    private void take(EventStream.Event event) throws InterruptedException {
        switch (event.name()) {
            case "change" -> change(event);
            case "error" -> ended(event.data());
            case "snapshot_end", "live" -> {
                // what comes is judged by itself
            }
            case "warning" -> {
                if (event.data().path("code").asText().equals(WarningCode.CHANGES_WITHHELD.wireName())) {
                    withheld.add(event.data().path("message").asText());
                }
            }
            default -> problem("an event that was not expected: " + event.name() + " " + event.data());
        }
    }

    /// A subscription that ended because other rules decide now: what it gave is forgotten, and
    /// it is asked for again
    /// with the rows that may be read now.
    private void ended(JsonNode error) throws InterruptedException {
        String table = error.path("sub").asText();
        if (table.isEmpty() || !error.path("action").asText().equals("resnapshot")) {
            problem("an error that was not expected: " + error);
            return;
        }
        rereads++;
        built.keySet().removeIf(key -> key.startsWith(table + "/"));
        try {
            tier(requests().subscribe(table, StreamRequests.Initial.SNAPSHOT));
        } catch (DemoException e) {
            problem("could not subscribe again: " + e.getMessage());
        }
    }

    private void change(EventStream.Event event) {
        JsonNode change = event.data();
        String operation = change.path("op").asText();
        String table = change.path("table").asText();
        JsonNode row = change.has("record") ? change.path("record") : change.path("old");
        String key = key(table, row);
        boolean read = change.path("snapshot").asBoolean();
        changes++;
        operations.merge(read ? "READ AGAIN" : operation, 1, Integer::sum);
        if (!read) {
            measure(event);
        }
        if (operation.equals("DELETE")) {
            if (!keys.contains(key)) {
                problem("received the deletion of " + key + ", which no SELECT ever showed");
            }
            built.remove(key);
            return;
        }
        if (!images.contains(row)) {
            problem("received an image of " + key + " that no SELECT ever showed");
        }
        // a row read again may be older than the phase
        if (!read || selected.containsKey(key)) {
            built.put(key, row);
        }
    }

    private void measure(EventStream.Event event) {
        OffsetDateTime committed =
                OffsetDateTime.parse(event.data().path("commit_time").asText());
        Duration delay = Duration.between(committed.toInstant(), event.receivedAt());
        if (delay.compareTo(longestDelay) > 0) {
            longestDelay = delay;
        }
    }

    /// Says how the stream's rows and PostgreSQL's differ, as a problem for each row.
    void compare(String phase) {
        selected.forEach((key, row) -> {
            JsonNode streamed = built.get(key);
            if (streamed == null) {
                problem(phase + ": never received " + key + ", which SELECT shows; " + announced());
            } else if (!streamed.equals(row)) {
                problem(phase + ": received another image of " + key + " than SELECT shows");
            }
        });
        for (String key : built.keySet()) {
            if (!selected.containsKey(key)) {
                problem(phase + ": holds " + key + ", which SELECT does not show");
            }
        }
    }

    /// A row that is missing and was announced is late rights; one that was not is a gap nobody was told of.
    String announced() {
        return withheld.isEmpty()
                ? "no withheld change was announced"
                : "it was announced that " + String.join(", ", withheld);
    }

    private void problem(String text) {
        problems.add(person.label() + " " + text);
    }

    private static String key(String table, JsonNode row) {
        return table + "/" + row.path("id").asText();
    }

    @Override
    public void close() {
        stream.close();
    }
}
