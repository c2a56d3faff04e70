package sluice.server.jwks;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Fetches the key set over HTTP.
///
/// Redirects are not followed: whoever answers at the configured address decides whom we believe, and nobody else.
/// The timeout covers connecting, headers and body together.
public final class HttpJwksSource implements JwksSource, AutoCloseable {
    static final int BODY_BYTES_MAX = 1 << 20;

    private final URI url;
    private final Duration timeout;
    private final HttpClient client;

    public HttpJwksSource(URI url, Duration timeout) {
        this.url = url;
        this.timeout = timeout;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(timeout)
                .build();
    }

    @Override
    public byte[] fetch() throws JwksException {
        HttpRequest request = HttpRequest.newBuilder(url)
                .timeout(timeout)
                .header("Accept", "application/json")
                .build();
        CompletableFuture<HttpResponse<byte[]>> call =
                client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), BODY_BYTES_MAX));
        try {
            HttpResponse<byte[]> response = call.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            if (response.statusCode() != 200) {
                throw new JwksException("the key set's address answered " + response.statusCode());
            }
            return response.body();
        } catch (TimeoutException e) {
            throw new JwksException("the key set's address did not answer within " + timeout);
        } catch (ExecutionException e) {
            throw new JwksException("the key set's address could not be read: " + reason(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new JwksException("interrupted while fetching the key set");
        } finally {
            call.cancel(true);
        }
    }

    /// The kind of failure only: an exception's text may repeat what the other side sent.
    private static String reason(ExecutionException failure) {
        Throwable cause = failure.getCause();
        if (cause instanceof IOException && String.valueOf(cause.getMessage()).contains("body exceeds")) {
            return "the body is larger than " + BODY_BYTES_MAX + " bytes";
        }
        return cause == null ? "unknown" : cause.getClass().getSimpleName();
    }

    /// Drops its connections and threads.
    @Override
    public void close() {
        client.shutdownNow();
    }
}
