package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import sluice.core.error.RequestException;
import sluice.core.shape.SubscriptionRequest;
import sluice.server.wire.ApiFiles;
import sluice.server.wire.PageExamples;

/// Every JSON example of the protocol's page, against the API files and the readers of request bodies; and each of
/// these against the other. A server is asked with them in `ProtocolPagePgTest`.
///
/// An example is a value in a block of `json`, the body in one of `http`, the data in one of `text`, or whatever is
/// JSON between two backquotes in a line. It has to be a request that its reader takes, or an answer or event that
/// the files know.
class ProtocolExamplesTest {
    private static final ApiFiles FILES = ApiFiles.read();
    private static final String PREFIX = "POST /sluice/v1";

    /// What reads a body, by the name of its schema.
    private static final Map<String, Consumer<byte[]>> READERS = readers();

    private record Example(String schema, String text) {
        private static final String ANY = "";
    }

    private static Map<String, Consumer<byte[]>> readers() {
        Map<String, Consumer<byte[]>> readers = new LinkedHashMap<>();
        readers.put(
                "OpenRequest",
                body -> readable(SubscriptionsBody.Opening.of(body).subscriptions()));
        readers.put("SubscribeRequest", ControlBody::subscribe);
        readers.put("UnsubscribeRequest", ControlBody::unsubscribe);
        readers.put("PublishRequest", body -> ChannelBody.publish(body, 65_536));
        readers.put("PresenceRequest", ChannelBody::presence);
        readers.put("TokenRequest", ControlBody.Token::of);
        readers.put("DropRequest", ControlBody::selection);
        readers.put(
                "Subscription",
                body -> readable(SubscriptionsBody.entries(
                        ApiFiles.tree("[" + new String(body, StandardCharsets.UTF_8) + "]"))));
        return readers;
    }

    private static void readable(List<SubscriptionRequest> requests) {
        for (SubscriptionRequest request : requests) {
            if (request.problem() != null) {
                throw JsonBody.bad(request.problem());
            }
        }
    }

    private static void read(String schema, String body) {
        Objects.requireNonNull(READERS.get(schema)).accept(body.getBytes(StandardCharsets.UTF_8));
    }

    private static String schemaOf(String path) {
        String reference = FILES.openapi()
                .path("paths")
                .path(path)
                .at("/post/requestBody/content/application~1json/schema/$ref")
                .asText();
        return reference.substring(reference.lastIndexOf('/') + 1);
    }

    private static List<Example> examples() {
        List<Example> examples = new ArrayList<>();
        for (PageExamples.Example example : PageExamples.of("protocol.md")) {
            String text = example.text();
            switch (example.kind()) {
                case "json" -> ApiFiles.trees(text).forEach(value -> examples.add(any(value)));
                case "http" -> {
                    String[] headAndBody = text.split("\n\n", 2);
                    String path =
                            headAndBody[0].lines().findFirst().orElseThrow().substring(PREFIX.length());
                    examples.add(new Example(schemaOf(path), headAndBody[1].strip()));
                }
                case "text" -> frame(text, examples);
                case "sql" -> {}
                case PageExamples.Example.INLINE -> {
                    // what is no JSON is a form with names for its parts
                    if (isJson(text)) {
                        examples.add(new Example(Example.ANY, text));
                    }
                }
                default -> throw new AssertionError("no reader for a block of " + example.kind());
            }
        }
        return examples;
    }

    private static Example any(JsonNode value) {
        return new Example(Example.ANY, value.toString());
    }

    private static void frame(String text, List<Example> examples) {
        if (text.startsWith("event: ")) {
            String kind = text.lines().findFirst().orElseThrow().substring("event: ".length());
            text.lines()
                    .filter(line -> line.startsWith("data: "))
                    .forEach(line -> examples.add(new Example("event " + kind, line.substring("data: ".length()))));
        }
    }

    private static boolean isJson(String text) {
        try {
            return ApiFiles.tree(text).isObject();
        } catch (AssertionError e) {
            return false;
        }
    }

    /// The schemas an example fits.
    private static List<String> fitting(JsonNode value) {
        List<String> names = new ArrayList<>();
        for (String name : FILES.requestSchemas()) {
            if (FILES.request(name, value).isEmpty()) {
                names.add(name);
            }
        }
        for (String name : FILES.streamSchemas()) {
            // a row may have any members, so everything would be one
            if (!name.equals("Row") && FILES.stream(name, value).isEmpty()) {
                names.add(name);
            }
        }
        return names;
    }

    @Test
    void every_example_of_the_page_is_taken_by_its_reader_or_is_what_the_files_say() {
        List<Example> examples = examples();
        List<String> unknown = new ArrayList<>();
        assertThat(examples).hasSizeGreaterThan(15);
        for (Example example : examples) {
            JsonNode value = ApiFiles.tree(example.text());
            if (example.schema().startsWith("event ")) {
                assertThat(FILES.event(example.schema().substring("event ".length()), value))
                        .as(example.text())
                        .isEmpty();
                continue;
            }
            List<String> fitting = fitting(value);
            if (example.schema().equals(Example.ANY)) {
                if (fitting.isEmpty()) {
                    unknown.add(example.text());
                }
            } else {
                assertThat(FILES.request(example.schema(), value))
                        .as(example.text())
                        .isEmpty();
            }
            for (String schema : fitting) {
                if (READERS.containsKey(schema)) {
                    read(schema, example.text());
                }
            }
        }
        assertThat(unknown).as("examples that neither file knows").isEmpty();
    }

    @Test
    void every_path_of_the_page_is_in_the_file_and_no_other() throws IOException {
        Pattern row = Pattern.compile("(?m)^\\| `(GET|POST)` \\| `([^`]+)` \\|");
        List<String> onPage = new ArrayList<>();
        Matcher rows = row.matcher(Files.readString(ApiFiles.page("protocol.md")));
        while (rows.find()) {
            onPage.add(rows.group(1) + " " + rows.group(2));
        }
        List<String> inFile = new ArrayList<>();
        FILES.openapi()
                .path("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .fieldNames()
                        .forEachRemaining(method -> inFile.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
        assertThat(inFile).containsExactlyInAnyOrderElementsOf(onPage);
    }

    /// Bodies with every member that the file names.
    private static Map<String, String> whole() {
        String shape = """
            {"sub": "a", "resume": {"lsn": "0/1", "history": "n1", "complete": true},
             "shape": {"schema": "public", "table": "documents", "filter": "id=eq.1", "columns": ["id"],
                       "ops": ["TRUNCATE"], "transitions": true, "initial": "snapshot"}}\
            """;
        Map<String, String> bodies = new LinkedHashMap<>();
        bodies.put("OpenRequest", """
            {"subscriptions": [%s, {"sub": "b", "channel": "room:1", "presence": true}],
             "resume": {"public.documents": "0/1"}, "transactions": true}\
            """.formatted(shape));
        bodies.put("SubscribeRequest", "{\"stream_id\": \"n1\", \"subscriptions\": [" + shape + "]}");
        bodies.put("UnsubscribeRequest", "{\"stream_id\": \"n1\", \"subs\": [\"a\"]}");
        bodies.put("PublishRequest", """
            {"stream_id": "n1", "channel": "room:1", "event": "e", "payload": [1], "self": true}\
            """);
        bodies.put("PresenceRequest", """
            {"stream_id": "n1", "channel": "room:1", "action": "track", "key": "k", "meta": 1}\
            """);
        bodies.put("TokenRequest", "{\"stream_id\": \"n1\", \"access_token\": \"t\"}");
        bodies.put("DropRequest", """
            {"schema": "public", "table": "documents", "equalities": {"a": 1, "b": true, "c": "x"},
             "identity": {"sub": "s", "role": "r"}}\
            """);
        bodies.put("Subscription", shape);
        return bodies;
    }

    @Test
    void a_body_with_every_member_of_the_file_is_read_and_one_with_another_is_not() {
        assertThat(whole().keySet()).isEqualTo(READERS.keySet());
        whole().forEach((schema, body) -> {
            JsonNode value = ApiFiles.tree(body);
            assertThat(FILES.request(schema, value)).as(schema).isEmpty();
            read(schema, body);
            for (String member : ApiFiles.names(FILES.openapi().at("/components/schemas/" + schema + "/properties"))) {
                boolean ofAChannel = schema.equals("Subscription")
                        && List.of("channel", "presence").contains(member);
                assertThat(value.has(member) || ofAChannel)
                        .as("%s of %s", member, schema)
                        .isTrue();
            }
            ObjectNode more = value.deepCopy();
            more.put("nonsense", 1);
            assertThat(FILES.request(schema, more)).as(schema).isNotEmpty();
            assertThatThrownBy(() -> read(schema, more.toString())).as(schema).isInstanceOf(RequestException.class);
        });
    }

    /// Bodies with something wrong: the file has to say so as well as the reader.
    private static final Map<String, List<String>> WRONG = wrong();

    private static Map<String, List<String>> wrong() {
        Map<String, List<String>> wrong = new LinkedHashMap<>();
        wrong.put(
                "OpenRequest",
                List.of(
                        "{\"subscriptions\": {}}",
                        "{\"transactions\": 1}",
                        "{\"resume\": []}",
                        "{\"subscriptions\": [1]}"));
        wrong.put("SubscribeRequest", List.of("{}", "{\"subscriptions\": null}", "{\"subscriptions\": 1}"));
        wrong.put("UnsubscribeRequest", List.of("{}", "{\"subs\": \"a\"}", "{\"subs\": [1]}"));
        wrong.put(
                "PublishRequest",
                List.of(
                        "{\"channel\": \"a:b\"}",
                        "{\"event\": \"e\"}",
                        "{\"channel\": \"a:b\", \"event\": \"\"}",
                        "{\"channel\": \"a:b\", \"event\": \"e\", \"self\": 1}"));
        wrong.put("PresenceRequest", List.of("{}", "{\"channel\": 1}", "{\"channel\": \"a:b\", \"key\": 1}"));
        wrong.put("TokenRequest", List.of("{\"stream_id\": \"a\"}", "{\"access_token\": \"a\"}"));
        wrong.put(
                "DropRequest",
                List.of(
                        "{\"table\": \"t\"}",
                        "{\"table\": \"t\", \"eq\": {}}",
                        "{\"eq\": {\"a\": 1}}",
                        "{\"table\": \"t\", \"eq\": {\"a\": [1]}}",
                        "{\"table\": \"t\", \"eq\": {\"a\": null}}"));
        wrong.put(
                "Subscription",
                List.of(
                        "{\"sub\": \"a\", \"shape\": {}}",
                        "{\"sub\": \"a\", \"shape\": {\"table\": \"t\"}, \"channel\": \"a:b\"}",
                        "{\"sub\": \"a\", \"shape\": {\"table\": \"t\"}, \"presence\": true}",
                        "{\"sub\": \"a\", \"channel\": \"a:b\", \"resume\": \"0/1\"}",
                        "{\"sub\": \"a\", \"shape\": {\"table\": \"t\", \"initial\": \"all\"}}",
                        "{\"sub\": \"a\", \"shape\": {\"table\": \"t\", \"columns\": \"id\"}}",
                        "{\"sub\": \"a\", \"shape\": {\"table\": \"t\"}, \"resume\": {}}",
                        "{\"sub\": \"a\", \"shape\": {\"table\": \"t\"}, \"resume\": 1}"));
        return wrong;
    }

    @Test
    void what_a_reader_refuses_is_not_what_the_file_says() {
        assertThat(WRONG.keySet()).isEqualTo(READERS.keySet());
        WRONG.forEach((schema, bodies) -> {
            for (String body : bodies) {
                assertThat(FILES.request(schema, ApiFiles.tree(body))).as(body).isNotEmpty();
                assertThatThrownBy(() -> read(schema, body)).as(body).isInstanceOf(RequestException.class);
            }
        });
    }
}
