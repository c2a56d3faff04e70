package sluice.server.demo;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.console.Actor;
import sluice.server.postgres.console.Console;
import sluice.server.postgres.console.StatementException;

/// A session of alice's that ends while its stream is open: it receives what was committed before, nothing of the
/// commit that ends it, an error that says why, and does not open again.
final class SessionScene {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Actor OWNER = new Actor.Owner();
    private static final String NOTES = "{\"subscriptions\":[{\"sub\":\"notes\",\"shape\":{\"table\":\"notes\"}}]}";

    private final Console console;
    private final HttpClient client;
    private final URI url;
    private final String token;
    private final String session;
    private final List<String> problems = new ArrayList<>();

    private SessionScene(Demo demo, Console console, HttpClient client) {
        this.console = console;
        this.client = client;
        this.url = URI.create(demo.facts().baseUrl() + DemoOptions.PREFIX + "/stream");
        this.session = UUID.randomUUID().toString();
        this.token = demo.token(Person.ALICE, session);
    }

    /// @return what was not as it should be
    static List<String> play(Demo demo, Console console, HttpClient client, PrintStream out)
            throws DemoException, StatementException, InterruptedException {
        SessionScene scene = new SessionScene(demo, console, client);
        long micros = scene.play();
        if (scene.problems.isEmpty()) {
            out.printf(
                    Locale.ROOT,
                    "alice signs out on another device: its stream ends with session_revoked %.1f ms after the commit,"
                            + " with nothing of it, and does not open again%n",
                    micros / 1e3);
        }
        return scene.problems;
    }

    private long play() throws DemoException, StatementException, InterruptedException {
        console.run(OWNER, "INSERT INTO auth.sessions VALUES ('%s', '%s')".formatted(session, Person.ALICE.id()));
        long committed;
        long ended;
        try (EventStream stream = EventStream.open(client, url, token, NOTES)) {
            expect(stream, "ready", null);
            console.run(OWNER, note("before"));
            expect(stream, "change", "before");
            console.script("DO $$ BEGIN " + note("of the commit") + "; DELETE FROM auth.sessions WHERE id = '" + session
                    + "'; END $$");
            committed = System.nanoTime();
            expect(stream, "error", "session_revoked");
            ended = System.nanoTime();
            expect(stream, EventStream.Event.CLOSED, null);
        }
        try (EventStream again = EventStream.open(client, url, token, NOTES)) {
            expect(again, EventStream.Event.CLOSED, "unauthorized");
        }
        console.run(OWNER, "DELETE FROM notes WHERE title LIKE 'session: %'");
        return (ended - committed) / 1000;
    }

    private static String note(String title) {
        return "INSERT INTO notes (owner_id, title) VALUES ('%s', 'session: %s')".formatted(Person.ALICE.id(), title);
    }

    private void expect(EventStream stream, String name, @Nullable String part) throws InterruptedException {
        EventStream.Event event = stream.next(PATIENCE);
        while (event != null && event.name().equals("warning")) {
            event = stream.next(PATIENCE);
        }
        JsonNode data = event == null ? null : event.data();
        if (event == null
                || !event.name().equals(name)
                || (part != null && !String.valueOf(data).contains(part))) {
            problems.add("a session that ends: \"" + name + "\" was expected"
                    + (part == null ? "" : " with \"" + part + "\"") + ", and "
                    + (event == null ? "nothing came" : event.name() + " " + data + " came"));
        }
    }
}
