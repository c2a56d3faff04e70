package sluice.testkit.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import sluice.testkit.Await;

/// An HTTP server on the loopback address that answers as the test says and remembers what it was asked.
///
/// "Slow" is not a time but a state: while it holds, requests arrive and are recorded, and nothing is answered.
public final class StubServer implements AutoCloseable {
    /// @param headers names in lower case, first values
    public record Asked(String method, String path, Map<String, String> headers, String body) {}

    /// @param headers sent as they are
    public record Answer(int status, Map<String, String> headers, String body) {
        public static Answer json(int status, String body) {
            return new Answer(status, Map.of("content-type", "application/json"), body);
        }

        public static Answer status(int status) {
            return new Answer(status, Map.of(), "");
        }
    }

    /// May be asked by several threads at once.
    @FunctionalInterface
    public interface Script {
        Answer answer(Asked asked);
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Asked> asked = new CopyOnWriteArrayList<>();
    private final ReentrantLock gate = new ReentrantLock();
    private final Condition released = gate.newCondition();
    private volatile Script script;
    private boolean holding;

    private StubServer(HttpServer server, Script script) {
        this.server = server;
        this.script = script;
    }

    public static StubServer start(Script script) {
        try {
            HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            StubServer stub = new StubServer(http, script);
            http.setExecutor(stub.threads);
            http.createContext("/", stub::serve);
            http.start();
            return stub;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public URI uri(String path) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }

    /// From the next answer on.
    public void answer(Script other) {
        script = other;
    }

    /// Everything asked so far, in order of arrival.
    public List<Asked> asked() {
        return List.copyOf(asked);
    }

    /// Waits until it was asked so often in all.
    public void awaitAsked(int count) {
        Await.until(count + " requests", () -> asked.size() >= count);
    }

    /// Answers nothing until released.
    public void hold() {
        gate.lock();
        try {
            holding = true;
        } finally {
            gate.unlock();
        }
    }

    /// Answers what is held, and all that follows, as the script says now.
    public void release() {
        gate.lock();
        try {
            holding = false;
            released.signalAll();
        } finally {
            gate.unlock();
        }
    }

    @Override
    public void close() {
        release();
        server.stop(0);
        threads.shutdownNow();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
            exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.getFirst()));
            Asked request = new Asked(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().toString(),
                    headers,
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            asked.add(request);
            awaitRelease();
            Answer answer = script.answer(request);
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
            if (body.length > 0) {
                exchange.getResponseBody().write(body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitRelease() throws InterruptedException {
        gate.lockInterruptibly();
        try {
            while (holding) {
                released.await();
            }
        } finally {
            gate.unlock();
        }
    }
}
