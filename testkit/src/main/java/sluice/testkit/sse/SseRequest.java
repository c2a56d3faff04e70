package sluice.testkit.sse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/// What a client asks for, built up in steps and opened once or often.
///
/// @param headers by name as it is sent
/// @param queueMax events that may wait for the test; then nothing more is read
/// @param receiveBufferBytes what the kernel may hold for a test that does not read; 0 leaves it to the kernel
public record SseRequest(
        URI uri,
        String method,
        Map<String, String> headers,
        String body,
        Transport transport,
        int queueMax,
        int receiveBufferBytes) {
    public static final int QUEUE_MAX = 100_000;

    public SseRequest {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    static SseRequest to(URI uri, String method, String body) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("accept", "text/event-stream");
        if (!body.isEmpty()) {
            headers.put("content-type", "application/json");
        }
        return new SseRequest(uri, method, headers, body, Transport.http1(), QUEUE_MAX, 0);
    }

    public SseRequest bearer(String token) {
        return header("authorization", "Bearer " + token);
    }

    public SseRequest header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new SseRequest(uri, method, more, body, transport, queueMax, receiveBufferBytes);
    }

    public SseRequest over(Transport other) {
        return new SseRequest(uri, method, headers, body, other, queueMax, receiveBufferBytes);
    }

    /// For tests of slow readers, over HTTP/1.1 only.
    public SseRequest holdingAtMost(int events, int kernelBytes) {
        return new SseRequest(uri, method, headers, body, transport, events, kernelBytes);
    }

    /// Sends the request and returns when the response's head is there, whatever its status.
    public SseClient open() {
        try {
            return new SseClient(transport.open(this), queueMax);
        } catch (IOException e) {
            throw new UncheckedIOException(method + " " + uri, e);
        }
    }
}
