package sluice.server.hook;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.HookAnswer;
import sluice.core.channel.HookAnswer.Verdict;
import sluice.core.channel.HookQuestion;
import sluice.core.channel.Namespaces;
import sluice.core.value.ByteSink;
import sluice.core.value.JsonString;

/// Asks hooks over HTTP. Thread-safe; each call waits for its answer, within its timeout.
///
/// Only a clear answer is a verdict: `2xx` with a readable `allow`, or `403`. Everything else is none, `401`
/// included, which says that this server's own credential was rejected. Redirects are not followed, so that
/// credential goes nowhere else. Of what an endpoint sends only the reason it gives for a denial is told and logged,
/// and of what is sent to it only the kind of a failure.
public final class HttpHooks implements AutoCloseable {
    static final int BODY_BYTES_MAX = 64 << 10;
    private static final int REASON_CHARS_MAX = 200;

    /// A verdict that says it holds for longer is asked for again after this.
    private static final Duration TTL_MAX = Duration.ofDays(1);

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final Options options;
    private final HttpClient client;

    /// @param timeout of one call, connecting and the answer's body included
    /// @param ttl how long a verdict holds that does not say so
    /// @param bearer null when the hooks expect none
    /// @param requestIdHeader in which the id of the client's request is passed on
    public record Options(
            Duration timeout, Duration ttl, @Nullable String bearer, String requestIdHeader) {
        /// The credential is never printed.
        @Override
        public String toString() {
            return "Options[timeout=" + timeout + ", ttl=" + ttl + "]";
        }
    }

    public HttpHooks(Options options) {
        this.options = options;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(options.timeout())
                .build();
    }

    public HookAnswer ask(HookQuestion question) {
        HttpRequest request = request(question);
        long deadline = System.nanoTime() + options.timeout().toNanos();
        try {
            return verdict(call(request, deadline));
        } catch (TimeoutException e) {
            return HookAnswer.none(
                    "the endpoint did not answer within " + options.timeout().toMillis() + " ms");
        } catch (ExecutionException e) {
            return HookAnswer.none("the endpoint could not be asked: " + reason(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return HookAnswer.none("the server is stopping");
        }
    }

    /// An idle connection that the endpoint was just closing fails at once: the same question is put once more.
    private HttpResponse<byte[]> call(HttpRequest request, long deadlineNanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return once(request, deadlineNanos);
        } catch (ExecutionException e) {
            if (isTooLarge(e) || !(e.getCause() instanceof IOException)) {
                throw e;
            }
            return once(request, deadlineNanos);
        }
    }

    private HttpResponse<byte[]> once(HttpRequest request, long deadlineNanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<HttpResponse<byte[]>> call =
                client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), BODY_BYTES_MAX));
        try {
            return call.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } finally {
            call.cancel(true);
        }
    }

    private HttpRequest request(HookQuestion question) {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create(question.key().url()))
                .header("Content-Type", "application/json")
                .header("Accept", "application/json")
                .header("Idempotency-Key", UUID.randomUUID().toString());
        String bearer = options.bearer();
        if (bearer != null) {
            request.header("Authorization", "Bearer " + bearer);
        }
        String requestId = question.requestId();
        if (requestId != null) {
            request.header(options.requestIdHeader(), requestId);
        }
        return request.POST(HttpRequest.BodyPublishers.ofByteArray(body(question)))
                .build();
    }

    private static byte[] body(HookQuestion question) {
        String channel = question.key().channel();
        ByteSink out = new ByteSink(512);
        out.put("{\"action\":\"subscribe\",\"channel\":");
        JsonString.quote(channel, out);
        out.put(",\"namespace\":");
        JsonString.quote(String.valueOf(Namespaces.namespace(channel)), out);
        out.put(",\"role\":");
        JsonString.quote(question.caller().role(), out);
        member(",\"sub\":", question.caller().subject(), out);
        member(",\"session_id\":", question.caller().session(), out);
        out.put(",\"claims\":");
        out.put(question.caller().claims());
        out.put('}');
        return out.toBytes();
    }

    private static void member(String name, @Nullable String value, ByteSink out) {
        if (value != null && !value.isEmpty()) {
            out.put(name);
            JsonString.quote(value, out);
        }
    }

    private HookAnswer verdict(HttpResponse<byte[]> response) {
        int status = response.statusCode();
        if (status == 403) {
            return new HookAnswer(Verdict.DENY, options.ttl(), null);
        }
        if (status == 401) {
            return HookAnswer.none("the endpoint rejected this server's credential");
        }
        if (status < 200 || status > 299) {
            return HookAnswer.none("the endpoint answered " + status);
        }
        JsonNode answer = tree(response.body());
        JsonNode allow = answer == null ? null : answer.get("allow");
        JsonNode ttl = answer == null ? null : answer.get("ttl");
        if (answer == null || allow == null || !allow.isBoolean()) {
            return HookAnswer.none("the endpoint's answer cannot be read");
        }
        if (ttl != null && !ttl.isNull() && !ttl.isNumber()) {
            return HookAnswer.none("the endpoint's answer cannot be read");
        }
        return new HookAnswer(
                allow.booleanValue() ? Verdict.ALLOW : Verdict.DENY,
                ttl == null || ttl.isNull() ? options.ttl() : seconds(ttl.doubleValue()),
                reason(answer.get("reason")));
    }

    private static Duration seconds(double ttl) {
        double bounded = Math.min(Math.max(ttl, 0), (double) TTL_MAX.toSeconds());
        return Duration.ofMillis((long) (bounded * 1000));
    }

    private static @Nullable String reason(@Nullable JsonNode given) {
        if (given == null || !given.isTextual() || given.textValue().isEmpty()) {
            return null;
        }
        String text = given.textValue();
        return text.length() <= REASON_CHARS_MAX ? text : text.substring(0, REASON_CHARS_MAX);
    }

    private static @Nullable JsonNode tree(byte[] body) {
        try {
            JsonNode tree = JSON.readTree(body);
            return tree != null && tree.isObject() ? tree : null;
        } catch (IOException e) {
            return null;
        }
    }

    private static boolean isTooLarge(ExecutionException failure) {
        return failure.getCause() instanceof IOException cause
                && String.valueOf(cause.getMessage()).contains("body exceeds");
    }

    /// The kind of failure only: an exception's text may repeat what the other side sent.
    private static String reason(ExecutionException failure) {
        if (isTooLarge(failure)) {
            return "its answer is larger than " + BODY_BYTES_MAX + " bytes";
        }
        Throwable cause = failure.getCause();
        return cause == null ? "unknown" : cause.getClass().getSimpleName();
    }

    /// Drops its connections and threads.
    @Override
    public void close() {
        client.shutdownNow();
    }
}
