package sluice.bench;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import sluice.bench.client.WallClock;

/// Publishes to a channel that a stream of its own has joined. That stream hears nothing of it.
final class PacedPublisher extends PacedSource {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String READY = "data: ";

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String base;
    private final String token;
    private final InputStream stream;
    private final String streamId;

    /// Opens its stream.
    PacedPublisher(int port, String token) throws BenchException, InterruptedException {
        this.base = "http://127.0.0.1:" + port + ServerProcess.PREFIX;
        this.token = token;
        try {
            HttpResponse<InputStream> answer =
                    http.send(post("/stream", Tables.channelRequest()), BodyHandlers.ofInputStream());
            stream = answer.body();
            streamId = streamId(new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new BenchException("the publisher's stream cannot be opened: " + e.getMessage());
        }
    }

    private static String streamId(BufferedReader lines) throws IOException, BenchException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(READY)) {
                return new JsonMapper()
                        .readTree(line.substring(READY.length()))
                        .path("stream_id")
                        .asText();
            }
        }
        throw new BenchException("the publisher's stream ended before it began");
    }

    private HttpRequest post(String path, String body) {
        return HttpRequest.newBuilder(URI.create(base + path))
                .timeout(TIMEOUT)
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    @Override
    void give(int number) throws BenchException, InterruptedException {
        String body = "{\"stream_id\":\"" + streamId + "\",\"channel\":\"" + Tables.CHANNEL
                + "\",\"event\":\"said\",\"payload\":{\"n\":" + number + ",\"t\":" + WallClock.micros() + "}}";
        try {
            HttpResponse<String> answer = http.send(post("/publish", body), BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new BenchException("publishing failed: " + answer.body().strip());
            }
        } catch (IOException e) {
            throw new BenchException("publishing failed: " + e.getMessage());
        }
    }

    @Override
    public void close() throws BenchException {
        try {
            stream.close();
        } catch (IOException e) {
            throw new BenchException("the publisher's stream cannot be closed: " + e.getMessage());
        } finally {
            http.shutdownNow();
        }
    }
}
