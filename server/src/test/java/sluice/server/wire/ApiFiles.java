package sluice.server.wire;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.Error;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Both API files, and what they say about a value.
///
/// The files leave objects of answers and events open, so that a client bears members of a later server. Here every
/// object with members is closed: a member that a file does not name is a problem.
public final class ApiFiles {
    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final String SCHEMAS = "#/components/schemas/";
    private static final String REQUESTS = "#/$defs/";
    private static final String STREAM = "#/$defs/stream.";
    private static final String STREAM_NAME = "stream.";
    private static final String OPENAPI_HOST = "https://spec.openapis.org/";

    private final JsonNode asyncapi;
    private final JsonNode openapi;

    /// The schemas of both files in one document.
    private final ObjectNode both;

    private ApiFiles(JsonNode asyncapi, JsonNode openapi) {
        this.asyncapi = asyncapi;
        this.openapi = openapi;
        this.both = JsonNodeFactory.instance.objectNode();
        ObjectNode schemas = both.putObject("$defs");
        JsonNode requests = closed(openapi.at("/components/schemas"), "asyncapi.yaml" + SCHEMAS, STREAM);
        schemas.setAll((ObjectNode) closed(requests, SCHEMAS, REQUESTS));
        for (Map.Entry<String, JsonNode> schema :
                closed(asyncapi.at("/components/schemas"), SCHEMAS, STREAM).properties()) {
            schemas.set(STREAM_NAME + schema.getKey(), schema.getValue());
        }
    }

    public static ApiFiles read() {
        return new ApiFiles(yaml("asyncapi.yaml"), yaml("openapi.yaml"));
    }

    private static JsonNode yaml(String name) {
        try {
            return new YAMLMapper().readTree(Files.readAllBytes(page(name)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A file of the docs folder.
    public static Path page(String name) {
        return Path.of(System.getProperty("sluice.root")).resolve("docs").resolve(name);
    }

    public JsonNode asyncapi() {
        return asyncapi;
    }

    public JsonNode openapi() {
        return openapi;
    }

    /// The kinds of events, the comment that is a heartbeat among them.
    public Set<String> kinds() {
        return names(asyncapi.at("/components/messages"));
    }

    public Set<String> requestSchemas() {
        return names(openapi.at("/components/schemas"));
    }

    public Set<String> streamSchemas() {
        return names(asyncapi.at("/components/schemas"));
    }

    /// The names of an object's members.
    public static Set<String> names(JsonNode object) {
        Set<String> names = new TreeSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    /// What is wrong with an event, nothing when all is well.
    public List<String> event(String kind, JsonNode data) {
        JsonNode payload = asyncapi.at("/components/messages").path(kind).path("payload");
        if (payload.isMissingNode()) {
            return List.of("no event of the kind " + kind);
        }
        return problems(payload.path("$ref").asText().replace(SCHEMAS, STREAM), data);
    }

    /// What is wrong with an answer to a request, nothing when all is well.
    ///
    /// @param path without the prefix
    public List<String> answer(String method, String path, int status, JsonNode body) {
        JsonNode response = openapi.path("paths")
                .path(path)
                .path(method.toLowerCase(Locale.ROOT))
                .path("responses")
                .path(Integer.toString(status));
        if (response.has("$ref")) {
            response = openapi.at(response.path("$ref").asText().substring(1));
        }
        JsonNode schema = response.at("/content/application~1json/schema/$ref");
        return schema.isMissingNode()
                ? List.of(method + " " + path + " has no answer " + status)
                : problems(schema.asText().replace(SCHEMAS, REQUESTS), body);
    }

    /// Whether a value is what a schema of the requests' file says.
    public List<String> request(String schema, JsonNode value) {
        return problems(REQUESTS + schema, value);
    }

    /// Whether a value is what a schema of the stream's file says.
    public List<String> stream(String schema, JsonNode value) {
        return problems(STREAM + schema, value);
    }

    private List<String> problems(String reference, JsonNode value) {
        ObjectNode document = both.deepCopy();
        document.put("$schema", SpecificationVersion.DRAFT_2020_12.getDialectId());
        document.put("$ref", reference);
        return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(document)
                .validate(value)
                .stream()
                .map(ApiFiles::text)
                .toList();
    }

    private static String text(Error error) {
        return error.getInstanceLocation() + ": " + error.getMessage();
    }

    /// What the published schema of AsyncAPI 3.0 has against a document.
    public static List<String> asyncapiProblems(JsonNode document) {
        return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_7)
                .getSchema(tree(resource("asyncapi-3.0.0.json")))
                .validate(document)
                .stream()
                .map(ApiFiles::text)
                .toList();
    }

    /// What the published schema of OpenAPI 3.1, with its dialect of JSON Schema, has against a document.
    public static List<String> openapiProblems(JsonNode document) {
        return SchemaRegistry.withDefaultDialect(
                        SpecificationVersion.DRAFT_2020_12, registry -> registry.schemas(ApiFiles::published))
                .getSchema(SchemaLocation.of(OPENAPI_HOST + "oas/3.1/schema-base/2022-10-07"))
                .validate(document)
                .stream()
                .map(ApiFiles::text)
                .toList();
    }

    private static @Nullable String published(String id) {
        return id.startsWith(OPENAPI_HOST)
                ? resource(URI.create(id).getHost() + URI.create(id).getPath())
                : null;
    }

    private static String resource(String name) {
        try (InputStream in = ApiFiles.class.getClassLoader().getResourceAsStream(name)) {
            if (in == null) {
                throw new AssertionError("not on the class path: " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The objects that stand in a text one after another.
    public static List<JsonNode> trees(String text) {
        try (var values = JSON.readerFor(JsonNode.class).<JsonNode>readValues(text)) {
            return values.readAll();
        } catch (IOException e) {
            throw new AssertionError("not JSON: " + text, e);
        }
    }

    public static JsonNode tree(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new AssertionError("not JSON: " + text, e);
        }
    }

    /// A copy in which objects with members have no others, and references lead elsewhere.
    private static JsonNode closed(JsonNode schema, String from, String to) {
        if (schema.isArray()) {
            ArrayNode items = JsonNodeFactory.instance.arrayNode();
            schema.forEach(item -> items.add(closed(item, from, to)));
            return items;
        }
        if (!schema.isObject()) {
            return schema;
        }
        ObjectNode copy = JsonNodeFactory.instance.objectNode();
        for (Map.Entry<String, JsonNode> member : schema.properties()) {
            JsonNode value = member.getValue();
            boolean reference = member.getKey().equals("$ref") && value.asText().startsWith(from);
            copy.set(
                    member.getKey(),
                    reference
                            ? TextNode.valueOf(to + value.asText().substring(from.length()))
                            : closed(value, from, to));
        }
        if (copy.path("type").asText().equals("object")
                && copy.path("properties").isObject()
                && !copy.has("additionalProperties")) {
            copy.put("additionalProperties", false);
        }
        return copy;
    }

    /// Every name of a member in the schemas below a node.
    public static Set<String> members(JsonNode schema) {
        Set<String> names = new TreeSet<>(names(schema.path("properties")));
        for (JsonNode child : schema) {
            names.addAll(members(child));
        }
        return names;
    }

    /// Every name of a member in a value, however deep.
    public static Set<String> membersOf(Iterable<JsonNode> values) {
        Set<String> names = new TreeSet<>();
        List<JsonNode> left = new ArrayList<>();
        values.forEach(left::add);
        while (!left.isEmpty()) {
            JsonNode value = left.removeLast();
            if (value.isObject()) {
                names.addAll(names(value));
            }
            Iterator<JsonNode> children = value.elements();
            children.forEachRemaining(left::add);
        }
        return names;
    }
}
