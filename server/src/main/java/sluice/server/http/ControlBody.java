package sluice.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.ControlRequest;
import sluice.core.dispatch.ShapeSelection;
import sluice.core.dispatch.ShapeSelection.Equality;
import sluice.core.shape.FilterParser;
import sluice.core.value.JsonLine;

/// The body of a control request.
///
/// Every method that reads one throws {@link sluice.core.error.RequestException} `BAD_REQUEST`.
///
/// @param streamId null when the body names no stream
record ControlBody(@Nullable String streamId, ControlRequest request) {
    private static final String STREAM_ID = "stream_id";

    static ControlBody subscribe(byte[] body) {
        JsonNode root = JsonBody.object(body);
        JsonBody.onlyMembers(root, List.of(STREAM_ID, "subscriptions"));
        JsonNode entries = root.get("subscriptions");
        if (entries == null || entries.isNull()) {
            throw JsonBody.bad("\"subscriptions\" is missing");
        }
        return new ControlBody(
                JsonBody.text(root, STREAM_ID), new ControlRequest.Subscribe(SubscriptionsBody.entries(entries)));
    }

    static ControlBody unsubscribe(byte[] body) {
        JsonNode root = JsonBody.object(body);
        JsonBody.onlyMembers(root, List.of(STREAM_ID, "subs"));
        return new ControlBody(
                JsonBody.text(root, STREAM_ID), new ControlRequest.Unsubscribe(JsonBody.requiredTexts(root, "subs")));
    }

    /// The body of `/token`.
    ///
    /// @param accessToken not verified yet
    record Token(String streamId, String accessToken) {
        static Token of(byte[] body) {
            JsonNode root = JsonBody.object(body);
            JsonBody.onlyMembers(root, List.of(STREAM_ID, "access_token"));
            return new Token(JsonBody.requiredText(root, STREAM_ID), JsonBody.requiredText(root, "access_token"));
        }

        /// The token is never printed.
        @Override
        public String toString() {
            return "Token[" + streamId + "]";
        }
    }

    /// The value as PostgreSQL writes it: a number with the digits it came with, a boolean as `t` or `f`.
    private static String constant(byte[] body, String column, JsonNode value) {
        if (value.isBoolean()) {
            return value.booleanValue() ? "t" : "f";
        }
        byte[] line = value.isNumber() ? JsonLine.of(body) : null;
        byte[] equalities = line == null ? null : JsonLine.member(line, "equalities");
        byte[] digits = equalities == null ? null : JsonLine.member(equalities, column);
        return digits == null ? value.asText() : new String(digits, StandardCharsets.US_ASCII);
    }

    /// The body of `/admin/shapes/drop`.
    static ShapeSelection selection(byte[] body) {
        JsonNode root = JsonBody.object(body);
        JsonBody.onlyMembers(root, List.of("schema", "table", "equalities", "identity"));
        String schema = JsonBody.text(root, "schema");
        String table = JsonBody.requiredText(root, "table");
        JsonNode equalities = root.get("equalities");
        if (equalities == null || !equalities.isObject() || equalities.isEmpty()) {
            throw JsonBody.bad("\"equalities\" must be an object with at least one column");
        }
        if (equalities.size() > FilterParser.TERMS_MAX) {
            throw JsonBody.bad("\"equalities\" has more columns than a filter may have conditions");
        }
        List<Equality> wanted = new ArrayList<>();
        for (Map.Entry<String, JsonNode> equality : equalities.properties()) {
            if (!equality.getValue().isValueNode() || equality.getValue().isNull()) {
                throw JsonBody.bad("a value of \"equalities\" must be a string, a number or a boolean");
            }
            wanted.add(new Equality(equality.getKey(), constant(body, equality.getKey(), equality.getValue())));
        }
        JsonNode identity = root.get("identity");
        if (identity == null || identity.isNull()) {
            return new ShapeSelection(schema == null ? "public" : schema, table, wanted, null, null);
        }
        if (!identity.isObject()) {
            throw JsonBody.bad("\"identity\" must be an object");
        }
        JsonBody.onlyMembers(identity, List.of("sub", "role"));
        return new ShapeSelection(
                schema == null ? "public" : schema,
                table,
                wanted,
                JsonBody.text(identity, "sub"),
                JsonBody.text(identity, "role"));
    }
}
