package sluice.server.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Chromium without a window, one page, spoken to over its debugging socket.
final class Browser implements AutoCloseable {
    static final Path PROGRAM = Path.of("/usr/bin/chromium");

    private static final long PATIENCE_SECONDS = 30;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final HttpClient client = HttpClient.newHttpClient();
    private final Map<Integer, CompletableFuture<JsonNode>> waiting = new ConcurrentHashMap<>();
    private final AtomicInteger lastId = new AtomicInteger();
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final WebSocket socket;
    private String session = "";

    private Browser(Process process, URI debugger) {
        this.process = process;
        this.socket = client.newWebSocketBuilder()
                .buildAsync(debugger, new Listener())
                .join();
    }

    static Browser start(Path profile) throws Exception {
        Process process = new ProcessBuilder(
                        PROGRAM.toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-quic",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--disable-sync",
                        "--disable-dev-shm-usage",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(Files.createTempFile(profile.getParent(), "chromium", ".log")
                        .toFile())
                .start();
        Browser browser = new Browser(process, debugger(process, profile.resolve("DevToolsActivePort")));
        browser.open();
        return browser;
    }

    private static URI debugger(Process process, Path file) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (System.nanoTime() < deadline && process.isAlive()) {
            if (Files.exists(file)) {
                List<String> lines = Files.readAllLines(file);
                if (lines.size() == 2) {
                    return URI.create("ws://127.0.0.1:" + lines.get(0) + lines.get(1));
                }
            }
            process.waitFor(50, TimeUnit.MILLISECONDS);
        }
        throw new IllegalStateException("chromium did not start");
    }

    private void open() throws Exception {
        String target = call("Target.createTarget", JSON.createObjectNode().put("url", "about:blank"))
                .path("targetId")
                .asText();
        session = call(
                        "Target.attachToTarget",
                        JSON.createObjectNode().put("targetId", target).put("flatten", true))
                .path("sessionId")
                .asText();
        for (String domain : List.of("Page", "Runtime", "Log")) {
            call(domain + ".enable", JSON.createObjectNode());
        }
    }

    void visit(String url) throws Exception {
        call("Page.navigate", JSON.createObjectNode().put("url", url));
    }

    /// The value of an expression; promises are awaited.
    JsonNode evaluate(String expression) throws Exception {
        JsonNode answer = call(
                "Runtime.evaluate",
                JSON.createObjectNode()
                        .put("expression", expression)
                        .put("awaitPromise", true)
                        .put("returnByValue", true));
        if (answer.has("exceptionDetails")) {
            throw new IllegalStateException(expression + ": " + answer.path("exceptionDetails"));
        }
        return answer.at("/result/value");
    }

    /// Until the expression is true.
    void await(String expression) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!evaluate("Boolean(" + expression + ")").asBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("never true: " + expression + "\npage: "
                        + evaluate("document.body.innerText").asText());
            }
            new CountDownLatch(1).await(50, TimeUnit.MILLISECONDS);
        }
    }

    /// What the browser reported: exceptions, violations of the content security policy, failed requests.
    List<String> complaints() {
        return complaints;
    }

    private JsonNode call(String method, ObjectNode parameters)
            throws InterruptedException, ExecutionException, TimeoutException {
        int id = lastId.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        waiting.put(id, answer);
        ObjectNode message = JSON.createObjectNode().put("id", id).put("method", method);
        message.set("params", parameters);
        if (!session.isEmpty()) {
            message.put("sessionId", session);
        }
        socket.sendText(message.toString(), true).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        JsonNode whole = answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (whole.has("error")) {
            throw new IllegalStateException(method + ": " + whole.path("error"));
        }
        return whole.path("result");
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket webSocket, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                take(text.toString());
                text.setLength(0);
            }
            webSocket.request(1);
            return null;
        }

        private void take(String message) {
            JsonNode json;
            try {
                json = JSON.readTree(message);
            } catch (IOException e) {
                complaints.add("not JSON: " + message);
                return;
            }
            CompletableFuture<JsonNode> answer = waiting.remove(json.path("id").asInt());
            if (answer != null) {
                answer.complete(json);
                return;
            }
            switch (json.path("method").asText()) {
                case "Runtime.exceptionThrown" ->
                    complaints.add(json.at("/params/exceptionDetails").toString());
                case "Log.entryAdded" -> {
                    if (json.at("/params/entry/level").asText().equals("error")) {
                        complaints.add(json.at("/params/entry/text").asText() + " "
                                + json.at("/params/entry/url").asText());
                    }
                }
                default -> {}
            }
        }
    }

    @Override
    public void close() {
        socket.abort();
        client.shutdownNow();
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
