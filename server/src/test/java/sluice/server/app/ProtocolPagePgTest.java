package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.shape;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.server.wire.ApiFiles;
import sluice.server.wire.PageExamples;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// The examples of the protocol's page, asked of a server as they stand there, and its answers and events beside
/// those of the page.
class ProtocolPagePgTest {
    private static final String SUBJECT = "7f3a";
    private static final String OTHER = "91c0";

    /// Texts that are another at every time and on every server.
    private static final Set<String> VOLATILE =
            Set.of("history", "wal_lsn", "commit_lsn", "commit_time", "server_time", "stream_id", "at", "since", "ref");

    private static PostgresDatabase database;
    private static RunningSluice sluice;

    /// All that the server said: answers and the data of events.
    private final List<JsonNode> said = new ArrayList<>();

    private int lastId;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("protocol_page")
                .withStandardRoles();
        database.execute(
                "CREATE TABLE documents (id int PRIMARY KEY, owner_id text NOT NULL, project_id int, title text,"
                        + " status text, due date, hidden boolean, name text, path text COLLATE \"C\", \"Full.Name\""
                        + " text)",
                "CREATE UNIQUE INDEX documents_ri ON documents (owner_id, id)",
                "ALTER TABLE documents REPLICA IDENTITY USING INDEX documents_ri",
                "ALTER TABLE documents ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON documents FOR SELECT TO authenticated"
                        + " USING (owner_id = (SELECT auth.jwt() ->> 'sub'))",
                "CREATE TABLE orders (id int PRIMARY KEY, status text)",
                "INSERT INTO orders VALUES (1, 'open')",
                "CREATE PUBLICATION sluice FOR TABLE documents, orders");
        sluice = RunningSluice.on(
                database,
                Map.of(
                        "SLUICE_CHANNELS", "room:public,orders:public",
                        "SLUICE_PRESENCE_BROADCAST", "300ms",
                        "SLUICE_PRESENCE_RATE", "0"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @Test
    void every_example_of_the_page_is_taken_by_a_server_and_every_answer_and_event_is_one_it_gives() throws Exception {
        List<JsonNode> expected = new ArrayList<>();
        try (SseClient stream = sluice.stream(sluice.token(SUBJECT), "");
                SseClient listener = sluice.stream(
                        sluice.token(OTHER),
                        "{\"sub\":\"room\",\"channel\":\"room:42\",\"presence\":true},"
                                + "{\"sub\":\"orders\",\"channel\":\"orders:1\"}")) {
            String id = stream.await("ready").json().get("stream_id").asText();
            listener.await("ready");
            for (PageExamples.Example example : PageExamples.of("protocol.md")) {
                run(example, id, expected);
            }
            listener.await(event -> event.is("broadcast") && event.data().contains("\"paid\""));
            presence(id, listener.received().getFirst().json().get("stream_id").asText(), listener);
            said.addAll(data(stream));
            said.addAll(data(listener));
        }
        said.add(tree(sluice.post("/subscribe", "", "{}")));
        said.add(health());
        assertThat(expected).hasSizeGreaterThan(12);
        for (JsonNode example : expected) {
            assertThat(said).as(example.toString()).anyMatch(value -> similar("", example, value));
        }
    }

    private void run(PageExamples.Example example, String id, List<JsonNode> expected) throws Exception {
        switch (example.kind()) {
            case "http" -> {
                String[] parts = example.text().split("\n\n", 2);
                String line = parts[0].lines().findFirst().orElseThrow();
                request(line.substring("POST /sluice/v1".length()), parts[1], id);
            }
            case "sql" -> database.execute(example.text().split(";\n"));
            case "text" -> {
                // a frame: its data is compared; late changes have a test of their own
                example.text()
                        .lines()
                        .filter(line -> line.startsWith("data: ") && !line.contains("lag_ms"))
                        .forEach(line -> expected.add(ApiFiles.tree(line.substring("data: ".length()))));
            }
            case "json", PageExamples.Example.INLINE -> {
                for (JsonNode value : values(example)) {
                    String path = path(value);
                    if (path != null) {
                        request(path, value.toString(), id);
                    } else if (!value.has("lag_ms")) {
                        expected.add(value);
                    }
                }
            }
            default -> throw new AssertionError("nobody runs a block of " + example.kind());
        }
    }

    /// What is in braces in a line may be a form with names for its parts, and no JSON.
    private static List<JsonNode> values(PageExamples.Example example) {
        if (!example.kind().equals(PageExamples.Example.INLINE)) {
            List<JsonNode> values = new ArrayList<>();
            ApiFiles.trees(example.text()).forEach(values::add);
            return values;
        }
        try {
            return List.of(ApiFiles.tree(example.text()));
        } catch (AssertionError e) {
            return List.of();
        }
    }

    /// Where a value would be sent, null when it is an answer or an event.
    private static @Nullable String path(JsonNode value) {
        if (value.has("access_token")) {
            return "/token";
        }
        if (value.has("equalities")) {
            return "/admin/shapes/drop";
        }
        if (value.has("subscriptions") && !value.has("server_time")) {
            return "/stream";
        }
        if (value.has("action") && value.has("meta")) {
            return "/presence";
        }
        if (value.has("subs")) {
            return "/unsubscribe";
        }
        return value.has("channel") && !value.has("event") && !value.has("type") ? "/subscribe" : null;
    }

    private void request(String path, String body, String id) throws Exception {
        String token = sluice.token(SUBJECT, path.startsWith("/admin") ? "service_role" : "authenticated");
        String whole = body.replace("eyJ...", token).replaceAll("\"stream_id\":\\s*\"[^\"]*\"", named(id));
        if (path.equals("/stream")) {
            try (SseClient opened = SseClient.post(sluice.uri("/sluice/v1/stream"), whole)
                    .bearer(token)
                    .open()) {
                assertThat(opened.status()).as(body).isEqualTo(200);
                SseEvent ready = opened.await("ready");
                assertThat(ready.data()).contains("\"ok\":true").doesNotContain("\"ok\":false");
                said.add(ready.json());
                database.execute("INSERT INTO documents (id, owner_id, title) VALUES (%d, '%s', 'Plan')"
                        .formatted(++lastId, SUBJECT));
                said.add(opened.await("change").json());
            }
            return;
        }
        if (path.equals("/subscribe") && !whole.contains("subscriptions")) {
            whole = "{" + named(id) + ",\"subscriptions\":[" + whole + "]}";
        }
        HttpResponse<String> answer = sluice.post(path, token, whole);
        assertThat(answer.statusCode()).as(path + " " + body + answer.body()).isEqualTo(200);
        JsonNode said = tree(answer);
        this.said.add(said);
        said.path("results").forEach(this.said::add);
    }

    private static String named(String id) {
        return "\"stream_id\":\"" + id + "\"";
    }

    /// Ada came by the page's own request. Whoever joins is told so; then she changes while another one goes.
    private void presence(String hers, String others, SseClient listener) throws Exception {
        try (SseClient late =
                sluice.stream(sluice.token(OTHER), "{\"sub\":\"room\",\"channel\":\"room:42\",\"presence\":true}")) {
            late.await("presence");
            said.addAll(data(late));
        }
        // both within one interval, which a busy machine may miss
        for (int attempt = 0; attempt < 40; attempt++) {
            track(OTHER, others, "track", "{}");
            listener.await(
                    event -> event.is("presence") && event.json().path("joins").has(OTHER));
            track(OTHER, others, "untrack", "{}");
            track(SUBJECT, hers, "update", "{\"n\":" + attempt + "}");
            track(SUBJECT, hers, "update", "{}");
            SseEvent told = listener.await(
                    event -> event.is("presence") && event.json().path("leaves").has(OTHER));
            if (told.json().has("joins")) {
                return;
            }
        }
    }

    private static void track(String subject, String id, String action, String meta) throws Exception {
        String body = "{" + named(id) + ",\"channel\":\"room:42\",\"action\":\"" + action + "\",\"meta\":" + meta + "}";
        assertThat(sluice.post("/presence", sluice.token(subject), body).statusCode())
                .isEqualTo(200);
    }

    private static JsonNode health() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return tree(client.send(
                    HttpRequest.newBuilder(sluice.uri("/sluice/v1/healthz")).build(),
                    HttpResponse.BodyHandlers.ofString()));
        }
    }

    private static List<JsonNode> data(SseClient stream) {
        return stream.received().stream().map(SseEvent::json).toList();
    }

    private static JsonNode tree(HttpResponse<String> answer) {
        return ApiFiles.tree(answer.body());
    }

    /// Whether two values have the same members all the way down, and the same texts but volatile ones.
    private static boolean similar(String name, JsonNode one, JsonNode other) {
        if (one.isObject() && other.isObject()) {
            return ApiFiles.names(one).equals(ApiFiles.names(other))
                    && one.properties().stream()
                            .allMatch(member -> similar(
                                    member.getKey(),
                                    member.getValue(),
                                    Objects.requireNonNull(other.get(member.getKey()))));
        }
        if (one.isArray() && other.isArray() && !one.isEmpty() && !other.isEmpty()) {
            return similar(name, one.get(0), other.get(0));
        }
        if ((one.isNumber() && other.isNumber()) || (one.isTextual() && VOLATILE.contains(name))) {
            return one.getNodeType() == other.getNodeType();
        }
        return one.equals(other);
    }

    @Test
    void every_filter_of_the_page_is_granted() {
        List<String> filters = PageExamples.firstColumn("protocol.md", "| Filter | Rows |");
        assertThat(filters).hasSizeGreaterThan(5);
        for (String filter : filters) {
            String quoted = TextNode.valueOf(filter).toString();
            try (SseClient alice =
                    sluice.stream(sluice.token(SUBJECT), shape("s", "documents", ",\"filter\":" + quoted))) {
                assertThat(alice.await("ready").data()).as(filter).contains("\"ok\":true");
            }
        }
    }
}
