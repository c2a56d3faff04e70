package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import sluice.server.wire.ApiFiles;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// What a server writes, every event and every answer, against the API files.
class WireFilesPgTest {
    private static final ApiFiles FILES = ApiFiles.read();
    private static final String NOTES = """
        {"sub": "mine", "shape": {"table": "notes", "filter": "kind=eq.a", "initial": "snapshot",
         "transitions": true, "ops": ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]}}\
        """;

    private static PostgresDatabase database() {
        PostgresDatabase database = Notes.database("wirefiles");
        database.execute(
                "ALTER TABLE notes ADD COLUMN kind text, ADD COLUMN long text",
                "ALTER TABLE notes ALTER COLUMN long SET STORAGE EXTERNAL",
                "ALTER TABLE notes REPLICA IDENTITY FULL",
                "INSERT INTO notes VALUES (1, '" + ALICE + "', 'x', 'a', repeat('y', 5000))",
                "CREATE TABLE plain (id int PRIMARY KEY, title text, long text)",
                "ALTER TABLE plain ALTER COLUMN long SET STORAGE EXTERNAL",
                "ALTER PUBLICATION sluice ADD TABLE plain");
        return database;
    }

    private static void write(PostgresDatabase database) {
        database.execute(
                "INSERT INTO notes VALUES (2, '" + ALICE + "', 'x', 'b', repeat('z', 5000))",
                "UPDATE notes SET kind = 'a' WHERE id = 2",
                "UPDATE notes SET title = 'again' WHERE id = 2",
                "INSERT INTO plain VALUES (1, 'x', repeat('y', 5000))",
                "UPDATE plain SET title = 'again'",
                "UPDATE notes SET kind = 'b' WHERE id = 2",
                "INSERT INTO notes VALUES (3, '" + ALICE + "', 'x', 'a', repeat('z', 20000))",
                "DELETE FROM notes WHERE id = 1",
                "TRUNCATE notes",
                "SELECT pg_logical_emit_message(true, 'sluice:room:1', '\"the end\"')");
    }

    @Test
    void every_event_of_a_stream_is_as_the_file_says() throws Exception {
        try (PostgresDatabase database = database();
                RunningSluice sluice = RunningSluice.on(
                        database, Map.of("SLUICE_MAX_CHANGE_BYTES", "15000", "SLUICE_PRESENCE_BROADCAST", "50ms"));
                SseClient alice = sluice.request(sluice.token(ALICE), "").open()) {
            assertThat(alice.await("ready").data()).contains("\"subscriptions\":[]");
            try (SseClient stream = SseClient.post(
                            sluice.uri("/sluice/v1/stream"),
                            "{\"transactions\": true, \"subscriptions\": [" + NOTES
                                    + "," + RunningSluice.shape("plain", "plain", "")
                                    + ", {\"sub\": \"room\", \"channel\": \"room:1\", \"presence\": true}"
                                    + ", {\"sub\": \"none\", \"channel\": \"nothing:1\"}]}")
                    .bearer(sluice.token(ALICE))
                    .open()) {
                stream.await("live");
                write(database);
                stream.await("broadcast");
                stream.await("commit");
                database.execute("DROP POLICY own ON notes");
                Notes.insert(database, 9, ALICE);
                stream.await("error");

                for (SseEvent event : stream.received()) {
                    assertThat(FILES.event(event.event(), event.json()))
                            .as(event.raw())
                            .isEmpty();
                    String id = FILES.asyncapi()
                            .at("/components/schemas/ChangeFields/properties/id/pattern")
                            .asText();
                    if (event.id() != null) {
                        assertThat(event.event()).isEqualTo("change");
                        assertThat(event.id()).matches(id);
                    }
                }
                assertThat(stream.received().stream().map(SseEvent::event))
                        .contains(
                                "ready", "change", "snapshot_end", "live", "commit", "broadcast", "presence", "error");
                Set<String> documented = new TreeSet<>();
                FILES.asyncapi()
                        .at("/components/schemas/Change/properties")
                        .fieldNames()
                        .forEachRemaining(documented::add);
                assertThat(membersOfChanges(stream)).isEqualTo(documented);
            }
        }
    }

    @Test
    void every_answer_to_a_request_is_as_the_file_says() throws Exception {
        try (PostgresDatabase database = database();
                RunningSluice sluice = RunningSluice.on(database);
                SseClient stream = sluice.request(sluice.token(ALICE), "").open()) {
            String id = "\"stream_id\":\""
                    + stream.await("ready").json().path("stream_id").asText() + "\"";
            String token = sluice.token(ALICE);
            String room = "\"channel\":\"room:1\"";
            ok(
                    sluice,
                    "/subscribe",
                    token,
                    "{" + id + ",\"subscriptions\":[" + NOTES + ",{\"sub\":\"r\"," + room
                            + "},{\"sub\":\"x\",\"channel\":\"no:1\"}]}");
            ok(sluice, "/publish", token, "{" + id + "," + room + ",\"event\":\"e\",\"self\":true}");
            ok(sluice, "/presence", token, "{" + id + "," + room + "}");
            ok(sluice, "/token", token, "{" + id + ",\"access_token\":\"" + sluice.token(ALICE) + "\"}");
            ok(sluice, "/unsubscribe", token, "{" + id + ",\"subs\":[\"r\"]}");
            String admin = sluice.token(BOB, "service_role");
            ok(sluice, "/admin/jwks/refresh", admin, "");
            ok(sluice, "/admin/shapes/drop", admin, "{\"table\":\"notes\",\"equalities\":{\"kind\":\"a\"}}");

            for (String path : List.of("/stream", "/subscribe", "/unsubscribe", "/publish", "/presence", "/token")) {
                assertThat(answer(sluice, path, token, "{\"x\":1}")).as(path).isEqualTo(400);
                assertThat(answer(
                                sluice,
                                path,
                                "none",
                                path.equals("/token") ? "{" + id + ",\"access_token\":\"x\"}" : ""))
                        .as(path)
                        .isEqualTo(401);
            }
            for (String path : List.of("/admin/jwks/refresh", "/admin/shapes/drop")) {
                assertThat(answer(sluice, path, token, "{}")).as(path).isEqualTo(403);
            }
            assertThat(answer(sluice, "/publish", token, "{\"stream_id\":\"n\"," + room + ",\"event\":\"e\"}"))
                    .isEqualTo(404);
            assertThat(got(sluice, "/healthz", token)).isEqualTo(200);
            assertThat(got(sluice, "/readyz", token)).isEqualTo(200);
            assertThat(got(sluice, "/diagnostics", token)).isEqualTo(403);
            assertThat(got(sluice, "/diagnostics", admin)).isEqualTo(200);
        }
    }

    private static Set<String> membersOfChanges(SseClient stream) {
        Set<String> members = new TreeSet<>();
        for (SseEvent event : stream.received()) {
            if (event.is("change")) {
                event.json().fieldNames().forEachRemaining(members::add);
            }
        }
        return members;
    }

    private static void ok(RunningSluice sluice, String path, String token, String body) throws Exception {
        assertThat(answer(sluice, path, token, body)).as(path).isEqualTo(200);
    }

    private static int answer(RunningSluice sluice, String path, String token, String body) throws Exception {
        return checked("POST", path, sluice.post(path, token, body));
    }

    private static int got(RunningSluice sluice, String path, String token) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(sluice.uri("/sluice/v1" + path))
                    .header("Authorization", "Bearer " + token)
                    .build();
            return checked("GET", path, client.send(request, HttpResponse.BodyHandlers.ofString()));
        }
    }

    private static int checked(String method, String path, HttpResponse<String> response) {
        JsonNode body = ApiFiles.tree(response.body());
        assertThat(FILES.answer(method, path, response.statusCode(), body))
                .as("%s %s: %d %s", method, path, response.statusCode(), body)
                .isEmpty();
        return response.statusCode();
    }
}
