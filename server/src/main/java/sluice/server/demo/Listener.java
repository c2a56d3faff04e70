package sluice.server.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// One stream of a scene of the check: what it is expected to say next, and what it said. For one thread.
final class Listener implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final String name;
    private final EventStream stream;
    private final List<String> problems;
    private final List<String> heard = new ArrayList<>();

    /// @param name what the scene calls it
    /// @param problems takes what did not come as expected
    Listener(String name, EventStream stream, List<String> problems) {
        this.name = name;
        this.stream = stream;
        this.problems = problems;
    }

    /// Reads the next event; warnings, which say how a shape is looked up, are passed over.
    ///
    /// @param parts what its data has to contain
    /// @return the event's data, or a missing node when none came in time
    JsonNode expect(String event, String... parts) throws InterruptedException {
        EventStream.Event next = stream.next(PATIENCE);
        while (next != null && next.name().equals("warning")) {
            next = stream.next(PATIENCE);
        }
        if (next == null) {
            problems.add("%s: \"%s\" was expected, and nothing came".formatted(name, event));
            return MissingNode.getInstance();
        }
        String data = next.data().toString();
        if (!next.name().equals(event) || !Arrays.stream(parts).allMatch(data::contains)) {
            problems.add("%s: \"%s\" with %s was expected, and %s %s came"
                    .formatted(name, event, List.of(parts), next.name(), data));
        }
        heard.add(words(next));
        return next.data();
    }

    /// What it said so far but its `ready`, in order and in few words.
    String heard() {
        List<String> told = heard.stream().filter(word -> !word.isEmpty()).toList();
        return told.isEmpty() ? "nothing" : String.join(", ", told);
    }

    private static String words(EventStream.Event event) {
        JsonNode data = event.data();
        return switch (event.name()) {
            case "ready" -> "";
            case "change" -> "the note \"" + data.at("/record/title").asText() + "\"";
            case "broadcast" ->
                "\"" + data.path("event").asText() + "\" of "
                        + (data.has("from") ? label(data.path("from").asText()) : "the database");
            case "presence" -> presence(data);
            default -> event.name();
        };
    }

    private static String presence(JsonNode data) {
        List<String> words = new ArrayList<>();
        data.path("members").properties().forEach(member -> words.add(shown(member.getKey(), member.getValue())));
        data.path("joins").properties().forEach(member -> words.add(shown(member.getKey(), member.getValue())));
        data.path("leaves").fieldNames().forEachRemaining(key -> words.add(label(key) + " gone"));
        return words.isEmpty() ? "nobody" : String.join(" and ", words);
    }

    private static String shown(String key, JsonNode member) {
        return label(key) + " on the " + member.path("meta").asText();
    }

    private static String label(String id) {
        return Arrays.stream(Person.values())
                .filter(person -> person.id().equals(id))
                .map(Person::label)
                .findFirst()
                .orElse(id);
    }

    @Override
    public void close() {
        stream.close();
    }
}
