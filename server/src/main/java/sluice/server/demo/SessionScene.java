package sluice.server.demo;

import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import sluice.server.postgres.console.Actor;
import sluice.server.postgres.console.Console;
import sluice.server.postgres.console.StatementException;

/// A session of alice's that ends while its stream is open: it receives what was committed before, nothing of the
/// commit that ends it, an error that says why, and does not open again.
final class SessionScene {
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
        try (Listener stream = open()) {
            stream.expect("ready");
            console.run(OWNER, note("before"));
            stream.expect("change", "before");
            console.script("DO $$ BEGIN " + note("of the commit") + "; DELETE FROM auth.sessions WHERE id = '" + session
                    + "'; END $$");
            committed = System.nanoTime();
            stream.expect("error", "session_revoked");
            ended = System.nanoTime();
            stream.expect(EventStream.Event.CLOSED);
        }
        try (Listener again = open()) {
            again.expect(EventStream.Event.CLOSED, "unauthorized");
        }
        console.run(OWNER, "DELETE FROM notes WHERE title LIKE 'session: %'");
        return (ended - committed) / 1000;
    }

    private static String note(String title) {
        return "INSERT INTO notes (owner_id, title) VALUES ('%s', 'session: %s')".formatted(Person.ALICE.id(), title);
    }

    private Listener open() throws DemoException {
        return new Listener("a session that ends", EventStream.open(client, url, token, NOTES), problems);
    }
}
