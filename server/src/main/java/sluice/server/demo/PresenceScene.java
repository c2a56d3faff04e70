package sluice.server.demo;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;

/// Bob watches who is in a room. Alice comes with two tabs and is one member: the list shows her latest tab, her
/// first one again once that is closed, and nobody after the last.
final class PresenceScene {
    private static final String ROOM = "room:present";
    private static final String WATCH =
            "{\"subscriptions\":[{\"sub\":\"room\",\"channel\":\"" + ROOM + "\",\"presence\":true}]}";
    private static final String HER = "\"" + Person.ALICE.id() + "\"";

    private final DemoFacts facts;
    private final HttpClient client;
    private final List<String> problems = new ArrayList<>();

    private PresenceScene(DemoFacts facts, HttpClient client) {
        this.facts = facts;
        this.client = client;
    }

    /// @return what was not as it should be
    static List<String> play(DemoFacts facts, HttpClient client, PrintStream out)
            throws DemoException, InterruptedException {
        PresenceScene scene = new PresenceScene(facts, client);
        scene.play(out);
        return scene.problems;
    }

    private void play(PrintStream out) throws DemoException, InterruptedException {
        try (Listener bob = open(Person.BOB)) {
            bob.expect("ready", "\"ok\":true");
            nobody(bob.expect("presence", "\"state\""));
            try (Listener laptop = open(Person.ALICE);
                    Listener phone = open(Person.ALICE)) {
                JsonNode first = laptop.expect("ready", "\"ok\":true");
                nobody(laptop.expect("presence", "\"state\""));
                track(first, "laptop");
                only(bob.expect("presence", "\"diff\"", HER, "\"laptop\""), "joins");

                JsonNode second = phone.expect("ready", "\"ok\":true");
                track(second, "phone");
                only(bob.expect("presence", "\"diff\"", HER, "\"phone\""), "joins");

                phone.close();
                only(bob.expect("presence", "\"diff\"", HER, "\"laptop\""), "joins");
            }
            only(bob.expect("presence", "\"diff\"", HER), "leaves");
            if (problems.isEmpty()) {
                out.printf(
                        "alice comes to a room with two tabs, and closes one after the other%n" + "  bob    saw %s%n",
                        bob.heard());
            }
        }
    }

    private void nobody(JsonNode state) {
        if (!state.path("members").isEmpty()) {
            problems.add("presence: somebody is said to be in an empty room: " + state);
        }
    }

    /// That one key came or went, and nothing else.
    private void only(JsonNode difference, String kind) {
        String other = kind.equals("joins") ? "leaves" : "joins";
        if (difference.path(kind).size() != 1 || !difference.path(other).isEmpty()) {
            problems.add("presence: " + kind + " of one key were expected: " + difference);
        }
    }

    private Listener open(Person person) throws DemoException {
        URI url = URI.create(facts.baseUrl() + DemoOptions.PREFIX + "/stream");
        String token = facts.tokens().of(person);
        return new Listener("presence: " + person.label(), EventStream.open(client, url, token, WATCH), problems);
    }

    private void track(JsonNode ready, String tab) throws DemoException, InterruptedException {
        String streamId = ready.path("stream_id").asText();
        new StreamRequests(client, facts.baseUrl(), streamId, facts.tokens().alice()).track(ROOM, tab);
    }
}
