package sluice.server.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Locale;

/// What any client asks of its stream once it is open.
///
/// @param token of whoever opened the stream
record StreamRequests(HttpClient client, String baseUrl, String streamId, String token) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /// Whether a subscription begins with the rows there are.
    enum Initial {
        NONE,
        SNAPSHOT
    }

    /// One more table.
    ///
    /// @return the subscription's result
    JsonNode subscribe(String table, Initial initial) throws DemoException, InterruptedException {
        ObjectNode body = JSON.createObjectNode().put("stream_id", streamId);
        body.putArray("subscriptions")
                .addObject()
                .put("sub", table)
                .putObject("shape")
                .put("table", table)
                .put("initial", initial.name().toLowerCase(Locale.ROOT));
        return post("/subscribe", body).path("results").path(0);
    }

    /// The stream goes on under this token.
    ///
    /// @return how many subscriptions it may not have
    int renew(String newToken) throws DemoException, InterruptedException {
        ObjectNode body = JSON.createObjectNode().put("stream_id", streamId).put("access_token", newToken);
        return post("/token", body).path("revoked_subscriptions").asInt(-1);
    }

    /// Speaks in a channel.
    ///
    /// @return the answer, a refusal too
    JsonNode publish(String channel, String event) throws DemoException, InterruptedException {
        ObjectNode body = JSON.createObjectNode()
                .put("stream_id", streamId)
                .put("channel", channel)
                .put("event", event);
        return read(answer("/publish", body));
    }

    /// The caller is present in a channel the stream has joined.
    ///
    /// @param meta what the others are shown
    void track(String channel, String meta) throws DemoException, InterruptedException {
        ObjectNode body = JSON.createObjectNode()
                .put("stream_id", streamId)
                .put("channel", channel)
                .put("meta", meta);
        post("/presence", body);
    }

    private JsonNode post(String path, ObjectNode body) throws DemoException, InterruptedException {
        HttpResponse<String> answer = answer(path, body);
        if (answer.statusCode() != 200) {
            throw new DemoException(path + " was refused: " + answer.body().strip(), "");
        }
        return read(answer);
    }

    private static JsonNode read(HttpResponse<String> answer) throws DemoException {
        try {
            return JSON.readTree(answer.body());
        } catch (JsonProcessingException e) {
            throw new DemoException("an answer is not JSON: " + answer.body().strip(), "");
        }
    }

    private HttpResponse<String> answer(String path, ObjectNode body) throws DemoException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(baseUrl + DemoOptions.PREFIX + path))
                .timeout(Duration.ofSeconds(15))
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
                .build();
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new DemoException(path + " was not answered (" + e.getMessage() + ")", "");
        }
    }

    /// The token is never printed.
    @Override
    public String toString() {
        return "StreamRequests[" + streamId + "]";
    }
}
