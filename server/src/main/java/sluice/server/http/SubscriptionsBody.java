package sluice.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.Namespaces;
import sluice.core.error.RequestException;
import sluice.core.shape.ChannelRequest;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.ShapeRequest.Transitions;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.shape.SubscriptionTarget;
import sluice.core.stream.StreamState.Framing;

/// The body of `POST /stream`, and the entries of `POST /subscribe`.
///
/// Types are strict and nothing is ignored: a member this server does not know, or does not
/// support yet, is named in the
/// refusal. What is wrong with the whole request is thrown; what is wrong with one entry stays with that entry.
final class SubscriptionsBody {
    static final int LABEL_CHARS_MAX = 256;

    private static final List<String> ENTRY_MEMBERS = List.of("sub", "shape", "channel", "presence", "resume");
    private static final List<String> SHAPE_LATER = List.of("track", "resync");
    private static final List<String> SHAPE_MEMBERS =
            List.of("schema", "table", "filter", "columns", "ops", "transitions", "initial");

    private SubscriptionsBody() {}

    /// One entry cannot be read; becomes its `problem`.
    private static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1L;
        private final String problem;

        Unreadable(String problem) {
            super(problem, null, false, false);
            this.problem = problem;
        }
    }

    /// What a stream is opened with.
    record Opening(List<SubscriptionRequest> subscriptions, Framing framing) {
        /// @param body may be empty: a stream without subscriptions
        /// @throws RequestException `BAD_REQUEST` when the body as a whole cannot be read
        static Opening of(byte[] body) {
            if (JsonBody.isBlank(body)) {
                return new Opening(List.of(), Framing.NONE);
            }
            JsonNode root = JsonBody.object(body);
            JsonBody.onlyMembers(root, List.of("subscriptions", "resume", "transactions"));
            return new Opening(requests(root), framing(root));
        }

        private static Framing framing(JsonNode root) {
            JsonNode value = root.get("transactions");
            if (value == null || value.isNull()) {
                return Framing.NONE;
            }
            if (!value.isBoolean()) {
                throw JsonBody.bad("\"transactions\" must be true or false");
            }
            return value.booleanValue() ? Framing.TRANSACTIONS : Framing.NONE;
        }
    }

    private static List<SubscriptionRequest> requests(JsonNode root) {
        JsonNode entries = root.get("subscriptions");
        List<SubscriptionRequest> requests = entries == null || entries.isNull() ? List.of() : entries(entries);
        return ResumeBody.resumed(requests, root.get("resume"));
    }

    /// @throws RequestException `BAD_REQUEST` when it is no array
    static List<SubscriptionRequest> entries(JsonNode entries) {
        if (!entries.isArray()) {
            throw JsonBody.bad("\"subscriptions\" must be an array");
        }
        JsonBody.boundedList(entries, "subscriptions");
        List<SubscriptionRequest> subscriptions = new ArrayList<>();
        for (JsonNode entry : entries) {
            subscriptions.add(entry(entry));
        }
        return subscriptions;
    }

    private static SubscriptionRequest entry(JsonNode entry) {
        String label = "";
        try {
            if (!entry.isObject()) {
                throw new Unreadable("a subscription must be an object");
            }
            String given = text(entry, "sub");
            label = given == null ? "" : given;
            if (label.length() > LABEL_CHARS_MAX) {
                label = "";
                throw new Unreadable("\"sub\" is longer than " + LABEL_CHARS_MAX + " characters");
            }
            for (Map.Entry<String, JsonNode> member : entry.properties()) {
                if (!ENTRY_MEMBERS.contains(member.getKey())) {
                    throw new Unreadable(JsonBody.unknown(member.getKey()));
                }
            }
            return new SubscriptionRequest(label, target(entry), null);
        } catch (RequestException e) {
            return new SubscriptionRequest(label, null, e.getMessage());
        } catch (Unreadable e) {
            return new SubscriptionRequest(label, null, e.problem);
        }
    }

    private static @Nullable SubscriptionTarget target(JsonNode entry) throws Unreadable {
        JsonNode shape = entry.get("shape");
        String channel = text(entry, "channel");
        boolean presence = flag(entry, "presence");
        JsonNode resume = entry.get("resume");
        boolean resumes = resume != null && !resume.isNull();
        if (shape == null || shape.isNull()) {
            if (channel != null && resumes) {
                throw new Unreadable("what was said in a channel is not replayed");
            }
            return channel == null ? null : channel(channel, presence);
        }
        if (channel != null || presence) {
            throw new Unreadable("a subscription has a shape or a channel, not both");
        }
        ShapeRequest read = shape(shape);
        return resume == null || !resumes ? read : read.resumedAt(ResumeBody.ofShape(resume));
    }

    private static ChannelRequest channel(String channel, boolean presence) throws Unreadable {
        if (channel.length() > Namespaces.NAME_CHARS_MAX) {
            throw new Unreadable("\"channel\" is longer than " + Namespaces.NAME_CHARS_MAX + " characters");
        }
        return new ChannelRequest(
                channel, presence ? ChannelRequest.Members.LISTED : ChannelRequest.Members.NOT_LISTED);
    }

    private static boolean flag(JsonNode object, String name) throws Unreadable {
        JsonNode value = object.get(name);
        if (value != null && !value.isNull() && !value.isBoolean()) {
            throw new Unreadable("\"" + name + "\" must be true or false");
        }
        return value != null && value.booleanValue();
    }

    private static ShapeRequest shape(JsonNode shape) throws Unreadable {
        if (!shape.isObject()) {
            throw new Unreadable("\"shape\" must be an object");
        }
        List<String> unsupported = new ArrayList<>();
        for (Map.Entry<String, JsonNode> member : shape.properties()) {
            String name = member.getKey();
            if (SHAPE_LATER.contains(name)) {
                unsupported.add(name);
            } else if (!SHAPE_MEMBERS.contains(name)) {
                throw new Unreadable(JsonBody.unknown(name));
            }
        }
        String initial = text(shape, "initial");
        boolean snapshot = initial != null && initial.equals("snapshot");
        if (initial != null && !snapshot && !initial.equals("none")) {
            throw new Unreadable("\"initial\" must be \"none\" or \"snapshot\"");
        }
        String schema = text(shape, "schema");
        String table = text(shape, "table");
        if (table == null || table.isEmpty()) {
            throw new Unreadable("\"table\" is missing");
        }
        return new ShapeRequest(
                schema == null ? "public" : schema,
                table,
                text(shape, "filter"),
                texts(shape, "columns"),
                texts(shape, "ops"),
                transitions(shape),
                snapshot ? ShapeRequest.Initial.SNAPSHOT : ShapeRequest.Initial.NONE,
                null,
                unsupported);
    }

    private static @Nullable String text(JsonNode object, String name) throws Unreadable {
        JsonNode value = object.get(name);
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isTextual()) {
            throw new Unreadable("\"" + name + "\" must be a string");
        }
        return value.textValue();
    }

    private static @Nullable List<String> texts(JsonNode object, String name) throws Unreadable {
        JsonNode values = object.get(name);
        if (values == null || values.isNull()) {
            return null;
        }
        if (!values.isArray()) {
            throw new Unreadable("\"" + name + "\" must be an array of strings");
        }
        List<String> texts = new ArrayList<>();
        for (JsonNode value : values) {
            if (!value.isTextual()) {
                throw new Unreadable("\"" + name + "\" must be an array of strings");
            }
            texts.add(value.textValue());
        }
        return texts;
    }

    private static Transitions transitions(JsonNode shape) throws Unreadable {
        return flag(shape, "transitions") ? Transitions.REPORTED : Transitions.NOT_REPORTED;
    }
}
