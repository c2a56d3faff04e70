package sluice.server.demo;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import sluice.server.postgres.console.Actor;
import sluice.server.postgres.console.Console;
import sluice.server.postgres.console.StatementException;

/// A room that alice and bob have joined and carol has not.
///
/// The database speaks when a transaction commits, after the rows of the same commit and before those of the next,
/// and never when it rolls back; alice speaks and bob hears it once. Carol hears none of it and may not speak.
final class BroadcastScene {
    private static final Actor OWNER = new Actor.Owner();
    private static final String ROOM = "room:check";
    private static final String NOTES = "{\"sub\":\"notes\",\"shape\":{\"table\":\"notes\"}}";
    private static final String JOIN = ",{\"sub\":\"room\",\"channel\":\"" + ROOM + "\"}";

    private final Console console;
    private final HttpClient client;
    private final DemoFacts facts;
    private final List<String> problems = new ArrayList<>();

    private BroadcastScene(DemoFacts facts, Console console, HttpClient client) {
        this.facts = facts;
        this.console = console;
        this.client = client;
    }

    /// @return what was not as it should be
    static List<String> play(DemoFacts facts, Console console, HttpClient client, PrintStream out)
            throws DemoException, StatementException, InterruptedException {
        BroadcastScene scene = new BroadcastScene(facts, console, client);
        scene.play(out);
        return scene.problems;
    }

    private void play(PrintStream out) throws DemoException, StatementException, InterruptedException {
        try (Listener alice = open(Person.ALICE, JOIN);
                Listener bob = open(Person.BOB, JOIN);
                Listener carol = open(Person.CAROL, "")) {
            StreamRequests hers = requests(Person.ALICE, alice.expect("ready"));
            bob.expect("ready");
            StreamRequests outside = requests(Person.CAROL, carol.expect("ready"));

            databaseSpeaks();
            bob.expect("change", "\"order 1\"");
            bob.expect("broadcast", "\"paid\"", "\"database\"");
            bob.expect("change", "\"order 2\"");
            alice.expect("broadcast", "\"paid\"", "\"database\"");

            int heardBy = hers.publish(ROOM, "hello").path("delivered").asInt(-1);
            if (heardBy != 1) {
                problems.add("a room: heard by " + heardBy + " streams, and bob's alone was expected");
            }
            bob.expect("broadcast", "\"hello\"", Person.ALICE.id());
            String refusal = outside.publish(ROOM, "let me in").path("error").asText();
            if (!refusal.equals("channel_not_subscribed")) {
                problems.add("a room: carol spoke in it without having joined: \"" + refusal + "\"");
            }
            // what comes next on each stream is the note, so nothing else had come before it
            console.run(OWNER, note(Person.ALICE, "after") + ";" + note(Person.CAROL, "after"));
            alice.expect("change", "\"after\"");
            carol.expect("change", "\"after\"");
            print(out, alice, bob, carol);
        }
        console.run(OWNER, "DELETE FROM notes WHERE title IN ('order 1', 'order 2', 'after')");
    }

    private void databaseSpeaks() throws StatementException {
        try {
            console.script("DO $$ BEGIN " + emit("never") + "; RAISE EXCEPTION 'rolled back'; END $$");
        } catch (StatementException _) {
            // it was to fail
        }
        // the message is written before the row, and comes after it
        console.script("DO $$ BEGIN " + emit("paid") + ";" + note(Person.BOB, "order 1") + "; END $$");
        console.run(OWNER, note(Person.BOB, "order 2"));
    }

    private void print(PrintStream out, Listener alice, Listener bob, Listener carol) {
        if (problems.isEmpty()) {
            out.println("a room that alice and bob have joined and carol has not; one transaction rolls back");
            out.printf(
                    "  alice  heard %s%n  bob    heard %s%n  carol  heard %s, and may not speak%n",
                    alice.heard(), bob.heard(), carol.heard());
        }
    }

    private Listener open(Person person, String more) throws DemoException {
        URI url = URI.create(facts.baseUrl() + DemoOptions.PREFIX + "/stream");
        String body = "{\"subscriptions\":[" + NOTES + more + "]}";
        String token = facts.tokens().of(person);
        return new Listener("a room: " + person.label(), EventStream.open(client, url, token, body), problems);
    }

    private StreamRequests requests(Person person, JsonNode ready) {
        String streamId = ready.path("stream_id").asText();
        return new StreamRequests(
                client, facts.baseUrl(), streamId, facts.tokens().of(person));
    }

    private static String emit(String event) {
        return "PERFORM pg_logical_emit_message(true, 'sluice:" + ROOM + "', '{\"event\":\"" + event + "\"}')";
    }

    private static String note(Person owner, String title) {
        return "INSERT INTO notes (owner_id, title) VALUES ('%s', '%s')".formatted(owner.id(), title);
    }
}
