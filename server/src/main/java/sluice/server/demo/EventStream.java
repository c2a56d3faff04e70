package sluice.server.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One stream, read the way any client reads it: over HTTP, from loopback.
///
/// Events are read by the HTTP client's thread into a queue; everything else is for one thread.
final class EventStream implements AutoCloseable {
    /// The check writes a few dozen rows. A queue that fills up is a stream gone wrong, and closes it.
    private static final int EVENTS_MAX = 10_000;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>(EVENTS_MAX);
    private final Lines lines = new Lines(events);

    /// @param name the `event:` line, or `closed` for the end of the stream
    /// @param receivedAt when its last line was read
    record Event(String name, JsonNode data, Instant receivedAt) {
        static final String CLOSED = "closed";
    }

    private EventStream() {}

    /// Opens the stream and reads nothing yet.
    ///
    /// @param body the JSON of `POST /stream`
    /// @throws DemoException when the server refuses
    static EventStream open(HttpClient client, URI url, String token, String body) throws DemoException {
        EventStream stream = new EventStream();
        HttpRequest request = HttpRequest.newBuilder(url)
                .timeout(Duration.ofSeconds(15))
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .header("Accept", "text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse.BodyHandler<@Nullable Void> handler = answer -> BodySubscribers.fromLineSubscriber(stream.lines);
        CompletableFuture<HttpResponse<@Nullable Void>> response = client.sendAsync(request, handler);
        var _ = response.whenComplete((answer, problem) -> {
            if (problem != null || answer.statusCode() != 200) {
                String reason = problem != null ? problem.toString() : "status " + answer.statusCode();
                stream.lines.end(reason);
            }
        });
        return stream;
    }

    /// The next event, `closed` included.
    ///
    /// @return null when none came in time
    @Nullable
    Event next(Duration patience) throws InterruptedException {
        return events.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        lines.cancel();
    }

    /// Puts lines together to events. All fields belong to the HTTP client's thread, except that any may cancel.
    private static final class Lines implements Flow.Subscriber<String> {
        private final BlockingQueue<Event> events;
        private final CompletableFuture<Flow.Subscription> source = new CompletableFuture<>();
        private final StringBuilder data = new StringBuilder();
        private String name = "";

        Lines(BlockingQueue<Event> events) {
            this.events = events;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            source.complete(subscription);
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(String line) {
            if (line.isEmpty()) {
                dispatch();
            } else if (line.startsWith("event:")) {
                name = line.substring("event:".length()).strip();
            } else if (line.startsWith("data:")) {
                data.append(line.substring("data:".length()).strip());
            } else if (line.startsWith("{")) {
                // A refusal is one line of JSON and not an event stream.
                end(line);
            }
        }

        private void dispatch() {
            if (!name.isEmpty()) {
                try {
                    offer(new Event(name, JSON.readTree(data.toString()), Instant.now()));
                } catch (JsonProcessingException e) {
                    end("an event that is not JSON");
                }
            }
            name = "";
            data.setLength(0);
        }

        private void offer(Event event) {
            if (!events.offer(event)) {
                cancel();
            }
        }

        void end(String reason) {
            offer(new Event(Event.CLOSED, JSON.createObjectNode().put("reason", reason), Instant.now()));
        }

        void cancel() {
            var _ = source.thenAccept(Flow.Subscription::cancel);
        }

        @Override
        public void onError(Throwable problem) {
            end(problem instanceof IOException ? "the connection was lost" : problem.toString());
        }

        @Override
        public void onComplete() {
            end("the server ended it");
        }
    }
}
