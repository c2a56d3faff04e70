package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import sluice.server.config.Settings;
import sluice.server.config.SettingsReader;
import sluice.server.http.ExtraRoutes;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.http.Claims;
import sluice.testkit.http.JwksServer;
import sluice.testkit.http.TokenSigner;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;
import sluice.testkit.sse.SseRequest;

/// The real server in this process, against a real database: what a test opens streams on.
final class RunningSluice implements AutoCloseable {
    static final String ALICE = "aaaaaaaa-0000-4000-8000-000000000001";
    static final String BOB = "bbbbbbbb-0000-4000-8000-000000000002";

    private final TokenSigner signer = TokenSigner.es256("test");
    private final JwksServer jwks = JwksServer.publishing(signer);
    private final Path spill;
    private final SluiceServer server;

    private RunningSluice(PostgresDatabase database, Map<String, String> overrides) throws Exception {
        spill = Files.createTempDirectory("sluice-spill");
        Map<String, String> environment = environment(database, jwks, spill);
        environment.putAll(overrides);
        Settings settings = new SettingsReader(
                        environment, new SettingsReader.Place("test", Path.of(System.getProperty("java.io.tmpdir"))))
                .read();
        server = SluiceServer.start(settings, ExtraRoutes.NONE);
    }

    /// Every setting a server for tests needs, by its full name.
    static Map<String, String> environment(PostgresDatabase database, JwksServer jwks, Path spill) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("SLUICE_LISTEN_ADDR", "127.0.0.1:0");
        environment.put("SLUICE_DB_REPL_URL", database.url("sluice_repl") + "?replication=database");
        environment.put("SLUICE_DB_AUTHZ_URL", database.url("sluice_authz"));
        environment.put("SLUICE_JWKS_URL", jwks.uri().toString());
        environment.put("SLUICE_ALLOWED_ROLES", "anon,authenticated,service_role");
        environment.put("SLUICE_SLOT_NAME", "sluice_" + database.name());
        environment.put("SLUICE_STATUS_INTERVAL", "200ms");
        environment.put("SLUICE_SPILL_DIR", spill.toString());
        environment.put("SLUICE_LOG_LEVEL", "warn");
        return environment;
    }

    /// Both URLs of a database, each through a proxy.
    static Map<String, String> through(PostgresDatabase database, TcpProxy replication, TcpProxy pool) {
        Map<String, String> urls = new LinkedHashMap<>();
        urls.put("SLUICE_DB_REPL_URL", at(database.url("sluice_repl"), replication.port()) + "?replication=database");
        urls.put("SLUICE_DB_AUTHZ_URL", at(database.url("sluice_authz"), pool.port()));
        return urls;
    }

    /// The URL with another port.
    static String at(String url, int port) {
        return url.replaceFirst(":[0-9]+/", ":" + port + "/");
    }

    /// Starts and waits until streams may open.
    static RunningSluice on(PostgresDatabase database) throws Exception {
        return on(database, Map.of());
    }

    /// @param overrides settings by their full name
    static RunningSluice on(PostgresDatabase database, Map<String, String> overrides) throws Exception {
        RunningSluice running = starting(database, overrides);
        running.awaitServing();
        return running;
    }

    /// Starts and does not wait: streams may be refused yet.
    static RunningSluice starting(PostgresDatabase database, Map<String, String> overrides) throws Exception {
        return new RunningSluice(database, overrides);
    }

    void awaitServing() {
        Await.until("streams may open", Duration.ofSeconds(30), server::isServing);
    }

    /// Two whole rights polls have begun and been answered after this call.
    void awaitPolls() {
        long before = server.rightsPolls();
        Await.until("the rights were polled", Duration.ofSeconds(30), () -> server.rightsPolls() >= before + 3);
    }

    SluiceServer server() {
        return server;
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + server.port() + path);
    }

    /// What `/readyz` answers now.
    int readyStatus() {
        try (SseClient answer = SseClient.get(uri("/readyz")).open()) {
            return answer.status();
        }
    }

    /// A figure of `/metrics`, by its name and labels as they are written there; 0 when it is absent.
    double figure(String name) throws Exception {
        return metrics()
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                .sum();
    }

    /// What `/metrics` says now.
    String metrics() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(uri("/metrics")).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    String sign(Claims claims) {
        return signer.sign(claims);
    }

    String token(String subject) {
        return token(subject, "authenticated");
    }

    String token(String subject, String role) {
        return signer.sign(Claims.of(subject).role(role).audience("authenticated"));
    }

    /// Opens a stream of one shape; `ready` is still to be read.
    SseClient stream(String token, String subscriptions) {
        return request(token, subscriptions).open();
    }

    SseRequest request(String token, String subscriptions) {
        return SseClient.post(uri("/sluice/v1/stream"), "{\"subscriptions\":[" + subscriptions + "]}")
                .bearer(token);
    }

    /// A control request with this bearer token.
    HttpResponse<String> post(String path, String token, String body) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(uri("/sluice/v1" + path))
                    .header("Authorization", "Bearer " + token)
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build();
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }

    /// What a client does when its shape ended because other rules decide now: the same label and table again, with
    /// the rows that may be read now.
    void subscribeAgain(SseClient stream, String token, String label, String table) throws Exception {
        Predicate<SseEvent> notice = event -> event.is("error")
                && event.data().contains("\"sub\":\"" + label + "\"")
                && event.data().contains("\"code\":\"rights_changed\"")
                && event.data().contains("\"action\":\"resnapshot\"");
        if (stream.received().stream().noneMatch(notice)) {
            stream.await(notice);
        }
        String id = stream.received().stream()
                .filter(event -> event.is("ready"))
                .findFirst()
                .orElseThrow()
                .json()
                .get("stream_id")
                .asText();
        String body = "{\"stream_id\":\"" + id + "\",\"subscriptions\":["
                + shape(label, table, ",\"initial\":\"snapshot\"") + "]}";
        assertThat(post("/subscribe", token, body).body()).contains("\"ok\":true");
        stream.await("snapshot_end");
    }

    static String shape(String label, String table, String more) {
        return "{\"sub\":\"" + label + "\",\"shape\":{\"table\":\"" + table + "\"" + more + "}}";
    }

    @Override
    public void close() {
        server.close();
        jwks.close();
    }
}
