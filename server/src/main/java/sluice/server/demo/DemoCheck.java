package sluice.server.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import sluice.server.postgres.console.Actor;
import sluice.server.postgres.console.Console;
import sluice.server.postgres.console.StatementException;

/// The whole demo, used and judged by itself: two people read their streams over HTTP while rows and policies change,
/// and after every commit PostgreSQL is asked what each of them may see.
///
/// Everything is new and temporary: free ports, a folder that is deleted at the end.
public final class DemoCheck {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration QUIET = Duration.ofMillis(300);

    /// How long a right may take to act, and how long each row written to find out is waited for.
    private static final Duration SWITCH_MAX = Duration.ofSeconds(30);

    private static final Duration SWITCH_ATTEMPT = Duration.ofSeconds(1);
    private static final Actor OWNER = new Actor.Owner();
    private static final ObjectMapper JSON = new ObjectMapper();

    private final PrintStream out;
    private final Progress progress;
    private final List<Witness> witnesses = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();

    /// Highest ids before the phase.
    private long notesBefore;

    private long postsBefore;

    private DemoCheck(PrintStream out, Progress progress) {
        this.out = out;
        this.progress = progress;
    }

    /// One statement of a person.
    private record Write(Person person, String sql) {}

    /// @param options port and data folder are not used
    /// @return whether everything was as it should be
    /// @throws DemoException when the demo cannot be run at all
    public static boolean run(DemoOptions options, PrintStream out, Progress progress) throws DemoException {
        Path folder = temporaryFolder();
        long begin = System.nanoTime();
        boolean good;
        try {
            DemoOptions temporary = new DemoOptions(0, options.postgresMajor(), folder, options.binaries());
            good = new DemoCheck(out, progress).runIn(temporary);
        } finally {
            delete(folder);
        }
        out.printf(
                Locale.ROOT,
                "%s after %.1f s; everything is stopped and removed%n",
                good ? "passed" : "FAILED",
                (System.nanoTime() - begin) / 1e9);
        return good;
    }

    private static Path temporaryFolder() throws DemoException {
        try {
            return Files.createTempDirectory("sluice-check-").toRealPath();
        } catch (IOException e) {
            throw new DemoException("no temporary folder (" + e.getMessage() + ")", "set TMPDIR to one");
        }
    }

    private static void delete(Path folder) throws DemoException {
        try {
            Folders.delete(folder);
        } catch (IOException e) {
            throw new DemoException("the folder " + folder + " could not be deleted (" + e.getMessage() + ")", "");
        }
    }

    private boolean runIn(DemoOptions options) throws DemoException {
        try (Demo demo = Demo.start(options, progress);
                Console console = demo.database().connect()) {
            DemoFacts facts = demo.facts();
            out.printf("PostgreSQL %d and a server on %s are running%n", options.postgresMajor(), facts.baseUrl());
            boolean good = check(demo, console);
            if (!good) {
                out.println("the server's log ends with:");
                out.println(Folders.lastLines(options.data().resolve("server.log"), 20)
                        .indent(2));
            }
            return good;
        } catch (StatementException e) {
            throw new DemoException("PostgreSQL refused a statement of the check: " + e.getMessage(), "");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("the check was interrupted", "");
        }
    }

    private boolean check(Demo demo, Console console) throws DemoException, StatementException, InterruptedException {
        DemoFacts facts = demo.facts();
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        try {
            for (Person person : List.of(Person.ALICE, Person.BOB)) {
                Witness witness = Witness.open(person, client, facts);
                witnesses.add(witness);
                out.printf("%s's stream is open: %s%n", person.label(), witness.tiers());
            }
            out.println();
            phase(console, "a note is read by its owner, a post by its author or by all", notesAndPosts());
            DemoTokens renewed = DemoTokens.signedWith(DemoKey.loadOrCreate(facts.data()));
            for (Witness witness : witnesses) {
                witness.renew(renewed.of(witness.person()));
            }
            phase(console, "both streams go on under new tokens", notes("renewed"));
            console.script(ReadPolicy.EVERYONE.sql());
            awaitSwitched(console, "everyone may read every note");
            phase(console, "the policy is replaced: everyone reads every note", notes("shared"));
            console.script(ReadPolicy.OWNER_ONLY_UNDONE.sql());
            awaitSwitched(console, "only the owner may read a note, and only while it is not done");
            phase(console, "back to the owner, and a restrictive policy hides what is done", undone());
            console.script(ReadPolicy.OWNER_ONLY.sql());
            awaitSwitched(console, "what is done may be read again");
            phase(console, "the restrictive policy is dropped", notes("again"));
            for (Witness witness : witnesses) {
                witness.drain(QUIET);
            }
            problems.addAll(JoinScene.play(demo, console, client, out));
            problems.addAll(BroadcastScene.play(facts, console, client, out));
            problems.addAll(PresenceScene.play(facts, client, out));
            problems.addAll(SessionScene.play(demo, console, client, out));
            return verdict();
        } finally {
            witnesses.forEach(Witness::close);
            client.shutdownNow();
        }
    }

    private static List<Write> notes(String name) {
        return List.of(
                new Write(Person.ALICE, insert(name + " a1", "false")),
                new Write(Person.BOB, insert(name + " b1", "false")),
                new Write(Person.ALICE, "INSERT INTO notes (title) VALUES ('%1$s a2'), ('%1$s a3')".formatted(name)),
                new Write(
                        Person.ALICE,
                        "UPDATE notes SET body = 'changed', updated_at = now() WHERE title = '" + name + " a1'"),
                new Write(Person.BOB, "UPDATE notes SET done = true WHERE title = '" + name + " b1'"),
                new Write(Person.BOB, insert(name + " b2", "true")),
                new Write(Person.ALICE, "DELETE FROM notes WHERE title = '" + name + " a2'"),
                new Write(Person.BOB, "DELETE FROM notes WHERE title = '" + name + " b2'"),
                // Not hers: PostgreSQL changes nothing, and nothing may arrive.
                new Write(Person.ALICE, "DELETE FROM notes WHERE title = '" + name + " b1'"));
    }

    private static List<Write> notesAndPosts() {
        List<Write> writes = new ArrayList<>(notes("own"));
        writes.add(new Write(Person.ALICE, "INSERT INTO posts (title, visibility) VALUES ('for all', 'public')"));
        writes.add(new Write(Person.ALICE, "INSERT INTO posts (title) VALUES ('for me')"));
        writes.add(new Write(Person.BOB, "INSERT INTO posts (title) VALUES ('mine')"));
        writes.add(new Write(Person.ALICE, "UPDATE posts SET title = 'for all of us' WHERE title = 'for all'"));
        writes.add(new Write(Person.BOB, "UPDATE posts SET visibility = 'public' WHERE title = 'mine'"));
        writes.add(new Write(Person.ALICE, "DELETE FROM posts WHERE title IN ('for me', 'for all of us')"));
        return writes;
    }

    private static List<Write> undone() {
        return List.of(
                new Write(Person.ALICE, insert("undone a1", "false")),
                new Write(Person.ALICE, insert("done a2", "true")),
                new Write(Person.BOB, insert("done b1", "true")),
                new Write(Person.BOB, insert("undone b2", "false")),
                new Write(Person.BOB, "UPDATE notes SET body = 'changed' WHERE title = 'undone b2'"),
                new Write(Person.ALICE, "DELETE FROM notes WHERE title = 'undone a1'"));
    }

    private static String insert(String title, String done) {
        return "INSERT INTO notes (title, done) VALUES ('" + title + "', " + done + ")";
    }

    /// Writes and deletes notes of every kind until each stream shows those that SELECT shows.
    ///
    /// Each stream has to say that other rules decide now, whereupon its notes are read again.
    /// A row written right after the switch may be withheld from whom it now concerns, and the
    /// stream says so. What is shown meanwhile is judged like everything else.
    private void awaitSwitched(Console console, String right) throws StatementException, InterruptedException {
        beginPhase(console);
        long begin = System.nanoTime();
        long deadline = begin + SWITCH_MAX.toNanos();
        int attempts = 0;
        boolean acts = false;
        while (!acts && System.nanoTime() - deadline < 0) {
            attempts++;
            acts = showsEveryKind(console, right);
        }
        if (!acts) {
            for (Witness witness : witnesses) {
                problems.add(right + ": not seen on both streams within " + SWITCH_MAX.toSeconds() + " s; to "
                        + witness.person().label() + " " + witness.announced());
            }
            return;
        }
        for (Witness witness : witnesses) {
            if (witness.rereads() != 1) {
                problems.add(right + ": " + witness.person().label() + " was told so " + witness.rereads()
                        + " times, and once was expected");
            }
        }
        out.printf(
                Locale.ROOT,
                "%s: the notes are read again, and it acts %.1f s after the switch, on rows written in attempt %d%n",
                right,
                (System.nanoTime() - begin) / 1e9,
                attempts);
    }

    private boolean showsEveryKind(Console console, String right) throws StatementException, InterruptedException {
        console.run(OWNER, """
            INSERT INTO notes (owner_id, title, done)
            SELECT owner::uuid, 'first', done
            FROM (VALUES ('%s'), ('%s')) AS person (owner), (VALUES (false), (true)) AS state (done)
            """.formatted(Person.ALICE.id(), Person.BOB.id()));
        look(console);
        boolean shown = caughtUp(SWITCH_ATTEMPT);
        console.run(OWNER, "DELETE FROM notes WHERE title = 'first'");
        look(console);
        if (!shown) {
            return false;
        }
        if (!caughtUp(PATIENCE)) {
            witnesses.forEach(witness -> witness.compare(right));
        }
        return true;
    }

    private boolean caughtUp(Duration patience) throws InterruptedException {
        boolean all = true;
        for (Witness witness : witnesses) {
            all &= witness.catchUp(patience);
        }
        return all;
    }

    private void beginPhase(Console console) throws StatementException {
        notesBefore = highestId(console, "notes");
        postsBefore = highestId(console, "posts");
        witnesses.forEach(Witness::beginPhase);
    }

    private void phase(Console console, String title, List<Write> writes)
            throws StatementException, InterruptedException {
        beginPhase(console);
        for (Write write : writes) {
            console.run(caller(write.person()), write.sql());
            look(console);
        }
        // One commit with a row for each: whoever has it has had everything before it.
        console.run(
                OWNER,
                "INSERT INTO notes (owner_id, title) VALUES ('%s', 'last'), ('%s', 'last')"
                        .formatted(Person.ALICE.id(), Person.BOB.id()));
        look(console);
        out.println(title);
        for (Witness witness : witnesses) {
            boolean same = witness.catchUp(PATIENCE);
            if (!same) {
                witness.compare(title);
            }
            out.printf(
                    "  %-6s received %-32s %s%n",
                    witness.person().label(),
                    witness.operations(),
                    same
                            ? "and holds what SELECT shows: " + witness.rows()
                                    + (witness.rows() == 1 ? " row" : " rows")
                            : "and does NOT hold what SELECT shows");
        }
    }

    /// Asks PostgreSQL what each person sees now.
    private void look(Console console) throws StatementException {
        for (Witness witness : witnesses) {
            String rows = console.run(caller(witness.person()), visible())
                    .getLast()
                    .rows()
                    .getFirst()
                    .getFirst();
            witness.saw(parsed(String.valueOf(rows)));
        }
    }

    /// What a person sees, and which of it was made in this phase. UTC, as on the stream.
    private String visible() {
        return """
            SET LOCAL TimeZone = 'UTC';
            SELECT coalesce(jsonb_agg(jsonb_build_object('table', name, 'row', image, 'now', now)), '[]'::jsonb)::text
            FROM (SELECT 'notes' AS name, to_jsonb(note) AS image, id > %1$d AS now FROM public.notes AS note
                  UNION ALL
                  SELECT 'posts', to_jsonb(post), id > %2$d FROM public.posts AS post) AS visible
            """.formatted(notesBefore, postsBefore);
    }

    private static JsonNode parsed(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("PostgreSQL's JSON could not be read", e);
        }
    }

    private static long highestId(Console console, String table) throws StatementException {
        String highest = console.run(OWNER, "SELECT coalesce(max(id), 0) FROM public." + table)
                .getFirst()
                .rows()
                .getFirst()
                .getFirst();
        return Long.parseLong(String.valueOf(highest));
    }

    private static Actor caller(Person person) {
        return new Actor.Caller(DemoTokens.USER_ROLE, DemoKey.claims(person.id(), DemoTokens.USER_ROLE));
    }

    private boolean verdict() {
        witnesses.forEach(witness -> problems.addAll(witness.problems()));
        Duration longest = witnesses.stream()
                .map(Witness::longestDelay)
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
        int changes = witnesses.stream().mapToInt(Witness::changes).sum();
        out.println();
        out.printf(
                Locale.ROOT,
                "%d changes received, the largest delay from commit to receipt %.1f ms%n",
                changes,
                longest.toNanos() / 1e6);
        if (problems.isEmpty()) {
            out.println("no row arrived that SELECT under the same role did not show");
        }
        problems.forEach(problem -> out.println("problem: " + problem));
        return problems.isEmpty();
    }
}
