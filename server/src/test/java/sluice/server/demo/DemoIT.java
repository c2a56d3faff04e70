package sluice.server.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.server.postgres.console.StatementResult;

/// The demo as a person uses it: a process, two terminals that read, one that writes.
class DemoIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String NOTES = "{\"subscriptions\":[{\"sub\":\"notes\",\"shape\":{\"table\":\"notes\"}}]}";

    @TempDir
    private Path scratch = Path.of("");

    @Test
    void a_row_reaches_its_owner_only_and_outlives_kill_minus_nine() throws Exception {
        Path data = scratch.resolve("data");
        String token;
        int port;
        try (DemoProcess demo =
                DemoProcess.start(scratch, "demo", "--port", "0", "--json", "--data", data.toString())) {
            JsonNode facts = demo.facts();
            token = facts.at("/tokens/alice").asText();
            port = URI.create(facts.path("postgres_url").asText().replace("postgres://", "http://"))
                    .getPort();
            try (HttpClient client = client();
                    EventStream alice = stream(client, facts, "alice");
                    EventStream bob = stream(client, facts, "bob")) {
                assertThat(next(alice).name()).isEqualTo("ready");
                assertThat(next(bob).name()).isEqualTo("ready");
                sql(data, "alice", "insert into notes (title) values ('for alice')");
                sql(data, "bob", "insert into notes (title) values ('for bob')");
                assertThat(title(next(alice))).isEqualTo("for alice");
                // Commits arrive in order: had the first one been for bob too, it would have come first.
                assertThat(title(next(bob))).isEqualTo("for bob");
                alice.close();
                bob.close();
                client.shutdownNow();
            }
            demo.kill();
        }
        awaitClosed(port);
        try (DemoProcess again =
                DemoProcess.start(scratch, "demo", "--port", "0", "--json", "--data", data.toString())) {
            JsonNode facts = again.facts();
            assertThat(titles(data, "alice")).containsExactly("for alice");
            assertThat(titles(data, "owner")).containsExactly("for alice", "for bob");
            try (HttpClient client = client();
                    EventStream alice = open(client, facts, token)) {
                assertThat(next(alice).name()).as("a token of the first run").isEqualTo("ready");
                alice.close();
                client.shutdownNow();
            }
            again.interrupt();
            again.exitStatus();
            assertThat(again.output().lines()).as("stdout holds the facts only").hasSize(1);
            assertThat(again.errors()).contains("stopped; the rows stay in " + data);
        }
        assertThat(data.resolve("postgresql-18").resolve("postmaster.pid")).doesNotExist();
    }

    @Test
    void a_postgresql_left_behind_is_stopped_by_the_next_start() throws Exception {
        Path data = scratch.resolve("data");
        try (DemoProcess demo =
                DemoProcess.start(scratch, "demo", "--port", "0", "--json", "--data", data.toString())) {
            demo.facts();
            sql(data, "bob", "insert into notes (title) values ('kept')");
            // The shell first: it would stop PostgreSQL when it saw the program end.
            demo.handle().children().forEach(ProcessHandle::destroyForcibly);
            demo.kill();
        }
        assertThat(data.resolve("postgresql-18").resolve("postmaster.pid")).exists();
        try (DemoProcess again =
                DemoProcess.start(scratch, "demo", "--port", "0", "--json", "--data", data.toString())) {
            again.facts();
            assertThat(again.errors()).contains("stopping the PostgreSQL that an earlier run left behind");
            assertThat(titles(data, "bob")).containsExactly("kept");
            assertThat(second(data))
                    .contains("a demo already runs from " + data)
                    .contains("--data");
        }
    }

    private String second(Path data) throws Exception {
        try (DemoProcess second = DemoProcess.start(scratch, "demo", "--port", "0", "--data", data.toString())) {
            assertThat(second.exitStatus()).isEqualTo(2);
            return second.errors();
        }
    }

    @Test
    void a_taken_port_is_one_line_that_says_what_to_do() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                DemoProcess demo = DemoProcess.start(
                        scratch,
                        "demo",
                        "--port",
                        Integer.toString(taken.getLocalPort()),
                        "--data",
                        scratch.resolve("data").toString())) {
            assertThat(demo.exitStatus()).isEqualTo(2);
            assertThat(demo.errors().lines()).singleElement().asString().contains("--port 0");
        }
        assertThat(scratch.resolve("data")).doesNotExist();
    }

    private static HttpClient client() {
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    private static EventStream stream(HttpClient client, JsonNode facts, String person) throws DemoException {
        return open(client, facts, facts.path("tokens").path(person).asText());
    }

    private static EventStream open(HttpClient client, JsonNode facts, String token) throws DemoException {
        URI url = URI.create(facts.path("base_url").asText() + DemoOptions.PREFIX + "/stream");
        return EventStream.open(client, url, token, NOTES);
    }

    /// The next event but warnings, which say how the shape is looked up.
    private static EventStream.Event next(EventStream stream) throws InterruptedException {
        EventStream.Event event = stream.next(PATIENCE);
        while (event != null && event.name().equals("warning")) {
            event = stream.next(PATIENCE);
        }
        assertThat(event).as("an event within " + PATIENCE).isNotNull();
        return Objects.requireNonNull(event);
    }

    private static String title(EventStream.Event event) {
        return event.data().at("/record/title").asText(event.name() + " " + event.data());
    }

    private static void sql(Path data, String who, String sql) throws Exception {
        DemoTools.sql(data, who, sql);
    }

    private static List<String> titles(Path data, String who) throws Exception {
        StatementResult result =
                DemoTools.sql(data, who, "select title from notes order by id").getFirst();
        List<String> titles = new ArrayList<>();
        result.rows().forEach(row -> titles.add(String.valueOf(row.getFirst())));
        return titles;
    }

    /// Until nothing listens: the postmaster follows its parent.
    private static void awaitClosed(int port) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (System.nanoTime() < deadline) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            } catch (IOException e) {
                return;
            }
            new CountDownLatch(1).await(50, TimeUnit.MILLISECONDS);
        }
        throw new AssertionError("PostgreSQL still listens on " + port);
    }
}
