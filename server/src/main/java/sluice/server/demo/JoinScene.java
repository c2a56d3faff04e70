package sluice.server.demo;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.console.Actor;
import sluice.server.postgres.console.Console;
import sluice.server.postgres.console.StatementException;

/// Alice opens a stream that begins with the notes there are, loses it, and comes back: rows first, then what is
/// written, and nothing missed of what was written meanwhile. Bob's notes are written beside hers all the time.
final class JoinScene {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Actor OWNER = new Actor.Owner();
    private static final String SHAPE = "\"sub\":\"notes\",\"shape\":{\"table\":\"notes\",\"initial\":\"snapshot\"}";

    private final Console console;
    private final HttpClient client;
    private final URI url;
    private final String token;
    private final List<String> problems = new ArrayList<>();
    private final Set<String> titles = new TreeSet<>();
    private int rows;
    private int replayed;
    private String position = "";
    private String history = "";

    private JoinScene(Demo demo, Console console, HttpClient client) {
        this.console = console;
        this.client = client;
        this.url = URI.create(demo.facts().baseUrl() + DemoOptions.PREFIX + "/stream");
        this.token = demo.facts().tokens().of(Person.ALICE);
    }

    /// @return what was not as it should be
    static List<String> play(Demo demo, Console console, HttpClient client, PrintStream out)
            throws DemoException, StatementException, InterruptedException {
        JoinScene scene = new JoinScene(demo, console, client);
        scene.play();
        if (scene.problems.isEmpty()) {
            out.printf(
                    "alice's stream begins with the %d notes SELECT shows, is cut, and resumes: the %d changes written"
                            + " meanwhile, and none of bob's%n",
                    scene.rows, scene.replayed);
        }
        return scene.problems;
    }

    private void play() throws DemoException, StatementException, InterruptedException {
        write("before");
        int shown = Integer.parseInt(String.valueOf(
                console.run(OWNER, "SELECT count(*) FROM notes WHERE owner_id = '" + Person.ALICE.id() + "'")
                        .getFirst()
                        .rows()
                        .getFirst()
                        .getFirst()));
        try (EventStream stream = EventStream.open(client, url, token, "{\"subscriptions\":[{" + SHAPE + "}]}")) {
            JsonNode ready = until(stream, "ready", null);
            history = ready.at("/subscriptions/0/history").asText();
            JsonNode end = until(stream, "snapshot_end", null);
            rows = end.path("rows").asInt();
            expect(rows == shown && titles.contains("join: before"), "the rows sent are not those SELECT shows");
            write("live");
            until(stream, "change", "join: live");
        }
        write("missed one");
        write("missed two");
        titles.clear();
        String resume = "\"resume\":{\"lsn\":\"" + position + "\",\"history\":\"" + history + "\"}";
        try (EventStream stream =
                EventStream.open(client, url, token, "{\"subscriptions\":[{" + SHAPE + "," + resume + "}]}")) {
            JsonNode ready = until(stream, "ready", null);
            expect(ready.at("/subscriptions/0/resumed").asBoolean(), "the stream was not resumed: " + ready);
            until(stream, "live", null);
            if (!titles.contains("join: missed two")) {
                // written so late that the server had not come to it when the stream was opened
                until(stream, "change", "join: missed two");
            }
            // the commit it saw last comes again
            expect(
                    titles.equals(Set.of("join: live", "join: missed one", "join: missed two")),
                    "another set of changes was replayed: " + titles);
            replayed = titles.size() - 1;
        }
        console.run(OWNER, "DELETE FROM notes WHERE title LIKE 'join: %'");
    }

    /// One commit with a note of each person.
    private void write(String title) throws StatementException {
        console.run(
                OWNER,
                "INSERT INTO notes (owner_id, title) VALUES ('%s', 'join: %s'), ('%s', 'join: not hers')"
                        .formatted(Person.ALICE.id(), title, Person.BOB.id()));
    }

    /// Reads up to this event and notes the changes on the way.
    private JsonNode until(EventStream stream, String name, @Nullable String part)
            throws DemoException, InterruptedException {
        while (true) {
            EventStream.Event event = stream.next(PATIENCE);
            if (event == null || event.name().equals(EventStream.Event.CLOSED)) {
                throw new DemoException(
                        "a stream that is joined: \"" + name + "\" did not come, but "
                                + (event == null ? "nothing" : event.data().toString()),
                        "");
            }
            if (event.name().equals("change")) {
                titles.add(event.data().at("/record/title").asText());
                position = event.data().path("commit_lsn").asText();
            }
            if (event.name().equals(name)
                    && (part == null || event.data().toString().contains(part))) {
                return event.data();
            }
        }
    }

    private void expect(boolean holds, String problem) {
        if (!holds) {
            problems.add("a stream that is joined: " + problem);
        }
    }
}
